// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/recurrent.hpp>
#include <tessera/ops/simd/recurrent_panels.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// The weights of a cell by panels of 256 bytes: the rows of a cell's sums stand beside each other
/// for 16 hidden units (of float, and four sums; 8 of double), so that one tile of registers holds
/// all that its units need, and the activations follow the sums without a way through memory.
///
/// Layout  panel, then the biases, the columns of W_ih and those of W_hh; in each of them sum, then
///         unit. Units beyond Hidden are zero, and what a sum does not take.
template <class Cell, class T, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
struct packed_recurrent_weights {
  static constexpr auto units = tiles::panel<T> / Cell::sums.size();
  static constexpr auto panels = (Hidden + units - 1) / units;
  static constexpr auto depth = 1 + In + Recurrent;

  alignas(storage_alignment) T values[panels * depth * Cell::sums.size() * units];

  void pack(auto const& weight_ih, auto const& weight_hh, T const* bias_ih, T const* bias_hh) {
    auto* to = values;
    for (auto first = std::size_t{0}; first < Hidden; first += units) {
      auto const each = [&](auto const& value) {
        for (auto const& s : Cell::sums)
          for (auto u = first; u < first + units; ++u)
            *to++ = u < Hidden ? value(s, s.gate * Hidden + u) : T{0};
      };
      each([&](recurrent_sum const& s, std::size_t o) {
        return bias_ih == nullptr ? T{0} : sum_of_biases(s, bias_ih[o], bias_hh[o]);
      });
      for (auto k = std::size_t{0}; k < In; ++k)
        each([&](recurrent_sum const& s, std::size_t o) {
          return s.of_x ? weight_ih.at(o, k) : T{0};
        });
      for (auto k = std::size_t{0}; k < Recurrent; ++k)
        each([&](recurrent_sum const& s, std::size_t o) {
          return s.of_h ? weight_hh.at(o, k) : T{0};
        });
    }
  }
};

/// Rows of one vector of units: a cell's sums, then the unit.
template <class Cell, class T, std::size_t Rows, bool Partial>
[[gnu::noinline]] void recurrent_tile(recurrent_memory<T> const& m, std::size_t in,
                                      std::size_t recurrent, std::size_t hidden, T const* panel,
                                      std::size_t row, std::size_t unit, std::size_t count) {
  using V = lane::pack<T>;
  constexpr auto sums = Cell::sums.size();
  constexpr auto distance = tiles::panel<T> / sums;  // of two sums
  V sum[Rows][sums];
#pragma GCC unroll 8
  for (auto r = std::size_t{0}; r < Rows; ++r)
#pragma GCC unroll 4
    for (auto g = std::size_t{0}; g < sums; ++g) sum[r][g] = lane::load(panel + g * distance);
  // The places of what is kept for a backward pass, `hidden` numbers apart, come from memory, and
  // are there when sums are: a step of h asks for one, as all at once would leave no way for
  // weights.
  constexpr auto arrays = std::size_t{3};
  T const* const kept[arrays] = {m.gates, m.beside, m.y};
  constexpr std::size_t kept_of_row[arrays] = {Cell::gates, 1, 1};
  auto const add = [&]<class OfH>(OfH, T const* a, std::size_t depth) TESSERA_INLINE {
    auto k = std::size_t{0};
    auto const add_step = [&]() TESSERA_INLINE {
      panel += tiles::panel<T>;
#pragma GCC unroll 4
      for (auto g = std::size_t{0}; g < sums; ++g) {
        if (not takes<Cell, OfH::value>(g)) continue;
        auto const weights = lane::load(panel + g * distance);
#pragma GCC unroll 8
        for (auto r = std::size_t{0}; r < Rows; ++r)
          sum[r][g] = fma(V(a[r * depth + k]), weights, sum[r][g]);
      }
    };
    if constexpr (OfH::value)
      for (auto i = std::size_t{0}; i < arrays && m.gates != nullptr; ++i) {
        if (kept[i] == nullptr) continue;
        auto const* place = kept[i] + row * kept_of_row[i] * hidden + unit;
        auto const asked = k + Rows * kept_of_row[i];
        for (; k < asked && k < depth; ++k, place += hidden) {
          lane::fetch_first(place);
          add_step();
        }
      }
    for (; k < depth; ++k) add_step();
  };
  add(std::false_type{}, m.x + row * in, in);
  add(std::true_type{}, m.h + row * recurrent, recurrent);

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
#pragma GCC unroll 8
  for (auto r = std::size_t{0}; r < Rows; ++r)
    recurrent_finish<Cell>(m, hidden, row + r, unit, sum[r], load, store);
}

