// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/ops/lstm_cell.hpp>
#include <tessera/tensor/parameters.hpp>

namespace tessera {

namespace detail {

/// One hidden unit of one row: its four gates, then c and h.
template <class T> struct lstm_step_unit {
  std::size_t in, recurrent, hidden;
  T const *weight_ih, *weight_hh, *bias_ih, *bias_hh;
  T const *x, *h, *c_before;
  T *gates, *c, *y;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const r = at / hidden;
    auto const j = at % hidden;
    T sum[4] = {};
    for (auto g = std::size_t{0}; g < 4; ++g) {
      auto const row = g * hidden + j;
      if (bias_ih != nullptr) sum[g] = bias_ih[row] + bias_hh[row];
      for (auto k = std::size_t{0}; k < in; ++k)
        sum[g] = lane::fma(x[r * in + k], weight_ih[row * in + k], sum[g]);
      for (auto k = std::size_t{0}; k < recurrent; ++k)
        sum[g] = lane::fma(h[r * recurrent + k], weight_hh[row * recurrent + k], sum[g]);
    }
    auto const unit = lstm_unit_forward<T>({sum[0], sum[1], sum[2], sum[3]}, c_before[at]);
    if (gates != nullptr) {
      auto* const gate = gates + r * 4 * hidden + j;
      gate[0] = unit.gates.input;
      gate[hidden] = unit.gates.forget;
      gate[2 * hidden] = unit.gates.candidate;
      gate[3 * hidden] = unit.gates.output;
    }
    c[at] = unit.c;
    y[at] = unit.h;
  }
};
template <class T> struct lstm_step_backward_unit {
  std::size_t hidden;
  T* gates;
  T const *c, *c_before, *dy, *dh;
  T* dc;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto* const gate = gates + at / hidden * 4 * hidden + at % hidden;
    auto const d = dy == nullptr ? dh[at] : dh == nullptr ? dy[at] : dy[at] + dh[at];
    auto const slope =
        lstm_unit_backward<T>({gate[0], gate[hidden], gate[2 * hidden], gate[3 * hidden]}, c[at],
                              c_before[at], d, dc[at]);
    gate[0] = slope.dgates.input;
    gate[hidden] = slope.dgates.forget;
    gate[2 * hidden] = slope.dgates.candidate;
    gate[3 * hidden] = slope.dgates.output;
    dc[at] = slope.dc;
  }
};

}  // namespace detail

/// A thread for each unit of each row: gates, cell and output in one kernel.
template <> struct kernel<detail::lstm_step_fn, cuda> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using packed = nothing;
  static void prepare(auto const&, auto&) {}

  static void run(auto const& p, auto x, auto h, auto c_before, auto gates, auto c, auto y, auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto hidden = last_of<shape_of<decltype(c)>>;
    device::for_each(detail::rows_of(x) * hidden,
                     detail::lstm_step_unit<T>{
                         last_of<shape_of<decltype(x)>>, last_of<shape_of<decltype(h)>>, hidden,
                         p.weight_ih.data(), p.weight_hh.data(), data_or_null<T const>(p.bias_ih),
                         data_or_null<T const>(p.bias_hh), x.data(), h.data(), c_before.data(),
                         gates.data(), c.data(), y.data()});
  }
};

template <> struct kernel<detail::lstm_step_backward_fn, cuda> {
  static void run(auto gates, auto c, auto c_before, auto dy, auto dh, auto dc) {
    using T = scalar_of<decltype(gates)>;
    device::for_each(c.size(), detail::lstm_step_backward_unit<T>{
                                   last_of<shape_of<decltype(c)>>, gates.data(), c.data(),
                                   c_before.data(), dy.data(), dh.data(), dc.data()});
  }
};

}  // namespace tessera
