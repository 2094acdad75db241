// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/layer_norm.hpp>
#include <tessera/ops/simd/in_vectors.hpp>
#include <tessera/tensor/simd/reduction.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// The squares of the distances from a number.
template <class T> struct squares_of_row {
  T const* x;
  T mean;

  template <class L> [[nodiscard]] TESSERA_INLINE auto get(L lanes, std::size_t i) const {
    auto const d = lanes.load(x + i) - lanes.splat(mean);
    return d * d;
  }
};

struct rows_in_vectors : in_vectors {
  template <class T> TESSERA_INLINE static auto total(auto const& row, std::size_t n) -> T {
    return total_of_run<reductions::adds, T>(row, n);
  }
};

}  // namespace detail::inline TESSERA_TARGET

/// A few rows at a time: they stay in the nearest cache, and their sums do not wait for each other.
template <> struct kernel_for<detail::layer_norm_fn, simd> {
  template <class T>
  static constexpr void forward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                                T const* bias, T epsilon, T* y, T* mean, T* scale) {
    if (std::is_constant_evaluated())
      return kernel_for<detail::layer_norm_fn, reference>::forward(g, x, weight, bias, epsilon, y,
                                                                   mean, scale);
    auto const bytes = g.rows * g.features * sizeof(T);
    auto const from_memory = bytes >= in_memory;
    auto const past_caches =
        bytes >= nontemporal_bytes && x != y &&
        (reinterpret_cast<std::uintptr_t>(y) | g.features * sizeof(T)) % 64 == 0;
    auto const fitting = (from_memory ? block_bytes / 2 : block_bytes) / sizeof(T) / g.features;
    auto const most = fitting < 1 ? 1 : fitting;
    for (auto first = std::size_t{0}; first < g.rows; first += most) {
      auto const rows = g.rows - first < most ? g.rows - first : most;
      auto const at = first * g.features;
      statistics<T>({rows, g.features}, x + at, epsilon, mean + first, scale + first);
      for (auto r = std::size_t{0}; r < rows; ++r) {
        auto const begin = at + r * g.features;
        auto const normal =
            normal_row<T>{x + begin, weight, bias, y + begin, mean[first + r], scale[first + r]};
        auto const fetching = [&](auto lanes, std::size_t i) TESSERA_INLINE {
          lane::fetch(x + begin + i + block_bytes / sizeof(T));
          normal(lanes, i);
        };
        if (past_caches)
          for_each_vector_nontemporal<T>(y + begin, g.features, fetching);
        else if (from_memory)
          for_each_vector<T>(g.features, fetching);
        else
          for_each_vector<T>(g.features, normal);
      }
    }
    if (past_caches) lane::nontemporal_end();
  }
  template <class T>
  static constexpr void backward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                                 T const* mean, T const* scale, T const* dy,
                                 detail::layer_norm_slopes<T> slopes, T* sums) {
    if (std::is_constant_evaluated())
      return kernel_for<detail::layer_norm_fn, reference>::backward(g, x, weight, mean, scale, dy,
                                                                    slopes, sums);
    detail::layer_norm_backward<detail::rows_in_vectors>::run(g, x, weight, mean, scale, dy, slopes,
                                                              sums);
  }

 private:
  static constexpr std::size_t block_bytes = 16 * 1024;
  /// From here on rows come from memory: what is two blocks further is fetched meanwhile.
  static constexpr std::size_t in_memory = 16 * 1024 * 1024;

  template <class T>
  static void statistics(detail::layer_norm_geometry const& g, T const* x, T epsilon, T* mean,
                         T* scale) {
    using reductions::adds;
    auto const count = static_cast<T>(g.features);
    for (auto r = std::size_t{0}; r < g.rows; ++r)
      mean[r] = detail::total_of_run<adds, T>(nodes::contiguous_row<T const>{x + r * g.features},
                                              g.features);
    for_each_vector<T>(g.rows, [&](auto lanes, std::size_t r) TESSERA_INLINE {
      lanes.store(mean + r, lanes.load(mean + r) / lanes.splat(count));
    });
    for (auto r = std::size_t{0}; r < g.rows; ++r)
      scale[r] = detail::total_of_run<adds, T>(
          detail::squares_of_row<T>{x + r * g.features, mean[r]}, g.features);
    for_each_vector<T>(g.rows, [&](auto lanes, std::size_t r) TESSERA_INLINE {
      lanes.store(scale + r,
                  lane::rsqrt(lanes.load(scale + r) / lanes.splat(count) + lanes.splat(epsilon)));
    });
  }
  /// A row's result, a vector at a time.
  template <class T> struct normal_row {
    T const* x;
    T const* weight;
    T const* bias;
    T* y;
    T mean;
    T scale;

    TESSERA_INLINE void operator()(auto lanes, std::size_t i) const {
      auto const normal = (lanes.load(x + i) - lanes.splat(mean)) * lanes.splat(scale);
      if (weight == nullptr)
        lanes.store(y + i, normal);
      else
        lanes.store(y + i, normal * lanes.load(weight + i) + lanes.load(bias + i));
    }
  };
};

}  // namespace tessera
