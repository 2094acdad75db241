// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/attention.hpp>
#include <tessera/ops/simd/multiply.hpp>
#include <tessera/tensor/simd/reduction.hpp>

namespace tessera {

/// A block of queries at a time: their scores with all keys, softmax, and the sum of the values,
/// each by the shared matrix product.
template <> struct kernel_for<detail::attention_fn, simd> {
  static constexpr std::size_t block = 4 * tiles::rows;

  template <class T, std::size_t Keys, std::size_t Width> struct workspace {
    static constexpr auto padded = (Keys + tiles::panel<T> - 1) / tiles::panel<T> * tiles::panel<T>;
    alignas(storage_alignment) T k[Width * padded];  ///< transposed: a row for each d
    alignas(storage_alignment) T v[Width * padded];
    alignas(storage_alignment) T p[block * padded];
    alignas(storage_alignment) T dp[block * padded];
  };

  template <class T>
  static constexpr void forward(detail::attention_head<T> const& head, T* y, T* log_sum,
                                auto& memory) {
    constexpr auto padded = std::remove_cvref_t<decltype(memory)>::padded;
    transpose_rows(head, head.k, memory.k, padded);
    for (auto first = std::size_t{0}; first < head.queries; first += block) {
      auto const rows = head.queries - first < block ? head.queries - first : block;
      auto const keys = head.seen(first + rows - 1);
      scores(head, first, rows, keys, memory.k, memory.p, padded);
      for (auto r = std::size_t{0}; r < rows; ++r) {
        auto const sum = softmax(memory.p + r * padded, head.seen(first + r), keys, head.scale);
        if (log_sum != nullptr) log_sum[(first + r) * head.sum] = sum;
      }
      tiles::multiply<T>({rows, head.width, keys, memory.p, padded, 1, head.v, head.kv_row,
                          y + first * head.out, head.out, tiles::start::zero, nullptr});
    }
  }
  template <class T>
  static constexpr void backward(detail::attention_head<T> const& head,
                                 detail::attention_slopes<T> const& s, auto& memory) {
    constexpr auto padded = std::remove_cvref_t<decltype(memory)>::padded;
    transpose_rows(head, head.k, memory.k, padded);
    transpose_rows(head, head.v, memory.v, padded);
    for (auto j = std::size_t{0}; not s.adds && j < head.keys; ++j)
      for (auto d = std::size_t{0}; d < head.width; ++d)
        s.dk[j * head.kv_row + d] = s.dv[j * head.kv_row + d] = T{0};
    for (auto first = std::size_t{0}; first < head.queries; first += block) {
      auto const rows = head.queries - first < block ? head.queries - first : block;
      auto const keys = head.seen(first + rows - 1);
      auto const* const dy = s.dy + first * head.out;
      scores(head, first, rows, keys, memory.k, memory.p, padded);
      tiles::multiply<T>({rows, keys, head.width, dy, head.out, 1, memory.v, padded, memory.dp,
                          padded, tiles::start::zero, nullptr});
      for (auto r = std::size_t{0}; r < rows; ++r) {
        auto const* const out = s.y + (first + r) * head.out;
        auto inner = T{0};
        for (auto d = std::size_t{0}; d < head.width; ++d)
          inner = lane::fma(dy[r * head.out + d], out[d], inner);
        slopes(memory.p + r * padded, memory.dp + r * padded, head.seen(first + r), keys,
               head.scale, s.log_sum[(first + r) * head.sum], inner);
      }
      auto const* const q = head.q + first * head.q_row;
      tiles::multiply<T>({rows, head.width, keys, memory.dp, padded, 1, head.k, head.kv_row,
                          s.dq + first * head.q_row, head.q_row, tiles::start::zero, nullptr});
      tiles::multiply<T>({keys, head.width, rows, memory.dp, 1, padded, q, head.q_row, s.dk,
                          head.kv_row, tiles::start::c, nullptr});
      tiles::multiply<T>({keys, head.width, rows, memory.p, 1, padded, dy, head.out, s.dv,
                          head.kv_row, tiles::start::c, nullptr});
    }
  }

 private:
  template <class T>
  static void transpose_rows(detail::attention_head<T> const& head, T const* from, T* to,
                             std::size_t padded) {
    for (auto j = std::size_t{0}; j < head.keys; ++j)
      for (auto d = std::size_t{0}; d < head.width; ++d)
        to[d * padded + j] = from[j * head.kv_row + d];
  }
  template <class T>
  static void scores(detail::attention_head<T> const& head, std::size_t first, std::size_t rows,
                     std::size_t keys, T const* k, T* p, std::size_t padded) {
    tiles::multiply<T>({rows, keys, head.width, head.q + first * head.q_row, head.q_row, 1, k,
                        padded, p, padded, tiles::start::zero, nullptr});
  }
  /// Scores to probabilities, zero beyond what the query sees; returns the logarithm of the sum.
  template <class T> static auto softmax(T* p, std::size_t seen, std::size_t keys, T scale) -> T {
    using V = lane::pack<T>;
    for_each_vector<T>(seen, [&](auto lanes, std::size_t j) TESSERA_INLINE {
      lanes.store(p + j, lanes.load(p + j) * V(scale));
    });
    auto const most = total<reductions::takes_larger>(p, seen);
    for_each_vector<T>(seen, [&](auto lanes, std::size_t j) TESSERA_INLINE {
      lanes.store(p + j, exp(lanes.load(p + j) - V(most)));
    });
    auto const sum = total<reductions::adds>(p, seen);
    for_each_vector<T>(seen, [&](auto lanes, std::size_t j) TESSERA_INLINE {
      lanes.store(p + j, lanes.load(p + j) / V(sum));
    });
    for (auto j = seen; j < keys; ++j) p[j] = T{0};
    return most + lane::log(sum);
  }
  template <class T>
  static void slopes(T* p, T* dp, std::size_t seen, std::size_t keys, T scale, T log_sum, T inner) {
    using V = lane::pack<T>;
    for_each_vector<T>(seen, [&](auto lanes, std::size_t j) TESSERA_INLINE {
      auto const probability = exp(lanes.load(p + j) * V(scale) - V(log_sum));
      lanes.store(p + j, probability);
      lanes.store(dp + j, probability * (lanes.load(dp + j) - V(inner)) * V(scale));
    });
    for (auto j = seen; j < keys; ++j) p[j] = dp[j] = T{0};
  }
  template <class Join, class T> static auto total(T const* p, std::size_t n) -> T {
    auto lanes = reductions::lanes<Join, T>{};
    detail::add_run<Join>(lanes, nodes::contiguous_row<T const>{p}, n);
    return lanes.total();
  }
};

}  // namespace tessera
