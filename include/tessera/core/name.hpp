// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <cstddef>

#if TESSERA_HOSTED
#include <string_view>
#endif

namespace tessera {

/// A dotted path such as "0.weight_ih_l0", without the heap: what parameters and layers are called.
///
/// Errors  a path above `capacity` characters ends in "..."
struct name {
  static constexpr std::size_t capacity = 128;

  char text[capacity + 1] = {};
  std::size_t length = 0;

  constexpr name() = default;
  constexpr explicit name(char const* letters) { add(letters); }
  /// letters followed by a number: name("weight_ih_l", 0)
  constexpr name(char const* letters, std::size_t number) {
    add(letters);
    add(number);
  }

  [[nodiscard]] constexpr auto c_str() const -> char const* { return text; }
  [[nodiscard]] constexpr auto size() const -> std::size_t { return length; }
  [[nodiscard]] constexpr auto empty() const -> bool { return length == 0; }

  /// This path, a dot, and one more part.
  [[nodiscard]] constexpr auto operator/(name const& part) const -> name {
    auto joined = *this;
    if (not joined.empty() && not part.empty()) joined.add('.');
    joined.add(part.text);
    return joined;
  }
  [[nodiscard]] constexpr auto operator/(std::size_t index) const -> name {
    return *this / name("", index);
  }
  [[nodiscard]] friend constexpr auto operator==(name const& a, name const& b) -> bool {
    if (a.length != b.length) return false;
    for (auto i = std::size_t{0}; i < a.length; ++i)
      if (a.text[i] != b.text[i]) return false;
    return true;
  }
  [[nodiscard]] friend constexpr auto operator==(name const& a, char const* b) -> bool {
    return a == name(b);
  }
#if TESSERA_HOSTED
  [[nodiscard]] constexpr operator std::string_view() const { return {text, length}; }
#endif

  constexpr void add(char letter) {
    if (length < capacity) {
      text[length++] = letter;
    } else {
      for (auto i = capacity - 3; i < capacity; ++i) text[i] = '.';
    }
  }
  constexpr void add(char const* letters) {
    for (; *letters != '\0'; ++letters) add(*letters);
  }
  constexpr void add(std::size_t number) {
    if (number >= 10) add(number / 10);
    add(static_cast<char>('0' + number % 10));
  }
};

}  // namespace tessera
