// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/tensor/node.hpp>
#include <tessera/tensor/packed.hpp>
#include <tessera/tensor/parameters.hpp>

/// The formulas of the cell stand here once, for numbers and vectors; kernels differ in how they
/// reach them.
namespace tessera {

namespace detail {

/// The four gates of one hidden unit, or of a vector of them.
template <class V> struct lstm_gates {
  V input;
  V forget;
  V candidate;
  V output;
};
template <class V> struct lstm_unit {
  lstm_gates<V> gates;
  V c;
  V h;
};

/// c = f·c + i·g;  h = o·tanh(c)
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto lstm_unit_forward(lstm_gates<V> const& before,
                                                              V c_before) -> lstm_unit<V> {
  using namespace lane;
  auto const i = sigmoid(before.input);
  auto const f = sigmoid(before.forget);
  auto const g = tanh(before.candidate);
  auto const o = sigmoid(before.output);
  auto const c = fma(f, c_before, i * g);
  return {{i, f, g, o}, c, o * tanh(c)};
}

template <class V> struct lstm_unit_slope {
  lstm_gates<V> dgates;
  V dc;
};

/// From dh, all that arrives at h, and dc, what arrives at c from the step after.
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto lstm_unit_backward(lstm_gates<V> const& gates, V c,
                                                               V c_before, V dh, V dc)
    -> lstm_unit_slope<V> {
  using namespace lane;
  auto const one = V(1);
  auto const tanh_c = tanh(c);
  auto const [i, f, g, o] = gates;
  auto const d = fma(dh * o, one - tanh_c * tanh_c, dc);
  return {{d * g * (i * (one - i)), d * c_before * (f * (one - f)), d * i * (one - g * g),
           dh * tanh_c * (o * (one - o))},
          d * f};
}

}  // namespace detail

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
    // The gates of some units at a time: their rows of the weights share the loads of x and h.
    constexpr auto together =
        std::size_t{is_packed<std::remove_cvref_t<decltype(p.weight_hh)>> ? 4 : 2};
    auto const units = [&]<std::size_t Units>(std::integral_constant<std::size_t, Units>,
                                              std::size_t r, std::size_t j) {
      T sum[4 * Units] = {};
      auto const row = [&](std::size_t i) { return i / Units * hidden + j + i % Units; };
      for (auto i = std::size_t{0}; i < 4 * Units && bias_ih != nullptr; ++i)
        sum[i] = one::load(bias_ih + row(i)) + one::load(bias_hh + row(i));
      detail::add_products<in>(x.data() + r * in, p.weight_ih, row, sum);
      detail::add_products<recurrent>(h.data() + r * recurrent, p.weight_hh, row, sum);
      for (auto u = std::size_t{0}; u < Units; ++u) {
        auto const at = r * hidden + j + u;
        auto const unit = detail::lstm_unit_forward<T>(
            {sum[u], sum[Units + u], sum[2 * Units + u], sum[3 * Units + u]}, c_before.data()[at]);
        if (gates.data() != nullptr) {
          auto* const gate = gates.data() + r * 4 * hidden + j + u;
          gate[0] = unit.gates.input;
          gate[hidden] = unit.gates.forget;
          gate[2 * hidden] = unit.gates.candidate;
          gate[3 * hidden] = unit.gates.output;
        }
        c.data()[at] = unit.c;
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
