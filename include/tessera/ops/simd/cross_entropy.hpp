// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/cross_entropy.hpp>
#include <tessera/tensor/simd/reduction.hpp>

#include <algorithm>
#include <iterator>

namespace tessera {

/// The passes of a row by vectors, and the logarithms of a block of rows together.
template <>
struct kernel_for<detail::cross_entropy_fn, simd>
    : kernel_for<detail::cross_entropy_fn, reference> {
  template <class T>
  static constexpr auto rows(detail::cross_entropy_rows<T> const& rows, T const* logits,
                             auto const* targets, T* slope) -> T {
    using by_one = kernel_for<detail::cross_entropy_fn, reference>;
    if (std::is_constant_evaluated()) return by_one::rows(rows, logits, targets, slope);
    auto loss = reductions::lanes<reductions::adds, T>{};
    auto next = block<T>{};
    by_one::for_each_target(rows, logits, targets, slope,
                            [&](T const* row, std::size_t target, T* row_slope) {
                              add_row(next, rows, row, target, row_slope);
                              if (next.count == block_rows) add_losses(loss, next, rows);
                            });
    add_losses(loss, next, rows);
    return rows.count == 0 ? T{0} : detail::total_of(loss) * rows.scale;
  }

 private:
  static constexpr std::size_t block_rows = 16;

  /// What the losses of some rows are computed from.
  template <class T> struct block {
    std::size_t count = 0;
    T total[block_rows];      ///< of the exponentials
    T distance[block_rows];   ///< of the target's logit from the largest
    T distances[block_rows];  ///< the sum of all, where targets are smoothed
  };

  template <class T>
  static void add_row(block<T>& to, detail::cross_entropy_rows<T> const& rows, T const* logits,
                      std::size_t target, T* slope) {
    auto const x = nodes::contiguous_row<T const>{logits};
    auto const [most, total] = detail::exponentiate(x, rows.classes, slope);
    auto const k = to.count++;
    to.total[k] = total;
    to.distance[k] = logits[target] - most;
    if (rows.smoothing != T{0}) {
      auto sum = reductions::lanes<reductions::adds, T>{};
      T distances[256];
      for (auto c = std::size_t{0}; c < rows.classes; c += std::size(distances)) {
        auto const n = std::min(rows.classes - c, std::size(distances));
        for (auto i = std::size_t{0}; i < n; ++i) distances[i] = logits[c + i] - most;
        detail::add_run<reductions::adds>(sum, nodes::contiguous_row<T const>{distances}, n);
      }
      to.distances[k] = detail::total_of(sum);
    }
    if (slope == nullptr) return;
    auto const share = rows.smoothing / static_cast<T>(rows.classes);
    auto const of_target = slope[target];
    for_each_vector<T>(rows.classes, [&](auto lanes, std::size_t c) TESSERA_INLINE {
      lanes.store(slope + c, (lanes.load(slope + c) / lanes.splat(total) - lanes.splat(share)) *
                                 lanes.splat(rows.scale));
    });
    slope[target] = (of_target / total - ((T{1} - rows.smoothing) + share)) * rows.scale;
  }
  template <class T>
  static void add_losses(reductions::lanes<reductions::adds, T>& loss, block<T>& of,
                         detail::cross_entropy_rows<T> const& rows) {
    T losses[block_rows];
    auto const share = rows.smoothing / static_cast<T>(rows.classes);
    for_each_vector<T>(of.count, [&](auto lanes, std::size_t k) TESSERA_INLINE {
      auto const keep = lanes.splat(T{1} - rows.smoothing);
      auto const log_total = lane::log(lanes.load(of.total + k));
      auto const certain = keep * (log_total - lanes.load(of.distance + k));
      if (rows.smoothing == T{0})
        lanes.store(losses + k, certain);
      else
        lanes.store(losses + k, certain + lanes.splat(rows.smoothing) * log_total -
                                    lanes.splat(share) * lanes.load(of.distances + k));
    });
    detail::add_run<reductions::adds>(loss, nodes::contiguous_row<T const>{losses}, of.count);
    of.count = 0;
  }
};

}  // namespace tessera
