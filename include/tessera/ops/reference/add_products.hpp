// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/tensor/gate_panels.hpp>
#include <tessera/tensor/node.hpp>
#include <tessera/tensor/weights.hpp>

namespace tessera::detail {

/// The distance of two weights of an output.
template <class W>
inline constexpr std::size_t weight_distance = [] {
  if constexpr (by_columns<W>)
    return W::column_distance;
  else
    return std::size_t{1};
}();

/// sum[r] += the product of x with the weights of output `row(r)`, over k ascending, one fma each.
/// The outputs share the loads of x, which is what a small machine has to save; those of a matrix
/// by columns share a pointer, too.
template <std::size_t In, std::size_t Rows, class T, class W>
  requires(not by_gate_panels<W> && not is_block<stored_of<W>>)
TESSERA_INLINE constexpr void add_products(T const* x, W const& w, auto const& row,
                                           T (&sum)[Rows]) {
  using Stored = stored_of<W>;
  constexpr auto next = weight_distance<W>;
  constexpr auto step = std::size_t{by_columns<W> ? 4 : 8};
  auto const weights = weights_of<T>(w);
  auto const first = [&](std::size_t o)
                         TESSERA_INLINE { return weights.data + o * (by_columns<W> ? 1 : In); };
  [[maybe_unused]] T scale[Rows] = {};
  if constexpr (is_scaled<Stored>)
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < Rows; ++r) scale[r] = weights.scales.at(row(r), 0);
  auto const add = [&](std::size_t k, auto const& weight) TESSERA_INLINE {
    auto const value = one_lane::load(x + k);
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < Rows; ++r) {
      auto const number = widened<T>(weight(r)[k * next]);
      if constexpr (is_scaled<Stored>)
        sum[r] = lane::fma(value, number * scale[r], sum[r]);
      else
        sum[r] = lane::fma(value, number, sum[r]);
    }
  };
  auto const walk = [&](auto const& weight, auto const& advance) TESSERA_INLINE {
    for (auto n = In / step; n > 0; --n) {
#pragma GCC unroll 16
      for (auto k = std::size_t{0}; k < step; ++k) add(k, weight);
      x += step;
      advance();
    }
#pragma GCC unroll 16
    for (auto k = std::size_t{0}; k < In % step; ++k) add(k, weight);
  };
  if constexpr (by_columns<W>) {
    auto const* at = first(row(0));
    walk([&](std::size_t r) TESSERA_INLINE { return at + (row(r) - row(0)); },
         [&]() TESSERA_INLINE { at += step * next; });
  } else {
    Stored const* at[Rows] = {};
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < Rows; ++r) at[r] = first(row(r));
    walk([&](std::size_t r) TESSERA_INLINE { return at[r]; },
         [&]() TESSERA_INLINE {
#pragma GCC unroll 16
           for (auto r = std::size_t{0}; r < Rows; ++r) at[r] += step;
         });
  }
}

/// The same of panels, which only constant expressions read a number at a time, and of blocks.
template <std::size_t In, std::size_t Rows, class X, class T, class W>
  requires(by_gate_panels<W> || is_block<stored_of<W>>)
constexpr void add_products(X const* x, W const& w, auto const& row, T (&sum)[Rows]) {
  auto const weights = weights_of<T>(w);
  for (auto k = std::size_t{0}; k < In; ++k)
    for (auto r = std::size_t{0}; r < Rows; ++r)
      sum[r] = lane::fma(one_lane::load(x + k), weights.at(row(r), k), sum[r]);
}

}  // namespace tessera::detail
