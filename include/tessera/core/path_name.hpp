// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>

#include <cstddef>
#include <type_traits>

#if TESSERA_HOSTED
#include <string_view>
#endif

namespace tessera {

/// A dotted path such as "0.weight_ih_l0", without the heap: what parameters and layers are called.
///
/// Cost    `capacity` letters: the longest path of a U-Net of four levels has 44
/// Errors  a longer path ends in "...", and files do not take it
struct path_name {
  static constexpr std::size_t capacity = 128;

  char text[capacity + 1] = {};
  std::size_t length = 0;

  constexpr path_name() = default;
  constexpr explicit path_name(char const* letters) { add(letters); }
  /// letters followed by a number: path_name("weight_ih_l", 0)
  constexpr path_name(char const* letters, std::size_t number) {
    add(letters);
    add(number);
  }

  [[nodiscard]] constexpr auto c_str() const -> char const* { return text; }
  [[nodiscard]] constexpr auto size() const -> std::size_t { return length; }
  [[nodiscard]] constexpr auto empty() const -> bool { return length == 0; }

  [[nodiscard]] constexpr auto is_cut() const -> bool {
    return length == capacity && text[capacity - 1] == '.' && text[capacity - 2] == '.' &&
           text[capacity - 3] == '.';
  }

  /// This path, a dot, and one more part.
  [[nodiscard]] constexpr auto operator/(path_name const& part) const -> path_name {
    auto joined = *this;
    if (not joined.empty() && not part.empty()) joined.add('.');
    joined.add(part.text);
    return joined;
  }
  [[nodiscard]] constexpr auto operator/(std::size_t index) const -> path_name {
    return *this / path_name("", index);
  }
  [[nodiscard]] friend constexpr auto operator==(path_name const& a, path_name const& b) -> bool {
    if (a.length != b.length) return false;
    for (auto i = std::size_t{0}; i < a.length; ++i)
      if (a.text[i] != b.text[i]) return false;
    return true;
  }
  [[nodiscard]] friend constexpr auto operator==(path_name const& a, char const* b) -> bool {
    return a == path_name(b);
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

/// Letters as a template argument: named<"conv_in", conv2d<3, 8, 3>>.
template <std::size_t N> struct fixed_name {
  char letters[N] = {};
  template <std::size_t M>
    requires(M <= N)
  constexpr fixed_name(char const (&text)[M]) {
    for (auto i = std::size_t{0}; i < M; ++i) letters[i] = text[i];
  }
};

/// Letters and numbers in turn, as a template argument: joined_name("blocks.", 3, ".norm"). It is
/// short, as every type that is named so spells it out.
[[nodiscard]] constexpr auto joined_name(auto const&... parts) -> fixed_name<48> {
  auto path = path_name{};
  auto const add = [&](auto const& part) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>)
      path.add(static_cast<std::size_t>(part));
    else
      path.add(part);
  };
  (add(parts), ...);
  require(path.size() < 48, "joined_name: 47 letters at most");
  auto result = fixed_name<48>{""};
  for (auto i = std::size_t{0}; i < path.size(); ++i) result.letters[i] = path.text[i];
  return result;
}

template <std::size_t M> fixed_name(char const (&)[M]) -> fixed_name<M>;

/// What P is called inside of its parent: the name it has, or its index.
template <class P> [[nodiscard]] constexpr auto name_inside(std::size_t index) -> path_name {
  if constexpr (requires { P::own_name; })
    return path_name(P::own_name.letters);
  else
    return {"", index};
}

}  // namespace tessera
