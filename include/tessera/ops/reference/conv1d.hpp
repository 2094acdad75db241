// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/ops/operations.hpp>

namespace tessera {

/// Sums over taps and then over inputs, ascending, one fma each; zeros beyond the input add
/// nothing.
template <> struct kernel_for<detail::conv1d_fn, reference> {
  template <class T, std::size_t Weights> using packed = nothing;

  template <class T, class Stored>
  static constexpr void forward(detail::conv1d_geometry const& g, T const* x, T const* past,
                                weight_matrix<T, Stored> const& weight, T const* bias, T* y,
                                auto&) {
    for_each_output(g, [&](std::size_t t, std::size_t r, std::size_t o) {
      auto sum = bias == nullptr ? T{0} : bias[o];
      for_each_weight(g, x, past, t, r, o, [&](T const& seen, std::size_t w) {
        sum = lane::fma(seen, weight.at(o, w), sum);
      });
      y[(t * g.rows + r) * g.out + o] = sum;
    });
  }
  template <class T, class Stored>
  static constexpr void input(detail::conv1d_geometry const& g,
                              weight_matrix<T, Stored> const& weight, T const* dy, T* dx, auto&) {
    for (auto i = std::size_t{0}; i < g.time * g.rows * g.in; ++i) dx[i] = T{0};
    for (auto k = std::size_t{0}; k < g.kernel; ++k)
      for_each_output(g, [&](std::size_t t, std::size_t r, std::size_t o) {
        auto const* const seen =
            g.seen(static_cast<T const*>(dx), static_cast<T const*>(nullptr), t, k);
        if (seen == nullptr) return;
        auto const group = o / g.group_out();
        auto* const to = dx + (seen - dx) + r * g.in + group * g.group_in();
        for (auto i = std::size_t{0}; i < g.group_in(); ++i)
          to[i] =
              lane::fma(dy[(t * g.rows + r) * g.out + o], weight.at(o, i * g.kernel + k), to[i]);
      });
  }
  template <class T>
  static constexpr void parameters(detail::conv1d_geometry const& g, T const* x, T const* past,
                                   T const* dy, T* dweight, T* dbias, auto&) {
    for_each_output(g, [&](std::size_t t, std::size_t r, std::size_t o) {
      auto const d = dy[(t * g.rows + r) * g.out + o];
      if (dbias != nullptr) dbias[o] += d;
      if (dweight == nullptr) return;
      for_each_weight(g, x, past, t, r, o, [&](T const& seen, std::size_t w) {
        auto& slope = dweight[o * g.group_in() * g.kernel + w];
        slope = lane::fma(d, seen, slope);
      });
    });
  }
  template <class T>
  static constexpr void remember(detail::conv1d_geometry const& g, T const* x, T* past) {
    for (auto i = std::size_t{0}; i < g.rows * g.in; ++i) remember_number(g, x, past, i);
  }
  /// The same of number i of a sample.
  template <class T>
  static constexpr void remember_number(detail::conv1d_geometry const& g, T const* x, T* past,
                                        std::size_t i) {
    auto const sample = g.rows * g.in;
    auto const past_sample = g.past_sample();
    for (auto t = std::size_t{0}; t < g.before; ++t) {
      auto const from = t + g.time;  // in past followed by x
      past[t * past_sample + i] =
          from < g.before ? past[from * past_sample + i] : x[(from - g.before) * sample + i];
    }
  }

 private:
  static constexpr void for_each_output(detail::conv1d_geometry const& g, auto const& f) {
    for (auto t = std::size_t{0}; t < g.out_time; ++t)
      for (auto r = std::size_t{0}; r < g.rows; ++r)
        for (auto o = std::size_t{0}; o < g.out; ++o) f(t, r, o);
  }
  /// Calls f(number of x, place in the weights of o) for all that output (t, r, o) sees.
  template <class T>
  static constexpr void for_each_weight(detail::conv1d_geometry const& g, T const* x, T const* past,
                                        std::size_t t, std::size_t r, std::size_t o,
                                        auto const& f) {
    auto const group = o / g.group_out();
    for (auto k = std::size_t{0}; k < g.kernel; ++k) {
      auto const* const row = g.seen(x, past, t, k);
      if (row == nullptr) continue;
      auto const* const from = row + r * g.in + group * g.group_in();
      for (auto i = std::size_t{0}; i < g.group_in(); ++i) f(from[i], i * g.kernel + k);
    }
  }
};

}  // namespace tessera
