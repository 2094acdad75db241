// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/recurrent.hpp>
#include <tessera/ops/simd/multiply.hpp>

/// A step of the cell for few rows, with the weights by columns (a stream's) or as they are.
namespace tessera::detail::inline TESSERA_TARGET {

/// What a step reads and writes, as memory.
template <class T> struct recurrent_memory {
  std::size_t rows;
  T const* x;
  T const* h;
  T const* before;
  T* gates;   ///< or null
  T* beside;  ///< or null, where the cell does not carry it
  T* y;
};

/// What the sums of vectors of units start from, with `load(v, from)` for vector v: their biases,
/// or zeros where there are none.
template <class Cell, class T, std::size_t Vectors>
TESSERA_INLINE inline void start_sums(T const* bias_ih, T const* bias_hh, std::size_t hidden,
                                      std::size_t unit, auto const& load,
                                      lane::pack<T> (&sum)[Vectors][Cell::sums.size()]) {
  using V = lane::pack<T>;
#pragma GCC unroll 8
  for (auto v = std::size_t{0}; v < Vectors; ++v)
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < Cell::sums.size(); ++g) {
      auto const& s = Cell::sums[g];
      auto const at = s.gate * hidden + unit + v * V::width;
      sum[v][g] = bias_ih == nullptr
                      ? V(T{0})
                      : sum_of_biases<V>(s, load(v, bias_ih + at), load(v, bias_hh + at));
    }
}

/// From a cell's sums to a vector of units, at `unit` of a row: its h. A step that keeps nothing
/// spares the gates their way through memory.
template <class Cell, bool Keeps = true, class T, class V>
TESSERA_INLINE inline auto recurrent_finish(recurrent_memory<T> const& m, std::size_t hidden,
                                            std::size_t row, std::size_t unit,
                                            V const (&sum)[Cell::sums.size()], auto const& load,
                                            auto const& store) -> V {
  auto const at = row * hidden + unit;
  auto const result = Cell::template forward<V>(sum, load(m.before + at));
  if (Keeps && m.gates != nullptr) {
    auto* const gate = m.gates + row * Cell::gates * hidden + unit;
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < Cell::gates; ++g) store(gate + g * hidden, result.gates[g]);
  }
  if (Cell::carries || (Keeps && m.beside != nullptr)) store(m.beside + at, result.beside);
  store(m.y + at, result.h);
  return result.h;
}

/// Weights as they are, by rows.
template <class T, class Stored> struct recurrent_rows_memory {
  weight_matrix<T, Stored> weight_ih;
  weight_matrix<T, Stored> weight_hh;
  T const* bias_ih;  ///< or null, both
  T const* bias_hh;
  std::size_t in;
  std::size_t recurrent;
  std::size_t hidden;
};

/// The sums of `Units` units of one row, to sums[sum·width + unit]: one number each, since their
/// order leaves no vectors here; but they do not wait for each other.
template <class Cell, class T, class Stored, std::size_t Units>
void recurrent_sums(recurrent_rows_memory<T, Stored> const& w, T const* x, T const* h,
                    std::size_t unit, T* sums) {
  constexpr auto width = lane::pack<T>::width;
  constexpr auto count = Cell::sums.size();
  T sum[count][Units];
  auto const each = [&](auto const& f) TESSERA_INLINE {
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < count; ++g)
#pragma GCC unroll 8
      for (auto u = std::size_t{0}; u < Units; ++u)
        f(g, u, Cell::sums[g].gate * w.hidden + unit + u);
  };
  each([&](std::size_t g, std::size_t u, std::size_t o) TESSERA_INLINE {
    sum[g][u] =
        w.bias_ih == nullptr ? T{0} : sum_of_biases(Cell::sums[g], w.bias_ih[o], w.bias_hh[o]);
  });
  auto const add = [&]<class OfH>(OfH, T const* a, auto const& weight, std::size_t depth)
                       TESSERA_INLINE {
                         for (auto k = std::size_t{0}; k < depth; ++k)
                           each([&](std::size_t g, std::size_t u, std::size_t o) TESSERA_INLINE {
                             if (takes<Cell, OfH::value>(g))
                               sum[g][u] = lane::fma(a[k], weight.at(o, k), sum[g][u]);
                           });
                       };
  add(std::false_type{}, x, w.weight_ih, w.in);
  add(std::true_type{}, h, w.weight_hh, w.recurrent);
  each([&](std::size_t g, std::size_t u, std::size_t)
           TESSERA_INLINE { sums[g * width + u] = sum[g][u]; });
}

