// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/cross_entropy.hpp>
#include <tessera/tensor/cuda/reduction.hpp>

#include <limits>

namespace tessera {

namespace detail {

/// The loss and slope of one row; a target that is no class makes the loss NaN, since a device
/// throws nothing.
template <class T, class Target> struct cross_entropy_row {
  cross_entropy_rows<T> rows;
  T const* logits;
  Target const* targets;
  T* slope;
  T* loss;

  TESSERA_DEVICE void operator()(std::size_t r) const {
    auto const wanted = static_cast<std::int64_t>(targets[r]);
    auto* const row_slope = slope == nullptr ? nullptr : slope + r * rows.classes;
    auto const is_class = wanted >= 0 && wanted < static_cast<std::int64_t>(rows.classes);
    if (wanted == rows.ignored || not is_class) {
      for (auto c = std::size_t{0}; slope != nullptr && c < rows.classes; ++c) row_slope[c] = T{0};
      loss[r] = wanted == rows.ignored ? T{0} : std::numeric_limits<T>::quiet_NaN();
      return;
    }
    loss[r] = kernel<cross_entropy_fn, reference>::row(logits + r * rows.classes, rows.classes,
                                                       static_cast<std::size_t>(wanted),
                                                       rows.smoothing, row_slope, rows.scale);
  }
};

/// to = the sum of n numbers times scale: one block of 64 lanes, folded by halves.
template <class T> struct scaled_sum {
  static constexpr std::size_t threads = reduction_lanes;
  struct shared {
    T at[threads];
  };
  using registers = device::empty;
  std::size_t n;
  T const* from;
  T scale;
  T* to;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 8; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t, std::size_t thread, shared& s,
                          registers&) const {
    if (phase == 0) {
      s.at[thread] = T{0};
      for (auto i = thread; i < n; i += threads) s.at[thread] = s.at[thread] + from[i];
    } else if (phase < 7) {
      auto const half = threads >> phase;
      if (thread < half) s.at[thread] = s.at[thread] + s.at[thread + half];
    } else if (thread == 0) {
      *to = s.at[0] * scale;
    }
  }
};

}  // namespace detail

template <> struct kernel<detail::cross_entropy_fn, cuda> {
  template <class T, class Target>
  static auto rows(detail::cross_entropy_rows<T> const& rows, T const* logits,
                   Target const* targets, T* slope) -> T {
    auto& q = device::current();
    auto const bytes = rows.count * sizeof(T);
    auto* const losses = static_cast<T*>(q.take(bytes));
    auto* const total = static_cast<T*>(q.next_number(sizeof(T)));
    device::for_each(rows.count,
                     detail::cross_entropy_row<T, Target>{rows, logits, targets, slope, losses});
    q.launch(detail::scaled_sum<T>{rows.count, losses, rows.scale, total}, 1);
    q.give_back(bytes);
    if (q.is_recording()) return T{0};
    q.synchronize();
    return *total;
  }
};

}  // namespace tessera
