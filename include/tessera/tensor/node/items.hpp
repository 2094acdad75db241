// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tessera::nodes {

/// The operands of a node. Most have one, two or three: what has a name is not looked for.
template <class... T> struct items {};
template <class A> struct items<A> {
  A a;
};
template <class A, class B> struct items<A, B> {
  A a;
  B b;
};
template <class A, class B, class C> struct items<A, B, C> {
  A a;
  B b;
  C c;
};
template <class A, class B, class C, class... More> struct items<A, B, C, More...> {
  A a;
  B b;
  C c;
  items<More...> more;
};

template <class... T> [[nodiscard]] constexpr auto make_items(T const&... x) -> items<T...> {
  if constexpr (sizeof...(T) < 4)
    return {x...};
  else
    return [](auto const& a, auto const& b, auto const& c, auto const&... more) -> items<T...> {
      return {a, b, c, make_items(more...)};
    }(x...);
}

/// Item I of a list.
template <std::size_t I, class List> [[nodiscard]] constexpr auto item(List& list) -> auto& {
  if constexpr (I == 0)
    return list.a;
  else if constexpr (I == 1)
    return list.b;
  else if constexpr (I == 2)
    return list.c;
  else
    return item<I - 3>(list.more);
}

}  // namespace tessera::nodes
