// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary/relaxed.hpp>
#include <tessera/ops/simd/recurrent_relaxed_sums.hpp>

/// A step of a cell on the backend `relaxed`, of float: sums in another order than everywhere else,
/// and shorter activations. Sequences and training are those of `simd`.
namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// A vector of float whose tanh and sigmoid are the relaxed ones, for the formulas of a cell.
struct relaxed_pack : lane::pack<float> {
  using base = lane::pack<float>;
  using base::base;
  template <std::same_as<base> B> TESSERA_INLINE relaxed_pack(B v) : base(v) {}

  [[nodiscard]] TESSERA_INLINE friend auto operator+(relaxed_pack a, relaxed_pack b)
      -> relaxed_pack {
    return base(a) + base(b);
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator-(relaxed_pack a, relaxed_pack b)
      -> relaxed_pack {
    return base(a) - base(b);
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator*(relaxed_pack a, relaxed_pack b)
      -> relaxed_pack {
    return base(a) * base(b);
  }
  [[nodiscard]] TESSERA_INLINE friend auto fma(relaxed_pack a, relaxed_pack b, relaxed_pack c)
      -> relaxed_pack {
    return fma(base(a), base(b), base(c));
  }
  [[nodiscard]] TESSERA_INLINE friend auto tanh(relaxed_pack x) -> relaxed_pack {
    return lane::relaxed_tanh(base(x));
  }
  [[nodiscard]] TESSERA_INLINE friend auto sigmoid(relaxed_pack x) -> relaxed_pack {
    return lane::relaxed_sigmoid(base(x));
  }
};

}  // namespace detail::inline TESSERA_TARGET

namespace lane {
template <> struct traits<tessera::detail::relaxed_pack> : traits<pack<float>> {};
}  // namespace lane

namespace detail::inline TESSERA_TARGET {

/// The state of a stream whose weights are read to and fro: which way is next.
template <class State> struct turning_state : State {
  bool turned;
};

/// From the sums of Count units to their h, in y, and in `h_after` unless that is null.
template <class Cell, std::size_t Hidden, std::size_t Count>
TESSERA_INLINE inline void relaxed_finish(recurrent_memory<float> const& m, std::size_t row,
                                          std::size_t unit,
                                          lane::pack<float> const (*sum)[Cell::sums.size()],
                                          float* h_after) {
  using V = relaxed_pack;
  constexpr auto vectors = vectors_of<float, Count>;
  constexpr auto last = Count - (vectors - 1) * V::width;
  auto const finish = [&](std::size_t v, auto const& load, auto const& store) TESSERA_INLINE {
    auto const at = unit + v * V::width;
    V own[Cell::sums.size()];
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < Cell::sums.size(); ++g) own[g] = sum[v][g];
    auto const h = recurrent_finish<Cell, false>(m, Hidden, row, at, own, load, store);
    if (h_after != nullptr) store(h_after + row * Hidden + at, h);
  };
#pragma GCC unroll 4
  for (auto v = std::size_t{0}; v + 1 < vectors; ++v)
    finish(
        v, [](float const* from) TESSERA_INLINE { return V(lane::load(from)); },
        [](float* to, V value) TESSERA_INLINE { lane::store<float>(to, value); });
  finish(
      vectors - 1, [](float const* from) TESSERA_INLINE { return V(lane::load_first<last>(from)); },
      [](float* to, V value) TESSERA_INLINE { lane::store_first<last, float>(to, value); });
}

template <class Cell, std::size_t In, std::size_t Hidden, std::size_t Count>
[[gnu::noinline]] void relaxed_sums_of_tile(recurrent_memory<float> const& m,
                                            recurrent_panels<float> const& w, std::size_t row,
                                            std::size_t unit, bool back,
                                            lane::pack<float> (*to)[Cell::sums.size()]) {
  constexpr auto vectors = vectors_of<float, Count>;
  lane::pack<float> sum[vectors][Cell::sums.size()];
  relaxed_sums<Cell, In, Hidden, Count>(m, w, row, unit, back, sum);
#pragma GCC unroll 4
  for (auto v = std::size_t{0}; v < vectors; ++v)
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < Cell::sums.size(); ++g) to[v][g] = sum[v][g];
}

/// Count units of a step by panels; the last ones of a step put all of the new h in place.
template <class Cell, std::size_t In, std::size_t Hidden, std::size_t Count, bool Last>
TESSERA_INLINE inline void relaxed_part(recurrent_memory<float> const& m,
                                        recurrent_panels<float> const& w, std::size_t row,
                                        std::size_t unit, bool back, float* h_after) {
  lane::pack<float> sum[vectors_of<float, Count>][Cell::sums.size()];
  relaxed_sums<Cell, In, Hidden, Count>(m, w, row, unit, back, sum);
  relaxed_finish<Cell, Hidden, Count>(m, row, unit, sum, Last ? h_after : nullptr);
  if constexpr (Last) {
    auto const others = row * Hidden + (back ? Count : 0);
    for_each_vector<float>(Hidden - Count, [&](auto lanes, std::size_t j) TESSERA_INLINE {
      lanes.store(h_after + others + j, lanes.load(m.y + others + j));
    });
  }
}

/// The units of a step whose sums go at a time where weights are read to and fro: eight sums or so,
/// as a processor that begins two multiply-adds in a cycle waits four for each.
template <std::size_t Hidden>
inline constexpr std::size_t units_at_once =
    lane::pack<float>::width == panel_units && Hidden >= 2 * panel_units ? 2 * panel_units
                                                                         : panel_units;

