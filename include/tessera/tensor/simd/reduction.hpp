// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/reference/reduction.hpp>
#include <tessera/tensor/simd/assign.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// Adds n elements of a row to the lanes of a reduction.
template <class Join, class T>
void add_run(reductions::lanes<Join, T>& lanes, auto const& row, std::size_t n) {
  constexpr auto width = whole_lanes<T>::width;
  auto i = std::size_t{0};
  while (i < n && lanes.filled % width != 0) lanes.add(row.get(one_lane{}, i++));
  if (lanes.filled == 0 && i + reduction_lanes <= n) {
    lane::pack<T> sums[reduction_lanes / width];
    for (auto v = std::size_t{0}; v < reduction_lanes / width; ++v)
      sums[v] = lane::load(lanes.at + v * width);
    for (; i + reduction_lanes <= n; i += reduction_lanes)
      for (auto v = std::size_t{0}; v < reduction_lanes / width; ++v)
        sums[v] = Join::join(sums[v], row.get(whole_lanes<T>{}, i + v * width));
    for (auto v = std::size_t{0}; v < reduction_lanes / width; ++v)
      lane::store(lanes.at + v * width, sums[v]);
    lanes.used = reduction_lanes;
  }
  for (; i + width <= n; i += width) {
    auto* const at = lanes.at + lanes.filled;
    lane::store(at, Join::join(lane::load(at), row.get(whole_lanes<T>{}, i)));
    lanes.filled = (lanes.filled + width) % reduction_lanes;
    lanes.used = lanes.used + width < reduction_lanes ? lanes.used + width : reduction_lanes;
  }
  while (i < n) lanes.add(row.get(one_lane{}, i++));
}

}  // namespace detail::inline TESSERA_TARGET

template <class Join> struct kernel_for<detail::reduce_fn<Join>, simd> {
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run(axis_list<Axes...> axes, Y y, E const& e) {
    using by_one = kernel_for<detail::reduce_fn<Join>, reference>;
    using T = typename detail::vector_scalar<E>::type;
    if constexpr (not detail::by_vectors<scalar_of<Y>, E>) {
      by_one::run(axes, y, e);
    } else if constexpr (E::flat && shape_of<Y>::capacity == 1 && shape_of<E>::rank > 0) {
      if (std::is_constant_evaluated()) return by_one::run(axes, y, e);
      auto lanes = reductions::lanes<Join, T>{};
      detail::add_run<Join>(lanes, e.flat_row(), actual_extents<shape_of<E>>(e.extents()).size());
      one_lane::store(y.data(), lanes.total());
    } else {
      if (std::is_constant_evaluated()) return by_one::run(axes, y, e);
      by_one::template run_rows<Axes...>(
          y, e,
          [](auto& lanes, auto const& row, std::size_t n) { detail::add_run<Join>(lanes, row, n); },
          [](auto* out, auto const& row, std::size_t n) {
            for_each_vector<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
              lanes.store(out + i, Join::join(lanes.load(out + i), row.get(lanes, i)));
            });
          });
    }
  }
};

}  // namespace tessera
