// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/lanes.hpp>
#include <tessera/tensor/reduction.hpp>

/// Vector kernels of the passes over expressions: assignment and reduction.
namespace tessera {

namespace detail {

/// The scalar type that all numbers of a tree have, bool aside; void where they differ, and the
/// tree is evaluated one number at a time.
template <class... T> struct one_scalar {
  using type = void;
};
template <> struct one_scalar<> {
  using type = bool;
};
template <class T> struct one_scalar<T> {
  using type = T;
};
template <class A, class B, class... C> struct one_scalar<A, B, C...> {
  using rest = typename one_scalar<B, C...>::type;
  using type = std::conditional_t<std::same_as<A, rest> || std::same_as<rest, bool>, A,
                                  std::conditional_t<std::same_as<A, bool>, rest, void>>;
};

template <class E> struct vector_scalar {
  using type = compute_of<scalar_of<E>>;
};
template <class F, class... Args> struct vector_scalar<node::map<F, Args...>> {
  using own = scalar_of<node::map<F, Args...>>;
  using type = typename one_scalar<own, typename vector_scalar<Args>::type...>::type;
};

/// True where a pass that stores scalars of type Y and reads E can run by vectors.
template <class Y, class E>
inline constexpr bool by_vectors = [] {
  using T = typename vector_scalar<E>::type;
  return (std::same_as<T, float> || std::same_as<T, double>) &&
         (std::same_as<compute_of<Y>, T> || std::same_as<Y, bool>);
}();

/// Adds n elements of a row to the lanes of a reduction.
template <class Join, class T>
void add_run(reduce::lanes<Join, T>& lanes, auto const& row, std::size_t n) {
  constexpr auto width = whole<T>::width;
  auto i = std::size_t{0};
  while (i < n && lanes.filled % width != 0) lanes.add(row.get(one{}, i++));
  if (lanes.filled == 0 && i + reduction_lanes <= n) {
    lane::pack<T> sums[reduction_lanes / width];
    for (auto v = std::size_t{0}; v < reduction_lanes / width; ++v)
      sums[v] = lane::load(lanes.at + v * width);
    for (; i + reduction_lanes <= n; i += reduction_lanes)
      for (auto v = std::size_t{0}; v < reduction_lanes / width; ++v)
        sums[v] = Join::join(sums[v], row.get(whole<T>{}, i + v * width));
    for (auto v = std::size_t{0}; v < reduction_lanes / width; ++v)
      lane::store(lanes.at + v * width, sums[v]);
    lanes.used = reduction_lanes;
  }
  for (; i + width <= n; i += width) {
    auto* const at = lanes.at + lanes.filled;
    lane::store(at, Join::join(lane::load(at), row.get(whole<T>{}, i)));
    lanes.filled = (lanes.filled + width) % reduction_lanes;
    lanes.used = lanes.used + width < reduction_lanes ? lanes.used + width : reduction_lanes;
  }
  while (i < n) lanes.add(row.get(one{}, i++));
}

}  // namespace detail

template <> struct kernel<detail::assign_fn, simd> {
  template <class Y, class E> static constexpr void run(Y y, E const& e) {
    using U = std::remove_const_t<typename Y::scalar_type>;
    if constexpr (not detail::by_vectors<U, E> || not detail::last_is_unit<Y>) {
      kernel<detail::assign_fn, reference>::run(y, e);
    } else {
      if (std::is_constant_evaluated()) return kernel<detail::assign_fn, reference>::run(y, e);
      using T = typename detail::vector_scalar<E>::type;
      if constexpr (detail::one_run<Y, E>) {
        auto const row = node::detail::operand_flat_row<shape_of<Y>>(e);
        row_of<T>(y.size(), row, y.memory);
      } else {
        auto const n = detail::row_length(y.actual);
        detail::for_each_row(y.actual, [&](auto const& index) {
          row_of<T>(n, node::detail::operand_row<shape_of<Y>>(e, index),
                    detail::destination_row(y, index).data);
        });
      }
    }
  }

 private:
  template <class T> static void row_of(std::size_t n, auto const& from, auto* to) {
    for_each_vector<T>(n, [&](auto lanes, std::size_t i)
                              TESSERA_INLINE { lanes.store(to + i, from.get(lanes, i)); });
  }
};

template <class Join> struct kernel<detail::reduce_fn<Join>, simd> {
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run(axis_list<Axes...> axes, Y y, E const& e) {
    using by_one = kernel<detail::reduce_fn<Join>, reference>;
    using T = typename detail::vector_scalar<E>::type;
    if constexpr (not detail::by_vectors<scalar_of<Y>, E>) {
      by_one::run(axes, y, e);
    } else if constexpr (E::flat && shape_of<Y>::capacity == 1 && shape_of<E>::rank > 0) {
      if (std::is_constant_evaluated()) return by_one::run(axes, y, e);
      auto lanes = reduce::lanes<Join, T>{};
      detail::add_run<Join>(lanes, e.flat_row(), actual_extents<shape_of<E>>(e.extents()).size());
      one::store(y.data(), lanes.total());
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
