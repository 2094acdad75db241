// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/simd/recurrent_stream.hpp>
#include <tessera/tensor/gate_panels.hpp>

/// A step of the cell for few rows, with the weights by panels of units: what a stream does.
///
/// A step of a small cell is a chain of latencies: loads of h that was just stored, one fused
/// multiply-add for each number of h, two activations. So all sizes are known to the compiler, and
/// h goes to where the next step reads it at once.
namespace tessera::detail::inline TESSERA_TARGET {

/// The vectors of units whose sums a tile keeps: sixteen sums of 32 registers; of 16 eight, or
/// twelve where that is all.
template <class T, std::size_t Hidden>
inline constexpr std::size_t panel_vectors = [] {
  if (tiles::vectors == 4) return 4;
  constexpr auto width = lane::pack<T>::width;
  return (Hidden + width - 1) / width == 3 ? 3 : 2;
}();

/// The vectors that Count units take.
template <class T, std::size_t Count>
inline constexpr std::size_t vectors_of = (Count + lane::pack<T>::width - 1) / lane::pack<T>::width;

/// What a step multiplies, by panels, and the biases as they are.
template <class T> struct recurrent_panels {
  T const* weight_ih;
  T const* weight_hh;
  T const* bias_ih;  ///< or null, both
  T const* bias_hh;
};

/// The sums of one row, of Count units from `unit` on.
template <class Cell, class T, std::size_t In, std::size_t Recurrent, std::size_t Hidden,
          std::size_t Count>
TESSERA_INLINE inline void recurrent_panel_sums(
    recurrent_memory<T> const& m, recurrent_panels<T> const& w, std::size_t row, std::size_t unit,
    lane::pack<T> (&sum)[vectors_of<T, Count>][Cell::sums.size()]) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  constexpr auto units = 64 / sizeof(T);  // of a panel
  constexpr auto vectors = vectors_of<T, Count>;
  constexpr auto last = Count - (vectors - 1) * width;  // lanes of the last vector
  constexpr auto sums = Cell::sums.size();
  start_sums<Cell>(
      w.bias_ih, w.bias_hh, Hidden, unit,
      [](std::size_t v, T const* from) TESSERA_INLINE {
        return v + 1 < vectors ? lane::load(from) : lane::load_first<last>(from);
      },
      sum);
  auto const add = [&]<class OfH, std::size_t Depth>(OfH,
                                                     std::integral_constant<std::size_t, Depth>,
                                                     T const* a, T const* weights) TESSERA_INLINE {
    constexpr auto panel = Depth * Cell::gates * units;
    weights += unit / units * panel + unit % units;
    for (auto k = std::size_t{0}; k < Depth; ++k, weights += Cell::gates * units) {
      auto const value = V(a[k]);
#pragma GCC unroll 4
      for (auto v = std::size_t{0}; v < vectors; ++v)
#pragma GCC unroll 4
        for (auto g = std::size_t{0}; g < sums; ++g) {
          if (not takes<Cell, OfH::value>(g)) continue;
          auto const at = v * width / units * panel + v * width % units;
          sum[v][g] = fma(value, lane::load(weights + at + Cell::sums[g].gate * units), sum[v][g]);
        }
    }
  };
  add(std::false_type{}, std::integral_constant<std::size_t, In>{}, m.x + row * In, w.weight_ih);
  add(std::true_type{}, std::integral_constant<std::size_t, Recurrent>{}, m.h + row * Recurrent,
      w.weight_hh);
}

/// From the sums of one row, of Count units from `unit` on, to their h. A step that keeps nothing
/// has its new h in `h_after`, too, unless that is null.
template <class Cell, bool Keeps, std::size_t Hidden, std::size_t Count, class T>
TESSERA_INLINE inline void recurrent_panel_finish(recurrent_memory<T> const& m, std::size_t row,
                                                  std::size_t unit,
                                                  lane::pack<T> const (*sum)[Cell::sums.size()],
                                                  T* h_after) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  constexpr auto vectors = vectors_of<T, Count>;
  constexpr auto last = Count - (vectors - 1) * width;
  auto const finish = [&](std::size_t v, auto const& load, auto const& store) TESSERA_INLINE {
    auto const at = unit + v * width;
    auto const h = recurrent_finish<Cell, Keeps>(m, Hidden, row, at, sum[v], load, store);
    if (not Keeps && h_after != nullptr) store(h_after + row * Hidden + at, h);
  };
