// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/add_products.hpp>
#include <tessera/tensor/node.hpp>
#include <tessera/tensor/parameters.hpp>

#include <array>

namespace tessera {

namespace detail {

/// What a sum starts from, for row o of the weights.
template <class T>
[[nodiscard]] TESSERA_INLINE constexpr auto sum_of_biases(recurrent_sum const& s, T const& of_x,
                                                          T const& of_h) -> T {
  return not s.of_h ? of_x : not s.of_x ? of_h : of_x + of_h;
}

/// True where sum I of a cell takes x, or h.
template <class Cell, bool OfH> [[nodiscard]] constexpr auto takes(std::size_t i) -> bool {
  return OfH ? Cell::sums[i].of_h : Cell::sums[i].of_x;
}
/// The gate of sum I; the sums of most cells are its gates.
template <class Cell>
inline constexpr bool sums_are_gates = [] {
  for (auto i = std::size_t{0}; i < Cell::sums.size(); ++i)
    if (Cell::sums[i].gate != i || not Cell::sums[i].of_x || not Cell::sums[i].of_h) return false;
  return true;
}();
template <class Cell> [[nodiscard]] constexpr auto gate_of(std::size_t i) -> std::size_t {
  if constexpr (sums_are_gates<Cell>)
    return i;
  else
    return Cell::sums[i].gate;
}
/// Those sums, by index.
template <class Cell, bool OfH>
inline constexpr auto sums_that_take = [] {
  constexpr auto count = [] {
    auto n = std::size_t{0};
    for (auto i = std::size_t{0}; i < Cell::sums.size(); ++i) n += takes<Cell, OfH>(i) ? 1 : 0;
    return n;
  }();
  auto result = std::array<std::size_t, count>{};
  for (auto i = std::size_t{0}, n = std::size_t{0}; i < Cell::sums.size(); ++i)
    if (takes<Cell, OfH>(i)) result[n++] = i;
  return result;
}();

/// Adds the products of one row of x (or h) to the sums that take it; sum[i·Units + u] is of unit
/// u.
template <class Cell, bool OfH, std::size_t Depth, std::size_t Units, class T, std::size_t N>
TESSERA_INLINE constexpr void add_to_sums(T const* x, auto const& weight, auto const& row,
                                          T (&sum)[N]) {
  constexpr auto count = sums_that_take<Cell, OfH>.size() * Units;
  if constexpr (count == N) {
    add_products<Depth>(x, weight, row, sum);
  } else {
    constexpr auto at = [](std::size_t i) {
      return sums_that_take<Cell, OfH>[i / Units] * Units + i % Units;
    };
    T part[count] = {};
    for (auto i = std::size_t{0}; i < count; ++i) part[i] = sum[at(i)];
    add_products<Depth>(x, weight, [&](std::size_t i) { return row(at(i)); }, part);
    for (auto i = std::size_t{0}; i < count; ++i) sum[at(i)] = part[i];
  }
}

/// All that arrives at h from above and from the step after.
template <class T>
[[nodiscard]] TESSERA_INLINE constexpr auto slope_of_h(auto const& load, T const* dy, T const* dh) {
  return dy == nullptr ? load(dh) : dh == nullptr ? load(dy) : load(dy) + load(dh);
}

}  // namespace detail

template <class Cell> struct kernel_for<detail::recurrent_step_fn<Cell>, reference> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using packed = nothing;
  static constexpr void prepare(auto const&, auto&) {}

