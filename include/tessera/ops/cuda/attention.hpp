// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>
#include <tessera/ops/cuda/attention_tiles.hpp>

namespace tessera {

namespace detail {

template <class T>
[[nodiscard]] TESSERA_DEVICE auto attention_score(attention_head<T> const& head, std::size_t i,
                                                  std::size_t j) -> T {
  return inner_product(head.q + i * head.q_row, head.k + j * head.kv_row, head.width) * head.scale;
}
/// One query of one head: scores are computed anew for the maximum, the sum and the output.
template <class T> struct attention_query {
  attention_heads<T> every;
  T* y;
  T* log_sum;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const [lane_of_batch, h, i] = place_in(every.heads, every.first.queries, at);
    auto const head = every.head(lane_of_batch, h);
    auto const keys = head.seen(i);
    auto largest = reductions::lanes<reductions::takes_larger, T>{};
    for (auto j = std::size_t{0}; j < keys; ++j) largest.add(attention_score(head, i, j));
    auto const most = largest.total();
    auto sum = reductions::lanes<reductions::adds, T>{};
    for (auto j = std::size_t{0}; j < keys; ++j)
      sum.add(lane::exp(attention_score(head, i, j) - most));
    auto const total = sum.total();
    if (log_sum != nullptr)
      log_sum[lane_of_batch * every.sum_lane + h + i * head.sum] = most + lane::log(total);
    auto* const out = y + every.out_at(lane_of_batch, h) + i * head.out;
    for (auto d = std::size_t{0}; d < head.width; ++d) out[d] = T{0};
    for (auto j = std::size_t{0}; j < keys; ++j) {
      auto const p = lane::exp(attention_score(head, i, j) - most) / total;
      for (auto d = std::size_t{0}; d < head.width; ++d)
        out[d] = lane::fma(p, head.v[j * head.kv_row + d], out[d]);
    }
  }
};

template <class T>
[[nodiscard]] TESSERA_DEVICE auto slope_of_pair(attention_head<T> const& head,
                                                attention_slopes<T> const& s, std::size_t i,
                                                std::size_t j) -> attention_slope<T> {
  auto const* const dy = s.dy + i * head.out;
  auto const inner = inner_product(dy, s.y + i * head.out, head.width);
  auto const p = lane::exp(attention_score(head, i, j) - s.log_sum[i * head.sum]);
  auto const slope = inner_product(dy, head.v + j * head.kv_row, head.width);
  return {p, p * (slope - inner) * head.scale};
}
template <class T> struct attention_query_slope {
  attention_heads<T> every;
  attention_slopes<T> of_first;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const [lane_of_batch, h, i] = place_in(every.heads, every.first.queries, at);
    auto const head = every.head(lane_of_batch, h);
    auto const s = every.slopes(of_first, lane_of_batch, h);
    auto* const dq = s.dq + i * head.q_row;
    for (auto d = std::size_t{0}; d < head.width; ++d) dq[d] = T{0};
    for (auto j = std::size_t{0}; j < head.seen(i); ++j) {
      auto const dp = slope_of_pair(head, s, i, j).slope;
      for (auto d = std::size_t{0}; d < head.width; ++d)
        dq[d] = lane::fma(dp, head.k[j * head.kv_row + d], dq[d]);
    }
  }
};
/// One key of all heads that see it.
template <class T> struct attention_key_slope {
  attention_heads<T> every;
  attention_slopes<T> of_first;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const [lane_of_batch, seen, j] =
        place_in(every.heads / every.sharing, every.first.keys, at);
    auto const h = seen * every.sharing;
    auto* const dk = of_first.dk + every.kv_at(lane_of_batch, h) + j * every.first.kv_row;
    auto* const dv = of_first.dv + every.kv_at(lane_of_batch, h) + j * every.first.kv_row;
    for (auto d = std::size_t{0}; d < every.first.width; ++d) dk[d] = dv[d] = T{0};
    for (auto k = h; k < h + every.sharing; ++k)
      add_head(every.head(lane_of_batch, k), every.slopes(of_first, lane_of_batch, k), j, dk, dv);
  }

 private:
  TESSERA_DEVICE static void add_head(attention_head<T> const& head, attention_slopes<T> const& s,
                                      std::size_t j, T* dk, T* dv) {
    for (auto i = std::size_t{0}; i < head.queries; ++i) {
      if (j >= head.seen(i)) continue;
      auto const pair = slope_of_pair(head, s, i, j);
      for (auto d = std::size_t{0}; d < head.width; ++d) {
        dk[d] = lane::fma(pair.slope, head.q[i * head.q_row + d], dk[d]);
        dv[d] = lane::fma(pair.weight, s.dy[i * head.out + d], dv[d]);
      }
    }
  }
};

}  // namespace detail

/// Tiles of queries and keys; for heads that are too wide a thread for each query, and in the
/// backward pass one for each key. Sums are in another order than those of `reference`.
template <> struct kernel_for<detail::attention_fn, cuda> {
  template <class T, std::size_t Keys, std::size_t Width> using workspace = nothing;

  static void for_each(std::size_t count, auto const& body) { device::for_each(count, body); }
  template <class T>
  static void forward_heads(detail::attention_heads<T> const& every, T* y, T* log_sum) {
    auto const tiled = [&]<std::size_t Rows, std::size_t Width>() {
      auto const body = detail::attention_forward_tile<T, Rows, Width>{every, y, log_sum};
      device::current().launch(body, body.blocks());
    };
    if (not detail::with_attention_tiles<T>(every.first.width, tiled))
      device::for_each(every.lanes * every.heads * every.first.queries,
                       detail::attention_query<T>{every, y, log_sum});
  }
  template <class T>
  static void backward_heads(detail::attention_heads<T> const& every,
                             detail::attention_slopes<T> const& slopes) {
    auto const queries = every.lanes * every.heads * every.first.queries;
    auto const tiled = [&]<std::size_t Rows, std::size_t Width>() {
      auto const inner = device::scratch<T>(queries);
      device::for_each(queries, detail::attention_inner<T>{every, slopes, inner.data()});
      auto const by_queries =
          detail::attention_query_tile<T, Rows, Width>{{every, slopes, inner.data()}};
      device::current().launch(by_queries, by_queries.blocks());
      auto const by_keys =
          detail::attention_key_tile<T, Rows, Width>{{every, slopes, inner.data()}};
      device::current().launch(by_keys, by_keys.blocks());
    };
    if (detail::with_attention_tiles<T>(every.first.width, tiled)) return;
    device::for_each(queries, detail::attention_query_slope<T>{every, slopes});
    device::for_each(every.lanes * (every.heads / every.sharing) * every.first.keys,
                     detail::attention_key_slope<T>{every, slopes});
  }
};

}  // namespace tessera