template <class Cell, class T, class Stored>
void recurrent_step_rows(recurrent_memory<T> const& m, recurrent_rows_memory<T, Stored> const& w) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  constexpr auto count = Cell::sums.size();
  for (auto row = std::size_t{0}; row < m.rows; ++row) {
    auto const* const x = m.x + row * w.in;
    auto const* const h = m.h + row * w.recurrent;
    for_each_vector<T>(w.hidden, [&](auto lanes, std::size_t unit) TESSERA_INLINE {
      T sums[count * width] = {};
      auto u = std::size_t{0};
      for (; u + 3 <= lanes.count(); u += 3)
        recurrent_sums<Cell, T, Stored, 3>(w, x, h, unit + u, sums + u);
      for (; u < lanes.count(); ++u)
        recurrent_sums<Cell, T, Stored, 1>(w, x, h, unit + u, sums + u);
      V sum[count];
#pragma GCC unroll 4
      for (auto g = std::size_t{0}; g < count; ++g) sum[g] = lane::load(sums + g * width);
      recurrent_finish<Cell>(
          m, w.hidden, row, unit, sum,
          [&](T const* from) TESSERA_INLINE { return lanes.load(from); },
          [&](T* to, V v) TESSERA_INLINE { lanes.store(to, v); });
    });
  }
}

/// Weights by columns, as a stream has them.
template <class T, class Stored> struct recurrent_columns {
  weight_matrix<T, Stored> weight_ih;
  weight_matrix<T, Stored> weight_hh;
  T const* bias_ih;  ///< or null, both
  T const* bias_hh;
};

/// One row, `Vectors` vectors of units: their sums stay in registers.
template <class Cell, class T, class Stored, std::size_t Vectors, bool Partial>
[[gnu::noinline]] void recurrent_stream_tile(recurrent_memory<T> const& m,
                                             recurrent_columns<T, Stored> const& w, std::size_t in,
                                             std::size_t recurrent, std::size_t hidden,
                                             std::size_t row, std::size_t unit, std::size_t count) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  constexpr auto sums = Cell::sums.size();
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
  V sum[Vectors][sums];
  start_sums<Cell>(
      w.bias_ih, w.bias_hh, hidden, unit,
      [&](std::size_t, T const* from) TESSERA_INLINE { return load(from); }, sum);
  auto const add = [&]<class OfH>(OfH, T const* a, weight_matrix<T, Stored> const& weight,
                                  std::size_t depth) TESSERA_INLINE {
    auto const* column = weight.data;
    auto const scales = weight.transposed().scales;
    for (auto k = std::size_t{0}; k < depth; ++k, column += weight.column) {
      auto const value = V(a[k]);
#pragma GCC unroll 4
      for (auto g = std::size_t{0}; g < sums; ++g) {
        if (not takes<Cell, OfH::value>(g)) continue;
        auto const o = Cell::sums[g].gate * hidden + unit;
#pragma GCC unroll 8
        for (auto v = std::size_t{0}; v < Vectors; ++v)
          sum[v][g] = fma(value,
                          tiles::stored_vector<Partial>(column + o + v * width, scales, k,
                                                        o + v * width, count),
                          sum[v][g]);
      }
    }
  };
  add(std::false_type{}, m.x + row * in, w.weight_ih, in);
  add(std::true_type{}, m.h + row * recurrent, w.weight_hh, recurrent);
#pragma GCC unroll 8
  for (auto v = std::size_t{0}; v < Vectors; ++v)
    recurrent_finish<Cell>(m, hidden, row, unit + v * width, sum[v], load, store);
}

template <class Cell, class T, class Stored>
void recurrent_step_columns(recurrent_memory<T> const& m, recurrent_columns<T, Stored> const& w,
                            std::size_t in, std::size_t recurrent, std::size_t hidden) {
  constexpr auto width = lane::pack<T>::width;
  for (auto row = std::size_t{0}; row < m.rows; ++row) {
    auto unit = std::size_t{0};
    auto const tiles = [&]<std::size_t Vectors>(std::integral_constant<std::size_t, Vectors>) {
      for (; unit + Vectors * width <= hidden; unit += Vectors * width)
        recurrent_stream_tile<Cell, T, Stored, Vectors, false>(m, w, in, recurrent, hidden, row,
                                                               unit, width);
    };
    if constexpr (tiles::vectors == 4) tiles(std::integral_constant<std::size_t, 4>{});
    tiles(std::integral_constant<std::size_t, 2>{});
    tiles(std::integral_constant<std::size_t, 1>{});
    if (unit < hidden)
      recurrent_stream_tile<Cell, T, Stored, 1, true>(m, w, in, recurrent, hidden, row, unit,
                                                      hidden - unit);
  }
}

}  // namespace tessera::detail::inline TESSERA_TARGET
