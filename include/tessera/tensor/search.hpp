// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>

#include <cstdint>

namespace tessera {

namespace detail {

template <bool Largest, std::ptrdiff_t Axis, class X>
[[nodiscard]] constexpr auto find_extremum(X const& x) {
  using S = shape_of<X>;
  static_assert(fixed_shape<S> && S::rank > 0, "argmax: a fixed shape with an axis");
  constexpr auto rank = static_cast<std::ptrdiff_t>(S::rank);
  constexpr auto at = static_cast<std::size_t>(Axis < 0 ? Axis + rank : Axis);
  static_assert(at < S::rank, "argmax: there is no such axis");
  constexpr auto count = bound_of(S::extents[at]);
  constexpr auto inner = [] {
    auto n = std::size_t{1};
    for (auto a = at + 1; a < S::rank; ++a) n *= bound_of(S::extents[a]);
    return n;
  }();
  auto const values = kind_of<X>(x * scalar_of<X>{1});
  auto result = tensor<std::int64_t, reduced<S, false, Axis>, backend_of<X>>{};
  for (auto i = std::size_t{0}; i < S::capacity / count; ++i) {
    auto const* const first = values.values + i / inner * count * inner + i % inner;
    auto best = std::size_t{0};
    for (auto k = std::size_t{1}; k < count; ++k) {
      auto const candidate = first[k * inner];
      auto const so_far = first[best * inner];
      auto const better = Largest ? candidate > so_far : candidate < so_far;
      if (better || (candidate != candidate && so_far == so_far)) best = k;  // the first NaN
    }
    result.values[i] = static_cast<std::int64_t>(best);
  }
  return result;
}

}  // namespace detail

/// The index of the largest element along an axis: the first of equals, the first NaN where there
/// is one, as NumPy and torch.
///
/// Shapes  fixed; without the axis, of std::int64_t
/// Cost    one pass; an expression is evaluated first
template <array_operand X, std::ptrdiff_t Axis>
[[nodiscard]] constexpr auto argmax(X const& x, axis_list<Axis>) {
  return detail::find_extremum<true, Axis>(x);
}
/// The index of the smallest element along an axis.
template <array_operand X, std::ptrdiff_t Axis>
[[nodiscard]] constexpr auto argmin(X const& x, axis_list<Axis>) {
  return detail::find_extremum<false, Axis>(x);
}

}  // namespace tessera