/// Three rows of four sums fill 16 registers, six 32.
inline constexpr std::size_t recurrent_rows = tiles::vectors == 4 ? 6 : 3;

template <class Cell, class T, bool Partial>
void recurrent_rows_of(recurrent_memory<T> const& m, std::size_t in, std::size_t recurrent,
                       std::size_t hidden, T const* panel, std::size_t unit, std::size_t count) {
  auto row = std::size_t{0};
  auto const tiles = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>) {
    for (; row + Rows <= m.rows; row += Rows)
      recurrent_tile<Cell, T, Rows, Partial>(m, in, recurrent, hidden, panel, row, unit, count);
  };
  tiles(std::integral_constant<std::size_t, recurrent_rows>{});
  if constexpr (recurrent_rows > 4) tiles(std::integral_constant<std::size_t, 4>{});
  tiles(std::integral_constant<std::size_t, 2>{});
  tiles(std::integral_constant<std::size_t, 1>{});
}

template <class Cell, class T>
void recurrent_step_packed(recurrent_memory<T> const& m, std::size_t in, std::size_t recurrent,
                           std::size_t hidden, T const* values) {
  constexpr auto units = tiles::panel<T> / Cell::sums.size();
  constexpr auto width = lane::pack<T>::width;
  for (auto first = std::size_t{0}; first < hidden; first += units) {
    for (auto unit = first; unit < first + units && unit < hidden; unit += width) {
      auto const* const panel = values + (unit - first);
      if (hidden - unit >= width)
        recurrent_rows_of<Cell, T, false>(m, in, recurrent, hidden, panel, unit, width);
      else
        recurrent_rows_of<Cell, T, true>(m, in, recurrent, hidden, panel, unit, hidden - unit);
    }
    values += (1 + in + recurrent) * tiles::panel<T>;
  }
}

}  // namespace detail::inline TESSERA_TARGET

template <class Cell> struct kernel_for<detail::recurrent_step_fn<Cell>, simd> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using packed = detail::packed_recurrent_weights<Cell, T, In, Hidden, Recurrent>;

  static constexpr void prepare(auto const& p, auto& packed) {
    if constexpr (requires { packed.values; } && not by_columns<weight_of<decltype(p)>> &&
                  not by_gate_panels<weight_of<decltype(p)>>) {
      using T = std::remove_reference_t<decltype(packed.values[0])>;
      packed.pack(weights_of<T>(p.weight_ih), weights_of<T>(p.weight_hh),
                  data_or_null<T const>(p.bias_ih), data_or_null<T const>(p.bias_hh));
    }
  }
  static constexpr void run(auto const& p, auto x, auto h, auto before, auto gates, auto beside,
                            auto y, auto& packed) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto recurrent = last_of<shape_of<decltype(h)>>;
    constexpr auto hidden = last_of<shape_of<decltype(y)>>;
    if (std::is_constant_evaluated()) {
      kernel_for<detail::recurrent_step_fn<Cell>, reference>::run(p, x, h, before, gates, beside, y,
                                                                  packed);
      return;
    }
    auto const m =
        detail::recurrent_memory<T>{detail::rows_of(x), x.data(),      h.data(), before.data(),
                                    gates.data(),       beside.data(), y.data()};
    auto const* const bias_ih = data_or_null<T const>(p.bias_ih);
    auto const* const bias_hh = data_or_null<T const>(p.bias_hh);
    using Stored = stored_of<weight_of<decltype(p)>>;
    if constexpr (by_gate_panels<weight_of<decltype(p)>>)
      detail::recurrent_step_panels<Cell, true, T, in, recurrent, hidden>(m, panels_of<T>(p),
                                                                          nullptr);
    else if constexpr (by_columns<weight_of<decltype(p)>>)
      detail::recurrent_step_columns<Cell, T, Stored>(
          m, {weights_of<T>(p.weight_ih), weights_of<T>(p.weight_hh), bias_ih, bias_hh}, in,
          recurrent, hidden);
    else if constexpr (requires { packed.values; })
      detail::recurrent_step_packed<Cell, T>(m, in, recurrent, hidden, packed.values);
    else
      detail::recurrent_step_rows<Cell, T, Stored>(
          m, {weights_of<T>(p.weight_ih), weights_of<T>(p.weight_hh), bias_ih, bias_hh, in,
              recurrent, hidden});
  }
  /// A step of which nothing is kept, and h becomes y.
  template <class P>
    requires by_gate_panels<decltype(std::declval<P>().weight_ih)>
  static constexpr void advance(P const& p, auto x, auto h, auto before, auto beside, auto y,
                                auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto hidden = last_of<shape_of<decltype(y)>>;
    if (std::is_constant_evaluated()) {
      using rows_of_gates = with_last<shape_of<decltype(y)>, Cell::gates * hidden>;
      auto none = nothing{};
      auto const gates =
          view<T, rows_of_gates, simd>{nullptr, y.actual.template as<rows_of_gates>()};
      kernel_for<detail::recurrent_step_fn<Cell>, reference>::run(p, x, as_const(h), before, gates,
                                                                  beside, y, none);
      for (auto i = std::size_t{0}; i < y.size(); ++i) h.data()[i] = y.data()[i];
      return;
    }
    detail::recurrent_step_panels<Cell, false, T, in, hidden, hidden>(
        {detail::rows_of(x), x.data(), h.data(), before.data(), nullptr, beside.data(), y.data()},
        panels_of<T>(p), h.data());
  }

 private:
  template <class P> using weight_of = std::remove_cvref_t<decltype(std::declval<P>().weight_ih)>;

  template <class T>
  [[nodiscard]] TESSERA_INLINE static auto panels_of(auto const& p) -> detail::recurrent_panels<T> {
    return {p.weight_ih.values, p.weight_hh.values, data_or_null<T const>(p.bias_ih),
            data_or_null<T const>(p.bias_hh)};
  }
};

