// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>

#include <cstdint>

namespace tessera {

namespace nodes {

/// The index of an extreme element of an operand that has memory: found where it is read.
template <bool Largest, std::size_t Axis, class Arg> struct found_index : base {
  using from = shape_of<Arg>;
  using scalar_type = std::int64_t;
  using shape_type = reduced<from, false, static_cast<std::ptrdiff_t>(Axis)>;
  using backend_type = backend_of<Arg>;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = false;
  static constexpr auto count = bound_of(from::extents[Axis]);
  static constexpr auto inner = [] {
    auto n = std::size_t{1};
    for (auto a = Axis + 1; a < from::rank; ++a) n *= bound_of(from::extents[a]);
    return n;
  }();

  scalar_of<Arg> const* memory;

  struct cursor {
    scalar_of<Arg> const* memory;
    std::size_t first;
    [[nodiscard]] constexpr auto get(one_lane, std::size_t i) const -> std::int64_t {
      auto const at = first + i;
      auto const* const values = memory + at / inner * count * inner + at % inner;
      auto best = std::size_t{0};
      for (auto k = std::size_t{1}; k < count; ++k) {
        auto const candidate = one_lane::load(values + k * inner);
        auto const so_far = one_lane::load(values + best * inner);
        auto const better = Largest ? candidate > so_far : candidate < so_far;
        if (better || (candidate != candidate && so_far == so_far)) best = k;  // the first NaN
      }
      return static_cast<std::int64_t>(best);
    }
    [[nodiscard]] constexpr auto is_readable() const { return memory != nullptr; }
  };
  [[nodiscard]] constexpr auto extents() const { return actual_extents<shape_type>{}; }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    constexpr auto actual = actual_extents<shape_type>{};
    auto at = std::size_t{0};
    for (auto a = std::size_t{0}; a + 1 < shape_type::rank; ++a)
      at = (at + index[a]) * actual[a + 1];
    return cursor{memory, at};
  }
  [[nodiscard]] constexpr auto flat_row() const { return cursor{memory, 0}; }
};

template <bool Largest, std::size_t Axis> struct search {
  template <class E>
  using result =
      tensor<std::int64_t, typename found_index<Largest, Axis, E>::shape_type, backend_of<E>>;
  template <class E> static constexpr bool rows_apart = Axis > 0;
  template <class E> static constexpr auto extents(E const&) {
    return actual_extents<typename found_index<Largest, Axis, E>::shape_type>{};
  }
  template <class E> static constexpr void compute(auto y, E const& e) {
    tessera::detail::assign_pass(y, found_index<Largest, Axis, E>{{}, e.data()});
  }
};

}  // namespace nodes

namespace detail {

template <bool Largest, std::ptrdiff_t Axis, class X>
[[nodiscard]] constexpr auto find_extremum(X&& x) {
  using S = shape_of<X>;
  static_assert(complaint::holds < fixed_shape<S> && has_axis<S>(Axis), S, axis_list < Axis >>,
                "argmax: a fixed shape that has this axis");
  auto const e = as_memory<scalar_among<X>>(std::forward<X>(x));
  using E = std::remove_const_t<decltype(e)>;
  return nodes::result<nodes::search<Largest, normal_axis<S::rank>(Axis)>, E>{{}, {e}};
}

}  // namespace detail

/// The index of the largest element along an axis: the first of equals, the first NaN where there
/// is one, as NumPy and torch. It has no slope.
///
/// Shapes  fixed; without the axis, of std::int64_t
/// Cost    one pass; an expression is computed first
template <array_operand X, std::ptrdiff_t Axis>
[[nodiscard]] constexpr auto argmax(X&& x, axis_list<Axis>) {
  return detail::find_extremum<true, Axis>(std::forward<X>(x));
}
/// The index of the smallest element along an axis.
template <array_operand X, std::ptrdiff_t Axis>
[[nodiscard]] constexpr auto argmin(X&& x, axis_list<Axis>) {
  return detail::find_extremum<false, Axis>(std::forward<X>(x));
}

}  // namespace tessera
