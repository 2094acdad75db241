// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera {

namespace detail {

/// One head of one sequence: a row of numbers for each time, by distances.
template <class T> struct attention_head {
  std::size_t queries;  ///< rows of q and y
  std::size_t keys;     ///< rows of k and v
  std::size_t width;    ///< numbers of a row
  std::size_t q_row;    ///< the distance of two rows of q, and of its slope
  std::size_t kv_row;   ///< the distance of two rows of k and v, and of their slopes
  std::size_t out;      ///< the distance of two rows of y and dy
  std::size_t sum;      ///< the distance of two numbers of log_sum
  std::size_t before;   ///< keys that every query sees; query i sees i + 1 more of them
  bool causal;          ///< or all of them
  T scale;              ///< of the scores: 1 / sqrt(width)
  T const* q;
  T const* k;
  T const* v;
  std::size_t unseen = 0;  ///< keys at the end that no query sees

  [[nodiscard]] constexpr auto seen(std::size_t query) const -> std::size_t {
    auto const all = keys - unseen;
    auto const past = before + query + 1;
    return causal && past < all ? past : all;
  }
};
template <class T> struct attention_slopes {
  T const* y;
  T const* dy;
  T const* log_sum;
  T* dq;
  T* dk;
  T* dv;
  bool adds = false;  ///< dk and dv are added to: another head sees the same keys
};

/// The heads of all lanes, by distances from the first: heads lie next to each other, and
/// `sharing` of them, which follow one another, see the same keys.
template <class T> struct attention_heads {
  attention_head<T> first;
  std::size_t lanes;
  std::size_t heads;  ///< of a lane
  std::size_t sharing;
  std::size_t q_lane;          ///< the distance of two lanes of q, and of its slope
  std::size_t kv_lane;         ///< of k and v, and of their slopes
  std::size_t out_lane;        ///< of y and dy
  std::size_t sum_lane;        ///< of log_sum
  T const* lengths = nullptr;  ///< for each lane, the number of keys that count; null: all

  [[nodiscard]] constexpr auto q_at(std::size_t lane, std::size_t h) const -> std::size_t {
    return lane * q_lane + h * first.width;
  }
  [[nodiscard]] constexpr auto kv_at(std::size_t lane, std::size_t h) const -> std::size_t {
    return lane * kv_lane + h / sharing * first.width;
  }
  [[nodiscard]] constexpr auto out_at(std::size_t lane, std::size_t h) const -> std::size_t {
    return lane * out_lane + h * first.width;
  }
  [[nodiscard]] constexpr auto head(std::size_t lane, std::size_t h) const -> attention_head<T> {
    auto result = first;
    result.q += q_at(lane, h);
    result.k += kv_at(lane, h);
    result.v += kv_at(lane, h);
    if (lengths != nullptr && lengths[lane] < static_cast<T>(first.keys))
      result.unseen =
          lengths[lane] > T{0} ? first.keys - static_cast<std::size_t>(lengths[lane]) : first.keys;
    return result;
  }
  [[nodiscard]] constexpr auto slopes(attention_slopes<T> const& of_first, std::size_t lane,
                                      std::size_t h) const -> attention_slopes<T> {
    return {of_first.y + out_at(lane, h),
            of_first.dy + out_at(lane, h),
            of_first.log_sum + lane * sum_lane + h,
            of_first.dq + q_at(lane, h),
            of_first.dk + kv_at(lane, h),
            of_first.dv + kv_at(lane, h),
            h % sharing != 0};
  }
};

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

/// kernel<attention_fn, Backend> has workspace<T, Keys, Width>, memory for one head; and
/// forward(head, y, log_sum or null, workspace), backward(head, slopes, workspace). One that takes
/// all heads at once has forward_heads(heads, y, log_sum or null) and backward_heads(heads, slopes)
/// instead, and for_each(count, body) for their weights.
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
  /// Leaves the weights (lanes, heads, queries, keys) that a forward pass with log_sum had.
  template <class Backend, class T>
  static constexpr void weights(attention_heads<T> const& every, T const* log_sum, T* to) {
    auto const one = attention_weight<T>{every, log_sum, to};
    auto const count = every.lanes * every.heads * every.first.queries * every.first.keys;
    if constexpr (requires { kernel<attention_fn, Backend>::for_each(count, one); }) {
      kernel<attention_fn, Backend>::for_each(count, one);
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
///           softmax as all reductions: the same bits for one query at a time
inline constexpr auto attention = detail::attention_fn{};

}  // namespace tessera

#include <tessera/ops/reference/attention.hpp>  // IWYU pragma: keep
