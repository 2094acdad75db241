// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/lstm_cell.hpp>
#include <tessera/ops/simd/lstm_stream.hpp>
#include <tessera/tensor/packed.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// The weights of a cell by panels of 16 hidden units (of float; 8 of double): the four gates of a
/// panel stand beside each other, so that one tile of registers holds all that its units need, and
/// the activations follow the sums without a way through memory.
///
/// Layout  panel, then the sum of the biases, the columns of W_ih and those of W_hh; in each of
/// them
///         gate, then unit. Units beyond Hidden are zero.
template <class T, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
struct packed_lstm_weights {
  static constexpr auto units = tile::panel<T> / 4;
  static constexpr auto panels = (Hidden + units - 1) / units;
  static constexpr auto depth = 1 + In + Recurrent;

  alignas(storage_alignment) T values[panels * depth * 4 * units];

  void pack(T const* weight_ih, T const* weight_hh, T const* bias_ih, T const* bias_hh) {
    auto* to = values;
    for (auto first = std::size_t{0}; first < Hidden; first += units) {
      auto const each = [&](auto const& value) {
        for (auto gate = std::size_t{0}; gate < 4; ++gate)
          for (auto u = first; u < first + units; ++u)
            *to++ = u < Hidden ? value(gate * Hidden + u) : T{0};
      };
      each([&](std::size_t o) { return bias_ih == nullptr ? T{0} : bias_ih[o] + bias_hh[o]; });
      for (auto k = std::size_t{0}; k < In; ++k)
        each([&](std::size_t o) { return weight_ih[o * In + k]; });
      for (auto k = std::size_t{0}; k < Recurrent; ++k)
        each([&](std::size_t o) { return weight_hh[o * Recurrent + k]; });
    }
  }
};

/// Rows of one vector of units: the sums of the four gates, then the unit.
template <class T, std::size_t Rows, bool Partial>
[[gnu::noinline]] void lstm_tile(lstm_step_memory<T> const& m, std::size_t in,
                                 std::size_t recurrent, std::size_t hidden, T const* panel,
                                 std::size_t row, std::size_t unit, std::size_t count) {
  using V = lane::pack<T>;
  constexpr auto distance = tile::panel<T> / 4;  // of two gates
  V sum[Rows][4];
  unrolled<Rows>([&](auto r) TESSERA_INLINE {
    unrolled<4>([&](auto g) TESSERA_INLINE { sum[r][g] = lane::load(panel + g * distance); });
  });
  auto const add = [&](T const* a, std::size_t depth) TESSERA_INLINE {
    for (auto k = std::size_t{0}; k < depth; ++k) {
      panel += tile::panel<T>;
      V gates[4];
      unrolled<4>([&](auto g) TESSERA_INLINE { gates[g] = lane::load(panel + g * distance); });
      unrolled<Rows>([&](auto r) TESSERA_INLINE {
        auto const value = V(a[r * depth + k]);
        unrolled<4>([&](auto g) TESSERA_INLINE { sum[r][g] = fma(value, gates[g], sum[r][g]); });
      });
    }
  };
  add(m.x + row * in, in);
  add(m.h + row * recurrent, recurrent);

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
  unrolled<Rows>([&](auto r) TESSERA_INLINE {
    lstm_finish(m, hidden, row + r, unit, sum[r][0], sum[r][1], sum[r][2], sum[r][3], load, store);
  });
}

/// Three rows of four sums fill 16 registers, six 32.
inline constexpr std::size_t lstm_rows = tile::vectors == 4 ? 6 : 3;

template <class T, bool Partial>
void lstm_rows_of(lstm_step_memory<T> const& m, std::size_t in, std::size_t recurrent,
                  std::size_t hidden, T const* panel, std::size_t unit, std::size_t count) {
  auto row = std::size_t{0};
  auto const tiles = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>) {
    for (; row + Rows <= m.rows; row += Rows)
      lstm_tile<T, Rows, Partial>(m, in, recurrent, hidden, panel, row, unit, count);
  };
  tiles(std::integral_constant<std::size_t, lstm_rows>{});
  if constexpr (lstm_rows > 4) tiles(std::integral_constant<std::size_t, 4>{});
  tiles(std::integral_constant<std::size_t, 2>{});
  tiles(std::integral_constant<std::size_t, 1>{});
}

template <class T>
void lstm_step_packed(lstm_step_memory<T> const& m, std::size_t in, std::size_t recurrent,
                      std::size_t hidden, T const* values) {
  constexpr auto units = tile::panel<T> / 4;
  constexpr auto width = lane::pack<T>::width;
  for (auto first = std::size_t{0}; first < hidden; first += units) {
    for (auto unit = first; unit < first + units && unit < hidden; unit += width) {
      auto const* const panel = values + (unit - first);
      if (hidden - unit >= width)
        lstm_rows_of<T, false>(m, in, recurrent, hidden, panel, unit, width);
      else
        lstm_rows_of<T, true>(m, in, recurrent, hidden, panel, unit, hidden - unit);
    }
    values += (1 + in + recurrent) * tile::panel<T>;
  }
}

}  // namespace detail::inline TESSERA_TARGET

