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
    loss[r] = kernel_for<cross_entropy_fn, reference>::row(logits + r * rows.classes, rows.classes,
                                                           static_cast<std::size_t>(wanted),
                                                           rows.smoothing, row_slope, rows.scale);
  }
};

}  // namespace detail

template <> struct kernel_for<detail::cross_entropy_fn, cuda> {
  template <class T, class Target>
  static auto rows(detail::cross_entropy_rows<T> const& rows, T const* logits,
                   Target const* targets, T* slope) -> T {
    using losses_type = view<T, shape<at_most(std::size_t{1} << 40)>, cuda>;
    auto const memory = device::scratch<T>(rows.count);
    device::for_each(rows.count, detail::cross_entropy_row<T, Target>{rows, logits, targets, slope,
                                                                      memory.data()});
    auto const losses =
        losses_type{memory.data(), actual_extents<shape_of<losses_type>>::from({rows.count})};
    return detail::number_of(sum(losses) * rows.scale);
  }
  /// By the host, in memory that both read: what is launched next is scaled by it. While a graph is
  /// recorded or replayed, the host has written the targets before.
  static auto terms(std::size_t rows, auto const* targets, std::int64_t ignored) -> std::size_t {
    if (not device::current().is_recording()) device::synchronize();
    return kernel_for<detail::cross_entropy_fn, reference>::terms(rows, targets, ignored);
  }
};

}  // namespace tessera
