// SPDX-License-Identifier: MIT
#pragma once

#include <xtensor/xassign.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xfunction.hpp>
#include <xtensor/xscalar.hpp>

/// A repair of xtensor up to 0.24: a fixed tensor assigned from f(a + b) reads past the end of b
/// where b is broadcast, because xtensor looks for broadcasts among the outermost operands only.
/// This specialization looks at all of them. Source: tests/bridge/fixed_broadcast.cpp.
#if XTENSOR_VERSION_MAJOR == 0 && XTENSOR_VERSION_MINOR <= 24
namespace tessera::detail {

/// True where an operand has the shape of the result at every depth, so that one index serves all.
template <class Shape, class E>
inline constexpr bool never_broadcast = std::is_same_v<Shape, typename E::shape_type>;
template <class Shape, class T> inline constexpr bool never_broadcast<Shape, xt::xscalar<T>> = true;
template <class Shape, class F, class... E>
inline constexpr bool never_broadcast<Shape, xt::xfunction<F, E...>> =
    (never_broadcast<Shape, std::decay_t<E>> && ...);

template <class E> inline constexpr bool is_xfunction = false;
template <class F, class... E> inline constexpr bool is_xfunction<xt::xfunction<F, E...>> = true;

}  // namespace tessera::detail

namespace xt::detail {

template <class... E>
  requires(tessera::detail::is_xfunction<std::decay_t<E>> || ...)
struct static_trivial_broadcast<true, E...> {
  using common = typename promote_index<typename std::decay_t<E>::shape_type...>::type;
  static constexpr bool value = (tessera::detail::never_broadcast<common, std::decay_t<E>> && ...);
};

}  // namespace xt::detail
#endif
