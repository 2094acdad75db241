// SPDX-License-Identifier: MIT
#pragma once

#include <xtensor/xassign.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xfunction.hpp>
#include <xtensor/xscalar.hpp>
#include <xtensor/xstorage.hpp>

/// Repairs of xtensor up to 0.24, to be included before any other of its headers is used.
///
/// A fixed tensor assigned from f(a + b) reads past the end of b
/// where b is broadcast, because xtensor looks for broadcasts among the outermost operands only.
/// This specialization looks at all of them. Source: tests/bridge/repairs.cpp.
///
/// And clang 19 finds two specializations for the strides of arrays of any rank: a third one,
/// without parameters, decides.
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

#if defined(__clang__) && __clang_major__ >= 19
namespace xt {

template <> struct rebind_container<std::ptrdiff_t, svector<std::size_t>> {
  using type = svector<std::ptrdiff_t>;
};
template <> struct rebind_container<std::size_t, svector<std::size_t>> {
  using type = svector<std::size_t>;
};
template <> struct rebind_container<std::ptrdiff_t, svector<std::ptrdiff_t>> {
  using type = svector<std::ptrdiff_t>;
};
template <> struct rebind_container<std::size_t, svector<std::ptrdiff_t>> {
  using type = svector<std::size_t>;
};

}  // namespace xt
#endif
#endif