/// One row of weights that are read to and fro, some units at a time: their cells take their turn
/// while weights of the next ones come.
template <class Cell, std::size_t In, std::size_t Hidden>
TESSERA_INLINE inline void relaxed_turning_step(recurrent_memory<float> const& m,
                                                recurrent_panels<float> const& w, std::size_t row,
                                                bool back, float* h_after) {
  constexpr auto units = units_at_once<Hidden>;
  constexpr auto rest = Hidden % units;
  constexpr auto top = Hidden - rest - units;  // the last whole ones
  auto const whole = [&](auto end) TESSERA_INLINE {
    for (auto unit = std::size_t{0}; unit < top; unit += units)
      relaxed_part<Cell, In, Hidden, units, false>(m, w, row, back ? top - unit : unit, back,
                                                   h_after);
    relaxed_part<Cell, In, Hidden, units, end>(m, w, row, back ? 0 : top, back, h_after);
  };
  if constexpr (rest == 0) {
    whole(std::true_type{});
  } else if (back) {
    relaxed_part<Cell, In, Hidden, rest, false>(m, w, row, Hidden - rest, back, h_after);
    whole(std::true_type{});
  } else {
    whole(std::false_type{});
    relaxed_part<Cell, In, Hidden, rest, true>(m, w, row, Hidden - rest, back, h_after);
  }
}

/// One row: its h in `h_after` becomes the new one.
template <class Cell, std::size_t In, std::size_t Hidden>
TESSERA_INLINE inline void relaxed_step(recurrent_memory<float> const& m,
                                        recurrent_panels<float> const& w, std::size_t row,
                                        bool back, float* h_after) {
  using V = lane::pack<float>;
  using order = relaxed_order<Cell, In, Hidden>;
  constexpr auto together = panel_vectors<float, Hidden> / order::parts;
  constexpr auto tile = (together > 0 ? together : 1) * V::width;
  constexpr auto rest = Hidden % tile;
  if constexpr (order::turns && Hidden > panel_units) {
    relaxed_turning_step<Cell, In, Hidden>(m, w, row, back, h_after);
  } else if constexpr (Hidden <= tile) {
    V sum[vectors_of<float, Hidden>][Cell::sums.size()];
    relaxed_sums<Cell, In, Hidden, Hidden>(m, w, row, 0, back, sum);
    relaxed_finish<Cell, Hidden, Hidden>(m, row, 0, sum, h_after);
  } else {
    V sum[vectors_of<float, Hidden>][Cell::sums.size()];
    for (auto unit = std::size_t{0}; unit + tile <= Hidden; unit += tile)
      relaxed_sums_of_tile<Cell, In, Hidden, tile>(m, w, row, unit, back, sum + unit / V::width);
    if constexpr (rest > 0)
      relaxed_sums_of_tile<Cell, In, Hidden, rest>(m, w, row, Hidden - rest, back,
                                                   sum + (Hidden - rest) / V::width);
    relaxed_finish<Cell, Hidden, Hidden>(m, row, 0, sum, h_after);
  }
}

}  // namespace detail::inline TESSERA_TARGET

/// Steps of a stream in float whose weights lie by panels: the same bits for every instruction set
/// from x86-64-v3 on, which are not those of `reference`. All else is what `simd` does.
///
/// State     that of the cell, and one bool where the weights are larger than 32 KiB
/// Accuracy  h within 1e-6 of `reference` over thousands of steps of LSTM and GRU, of inputs up to
///           1 and weights up to 2/sqrt(Hidden), where a step forgets what the ones before were off
///           by. A gate f near 1 forgets slowly: a state that it keeps is off by up to 1e-7/(1 -
///           f), as activations have the absolute bounds of core/elementary/relaxed.hpp:
///           tests/ops/recurrent_relaxed.cpp
template <class Cell>
struct kernel_for<detail::recurrent_step_fn<Cell>, relaxed>
    : kernel_for<detail::recurrent_step_fn<Cell>, simd> {
  using exact = kernel_for<detail::recurrent_step_fn<Cell>, simd>;

  template <class T, class State, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using state = std::conditional_t<std::same_as<T, float> && Hidden == Recurrent &&
                                       detail::relaxed_order<Cell, In, Hidden>::turns,
                                   detail::turning_state<State>, State>;

  template <class P>
    requires by_gate_panels<decltype(std::declval<P>().weight_ih)>
  static constexpr void advance(P const& p, auto x, auto h, auto before, auto beside, auto y,
                                auto& state) {
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto hidden = last_of<shape_of<decltype(y)>>;
    if constexpr (std::same_as<scalar_of<decltype(x)>, float>) {
      if (not std::is_constant_evaluated()) {
        auto const m = detail::recurrent_memory<float>{
            detail::rows_of(x), x.data(), h.data(), before.data(), nullptr,
            beside.data(),      y.data()};
        auto const w = detail::recurrent_panels<float>{p.weight_ih.values, p.weight_hh.values,
                                                       data_or_null<float const>(p.bias_ih),
                                                       data_or_null<float const>(p.bias_hh)};
        auto back = false;
        if constexpr (requires { state.turned; }) back = state.turned = not state.turned;
        for (auto row = std::size_t{0}; row < m.rows; ++row)
          detail::relaxed_step<Cell, in, hidden>(m, w, row, back, h.data());
        return;
      }
    }
    exact::advance(p, x, h, before, beside, y, state);
  }
};

}  // namespace tessera
