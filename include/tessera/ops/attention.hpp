// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
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

  [[nodiscard]] constexpr auto seen(std::size_t query) const -> std::size_t {
    return causal ? before + query + 1 : keys;
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

/// kernel<attention_fn, Backend> has workspace<T, Keys, Width>, memory for one head; and
/// forward(head, y, log_sum or null, workspace), backward(head, slopes, workspace).
struct attention_fn {
  template <class X, std::size_t Keys, std::size_t Width>
  using workspace =
      typename kernel<attention_fn, backend_of<X>>::template workspace<scalar_of<X>, Keys, Width>;

  template <class Backend, class T>
  static constexpr void forward(attention_head<T> const& head, T* y, T* log_sum, auto& workspace) {
    kernel<attention_fn, Backend>::forward(head, y, log_sum, workspace);
  }
  template <class Backend, class T>
  static constexpr void backward(attention_head<T> const& head, attention_slopes<T> const& slopes,
                                 auto& workspace) {
    kernel<attention_fn, Backend>::backward(head, slopes, workspace);
  }
};

}  // namespace detail

/// y = softmax(scale·q·kᵀ)·v, for one head; without a matrix of all scores.
///
/// Shapes    q, y (queries, width), k and v (keys, width); log_sum (queries), the logarithm of the
///           sum of the exponentials of a row's scores, for the backward pass
/// Cost      2·queries·keys·width multiply-adds forward, 5 backward, which computes the scores
/// anew;
///           a causal one half of it
/// Accuracy  scores add over width, outputs over keys, both ascending, one fma each; the sum of a
///           softmax as all reductions: the same bits for one query at a time
inline constexpr auto attention = detail::attention_fn{};

}  // namespace tessera

#include <tessera/ops/reference/attention.hpp>  // IWYU pragma: keep