#pragma GCC unroll 4
  for (auto v = std::size_t{0}; v + 1 < vectors; ++v)
    finish(
        v, [](T const* from) TESSERA_INLINE { return lane::load(from); },
        [](T* to, V value) TESSERA_INLINE { lane::store(to, value); });
  finish(
      vectors - 1, [](T const* from) TESSERA_INLINE { return lane::load_first<last>(from); },
      [](T* to, V value) TESSERA_INLINE { lane::store_first<last>(to, value); });
}

/// The sums of a tile, to memory.
template <class Cell, class T, std::size_t In, std::size_t Recurrent, std::size_t Hidden,
          std::size_t Count>
[[gnu::noinline]] void recurrent_sums_of_tile(recurrent_memory<T> const& m,
                                              recurrent_panels<T> const& w, std::size_t row,
                                              std::size_t unit,
                                              lane::pack<T> (*to)[Cell::sums.size()]) {
  lane::pack<T> sum[vectors_of<T, Count>][Cell::sums.size()];
  recurrent_panel_sums<Cell, T, In, Recurrent, Hidden, Count>(m, w, row, unit, sum);
#pragma GCC unroll 4
  for (auto v = std::size_t{0}; v < vectors_of<T, Count>; ++v)
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < Cell::sums.size(); ++g) to[v][g] = sum[v][g];
}

/// One row, of Count units from `unit` on: their sums tile by tile, then their activations, which
/// are long ways that do not wait for each other.
template <class Cell, bool Keeps, class T, std::size_t In, std::size_t Recurrent,
          std::size_t Hidden, std::size_t Count>
void recurrent_panel_units(recurrent_memory<T> const& m, recurrent_panels<T> const& w,
                           std::size_t row, std::size_t unit, T* h_after) {
  constexpr auto width = lane::pack<T>::width;
  constexpr auto tile = panel_vectors<T, Hidden> * width;
  lane::pack<T> sum[vectors_of<T, Count>][Cell::sums.size()];
  if constexpr (Count <= tile) {
    recurrent_panel_sums<Cell, T, In, Recurrent, Hidden, Count>(m, w, row, unit, sum);
  } else {
    constexpr auto rest = Count % tile;
    for (auto u = std::size_t{0}; u + tile <= Count; u += tile)
      recurrent_sums_of_tile<Cell, T, In, Recurrent, Hidden, tile>(m, w, row, unit + u,
                                                                   sum + u / width);
    if constexpr (rest > 0)
      recurrent_sums_of_tile<Cell, T, In, Recurrent, Hidden, rest>(m, w, row, unit + Count - rest,
                                                                   sum + (Count - rest) / width);
  }
  recurrent_panel_finish<Cell, Keeps, Hidden, Count>(m, row, unit, sum, h_after);
}

/// The rows of a step. One that keeps nothing has h in `h_after`, which becomes the new one. Where
/// weights come from a second level, the activations of a tile are done while they do.
template <class Cell, bool Keeps, class T, std::size_t In, std::size_t Recurrent,
          std::size_t Hidden>
void recurrent_step_panels(recurrent_memory<T> const& m, recurrent_panels<T> const& w, T* h_after) {
  constexpr auto tile = panel_vectors<T, Hidden> * lane::pack<T>::width;
  constexpr auto bytes = (In + Recurrent) * Cell::gates * Hidden * sizeof(T);
  constexpr auto most = bytes <= 32 * 1024 ? Hidden : tile;
  constexpr auto rest = Hidden % most;
  for (auto row = std::size_t{0}; row < m.rows; ++row) {
    if constexpr (Hidden <= most) {
      recurrent_panel_units<Cell, Keeps, T, In, Recurrent, Hidden, Hidden>(m, w, row, 0, h_after);
    } else {
      for (auto unit = std::size_t{0}; unit + most <= Hidden; unit += most)
        recurrent_panel_units<Cell, Keeps, T, In, Recurrent, Hidden, most>(m, w, row, unit,
                                                                           nullptr);
      if constexpr (rest > 0)
        recurrent_panel_units<Cell, Keeps, T, In, Recurrent, Hidden, rest>(m, w, row, Hidden - rest,
                                                                           nullptr);
      if constexpr (not Keeps)
        for_each_vector<T>(Hidden, [&](auto lanes, std::size_t j) TESSERA_INLINE {
          lanes.store(h_after + row * Hidden + j, lanes.load(m.y + row * Hidden + j));
        });
    }
  }
}

}  // namespace tessera::detail::inline TESSERA_TARGET
