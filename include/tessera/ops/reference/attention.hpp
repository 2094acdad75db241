// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/tensor/accumulate.hpp>

namespace tessera {

template <> struct kernel_for<detail::attention_fn, reference> {
  template <class T, std::size_t Keys, std::size_t Width> struct workspace {
    T scores[Keys];
    T slopes[Keys];
  };

  template <class T, class K>
  static constexpr void forward(detail::attention_head<T, K> const& head, T* y, T* log_sum,
                                auto& workspace) {
    auto* const p = workspace.scores;
    for (auto i = std::size_t{0}; i < head.queries; ++i) {
      auto const keys = head.seen(i);
      score(head, i, p);
      auto largest = reductions::lanes<reductions::takes_larger, T>{};
      for (auto j = std::size_t{0}; j < keys; ++j) largest.add(p[j]);
      auto const most = largest.total();
      auto sum = reductions::lanes<reductions::adds, T>{};
      for (auto j = std::size_t{0}; j < keys; ++j) {
        p[j] = lane::exp(p[j] - most);
        sum.add(p[j]);
      }
      auto const total = sum.total();
      if (log_sum != nullptr) log_sum[i * head.sum] = most + lane::log(total);
      for (auto j = std::size_t{0}; j < keys; ++j) p[j] = p[j] / total;
      for (auto d = std::size_t{0}; d < head.width; ++d) {
        auto out = T{0};
        for (auto j = std::size_t{0}; j < keys; ++j)
          out = lane::fma(p[j], static_cast<T>(head.v[j * head.kv_row + d]), out);
        y[i * head.out + d] = out;
      }
    }
  }
  template <class T>
  static constexpr void backward(detail::attention_head<T> const& head,
                                 detail::attention_slopes<T> const& s, auto& workspace) {
    auto* const p = workspace.scores;
    auto* const dp = workspace.slopes;
    for (auto j = std::size_t{0}; not s.adds && j < head.keys; ++j)
      for (auto d = std::size_t{0}; d < head.width; ++d)
        s.dk[j * head.kv_row + d] = s.dv[j * head.kv_row + d] = T{0};
    for (auto i = std::size_t{0}; i < head.queries; ++i) {
      auto const keys = head.seen(i);
      auto const* const dy = s.dy + i * head.out;
      auto const* const y = s.y + i * head.out;
      score(head, i, p);
      auto inner = T{0};  // the sum of p·dp over the keys
      for (auto d = std::size_t{0}; d < head.width; ++d) inner = lane::fma(dy[d], y[d], inner);
      for (auto j = std::size_t{0}; j < keys; ++j) {
        p[j] = lane::exp(p[j] - s.log_sum[i * head.sum]);
        auto slope = T{0};
        for (auto d = std::size_t{0}; d < head.width; ++d)
          slope = lane::fma(dy[d], head.v[j * head.kv_row + d], slope);
        dp[j] = p[j] * (slope - inner) * head.scale;
      }
      for (auto d = std::size_t{0}; d < head.width; ++d) {
        auto dq = T{0};
        for (auto j = std::size_t{0}; j < keys; ++j)
          dq = lane::fma(dp[j], head.k[j * head.kv_row + d], dq);
        s.dq[i * head.q_row + d] = dq;
      }
      for (auto j = std::size_t{0}; j < keys; ++j) {
        for (auto d = std::size_t{0}; d < head.width; ++d) {
          auto& dk = s.dk[j * head.kv_row + d];
          auto& dv = s.dv[j * head.kv_row + d];
          dk = lane::fma(dp[j], head.q[i * head.q_row + d], dk);
          dv = lane::fma(p[j], dy[d], dv);
        }
      }
    }
  }

 private:
  template <class T, class K>
  static constexpr void score(detail::attention_head<T, K> const& head, std::size_t i, T* scores) {
    for (auto j = std::size_t{0}; j < head.seen(i); ++j) {
      auto sum = T{0};
      for (auto d = std::size_t{0}; d < head.width; ++d)
        sum =
            lane::fma(head.q[i * head.q_row + d], static_cast<T>(head.k[j * head.kv_row + d]), sum);
      scores[j] = sum * head.scale;
    }
  }
};

}  // namespace tessera
