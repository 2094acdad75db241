// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/tensor/accumulate.hpp>

namespace tessera {

template <> struct kernel_for<detail::cross_entropy_fn, reference> {
  /// Of a logit its distance from the largest counts: what all have in common would take the
  /// digits.
  template <class T>
  static constexpr auto row(T const* logits, std::size_t classes, std::size_t target, T smoothing,
                            T* slope, T scale) -> T {
    auto largest = reductions::lanes<reductions::takes_larger, T>{};
    for (auto c = std::size_t{0}; c < classes; ++c) largest.add(logits[c]);
    auto const most = largest.total();
    auto exponentials = reductions::lanes<reductions::adds, T>{};
    auto distances = reductions::lanes<reductions::adds, T>{};
    for (auto c = std::size_t{0}; c < classes; ++c) {
      exponentials.add(lane::exp(logits[c] - most));
      distances.add(logits[c] - most);
    }
    auto const total = exponentials.total();
    auto const log_total = lane::log(total);
    auto const share = smoothing / static_cast<T>(classes);
    if (slope != nullptr) {
      for (auto c = std::size_t{0}; c < classes; ++c) {
        auto const wanted = (c == target ? T{1} - smoothing : T{0}) + share;
        slope[c] = (lane::exp(logits[c] - most) / total - wanted) * scale;
      }
    }
    auto const certain = (T{1} - smoothing) * (log_total - (logits[target] - most));
    return smoothing == T{0} ? certain
                             : certain + smoothing * log_total - share * distances.total();
  }
  template <class T>
  static constexpr auto rows(detail::cross_entropy_rows<T> const& rows, T const* logits,
                             auto const* targets, T* slope) -> T {
    auto loss = reductions::lanes<reductions::adds, T>{};
    for_each_target(
        rows, logits, targets, slope, [&](T const* of_row, std::size_t target, T* row_slope) {
          loss.add(row(of_row, rows.classes, target, rows.smoothing, row_slope, rows.scale));
        });
    return rows.count == 0 ? T{0} : loss.total() * rows.scale;
  }
  /// Calls f(logits, target, slope) for the rows that count; the slopes of others are zero.
  template <class T>
  static constexpr void for_each_target(detail::cross_entropy_rows<T> const& rows, T const* logits,
                                        auto const* targets, T* slope, auto const& f) {
    for (auto r = std::size_t{0}; r < rows.count; ++r, logits += rows.classes) {
      auto const wanted = static_cast<std::int64_t>(targets[r]);
      auto* const row_slope = slope == nullptr ? nullptr : slope + r * rows.classes;
      if (wanted == rows.ignored) {
        for (auto c = std::size_t{0}; slope != nullptr && c < rows.classes; ++c)
          row_slope[c] = T{0};
        continue;
      }
      require(wanted >= 0 && wanted < static_cast<std::int64_t>(rows.classes),
              "cross_entropy: a target is no class");
      f(logits, static_cast<std::size_t>(wanted), row_slope);
    }
  }
  /// The rows that count.
  static constexpr auto terms(std::size_t rows, auto const* targets, std::int64_t ignored)
      -> std::size_t {
    auto n = std::size_t{0};
    for (auto r = std::size_t{0}; r < rows; ++r)
      n += static_cast<std::int64_t>(targets[r]) != ignored ? 1 : 0;
    return n;
  }
};

}  // namespace tessera