template <class Cell> struct kernel_for<detail::recurrent_step_backward_fn<Cell>, simd> {
  static constexpr void run(auto gates, auto beside, auto before, auto dy, auto dh, auto d) {
    using T = scalar_of<decltype(gates)>;
    if (std::is_constant_evaluated())
      return kernel_for<detail::recurrent_step_backward_fn<Cell>, reference>::run(
          gates, beside, before, dy, dh, d);
    constexpr auto hidden = last_of<shape_of<decltype(d)>>;
    rows<T>(detail::rows_of(d), hidden, gates.data(), beside.data(), before.data(), dy.data(),
            dh.data(), d.data());
  }

 private:
  template <class T>
  static void rows(std::size_t count, std::size_t hidden, T* gates, auto* beside, T const* before,
                   T const* dy, T const* dh, T* d) {
    using V = lane::pack<T>;
    for (auto r = std::size_t{0}; r < count; ++r) {
      for_each_vector<T>(hidden, [&](auto lanes, std::size_t j) TESSERA_INLINE {
        auto const load = [&](T const* from) TESSERA_INLINE { return lanes.load(from); };
        auto const at = r * hidden + j;
        auto* const gate = gates + r * Cell::gates * hidden + j;
        // A sequence that is kept lies in memory by its steps, and goes on with the one before.
        auto const sample = count * hidden;
#pragma GCC unroll 4
        for (auto g = std::size_t{0}; g < Cell::gates; ++g)
          lane::fetch(gate + g * hidden - Cell::gates * sample);
        lane::fetch(before + at - sample);
        if (dy != nullptr) lane::fetch(dy + at - sample);
        V values[Cell::gates];
#pragma GCC unroll 4
        for (auto g = std::size_t{0}; g < Cell::gates; ++g)
          values[g] = lanes.load(gate + g * hidden);
        auto const arrives = detail::slope_of_h<T>(load, dy == nullptr ? nullptr : dy + at,
                                                   dh == nullptr ? nullptr : dh + at);
        auto const slope = Cell::template backward<V>(values, load(beside + at), load(before + at),
                                                      arrives, load(d + at));
#pragma GCC unroll 4
        for (auto g = std::size_t{0}; g < Cell::gates; ++g)
          lanes.store(gate + g * hidden, slope.gates[g]);
        if constexpr (not Cell::carries) lanes.store(beside + at, slope.beside);
        lanes.store(d + at, slope.before);
      });
    }
  }
};

}  // namespace tessera
