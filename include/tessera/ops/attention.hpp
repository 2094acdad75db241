// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/attention.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/attention.hpp>
#endif

namespace tessera {

namespace detail {

/// What a query weighs a key with: one number of (lanes, heads, queries, keys), in this order.
template <class T> struct attention_weight {
  attention_heads<T> every;
  T const* log_sum;
  T* to;

  TESSERA_DEVICE constexpr void operator()(std::size_t at) const {
    auto const j = at % every.first.keys;
    auto const row = at / every.first.keys;
    auto const i = row % every.first.queries;
    auto const h = row / every.first.queries % every.heads;
    auto const lane_of_batch = row / every.first.queries / every.heads;
    auto const head = every.head(lane_of_batch, h);
    auto score = T{0};
    for (auto d = std::size_t{0}; j < head.seen(i) && d < head.width; ++d)
      score = lane::fma(head.q[i * head.q_row + d], head.k[j * head.kv_row + d], score);
    auto const sum = log_sum[lane_of_batch * every.sum_lane + h + i * head.sum];
    to[at] = j < head.seen(i) ? lane::exp(score * head.scale - sum) : T{0};
  }
};

struct attention_fn {
  template <class X, std::size_t Keys, std::size_t Width>
  using workspace =
      typename kernel_for<attention_fn, backend_of<X>>::template workspace<scalar_of<X>, Keys,
                                                                           Width>;

  template <class Backend, class T, class K = T>
  static constexpr void forward(attention_heads<T, K> const& every, T* y, T* log_sum,
                                auto& workspace) {
    using run = kernel_for<attention_fn, Backend>;
    if constexpr (requires { run::forward_heads(every, y, log_sum); }) {
      run::forward_heads(every, y, log_sum);
    } else if constexpr (requires { run::shares_heads; }) {
      run::template forward_each<K>([&](auto const& take) { take(every, y, log_sum); }, workspace);
    } else {
      for (auto lane = std::size_t{0}; lane < every.lanes; ++lane)
        for (auto h = std::size_t{0}; h < every.heads; ++h)
          run::forward(every.head(lane, h), y + every.out_at(lane, h),
                       log_sum == nullptr ? nullptr : log_sum + lane * every.sum_lane + h,
                       workspace);
    }
  }
  /// The heads of several calls, which walk(take) names one after another: take(every, y, log_sum);
  /// their keys and values are of K.
  template <class Backend, class T, class K = T>
  static constexpr void forward_each(auto const& walk, auto& workspace) {
    using run = kernel_for<attention_fn, Backend>;
    if constexpr (requires { run::shares_heads; })
      run::template forward_each<K>(walk, workspace);
    else
      walk([&](attention_heads<T, K> const& every, T* y, T* log_sum) {
        forward<Backend, T>(every, y, log_sum, workspace);
      });
  }
  /// The slopes are those of the first head.
  template <class Backend, class T>
  static constexpr void backward(attention_heads<T> const& every, attention_slopes<T> const& slopes,
                                 auto& workspace) {
    using run = kernel_for<attention_fn, Backend>;
    if constexpr (requires { run::backward_heads(every, slopes); }) {
      run::backward_heads(every, slopes);
    } else {
      for (auto lane = std::size_t{0}; lane < every.lanes; ++lane)
        for (auto h = std::size_t{0}; h < every.heads; ++h)
          run::backward(every.head(lane, h), every.slopes(slopes, lane, h), workspace);
    }
  }
  /// Leaves the weights (lanes, heads, queries, keys) that a forward pass with log_sum had.
  template <class Backend, class T>
  static constexpr void weights(attention_heads<T> const& every, T const* log_sum, T* to) {
    auto const one = attention_weight<T>{every, log_sum, to};
    auto const count = every.lanes * every.heads * every.first.queries * every.first.keys;
    if constexpr (requires { kernel_for<attention_fn, Backend>::for_each(count, one); }) {
      kernel_for<attention_fn, Backend>::for_each(count, one);
    } else {
      for (auto at = std::size_t{0}; at < count; ++at) one(at);
    }
  }
};

}  // namespace detail

/// y = softmax(scale·q·kᵀ)·v, for the heads of all lanes; without a matrix of all scores.
///
/// Shapes    q, y (queries, width), k and v (keys, width); log_sum (queries), the logarithm of the
///           sum of the exponentials of a row's scores, for the backward pass
///           Of a lane with `lengths` the keys from there on are not seen: they have slopes of
///           zero, and where none is left y and all slopes are zero
/// Cost      2·queries·keys·width multiply-adds forward, 5 backward, which computes the scores
///           anew; a causal one half of it
/// Accuracy  scores add over width, outputs over keys, both ascending, one fma each; the sum of a
///           softmax as all reductions: the same bits for one query at a time. What a query does
///           not see may weigh 0 in its sums instead of being left out: 0 times what is not finite
///           is no number, and a sum of -0 becomes 0
inline constexpr auto scaled_dot_product_attention = detail::attention_fn{};

}  // namespace tessera
