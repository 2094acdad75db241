// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace tessera::detail {

template <class T>
inline constexpr bool is_settable =
    std::is_same_v<T, std::string> || std::is_same_v<T, std::uint64_t> || std::is_same_v<T, double>;
template <class T>
concept settable = is_settable<T>;

template <class M> struct member_value {
  static_assert(is_settable<M>,
                "settings: a member is std::string, std::uint64_t, double, or an optional of one");
  using type = M;
};
template <class T> struct member_value<std::optional<T>> : member_value<T> {};
/// What a member of a struct of settings holds, be it decided later or not.
template <class M> using decided_value = typename member_value<std::remove_const_t<M>>::type;
template <class M>
inline constexpr bool is_optional = not std::same_as<std::remove_const_t<M>, decided_value<M>>;

/// f of what a member holds, where that is decided.
template <class M> void if_decided(M const& member, auto const& f) {
  if constexpr (not is_optional<M>)
    f(member);
  else if (member)
    f(*member);
}

template <settable T> [[nodiscard]] constexpr auto expected_value() -> char const* {
  if constexpr (std::same_as<T, std::string>) return "a text";
  if constexpr (std::integral<T>) return "a whole number of 0 or more, in decimal digits";
  return "a finite number";
}

/// False where the text is no such value: "0100", which is 64 to some, and 1e-400 are none.
template <settable T> [[nodiscard]] auto read_value(std::string_view text, T& to) -> bool {
  if constexpr (std::same_as<T, std::string>) {
    to = text;
    return true;
  } else {
    auto const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, to);
    if (error != std::errc{} || stopped != end) return false;
    if constexpr (std::integral<T>)
      return text.size() == 1 || text[0] != '0';
    else
      return std::isfinite(to);
  }
}

/// The shortest text that reads as the same value.
template <settable T> [[nodiscard]] auto text_of_value(T const& value) -> std::string {
  if constexpr (std::same_as<T, std::string>) {
    return value;
  } else {
    auto letters = std::array<char, 32>{};
    auto* const end = letters.data() + letters.size();
    if constexpr (std::floating_point<T>)
      return {letters.data(),
              std::to_chars(letters.data(), end, value, std::chars_format::general).ptr};
    else
      return {letters.data(), std::to_chars(letters.data(), end, value).ptr};
  }
}

/// "--learning-rate" of "learning_rate".
[[nodiscard]] inline auto option_name(std::string name) -> std::string {
  for (auto& letter : name)
    if (letter == '_') letter = '-';
  return "--" + name;
}

}  // namespace tessera::detail
