// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/reference/attention.hpp>
#include <tessera/ops/simd/attention_of_few.hpp>

namespace tessera {

/// A block of queries at a time: their scores with all keys, softmax, and the sum of the values,
/// each by the shared matrix product. The rows of a head lie far apart; what is read for several
/// blocks, and what they add to, is made contiguous first. A few queries, as of a decode step, read
/// keys and values where they lie.
template <> struct kernel_for<detail::attention_fn, simd> {
  static constexpr std::size_t block = 8 * tiles::rows;
  /// At most as many queries read keys and values where they lie: those that see other keys turn
  /// them anew, in registers. Three such take 0.5 to 0.9 of a block's time, four up to 1.25
  /// (AVX-512, 128 to 1024 keys of 64 numbers).
  static constexpr std::size_t few = 3;
  static constexpr bool shares_heads = true;

  /// The distance of two rows of so many keys: an odd number of panels, so that rows do not meet in
  /// a few places of a cache, and those of few keys lie together, whatever the context is.
  template <class T> [[nodiscard]] static constexpr auto row_of(std::size_t keys) -> std::size_t {
    return ((keys + tiles::panel<T> - 1) / tiles::panel<T> | 1U) * tiles::panel<T>;
  }

  template <class T, std::size_t Keys, std::size_t Width> struct workspace {
    static constexpr auto padded = row_of<T>(Keys);
    alignas(storage_alignment) T k[Width * padded];  ///< transposed: a row for each d
    alignas(storage_alignment) T v[Width * padded];
    alignas(storage_alignment) T p[block * padded];
    alignas(storage_alignment) T dp[block * padded];
    alignas(storage_alignment) T rows[Keys * Width];  ///< of v forward, of k backward
    alignas(storage_alignment) T dk[Keys * Width];
    alignas(storage_alignment) T dv[Keys * Width];
  };

  template <class T, class K>
  static constexpr void forward(detail::attention_head<T, K> const& head, T* y, T* log_sum,
                                auto& memory) {
    constexpr auto padded = std::remove_cvref_t<decltype(memory)>::padded;
    forward_in(head, 1, y, log_sum, part_of_workspace<T>{memory.k, memory.p, memory.rows, padded});
  }
  /// The heads of all calls, in parts by the threads that share them; heads of one query that see
  /// the same keys go together. Each part has memory of its own: some rows of scores where all
  /// queries are few; else one of two halves, as a backward pass needs twice what a forward pass
  /// does.
  template <class K> static constexpr void forward_each(auto const& walk, auto& memory) {
    using T = std::remove_reference_t<decltype(memory.p[0])>;
    constexpr auto padded = std::remove_cvref_t<decltype(memory)>::padded;
    auto work = std::size_t{0};
    auto all_few = true;
    walk([&](detail::attention_heads<T, K> const& every, T const*, T const*) {
      auto const& one = every.first;
      work += every.lanes * every.heads * one.queries * one.keys * 2 * one.width;
      all_few = all_few && every.lengths == nullptr && are_few(one);
    });
    auto const parts = detail::is_shared(work, 1, 1)
                           ? detail::threads_for(work, all_few ? block / queries_at_once<T> : 2)
                           : 1;
    auto const run_part = [&](std::size_t part) {
      auto const own =
          all_few     ? part_of_workspace<T>{nullptr, memory.p + part * queries_at_once<T> * padded,
                                             nullptr, padded}
          : part == 0 ? part_of_workspace<T>{memory.k, memory.p, memory.rows, padded}
                      : part_of_workspace<T>{memory.v, memory.dp, memory.dk, padded};
      run_share<T, K>(walk, parts, part, own);
    };
    if (parts == 1) return run_part(0);
    detail::in_parts(parts, run_part);
  }
  template <class T>
  static constexpr void backward(detail::attention_head<T> const& head,
                                 detail::attention_slopes<T> const& s, auto& memory) {
    auto const padded = row_of<T>(head.keys);
    auto const width = head.width;
    lane::copy_turned(head.keys, width, head.k, head.kv_row, memory.k, padded);
    lane::copy_turned(head.keys, width, head.v, head.kv_row, memory.v, padded);
    copy_rows(head, head.k, head.kv_row, memory.rows, width);
    if (s.adds) {
      copy_rows(head, s.dk, head.kv_row, memory.dk, width);
      copy_rows(head, s.dv, head.kv_row, memory.dv, width);
    } else {
      for (auto i = std::size_t{0}; i < head.keys * width; ++i) memory.dk[i] = memory.dv[i] = T{0};
    }
    for (auto first = std::size_t{0}; first < head.queries; first += block) {
      auto const rows = head.queries - first < block ? head.queries - first : block;
      auto const keys = head.seen(first + rows - 1);
      auto const* const dy = s.dy + first * head.out;
      scores(head, first, rows, keys, memory.k, memory.p, padded);
      tiles::multiply<T>({rows, keys, width, dy, head.out, 1, memory.v, padded, memory.dp, padded,
                          tiles::start::zero, nullptr});
      T inner[block];
      inner_products(rows, width, dy, s.y + first * head.out, head.out, inner);
      for (auto r = std::size_t{0}; r < rows; ++r)
        slopes(memory.p + r * padded, memory.dp + r * padded, head.seen(first + r), keys,
               head.scale, s.log_sum[(first + r) * head.sum], inner[r]);
      auto const* const q = head.q + first * head.q_row;
      tiles::multiply<T>({rows, width, keys, memory.dp, padded, 1, memory.rows, width,
                          s.dq + first * head.q_row, head.q_row, tiles::start::zero, nullptr});
      tiles::multiply<T>({keys, width, rows, memory.dp, 1, padded, q, head.q_row, memory.dk, width,
                          tiles::start::c, nullptr});
      tiles::multiply<T>({keys, width, rows, memory.p, 1, padded, dy, head.out, memory.dv, width,
                          tiles::start::c, nullptr});
    }
    copy_rows(head, memory.dk, width, s.dk, head.kv_row);
    copy_rows(head, memory.dv, width, s.dv, head.kv_row);
  }

 private:
  template <class T>
  static constexpr auto queries_at_once = detail::attention_of_few<T>::queries_at_once;

  /// What a forward pass needs of a workspace.
  template <class T> struct part_of_workspace {
    T* k;
    T* p;
    T* rows;
    std::size_t padded;
  };
  /// Of the heads of all calls, which are counted, those of one part.
  template <class T, class K>
  static constexpr void run_share(auto const& walk, std::size_t parts, std::size_t part,
                                  part_of_workspace<T> const& own) {
    struct call {
      detail::attention_head<T, K> head;
      std::size_t sharing;
      T* y;
      T* log_sum;
    };
    auto number = std::size_t{0};
    auto before = call{};
    auto last = call{};
    auto const run_last = [&](K const* next) {
      if (last.y == nullptr) return;
      auto const keys_are_turned = before.y != nullptr &&
                                   not are_few(before.head, before.sharing) &&
                                   has_same_keys(before.head, last.head);
      forward_in(last.head, last.sharing, last.y, last.log_sum, own, next, keys_are_turned);
      before = last;
    };
    walk([&](detail::attention_heads<T, K> const& every, T* y, T* log_sum) {
      auto const step = every.first.queries == 1 ? every.sharing : std::size_t{1};
      for (auto lane = std::size_t{0}; lane < every.lanes; ++lane)
        for (auto h = std::size_t{0}; h < every.heads; h += step) {
          if (number++ % parts != part) continue;
          auto const here =
              call{step == 1 ? every.head(lane, h) : every.sharing_from(lane, h), step,
                   y + every.out_at(lane, h),
                   log_sum == nullptr ? nullptr : log_sum + lane * every.sum_lane + h};
          run_last(here.head.k);
          last = here;
        }
    });
    run_last(nullptr);
  }
  /// `sharing`: so many heads that share their keys are the queries of one.
  template <class T, class K>
  [[nodiscard]] static constexpr auto are_few(detail::attention_head<T, K> const& head,
                                              std::size_t sharing = 1) -> bool {
    return head.queries <= few * sharing && head.seen(0) >= lane::pack<T>::width;
  }
  template <class T, class K>
  static constexpr void forward_in(detail::attention_head<T, K> const& head, std::size_t sharing,
                                   T* y, T* log_sum, part_of_workspace<T> const& own,
                                   K const* next = nullptr, bool keys_are_turned = false) {
    if (are_few(head, sharing))
      return detail::attention_of_few<T, K>{head, own.p, own.padded, next}.run(y, log_sum);
    auto const padded = row_of<T>(head.keys);
    T const* v = own.rows;
    auto v_row = head.width;
    if constexpr (std::same_as<K, T>)
      if (head.queries <= tiles::rows) v = head.v, v_row = head.kv_row;
    if (not keys_are_turned) {
      if constexpr (std::same_as<K, T>) {
        lane::copy_turned(head.keys, head.width, head.k, head.kv_row, own.k, padded);
      } else {
        copy_rows(head, head.k, head.kv_row, own.rows, head.width);
        lane::copy_turned(head.keys, head.width, own.rows, head.width, own.k, padded);
      }
      if (v == own.rows) copy_rows(head, head.v, head.kv_row, own.rows, head.width);
    }
    for (auto first = std::size_t{0}; first < head.queries; first += block) {
      auto const rows = head.queries - first < block ? head.queries - first : block;
      auto const keys = head.seen(first + rows - 1);
      scores(head, first, rows, keys, own.k, own.p, padded);
      for (auto r = std::size_t{0}; r < rows; ++r) {
        detail::softmax_of_scores(own.p + r * padded, head.seen(first + r), keys, head.scale,
                                  log_sum == nullptr ? nullptr : log_sum + (first + r) * head.sum);
      }
      tiles::multiply<T>({rows, head.width, keys, own.p, padded, 1, v, v_row, y + first * head.out,
                          head.out, tiles::start::zero, nullptr});
    }
  }
  /// Heads of one group share keys and values, which are turned and copied for the first of them.
  template <class T, class K>
  [[nodiscard]] static constexpr auto has_same_keys(detail::attention_head<T, K> const& a,
                                                    detail::attention_head<T, K> const& b) -> bool {
    return a.k == b.k && a.v == b.v && a.kv_row == b.kv_row && a.keys == b.keys &&
           a.width == b.width && a.queries == b.queries;
  }
  /// The rows of all keys, `distance` apart, to rows that are `to_distance` apart.
  template <class T, class K, class From>
  static void copy_rows(detail::attention_head<T, K> const& head, From const* from,
                        std::size_t distance, T* to, std::size_t to_distance) {
    for (auto j = std::size_t{0}; j < head.keys; ++j, from += distance, to += to_distance)
      for_each_vector<T>(head.width, [&](auto lanes, std::size_t d) TESSERA_INLINE {
        lanes.store(to + d, lanes.load(from + d));
      });
  }
  /// Row by row, d ascending: four at a time, which do not wait for each other.
  template <class T>
  static void inner_products(std::size_t rows, std::size_t width, T const* dy, T const* y,
                             std::size_t distance, T* to) {
    constexpr auto together = std::size_t{4};
    for (auto first = std::size_t{0}; first < rows; first += together) {
      auto const count = rows - first < together ? rows - first : together;
      T sum[together] = {};
      for (auto d = std::size_t{0}; d < width; ++d)
        for (auto r = std::size_t{0}; r < count; ++r) {
          auto const at = (first + r) * distance + d;
          sum[r] = lane::fma(dy[at], y[at], sum[r]);
        }
      for (auto r = std::size_t{0}; r < count; ++r) to[first + r] = sum[r];
    }
  }
  template <class T, class K>
  static void scores(detail::attention_head<T, K> const& head, std::size_t first, std::size_t rows,
                     std::size_t keys, T const* k, T* p, std::size_t padded) {
    tiles::multiply<T>({rows, keys, head.width, head.q + first * head.q_row, head.q_row, 1, k,
                        padded, p, padded, tiles::start::zero, nullptr});
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
};

}  // namespace tessera
