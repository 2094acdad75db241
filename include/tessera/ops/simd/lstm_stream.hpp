// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/lstm_cell.hpp>
#include <tessera/ops/simd/multiply.hpp>

/// A step of the cell for few rows, with the weights by columns (a stream's) or as they are.
namespace tessera::detail::inline TESSERA_TARGET {

/// What a step reads and writes, as memory.
template <class T> struct lstm_step_memory {
  std::size_t rows;
  T const* x;
  T const* h;
  T const* c_before;
  T* gates;  ///< or null
  T* c;
  T* y;
};

/// From the sums of four gates to a vector of units, at `unit` of a row.
template <class T, class V>
TESSERA_INLINE inline void lstm_finish(lstm_step_memory<T> const& m, std::size_t hidden,
                                       std::size_t row, std::size_t unit, V input, V forget,
                                       V candidate, V output, auto const& load, auto const& store) {
  auto const at = row * hidden + unit;
  auto const result =
      lstm_unit_forward<V>({input, forget, candidate, output}, load(m.c_before + at));
  if (m.gates != nullptr) {
    auto* const gate = m.gates + row * 4 * hidden + unit;
    store(gate, result.gates.input);
    store(gate + hidden, result.gates.forget);
    store(gate + 2 * hidden, result.gates.candidate);
    store(gate + 3 * hidden, result.gates.output);
  }
  store(m.c + at, result.c);
  store(m.y + at, result.h);
}

/// Weights as they are, by rows.
template <class T> struct lstm_rows_memory {
  T const* weight_ih;
  T const* weight_hh;
  T const* bias_ih;  ///< or null, both
  T const* bias_hh;
  std::size_t in;
  std::size_t recurrent;
  std::size_t hidden;
};

/// The sums of `Units` units of one row, to sums[gate·width + unit]: one number each, since their
/// order leaves no vectors here; but they do not wait for each other.
template <class T, std::size_t Units>
void lstm_sums(lstm_rows_memory<T> const& w, T const* x, T const* h, std::size_t unit, T* sums) {
  constexpr auto width = lane::pack<T>::width;
  T sum[4][Units];
  auto const each = [&](auto const& f) TESSERA_INLINE {
    unrolled<4>([&](auto g) TESSERA_INLINE {
      unrolled<Units>([&](auto u) TESSERA_INLINE { f(g, u, g * w.hidden + unit + u); });
    });
  };
  each([&](auto g, auto u, std::size_t o) TESSERA_INLINE {
    sum[g][u] = w.bias_ih == nullptr ? T{0} : w.bias_ih[o] + w.bias_hh[o];
  });
  auto const add = [&](T const* a, T const* weight, std::size_t depth) TESSERA_INLINE {
    for (auto k = std::size_t{0}; k < depth; ++k)
      each([&](auto g, auto u, std::size_t o)
               TESSERA_INLINE { sum[g][u] = lane::fma(a[k], weight[o * depth + k], sum[g][u]); });
  };
  add(x, w.weight_ih, w.in);
  add(h, w.weight_hh, w.recurrent);
  each([&](auto g, auto u, std::size_t) TESSERA_INLINE { sums[g * width + u] = sum[g][u]; });
}

template <class T> void lstm_step_rows(lstm_step_memory<T> const& m, lstm_rows_memory<T> const& w) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  for (auto row = std::size_t{0}; row < m.rows; ++row) {
    auto const* const x = m.x + row * w.in;
    auto const* const h = m.h + row * w.recurrent;
    for_each_vector<T>(w.hidden, [&](auto lanes, std::size_t unit) TESSERA_INLINE {
      T sums[4 * width] = {};
      auto u = std::size_t{0};
      for (; u + 3 <= lanes.count(); u += 3) lstm_sums<T, 3>(w, x, h, unit + u, sums + u);
      for (; u < lanes.count(); ++u) lstm_sums<T, 1>(w, x, h, unit + u, sums + u);
      auto const gate = [&](std::size_t g) { return lane::load(sums + g * width); };
      lstm_finish(
          m, w.hidden, row, unit, gate(0), gate(1), gate(2), gate(3),
          [&](T const* from) TESSERA_INLINE { return lanes.load(from); },
          [&](T* to, V v) TESSERA_INLINE { lanes.store(to, v); });
    });
  }
}

/// Weights by columns, as a stream has them.
template <class T> struct lstm_columns {
  T const* weight_ih;
  T const* weight_hh;
  std::size_t stride;  ///< of two columns
  T const* bias_ih;    ///< or null, both
  T const* bias_hh;
};

/// One row, `Vectors` vectors of units: the sums of their gates stay in registers.
template <class T, std::size_t Vectors, bool Partial>
[[gnu::noinline]] void lstm_stream_tile(lstm_step_memory<T> const& m, lstm_columns<T> const& w,
                                        std::size_t in, std::size_t recurrent, std::size_t hidden,
                                        std::size_t row, std::size_t unit, std::size_t count) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  auto const load = [&](T const* from) TESSERA_INLINE {
    if constexpr (Partial)
      return lane::load_first(from, count);
    else
      return lane::load(from);
  };
  auto const store = [&](T* to, V v) TESSERA_INLINE {
    if constexpr (Partial)
      lane::store_first(to, v, count);
    else
      lane::store(to, v);
  };
  V sum[4][Vectors];
  unrolled<4>([&](auto g) TESSERA_INLINE {
    unrolled<Vectors>([&](auto v) TESSERA_INLINE {
      auto const at = g * hidden + unit + v * width;
      sum[g][v] = w.bias_ih == nullptr ? V(T{0}) : load(w.bias_ih + at) + load(w.bias_hh + at);
    });
  });
  auto const add = [&](T const* a, T const* column, std::size_t depth) TESSERA_INLINE {
    for (auto k = std::size_t{0}; k < depth; ++k, column += w.stride) {
      auto const value = V(a[k]);
      unrolled<4>([&](auto g) TESSERA_INLINE {
        unrolled<Vectors>([&](auto v) TESSERA_INLINE {
          sum[g][v] = fma(value, load(column + g * hidden + v * width), sum[g][v]);
        });
      });
    }
  };
  add(m.x + row * in, w.weight_ih + unit, in);
  add(m.h + row * recurrent, w.weight_hh + unit, recurrent);
  unrolled<Vectors>([&](auto v) TESSERA_INLINE {
    lstm_finish(m, hidden, row, unit + v * width, sum[0][v], sum[1][v], sum[2][v], sum[3][v], load,
                store);
  });
}

template <class T>
void lstm_step_columns(lstm_step_memory<T> const& m, lstm_columns<T> const& w, std::size_t in,
                       std::size_t recurrent, std::size_t hidden) {
  constexpr auto width = lane::pack<T>::width;
  for (auto row = std::size_t{0}; row < m.rows; ++row) {
    auto unit = std::size_t{0};
    auto const tiles = [&]<std::size_t Vectors>(std::integral_constant<std::size_t, Vectors>) {
      for (; unit + Vectors * width <= hidden; unit += Vectors * width)
        lstm_stream_tile<T, Vectors, false>(m, w, in, recurrent, hidden, row, unit, width);
    };
    if constexpr (tile::vectors == 4) tiles(std::integral_constant<std::size_t, 4>{});
    tiles(std::integral_constant<std::size_t, 2>{});
    tiles(std::integral_constant<std::size_t, 1>{});
    if (unit < hidden)
      lstm_stream_tile<T, 1, true>(m, w, in, recurrent, hidden, row, unit, hidden - unit);
  }
}

}  // namespace tessera::detail::inline TESSERA_TARGET
