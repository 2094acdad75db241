// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/elementary.hpp>
#include <tessera/ops/attention.hpp>

#include <limits>

/// Attention by tiles: rows of queries and of keys that a block shares.
namespace tessera::detail {

/// The product of two rows.
template <class T>
[[nodiscard]] TESSERA_DEVICE auto inner_product(T const* a, T const* b, std::size_t n) -> T {
  auto sum = T{0};
  for (auto d = std::size_t{0}; d < n; ++d) sum = lane::fma(a[d], b[d], sum);
  return sum;
}

/// Thread `at` of all lanes: which lane, which of its heads, which row of that.
struct attention_place {
  std::size_t lane;
  std::size_t head;
  std::size_t row;
};
[[nodiscard]] TESSERA_DEVICE inline auto place_in(std::size_t heads, std::size_t rows,
                                                  std::size_t at) -> attention_place {
  return {at / rows / heads, at / rows % heads, at % rows};
}

/// What a key weighs for a query, and the slope of their score.
template <class T> struct attention_slope {
  T weight;
  T slope;
};
/// What the tiles of attention share: Rows rows of a head against Rows others, with room for Width
/// numbers of each. A row belongs to `parts` threads, which have `pairs` of its scores and `outs`
/// of its numbers.
template <class T, std::size_t Rows, std::size_t Width> struct attention_tile {
  static constexpr std::size_t threads = 256;
  static constexpr std::size_t parts = threads / Rows;
  static constexpr std::size_t pairs = Rows / parts;
  static constexpr std::size_t outs = Width / parts;
  using rows = T[Rows][Width + 1];
  using scores = T[Rows][Rows + 1];

  [[nodiscard]] TESSERA_DEVICE static constexpr auto count_of(std::size_t n) -> std::size_t {
    return (n + Rows - 1) / Rows;
  }
  /// Thread `part` of row first + row of a head; a block has Rows of its n rows.
  struct place {
    std::size_t lane;
    std::size_t head;
    std::size_t first;
    std::size_t row;
    std::size_t part;
  };
  [[nodiscard]] TESSERA_DEVICE static auto place_of(std::size_t heads, std::size_t n,
                                                    std::size_t block, std::size_t thread)
      -> place {
    auto const per_head = count_of(n);
    return {block / per_head / heads, block / per_head % heads, block % per_head * Rows,
            thread / parts, thread % parts};
  }
  /// True where one of Rows queries sees one of Rows keys.
  [[nodiscard]] TESSERA_DEVICE static auto sees(attention_head<T> const& head,
                                                std::size_t first_query, std::size_t first_key)
      -> bool {
    auto const end = first_query + Rows;
    return first_key < head.seen((end < head.queries ? end : head.queries) - 1);
  }
  /// Rows first, first + 1, ... of a head with n rows; zeros behind its end.
  TESSERA_DEVICE static void load(rows& to, T const* from, std::size_t distance, std::size_t first,
                                  std::size_t n, std::size_t width, std::size_t thread) {
    for (auto e = thread; e < Rows * Width; e += threads) {
      auto const i = first + e / Width;
      auto const d = e % Width;
      to[e / Width][d] = i < n && d < width ? from[i * distance + d] : T{0};
    }
  }
  /// sums += of[row] · the rows of m, for a thread's part of a row.
  TESSERA_DEVICE static void add_product(T (&sums)[outs], scores const& of, rows const& m,
                                         std::size_t row, std::size_t part) {
    for (auto j = std::size_t{0}; j < Rows; ++j)
      for (auto n = std::size_t{0}; n < outs; ++n)
        sums[n] = lane::fma(of[row][j], m[j][part + n * parts], sums[n]);
  }
  TESSERA_DEVICE static void store(T const (&from)[outs], T* to, std::size_t width,
                                   std::size_t part, T factor = T{1}) {
    for (auto n = std::size_t{0}; n < outs; ++n)
      if (part + n * parts < width) to[part + n * parts] = from[n] * factor;
  }
};

/// A block for Rows queries of a head: the keys go by tile after tile, with the maximum and the sum
/// of the softmax so far, by which what was added before is scaled.
template <class T, std::size_t Rows, std::size_t Width> struct attention_forward_tile {
  using tile = attention_tile<T, Rows, Width>;
  static constexpr std::size_t threads = tile::threads;
  static constexpr T nothing_yet = -std::numeric_limits<T>::infinity();
  struct shared {
    typename tile::rows q;
    typename tile::rows kv;
    typename tile::scores p;
    T most[Rows][tile::parts];
    T sum[Rows][tile::parts];
  };
  struct registers {
    T out[tile::outs];
    T score[tile::pairs];
    T most;
    T total;
  };

  attention_heads<T> every;
  T* y;
  T* log_sum;

  [[nodiscard]] TESSERA_DEVICE auto blocks() const -> std::size_t {
    return every.lanes * every.heads * tile::count_of(every.first.queries);
  }
  [[nodiscard]] TESSERA_DEVICE auto phases() const -> std::size_t {
    return 2 + 4 * tile::count_of(every.first.keys);
  }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          registers& own) const {
    auto const [lane_of_batch, h, first, row, part] =
        tile::place_of(every.heads, every.first.queries, block, thread);
    auto const head = every.head(lane_of_batch, h);
    auto const query = first + row;
    if (phase == 0) {
      tile::load(s.q, head.q, head.q_row, first, head.queries, head.width, thread);
      for (auto& x : own.out) x = T{0};
      own.most = nothing_yet;
      own.total = T{0};
      return;
    }
    if (phase + 1 == phases()) {
      if (query >= head.queries) return;
      auto const sees_none = head.seen(query) == 0;
      // Scores of -inf alone weigh nothing: NaN, as of the reference.
      auto const total =
          sees_none || own.total > T{0} ? own.total : std::numeric_limits<T>::quiet_NaN();
      tile::store(own.out, y + every.out_at(lane_of_batch, h) + query * head.out, head.width, part,
                  sees_none ? T{0} : T{1} / total);
      if (log_sum != nullptr && part == 0)
        log_sum[lane_of_batch * every.sum_lane + h + query * head.sum] =
            own.most + lane::log(total);
      return;
    }
    auto const key = (phase - 1) / 4 * Rows;
    auto const keys = head.keys - head.unseen;  // zeros behind them: 0 times NaN is NaN
    if (not tile::sees(head, first, key)) return;
    switch ((phase - 1) % 4) {
      case 0:
        return tile::load(s.kv, head.k, head.kv_row, key, keys, head.width, thread);
      case 1:
        return score(s, own, head, query, key, row, part);
      case 2:
        weigh(s, own, row, part);
        return tile::load(s.kv, head.v, head.kv_row, key, keys, head.width, thread);
      default:
        for (auto const sum : s.sum[row]) own.total += sum;
        tile::add_product(own.out, s.p, s.kv, row, part);
    }
  }

