// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <iterator>
#include <string>

namespace tessera {

/// A number by so many significant digits, as C's "%.<digits>g"; with a point in every locale.
[[nodiscard]] inline auto number_text(double value, int digits) -> std::string {
  char letters[64];
  auto* const end =
      std::to_chars(letters, std::end(letters), value, std::chars_format::general, digits).ptr;
  return {letters, end};
}
/// A number by so many digits behind the point, as C's "%.<digits>f"; with a point in every locale.
[[nodiscard]] inline auto fixed_number_text(double value, int digits) -> std::string {
  char letters[400];
  auto* const end =
      std::to_chars(letters, std::end(letters), value, std::chars_format::fixed, digits).ptr;
  return {letters, end};
}
/// A number by its binary digits, as C's "%a"; with a point in every locale.
[[nodiscard]] inline auto binary_number_text(double value) -> std::string {
  char letters[64];
  auto* const end = std::to_chars(letters, std::end(letters), value, std::chars_format::hex).ptr;
  auto text = std::string{letters, end};
  return text.insert(text[0] == '-' ? 1 : 0, "0x");
}

}  // namespace tessera
