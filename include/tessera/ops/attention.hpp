// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/attention.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/attention.hpp>
#endif

namespace tessera {

namespace detail {

struct attention_fn {
  template <class X, std::size_t Keys, std::size_t Width>
  using workspace =
      typename kernel<attention_fn, backend_of<X>>::template workspace<scalar_of<X>, Keys, Width>;

  template <class Backend, class T>
  static constexpr void forward(attention_heads<T> const& every, T* y, T* log_sum,
                                auto& workspace) {
    using run = kernel<attention_fn, Backend>;
    if constexpr (requires { run::forward_heads(every, y, log_sum); }) {
      run::forward_heads(every, y, log_sum);
    } else {
      for (auto lane = std::size_t{0}; lane < every.lanes; ++lane)
        for (auto h = std::size_t{0}; h < every.heads; ++h)
          run::forward(every.head(lane, h), y + every.out_at(lane, h),
                       log_sum == nullptr ? nullptr : log_sum + lane * every.sum_lane + h,
                       workspace);
    }
  }
  /// The slopes are those of the first head.
  template <class Backend, class T>
  static constexpr void backward(attention_heads<T> const& every, attention_slopes<T> const& slopes,
                                 auto& workspace) {
    using run = kernel<attention_fn, Backend>;
    if constexpr (requires { run::backward_heads(every, slopes); }) {
      run::backward_heads(every, slopes);
    } else {
      for (auto lane = std::size_t{0}; lane < every.lanes; ++lane)
        for (auto h = std::size_t{0}; h < every.heads; ++h)
          run::backward(every.head(lane, h), every.slopes(slopes, lane, h), workspace);
    }
  }
};

}  // namespace detail

/// y = softmax(scale·q·kᵀ)·v, for the heads of all lanes; without a matrix of all scores.
///
/// Shapes    q, y (queries, width), k and v (keys, width); log_sum (queries), the logarithm of the
///           sum of the exponentials of a row's scores, for the backward pass
/// Cost      2·queries·keys·width multiply-adds forward, 5 backward, which computes the scores
///           anew; a causal one half of it
/// Accuracy  scores add over width, outputs over keys, both ascending, one fma each; the sum of a
///           softmax as all reductions: the same bits for one query at a time
inline constexpr auto attention = detail::attention_fn{};

}  // namespace tessera