 private:
  TESSERA_DEVICE static void score(shared& s, registers& own, attention_head<T> const& head,
                                   std::size_t query, std::size_t key, std::size_t row,
                                   std::size_t part) {
    auto most = nothing_yet;
    for (auto n = std::size_t{0}; n < tile::pairs; ++n) {
      auto const j = part + n * tile::parts;
      auto const sees = query < head.queries && key + j < head.keys && key + j < head.seen(query);
      own.score[n] = sees ? inner_product(s.q[row], s.kv[j], head.width) * head.scale : nothing_yet;
      most = own.score[n] > most ? own.score[n] : most;
    }
    s.most[row][part] = most;
  }
  /// The scores as exponentials, and what was before by the new maximum.
  TESSERA_DEVICE static void weigh(shared& s, registers& own, std::size_t row, std::size_t part) {
    auto most = own.most;
    for (auto const x : s.most[row]) most = x > most ? x : most;
    auto const factor = own.most == nothing_yet ? T{0} : lane::exp(own.most - most);
    auto sum = T{0};
    for (auto n = std::size_t{0}; n < tile::pairs; ++n) {
      auto const p = own.score[n] == nothing_yet ? T{0} : lane::exp(own.score[n] - most);
      s.p[row][part + n * tile::parts] = p;
      sum += p;
    }
    s.sum[row][part] = sum;
    for (auto& x : own.out) x = x * factor;
    own.total = own.total * factor;
    own.most = most;
  }
};

