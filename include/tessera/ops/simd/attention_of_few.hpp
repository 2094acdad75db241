// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/first_level.hpp>
#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/simd/shared_product.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>
#include <tessera/tensor/simd/reduction.hpp>

#include <bit>
#include <cstddef>
#include <utility>

namespace tessera::detail::inline TESSERA_TARGET {

/// Scores as the softmax sees them.
template <class T> struct scaled_scores {
  T const* data;
  T scale;
  [[nodiscard]] TESSERA_INLINE auto get(auto lanes, std::size_t i) const {
    return lanes.load(data + i) * lanes.splat(scale);
  }
};

/// Scores to probabilities, zero beyond what the query sees; the logarithm of the sum goes to
/// log_sum, unless it is null.
template <class T>
void softmax_of_scores(T* p, std::size_t seen, std::size_t keys, T scale, T* log_sum) {
  auto const [most, total] = softmax_of_row(scaled_scores<T>{p, scale}, seen, p);
  for (auto j = seen; j < keys; ++j) p[j] = T{0};
  if (log_sum != nullptr) *log_sum = most + lane::log(total);
}

/// Attention of a few queries, as of a decode step: keys and values are read where they lie, and
/// turned in registers. The same bits as by blocks of queries.
template <class T, class K = T> struct attention_of_few {
  /// Queries that see the same keys, which are turned once for them all.
  static constexpr std::size_t queries_at_once = tiles::vectors == 4 ? 4 : 3;

  attention_head<T, K> const& head;
  T* p;  ///< queries_at_once rows of scores
  std::size_t padded;
  K const* next_keys;  ///< what is read after this head, or null
  bool asks_near = lane::first_level_waits_for_many();
  /// So many rows of keys and values are asked for before they are read: a head's parts lie too far
  /// apart for a processor to foresee. Keys are followed by their values, values by the next keys.
  std::size_t keys_ahead = asks_near ? 16 : 32;

  /// Those that see the same keys, up to `queries_at_once` at once.
  void run(T* y, T* log_sum) const {
    for (auto i = std::size_t{0}; i < head.queries;) {
      auto const keys = head.seen(i);
      auto count = std::size_t{1};
      while (count < queries_at_once && i + count < head.queries && head.seen(i + count) == keys)
        ++count;
      auto part = head;
      part.q += i * head.q_row;
      auto* const sums = log_sum == nullptr ? nullptr : log_sum + i * head.sum;
      auto const here = attention_of_few{part, p, padded, next_keys, asks_near};
      [&]<std::size_t... Before>(std::index_sequence<Before...>) {
        (void)((count == Before + 1 &&
                (here.template at_once<Before + 1>(keys, y + i * head.out, sums), true)) ||
               ...);
      }(std::make_index_sequence<queries_at_once>{});
      i += count;
    }
  }

 private:
  template <std::size_t Queries> void at_once(std::size_t keys, T* y, T* log_sum) const {
    constexpr auto width = lane::pack<T>::width;
    auto const end = (keys + width - 1) / width * width;
    for (auto j = std::size_t{0}; j < keys; j += width) {
      auto const ahead = j + keys_ahead;
      fetch_rows<width>(
          ahead < end ? head.k + ahead * head.kv_row : head.v + (ahead - end) * head.kv_row,
          head.width);
      auto const first = keys - j < width ? keys - width : j;  // the last may be computed twice
      add_keys<Queries>(head.k + first * head.kv_row, p + first);
    }
    for (auto i = std::size_t{0}; i < Queries; ++i)
      softmax_of_scores(p + i * padded, keys, keys, head.scale,
                        log_sum == nullptr ? nullptr : log_sum + i * head.sum);
    add_values<Queries>(keys, y);
  }
  template <std::size_t Rows>
  TESSERA_INLINE void fetch_rows(K const* first, std::size_t width) const {
    constexpr auto line = 64 / sizeof(K);
    if (asks_near) {
      for (auto d = std::size_t{0}; d < width; d += line)
#pragma GCC unroll 16
        for (auto r = std::size_t{0}; r < Rows; ++r) lane::fetch_near(first + r * head.kv_row + d);
    } else {
      for (auto d = std::size_t{0}; d < width; d += line)
#pragma GCC unroll 16
        for (auto r = std::size_t{0}; r < Rows; ++r) lane::fetch(first + r * head.kv_row + d);
    }
  }
  /// Of queries with a vector of keys, which are turned a cache line of each at a time.
  template <std::size_t Queries> void add_keys(K const* k, T* to) const {
    using V = lane::pack<T>;
    V sum[Queries];
#pragma GCC unroll 4
    for (auto& s : sum) s = V(T{0});
    auto const add = [&](std::size_t d, V column) TESSERA_INLINE {
#pragma GCC unroll 4
      for (auto i = std::size_t{0}; i < Queries; ++i)
        sum[i] = fma(V(head.q[i * head.q_row + d]), column, sum[i]);
    };
    auto d = std::size_t{0};
    if constexpr (std::same_as<K, T>) {
      constexpr auto line = std::size_t{64} / sizeof(T);
      for (; d + line <= head.width; d += line)
        lane::for_columns_of_line(k + d, head.kv_row,
                                  [&](std::size_t c, auto const& columns) TESSERA_INLINE {
#pragma GCC unroll 4
                                    for (auto i = std::size_t{0}; i < lane::columns_at_once<T>; ++i)
                                      add(d + c + i, columns[i]);
                                  });
    } else {
      using numbers = turned_numbers<K>;
      for (; d + numbers::length <= head.width; d += numbers::length) {
        auto const columns = numbers(k + d, head.kv_row);
#pragma GCC unroll 8
        for (auto i = std::size_t{0}; i < numbers::length / 2; ++i) {
          auto const [even, odd] = columns.pair(i);
          add(d + 2 * i, even);
          add(d + 2 * i + 1, odd);
        }
      }
    }
    for (; d < head.width; ++d) {
      T column[V::width];
      for (auto r = std::size_t{0}; r < V::width; ++r)
        column[r] = static_cast<T>(k[r * head.kv_row + d]);
      add(d, lane::load(column));
    }
#pragma GCC unroll 4
    for (auto i = std::size_t{0}; i < Queries; ++i) lane::store(to + i * padded, sum[i]);
  }
  /// Vectors of a row that so many queries add up at a time: 256 bytes for one where registers
  /// suffice, as a second sweep over rows that lie far apart costs as much as the first.
  template <std::size_t Queries>
  [[nodiscard]] static consteval auto vectors_at_once() -> std::size_t {
    constexpr auto in_panel = tiles::panel<T> / lane::pack<T>::width;
    constexpr auto sums = Queries == 1 ? 8 : std::bit_floor(tiles::rows * tiles::vectors / Queries);
    return in_panel < sums ? in_panel : sums;
  }
  void add_column_of_values(std::size_t queries, std::size_t keys, std::size_t d, T* y) const {
    for (auto q = std::size_t{0}; q < queries; ++q) {
      auto sum = T{0};
      for (auto j = std::size_t{0}; j < keys; ++j)
        sum = lane::fma(p[q * padded + j], static_cast<T>(head.v[j * head.kv_row + d]), sum);
      y[q * head.out + d] = sum;
    }
  }
  /// y = the values by p, keys ascending.
  template <std::size_t Queries> void add_values(std::size_t keys, T* y) const {
    using V = lane::pack<T>;
    constexpr auto vectors = vectors_at_once<Queries>();
    auto d = std::size_t{0};
    for (; d + vectors * V::width <= head.width; d += vectors * V::width) {
      V sum[Queries][vectors];
#pragma GCC unroll 4
      for (auto& of_query : sum)
#pragma GCC unroll 8
        for (auto& s : of_query) s = V(T{0});
      auto const* v = head.v + d;
      for (auto j = std::size_t{0}; j < keys; ++j, v += head.kv_row) {
        auto const ahead = j + keys_ahead;
        if (ahead < keys)
          fetch_rows<1>(v + keys_ahead * head.kv_row, vectors * V::width);
        else if (next_keys != nullptr)
          fetch_rows<1>(next_keys + d + (ahead - keys) * head.kv_row, vectors * V::width);
        V value[vectors];
#pragma GCC unroll 8
        for (auto i = std::size_t{0}; i < vectors; ++i) value[i] = lane::load(v + i * V::width);
#pragma GCC unroll 4
        for (auto q = std::size_t{0}; q < Queries; ++q) {
          auto const weight = V(p[q * padded + j]);
#pragma GCC unroll 8
          for (auto i = std::size_t{0}; i < vectors; ++i)
            sum[q][i] = fma(weight, value[i], sum[q][i]);
        }
      }
#pragma GCC unroll 4
      for (auto q = std::size_t{0}; q < Queries; ++q)
#pragma GCC unroll 8
        for (auto i = std::size_t{0}; i < vectors; ++i)
          lane::store(y + q * head.out + d + i * V::width, sum[q][i]);
    }
    if constexpr (std::same_as<K, T>) {
      tiles::multiply<T>({Queries, head.width - d, keys, p, padded, 1, head.v + d, head.kv_row,
                          y + d, head.out, tiles::start::zero, nullptr});
    } else {
      for (; d < head.width; ++d) add_column_of_values(Queries, keys, d, y);
    }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
