// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/lstm_cell.hpp>
#include <tessera/tensor/node.hpp>
#include <tessera/tensor/packed.hpp>
#include <tessera/tensor/parameters.hpp>

namespace tessera {

template <> struct kernel<detail::lstm_step_fn, reference> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
  using packed = nothing;
  static constexpr void prepare(auto const&, auto&) {}

  static constexpr void run(auto const& p, auto x, auto h, auto c_before, auto gates, auto c,
                            auto y, auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto recurrent = last_of<shape_of<decltype(h)>>;
    constexpr auto hidden = last_of<shape_of<decltype(c)>>;
    auto const rows = detail::rows_of(x);
    auto const* const bias_ih = data_or_null<T const>(p.bias_ih);
    auto const* const bias_hh = data_or_null<T const>(p.bias_hh);
    auto const before = [&](std::size_t r, std::size_t o) {
      auto sum = bias_ih == nullptr ? T{0} : T{one::load(bias_ih + o) + one::load(bias_hh + o)};
      for (auto k = std::size_t{0}; k < in; ++k)
        sum = lane::fma(x.data()[r * in + k], detail::weight_at(p.weight_ih, o, k), sum);
      for (auto k = std::size_t{0}; k < recurrent; ++k)
        sum = lane::fma(h.data()[r * recurrent + k], detail::weight_at(p.weight_hh, o, k), sum);
      return sum;
    };
    for (auto r = std::size_t{0}; r < rows; ++r) {
      for (auto j = std::size_t{0}; j < hidden; ++j) {
        auto const unit =
            detail::lstm_unit_forward<T>({before(r, j), before(r, hidden + j),
                                          before(r, 2 * hidden + j), before(r, 3 * hidden + j)},
                                         c_before.data()[r * hidden + j]);
        if (gates.data() != nullptr) {
          auto* const gate = gates.data() + r * 4 * hidden + j;
          gate[0] = unit.gates.input;
          gate[hidden] = unit.gates.forget;
          gate[2 * hidden] = unit.gates.candidate;
          gate[3 * hidden] = unit.gates.output;
        }
        c.data()[r * hidden + j] = unit.c;
        y.data()[r * hidden + j] = unit.h;
      }
    }
  }
};

template <> struct kernel<detail::lstm_step_backward_fn, reference> {
  static constexpr void run(auto gates, auto c, auto c_before, auto dy, auto dh, auto dc) {
    using T = scalar_of<decltype(gates)>;
    constexpr auto hidden = last_of<shape_of<decltype(c)>>;
    auto const rows = detail::rows_of(c);
    for (auto r = std::size_t{0}; r < rows; ++r) {
      for (auto j = std::size_t{0}; j < hidden; ++j) {
        auto const at = r * hidden + j;
        auto* const gate = gates.data() + r * 4 * hidden + j;
        auto const d = dy.data() == nullptr   ? dh.data()[at]
                       : dh.data() == nullptr ? dy.data()[at]
                                              : dy.data()[at] + dh.data()[at];
        auto const slope = detail::lstm_unit_backward<T>(
            {gate[0], gate[hidden], gate[2 * hidden], gate[3 * hidden]}, c.data()[at],
            c_before.data()[at], d, dc.data()[at]);
        gate[0] = slope.dgates.input;
        gate[hidden] = slope.dgates.forget;
        gate[2 * hidden] = slope.dgates.candidate;
        gate[3 * hidden] = slope.dgates.output;
        dc.data()[at] = slope.dc;
      }
    }
  }
};

}  // namespace tessera