/// inner[row] = dy·y, for the queries of all heads.
template <class T> struct attention_inner {
  attention_heads<T> every;
  attention_slopes<T> of_first;
  T* inner;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const [lane_of_batch, h, i] = place_in(every.heads, every.first.queries, at);
    auto const from = every.out_at(lane_of_batch, h) + i * every.first.out;
    inner[at] = inner_product(of_first.dy + from, of_first.y + from, every.first.width);
  }
};

/// What the two passes back share: the rows of a tile of queries and of one of keys, and the weight
/// and slope of a pair.
template <class T, std::size_t Rows, std::size_t Width> struct attention_backward_tile {
  using tile = attention_tile<T, Rows, Width>;
  struct shared {
    typename tile::rows q;
    typename tile::rows dy;
    typename tile::rows k;
    typename tile::rows v;
  };

  attention_heads<T> every;
  attention_slopes<T> of_first;
  T const* inner;

  TESSERA_DEVICE void load_queries(shared& s, std::size_t lane_of_batch, std::size_t h,
                                   std::size_t first, std::size_t thread) const {
    auto const& f = every.first;
    tile::load(s.q, f.q + every.q_at(lane_of_batch, h), f.q_row, first, f.queries, f.width, thread);
    tile::load(s.dy, of_first.dy + every.out_at(lane_of_batch, h), f.out, first, f.queries, f.width,
               thread);
  }
  TESSERA_DEVICE void load_keys(shared& s, std::size_t lane_of_batch, std::size_t h,
                                std::size_t first, std::size_t thread) const {
    auto const& f = every.first;
    auto const head = every.head(lane_of_batch, h);
    auto const keys = head.keys - head.unseen;
    tile::load(s.k, head.k, f.kv_row, first, keys, f.width, thread);
    tile::load(s.v, head.v, f.kv_row, first, keys, f.width, thread);
  }
  /// Query first_query + i of a head and key first_key + j: none where it is not seen.
  [[nodiscard]] TESSERA_DEVICE auto pair(shared const& s, std::size_t lane_of_batch, std::size_t h,
                                         std::size_t first_query, std::size_t i,
                                         std::size_t first_key, std::size_t j) const
      -> attention_slope<T> {
    auto const& f = every.first;
    auto const query = first_query + i;
    auto const key = first_key + j;
    if (query >= f.queries || key >= every.head(lane_of_batch, h).seen(query)) return {T{0}, T{0}};
    auto const sum = of_first.log_sum[lane_of_batch * every.sum_lane + h + query * f.sum];
    auto const p = lane::exp(inner_product(s.q[i], s.k[j], f.width) * f.scale - sum);
    auto const slope = inner_product(s.dy[i], s.v[j], f.width);
    auto const mean = inner[(lane_of_batch * every.heads + h) * f.queries + query];
    return {p, p * (slope - mean) * f.scale};
  }
};

/// A block for Rows queries of a head.
template <class T, std::size_t Rows, std::size_t Width>
struct attention_query_tile : attention_backward_tile<T, Rows, Width> {
  using base = attention_backward_tile<T, Rows, Width>;
  using tile = typename base::tile;
  using base::every;
  using base::of_first;
  static constexpr std::size_t threads = tile::threads;
  struct shared : base::shared {
    typename tile::scores dp;
  };
  struct registers {
    T dq[tile::outs];
  };

