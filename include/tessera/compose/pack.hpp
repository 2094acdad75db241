// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

/// Members by index: an aggregate of one block, in which empty members take no place.
namespace tessera {

/// The bytes of an object of type U; an empty one has none.
template <class U> inline constexpr std::size_t bytes_of = std::is_empty_v<U> ? 0 : sizeof(U);

template <class... T> struct type_list {
  static constexpr std::size_t size = sizeof...(T);
};

namespace detail {

template <std::size_t I, class List> struct item;
template <std::size_t I, class... T> struct item<I, type_list<T...>> {
  using type = std::tuple_element_t<I, std::tuple<T...>>;
};

template <std::size_t I, class T, bool Empty = std::is_empty_v<T>> struct indexed {
  T value;
};
template <std::size_t I, class T> struct indexed<I, T, true> {};

template <class I, class... T> struct indexed_all;
template <std::size_t... I, class... T>
struct indexed_all<std::index_sequence<I...>, T...> : indexed<I, T>... {};

template <std::size_t I, class T>
[[nodiscard]] constexpr auto value_of(indexed<I, T, false>& one) -> T& {
  return one.value;
}
template <std::size_t I, class T>
[[nodiscard]] constexpr auto value_of(indexed<I, T, false> const& one) -> T const& {
  return one.value;
}
template <std::size_t I, class T>
[[nodiscard]] constexpr auto value_of(indexed<I, T, true> const&) -> T& {
  return empty_object<T>;
}

}  // namespace detail

template <std::size_t I, class List> using item_of = typename detail::item<I, List>::type;

/// A plain struct of T...: get<I>(p) is its member I.
template <class... T> struct pack : detail::indexed_all<std::index_sequence_for<T...>, T...> {
  static constexpr std::size_t count = sizeof...(T);
  template <std::size_t I> [[nodiscard]] constexpr auto get() -> auto& {
    return detail::value_of<I>(*this);
  }
  template <std::size_t I> [[nodiscard]] constexpr auto get() const -> auto const& {
    return detail::value_of<I>(*this);
  }
};

/// Member I of a pack, or of the parameters, statistics or states of a composition: child I's.
template <std::size_t I, class Whole>
  requires requires(Whole& whole) { whole.template get<I>(); }
[[nodiscard]] constexpr auto get(Whole& whole) -> auto& {
  return whole.template get<I>();
}

/// f.operator()<I>() for I = 0 .. N - 1; or from the last one down.
template <std::size_t N> constexpr void for_each_index(auto&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<I>(), ...);
  }(std::make_index_sequence<N>{});
}
template <std::size_t N> constexpr void for_each_index_down(auto&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<N - 1 - I>(), ...);
  }(std::make_index_sequence<N>{});
}

}  // namespace tessera