template <> struct kernel<detail::lstm_step_fn, simd> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using packed = detail::packed_lstm_weights<T, In, Hidden, Recurrent>;

  static constexpr void prepare(auto const& p, auto& packed) {
    if constexpr (requires { packed.values; } && not is_packed<weight_of<decltype(p)>>) {
      using T = std::remove_reference_t<decltype(packed.values[0])>;
      packed.pack(p.weight_ih.data(), p.weight_hh.data(), data_or_null<T const>(p.bias_ih),
                  data_or_null<T const>(p.bias_hh));
    }
  }
  static constexpr void run(auto const& p, auto x, auto h, auto c_before, auto gates, auto c,
                            auto y, auto& packed) {
    using T = scalar_of<decltype(x)>;
    if constexpr (is_packed<weight_of<decltype(p)>>) {
      detail::lstm_step_columns<T>(
          {detail::rows_of(x), x.data(), h.data(), c_before.data(), gates.data(), c.data(),
           y.data()},
          {p.weight_ih.values, p.weight_hh.values, weight_of<decltype(p)>::stride,
           data_or_null<T const>(p.bias_ih), data_or_null<T const>(p.bias_hh)},
          last_of<shape_of<decltype(x)>>, last_of<shape_of<decltype(h)>>,
          last_of<shape_of<decltype(c)>>);
    } else if constexpr (requires { packed.values; }) {
      detail::lstm_step_packed<T>({detail::rows_of(x), x.data(), h.data(), c_before.data(),
                                   gates.data(), c.data(), y.data()},
                                  last_of<shape_of<decltype(x)>>, last_of<shape_of<decltype(h)>>,
                                  last_of<shape_of<decltype(c)>>, packed.values);
    } else if (std::is_constant_evaluated()) {
      kernel<detail::lstm_step_fn, reference>::run(p, x, h, c_before, gates, c, y, packed);
    } else {
      detail::lstm_step_rows<T>(
          {detail::rows_of(x), x.data(), h.data(), c_before.data(), gates.data(), c.data(),
           y.data()},
          {p.weight_ih.data(), p.weight_hh.data(), data_or_null<T const>(p.bias_ih),
           data_or_null<T const>(p.bias_hh), last_of<shape_of<decltype(x)>>,
           last_of<shape_of<decltype(h)>>, last_of<shape_of<decltype(c)>>});
    }
  }

 private:
  template <class P> using weight_of = std::remove_cvref_t<decltype(std::declval<P>().weight_ih)>;
};

template <> struct kernel<detail::lstm_step_backward_fn, simd> {
  static constexpr void run(auto gates, auto c, auto c_before, auto dy, auto dh, auto dc) {
    using T = scalar_of<decltype(gates)>;
    if (std::is_constant_evaluated())
      return kernel<detail::lstm_step_backward_fn, reference>::run(gates, c, c_before, dy, dh, dc);
    constexpr auto hidden = last_of<shape_of<decltype(c)>>;
    rows<T>(detail::rows_of(c), hidden, gates.data(), c.data(), c_before.data(), dy.data(),
            dh.data(), dc.data());
  }

 private:
  template <class T>
  static void rows(std::size_t count, std::size_t hidden, T* gates, T const* c, T const* c_before,
                   T const* dy, T const* dh, T* dc) {
    for (auto r = std::size_t{0}; r < count; ++r) {
      for_each_vector<T>(hidden, [&](auto lanes, std::size_t j) TESSERA_INLINE {
        auto const at = r * hidden + j;
        auto* const gate = gates + r * 4 * hidden + j;
        auto const d = dy == nullptr   ? lanes.load(dh + at)
                       : dh == nullptr ? lanes.load(dy + at)
                                       : lanes.load(dy + at) + lanes.load(dh + at);
        auto const slope = detail::lstm_unit_backward<lane::pack<T>>(
            {lanes.load(gate), lanes.load(gate + hidden), lanes.load(gate + 2 * hidden),
             lanes.load(gate + 3 * hidden)},
            lanes.load(c + at), lanes.load(c_before + at), d, lanes.load(dc + at));
        lanes.store(gate, slope.dgates.input);
        lanes.store(gate + hidden, slope.dgates.forget);
        lanes.store(gate + 2 * hidden, slope.dgates.candidate);
        lanes.store(gate + 3 * hidden, slope.dgates.output);
        lanes.store(dc + at, slope.dc);
      });
    }
  }
};

}  // namespace tessera