  [[nodiscard]] TESSERA_DEVICE auto blocks() const -> std::size_t {
    return every.lanes * every.heads * tile::count_of(every.first.queries);
  }
  [[nodiscard]] TESSERA_DEVICE auto phases() const -> std::size_t {
    return 2 + 3 * tile::count_of(every.first.keys);
  }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          registers& own) const {
    auto const [lane_of_batch, h, first, row, part] =
        tile::place_of(every.heads, every.first.queries, block, thread);
    if (phase == 0) {
      for (auto& x : own.dq) x = T{0};
      return this->load_queries(s, lane_of_batch, h, first, thread);
    }
    if (phase + 1 == phases()) {
      if (first + row < every.first.queries)
        tile::store(own.dq,
                    of_first.dq + every.q_at(lane_of_batch, h) + (first + row) * every.first.q_row,
                    every.first.width, part);
      return;
    }
    auto const key = (phase - 1) / 3 * Rows;
    if (not tile::sees(every.first, first, key)) return;
    switch ((phase - 1) % 3) {
      case 0:
        return this->load_keys(s, lane_of_batch, h, key, thread);
      case 1:
        for (auto j = part; j < Rows; j += tile::parts)
          s.dp[row][j] = this->pair(s, lane_of_batch, h, first, row, key, j).slope;
        return;
      default:
        tile::add_product(own.dq, s.dp, s.k, row, part);
    }
  }
};

/// A block for Rows keys, and the queries of all heads that see them.
template <class T, std::size_t Rows, std::size_t Width>
struct attention_key_tile : attention_backward_tile<T, Rows, Width> {
  using base = attention_backward_tile<T, Rows, Width>;
  using tile = typename base::tile;
  using base::every;
  using base::of_first;
  static constexpr std::size_t threads = tile::threads;
  struct shared : base::shared {
    typename tile::scores p;
    typename tile::scores dp;
  };
  struct registers {
    T dk[tile::outs];
    T dv[tile::outs];
  };

  [[nodiscard]] TESSERA_DEVICE auto blocks() const -> std::size_t {
    return every.lanes * (every.heads / every.sharing) * tile::count_of(every.first.keys);
  }
  [[nodiscard]] TESSERA_DEVICE auto phases() const -> std::size_t {
    return 2 + 3 * every.sharing * tile::count_of(every.first.queries);
  }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          registers& own) const {
    auto const [lane_of_batch, shared_by, key, row, part] =
        tile::place_of(every.heads / every.sharing, every.first.keys, block, thread);
    auto const group = shared_by * every.sharing;
    if (phase == 0) {
      for (auto& x : own.dk) x = T{0};
      for (auto& x : own.dv) x = T{0};
      return this->load_keys(s, lane_of_batch, group, key, thread);
    }
    if (phase + 1 == phases()) {
      if (key + row >= every.first.keys) return;
      auto const to = every.kv_at(lane_of_batch, group) + (key + row) * every.first.kv_row;
      tile::store(own.dk, of_first.dk + to, every.first.width, part);
      return tile::store(own.dv, of_first.dv + to, every.first.width, part);
    }
    auto const tiles = tile::count_of(every.first.queries);
    auto const h = group + (phase - 1) / 3 / tiles;
    auto const first = (phase - 1) / 3 % tiles * Rows;
    if (not tile::sees(every.first, first, key)) return;
    switch ((phase - 1) % 3) {
      case 0:
        return this->load_queries(s, lane_of_batch, h, first, thread);
      case 1:
        for (auto i = part; i < Rows; i += tile::parts) {
          auto const of = this->pair(s, lane_of_batch, h, first, i, key, row);
          s.p[row][i] = of.weight;
          s.dp[row][i] = of.slope;
        }
        return;
      default:
        tile::add_product(own.dk, s.dp, s.q, row, part);
        tile::add_product(own.dv, s.p, s.dy, row, part);
    }
  }
};

/// Calls f.template operator()<Rows, Width>() with tiles that a head of this width fits into; false
/// where it is too wide for the memory that a block shares.
template <class T>
[[nodiscard]] auto with_attention_tiles(std::size_t width, auto const& f) -> bool {
  constexpr auto narrow = sizeof(T) <= 4;
  if (width <= 64) {
    f.template operator()<narrow ? 32 : 16, 64>();
    return true;
  }
  if constexpr (narrow) {
    if (width <= 128) {
      f.template operator()<16, 128>();
      return true;
    }
  }
  return false;
}

}  // namespace tessera::detail
