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
template <class U> inline constexpr std::size_t bytes_of = is_empty<U> ? 0 : sizeof(U);

namespace detail {

#if defined(__clang__)
template <std::size_t I, class... T> using nth = __type_pack_element<I, T...>;
#else
template <std::size_t I, class... T> using nth = std::tuple_element_t<I, std::tuple<T...>>;
#endif

template <bool> struct choice {
  template <class T, class> using type = T;
};
template <> struct choice<false> {
  template <class, class U> using type = U;
};

}  // namespace detail

template <class... T> struct type_list {
  static constexpr std::size_t size = sizeof...(T);
  template <std::size_t I> using at = detail::nth<I, T...>;
};
template <std::size_t I, class List> using item_of = typename List::template at<I>;

/// std::conditional_t without a class for each pair of types.
template <bool First, class T, class U>
using either = typename detail::choice<First>::template type<T, U>;

namespace detail {

template <std::size_t I, class T, bool Empty = is_empty<T>> struct indexed {
  T value;
};
template <std::size_t I, class T> struct indexed<I, T, true> {};

template <class I, class... T> struct indexed_all;
template <std::size_t... I, class... T>
struct indexed_all<std::index_sequence<I...>, T...> : indexed<I, T>... {
  static constexpr std::size_t count = sizeof...(T);
  template <std::size_t K> [[nodiscard]] constexpr auto get(std::size_t = 0) -> auto& {
    using U = nth<K, T...>;
    if constexpr (is_empty<U>)
      return empty_object<U>;
    else
      return static_cast<indexed<K, U>&>(*this).value;
  }
  template <std::size_t K> [[nodiscard]] constexpr auto get(std::size_t = 0) const -> auto const& {
    using U = nth<K, T...>;
    if constexpr (is_empty<U>)
      return empty_object<U>;
    else
      return static_cast<indexed<K, U> const&>(*this).value;
  }
  constexpr void each_part(auto const& f) { (f(get<I>()), ...); }
};

}  // namespace detail

/// N members of one kind, the index chosen at run time.
template <class Part, std::size_t N> struct equal_members {
  Part each[N];
  template <std::size_t> [[nodiscard]] constexpr auto get(std::size_t at) -> auto& {
    return each[at];
  }
  template <std::size_t> [[nodiscard]] constexpr auto get(std::size_t at) const -> auto& {
    return each[at];
  }
  constexpr void each_part(auto const& f) {
    for (auto at = std::size_t{0}; at < N; ++at) f(get<0>(at));
  }
};
/// Those, or nothing of nothing.
template <class Part, std::size_t N>
using equal_members_if = either<is_empty<Part>, nothing, equal_members<Part, N>>;

namespace detail {

/// Part I of a pack as the U that it is; an empty U is some object without memory. Of
/// equal members, or part I of each of them, that of the one at its place.
template <std::size_t I, class U>
  requires(is_empty<U>)
[[nodiscard]] constexpr auto part_as(void const*, std::size_t = 0) -> U& {
  return empty_object<U>;
}
template <std::size_t I, class U>
  requires(not is_empty<U>)
[[nodiscard]] constexpr auto part_as(indexed<I, U>* whole, std::size_t = 0) -> U& {
  return whole->value;
}
template <std::size_t I, class U>
  requires(not is_empty<U>)
[[nodiscard]] constexpr auto part_as(indexed<I, U> const* whole, std::size_t = 0) -> U const& {
  return whole->value;
}
template <std::size_t I, class U, class Part, std::size_t N>
  requires(not is_empty<U>)
[[nodiscard]] constexpr auto part_as(equal_members<Part, N>* whole, std::size_t at) -> U& {
  if constexpr (std::is_same_v<Part, U>)
    return whole->each[at];
  else
    return part_as<I, U>(&whole->each[at]);
}
template <std::size_t I, class U, class Part, std::size_t N>
  requires(not is_empty<U>)
[[nodiscard]] constexpr auto part_as(equal_members<Part, N> const* whole, std::size_t at)
    -> U const& {
  return whole->each[at];
}

}  // namespace detail

/// A plain struct of T...: get<I>(p) is its member I.
template <class... T> using members = detail::indexed_all<std::index_sequence_for<T...>, T...>;

/// Member I of a pack, or of the parameters, statistics or states of a composition: child I's.
template <std::size_t I, class Whole>
  requires requires(Whole& whole) { whole.template get<I>(); }
[[nodiscard]] constexpr auto get(Whole& whole) -> auto& {
  return whole.template get<I>();
}

/// f.operator()<I>() for I = 0 .. N - 1.
template <std::size_t N> constexpr void for_each_index(auto&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<I>(), ...);
  }(std::make_index_sequence<N>{});
}

}  // namespace tessera
