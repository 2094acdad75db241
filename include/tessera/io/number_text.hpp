// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <iterator>
#include <string>

namespace tessera {

namespace detail {

/// What std::to_chars writes of a number, which has a point in every locale.
template <class... How> [[nodiscard]] auto letters_of(double value, How... how) -> std::string {
  char letters[400];
  return {letters, std::to_chars(letters, std::end(letters), value, how...).ptr};
}

}  // namespace detail

/// A number by so many significant digits, as C's "%.<digits>g".
[[nodiscard]] inline auto number_text(double value, int digits) -> std::string {
  return detail::letters_of(value, std::chars_format::general, digits);
}
/// A number by so many digits behind the point, as C's "%.<digits>f".
[[nodiscard]] inline auto fixed_number_text(double value, int digits) -> std::string {
  return detail::letters_of(value, std::chars_format::fixed, digits);
}
/// A number by its binary digits, as C's "%a".
[[nodiscard]] inline auto binary_number_text(double value) -> std::string {
  auto text = detail::letters_of(value, std::chars_format::hex);
  return text.insert(text[0] == '-' ? 1 : 0, "0x");
}

}  // namespace tessera
