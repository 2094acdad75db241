// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/ops/recurrent.hpp>
#include <tessera/tensor/parameters.hpp>

#include <cstdint>
#include <cstring>
#include <utility>

namespace tessera {

namespace detail {

/// Adds the products of a row of weights from number k on, one fma each, ascending. Rows that begin
/// at multiples of 16 bytes come four numbers at a time: the rows of a warp's threads lie apart.
template <class T, class Stored>
[[nodiscard]] TESSERA_DEVICE inline auto add_row(T const* from, std::size_t k, std::size_t n,
                                                 weight_matrix<T, Stored> const& weight,
                                                 std::size_t row, T result) -> T {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<T, Stored>) {
    if (weight.column == 1 && weight.row % 4 == 0 && k % 4 == 0 &&
        reinterpret_cast<std::uintptr_t>(weight.data) % 16 == 0) {
      auto const* const numbers = weight.data + row * weight.row;
      for (; k + 4 <= n; k += 4) {
        T four[4];
        std::memcpy(four, __builtin_assume_aligned(numbers + k, 16), sizeof four);
        for (auto i = std::size_t{0}; i < 4; ++i) result = lane::fma(from[k + i], four[i], result);
      }
    }
  }
  for (; k < n; ++k) result = lane::fma(from[k], weight.at(row, k), result);
  return result;
}

/// One hidden unit of one row: its sums, then the cell's formulas.
template <class Cell, class T, class Stored> struct recurrent_step_unit {
  std::size_t in, recurrent, hidden;
  weight_matrix<T, Stored> weight_ih, weight_hh;
  T const *bias_ih, *bias_hh;
  T const *x, *h, *before;
  T *gates, *beside, *y;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    unit(at, std::make_index_sequence<Cell::sums.size()>{});
  }

 private:
  template <std::size_t I>
  [[nodiscard]] TESSERA_DEVICE auto sum(std::size_t r, std::size_t j) const -> T {
    constexpr auto s = Cell::sums[I];
    auto const row = s.gate * hidden + j;
    auto result = T{0};
    if (bias_ih != nullptr) result = sum_of_biases<T>(s, bias_ih[row], bias_hh[row]);
    if constexpr (s.of_x) result = add_row(x + r * in, 0, in, weight_ih, row, result);
    if constexpr (s.of_h) result = add_row(h + r * recurrent, 0, recurrent, weight_hh, row, result);
    return result;
  }
  template <std::size_t... I>
  TESSERA_DEVICE void unit(std::size_t at, std::index_sequence<I...>) const {
    auto const r = at / hidden;
    auto const j = at % hidden;
    T const sums[] = {sum<I>(r, j)...};
    auto const result = Cell::template forward<T>(sums, before[at]);
    if (gates != nullptr)
      for (auto g = std::size_t{0}; g < Cell::gates; ++g)
        gates[(r * Cell::gates + g) * hidden + j] = result.gates[g];
    if (beside != nullptr) beside[at] = result.beside;
    y[at] = result.h;
  }
};
/// Beside is const where the cell carries it: then it is no sum.
template <class Cell, class T, class Beside> struct recurrent_step_backward_unit {
  std::size_t hidden;
  T* gates;
  Beside* beside;
  T const *before, *dy, *dh;
  T* d;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto* const gate = gates + at / hidden * Cell::gates * hidden + at % hidden;
    T values[Cell::gates];
    for (auto g = std::size_t{0}; g < Cell::gates; ++g) values[g] = gate[g * hidden];
    auto const arrives = dy == nullptr ? dh[at] : dh == nullptr ? dy[at] : dy[at] + dh[at];
    auto const slope = Cell::template backward<T>(values, beside[at], before[at], arrives, d[at]);
    for (auto g = std::size_t{0}; g < Cell::gates; ++g) gate[g * hidden] = slope.gates[g];
    if constexpr (not Cell::carries) beside[at] = slope.beside;
    d[at] = slope.before;
  }
};

}  // namespace detail

/// A thread for each unit of each row: sums, cell and output in one kernel.
template <class Cell> struct kernel_for<detail::recurrent_step_fn<Cell>, cuda> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using packed = nothing;
  static void prepare(auto const&, auto&) {}

  static void run(auto const& p, auto x, auto h, auto before, auto gates, auto beside, auto y,
                  auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto hidden = last_of<shape_of<decltype(y)>>;
    device::for_each(detail::rows_of(x) * hidden,
                     detail::recurrent_step_unit<Cell, T, stored_of<decltype(p.weight_ih)>>{
                         last_of<shape_of<decltype(x)>>, last_of<shape_of<decltype(h)>>, hidden,
                         weights_of<T>(p.weight_ih), weights_of<T>(p.weight_hh),
                         data_or_null<T const>(p.bias_ih), data_or_null<T const>(p.bias_hh),
                         x.data(), h.data(), before.data(), gates.data(), beside.data(), y.data()});
  }
};

template <class Cell> struct kernel_for<detail::recurrent_step_backward_fn<Cell>, cuda> {
  static void run(auto gates, auto beside, auto before, auto dy, auto dh, auto d) {
    using T = scalar_of<decltype(gates)>;
    using B = std::remove_pointer_t<decltype(beside.data())>;
    device::for_each(d.size(), detail::recurrent_step_backward_unit<Cell, T, B>{
                                   last_of<shape_of<decltype(d)>>, gates.data(), beside.data(),
                                   before.data(), dy.data(), dh.data(), d.data()});
  }
};

}  // namespace tessera
