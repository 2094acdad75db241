// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/accumulate.hpp>

namespace tessera {

namespace detail {

/// kernel<cross_entropy_fn, Backend>::row(logits, classes, target, smoothing, slope or null,
/// scale): the loss of one row; the slope is that times scale.
struct cross_entropy_fn {};

}  // namespace detail

template <> struct kernel<detail::cross_entropy_fn, reference> {
  template <class T>
  static constexpr auto row(T const* logits, std::size_t classes, std::size_t target, T smoothing,
                            T* slope, T scale) -> T {
    auto largest = reduce::lanes<reduce::takes_larger, T>{};
    for (auto c = std::size_t{0}; c < classes; ++c) largest.add(logits[c]);
    auto const most = largest.total();
    auto exponentials = reduce::lanes<reduce::adds, T>{};
    auto logit_sum = reduce::lanes<reduce::adds, T>{};
    for (auto c = std::size_t{0}; c < classes; ++c) {
      exponentials.add(lane::exp(logits[c] - most));
      logit_sum.add(logits[c]);
    }
    auto const total = exponentials.total();
    auto const log_sum = most + lane::log(total);
    auto const share = smoothing / static_cast<T>(classes);
    if (slope != nullptr) {
      for (auto c = std::size_t{0}; c < classes; ++c) {
        auto const wanted = (c == target ? T{1} - smoothing : T{0}) + share;
        slope[c] = (lane::exp(logits[c] - most) / total - wanted) * scale;
      }
    }
    auto const certain = (T{1} - smoothing) * (log_sum - logits[target]);
    return smoothing == T{0} ? certain : certain + smoothing * log_sum - share * logit_sum.total();
  }
};

}  // namespace tessera