  static constexpr void run(auto const& p, auto x, auto h, auto before, auto gates, auto beside,
                            auto y, auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto recurrent = last_of<shape_of<decltype(h)>>;
    constexpr auto hidden = last_of<shape_of<decltype(y)>>;
    constexpr auto sums = Cell::sums.size();
    auto const rows = detail::rows_of(x);
    auto const* const bias_ih = data_or_null<T const>(p.bias_ih);
    auto const* const bias_hh = data_or_null<T const>(p.bias_hh);
    // The sums of some units at a time: their rows of the weights share the loads of x and h.
    constexpr auto together = std::size_t{by_columns<decltype(p.weight_hh)> ? 4 : 2};
    auto const units = [&]<std::size_t Units>(std::integral_constant<std::size_t, Units>,
                                              std::size_t r, std::size_t j) {
      T sum[sums * Units] = {};
      auto const row = [&](std::size_t i) {
        return detail::gate_of<Cell>(i / Units) * hidden + j + i % Units;
      };
      if (bias_ih != nullptr)
#pragma GCC unroll 16
        for (auto i = std::size_t{0}; i < sums * Units; ++i) {
          auto const of_x = one_lane::load(bias_ih + row(i));
          auto const of_h = one_lane::load(bias_hh + row(i));
          if constexpr (detail::sums_are_gates<Cell>)
            sum[i] = of_x + of_h;
          else
            sum[i] = detail::sum_of_biases<T>(Cell::sums[i / Units], of_x, of_h);
        }
      detail::add_to_sums<Cell, false, in, Units>(x.data() + r * in, p.weight_ih, row, sum);
      detail::add_to_sums<Cell, true, recurrent, Units>(h.data() + r * recurrent, p.weight_hh, row,
                                                        sum);
      for (auto u = std::size_t{0}; u < Units; ++u) {
        auto const at = r * hidden + j + u;
        T of_unit[sums] = {};
#pragma GCC unroll 4
        for (auto i = std::size_t{0}; i < sums; ++i) of_unit[i] = sum[i * Units + u];
        auto const unit = Cell::template forward<T>(of_unit, before.data()[at]);
        if (gates.data() != nullptr) {
          auto* const gate = gates.data() + r * Cell::gates * hidden + j + u;
#pragma GCC unroll 4
          for (auto g = std::size_t{0}; g < Cell::gates; ++g) gate[g * hidden] = unit.gates[g];
        }
        if (Cell::carries || beside.data() != nullptr) beside.data()[at] = unit.beside;
        y.data()[at] = unit.h;
      }
    };
    for (auto r = std::size_t{0}; r < rows; ++r) {
      auto j = std::size_t{0};
      for (; j + together <= hidden; j += together)
        units(std::integral_constant<std::size_t, together>{}, r, j);
      for (; j < hidden; ++j) units(std::integral_constant<std::size_t, 1>{}, r, j);
    }
  }
};

template <class Cell> struct kernel_for<detail::recurrent_step_backward_fn<Cell>, reference> {
  static constexpr void run(auto gates, auto beside, auto before, auto dy, auto dh, auto d) {
    using T = scalar_of<decltype(gates)>;
    constexpr auto hidden = last_of<shape_of<decltype(d)>>;
    constexpr auto load = [](T const* from) { return *from; };
    auto const rows = detail::rows_of(d);
    for (auto r = std::size_t{0}; r < rows; ++r) {
      for (auto j = std::size_t{0}; j < hidden; ++j) {
        auto const at = r * hidden + j;
        auto* const gate = gates.data() + r * Cell::gates * hidden + j;
        T values[Cell::gates] = {};
#pragma GCC unroll 4
        for (auto g = std::size_t{0}; g < Cell::gates; ++g) values[g] = gate[g * hidden];
        auto const arrives =
            detail::slope_of_h<T>(load, dy.data() == nullptr ? nullptr : dy.data() + at,
                                  dh.data() == nullptr ? nullptr : dh.data() + at);
        auto const slope = Cell::template backward<T>(values, beside.data()[at], before.data()[at],
                                                      arrives, d.data()[at]);
#pragma GCC unroll 4
        for (auto g = std::size_t{0}; g < Cell::gates; ++g) gate[g * hidden] = slope.gates[g];
        if constexpr (not Cell::carries) beside.data()[at] = slope.beside;
        d.data()[at] = slope.before;
      }
    }
  }
};

}  // namespace tessera
