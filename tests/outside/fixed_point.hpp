// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdint>

/// A backend that the library does not know: numbers are rounded to multiples of 2^-12 and
/// multiplied as integers, which are counted. What it has no kernel for runs on the reference.
struct fixed_point {
  using fallback = tessera::reference;
  static constexpr double one = 4096;
  static inline std::size_t multiply_adds = 0;

  [[nodiscard]] static auto from(float x) -> std::int64_t {
    return static_cast<std::int64_t>(std::lround(static_cast<double>(x) * one));
  }
  [[nodiscard]] static auto product(float a, float b) -> std::int64_t {
    ++multiply_adds;
    return from(a) * from(b);
  }
  [[nodiscard]] static auto sum_of(float const* a, float const* b, std::size_t n) -> std::int64_t {
    auto sum = std::int64_t{0};
    for (auto i = std::size_t{0}; i < n; ++i) sum += product(a[i], b[i]);
    return sum;
  }
  [[nodiscard]] static auto to_float(std::int64_t sum) -> float {
    return static_cast<float>(static_cast<double>(sum) / (one * one));
  }
};

template <>
struct tessera::kernel_for<tessera::operation::affine_map, fixed_point>
    : tessera::kernel_for<tessera::operation::affine_map, tessera::reference> {
  static void run(auto x, auto const& weight, auto const* bias, auto y, auto&) {
    constexpr auto in = tessera::last_of<tessera::shape_of<decltype(x)>>;
    constexpr auto out = tessera::last_of<tessera::shape_of<decltype(y)>>;
    for (auto r = std::size_t{0}; r < x.size() / in; ++r)
      for (auto o = std::size_t{0}; o < out; ++o)
        y.data()[r * out + o] = fixed_point::to_float(fixed_point::sum_of(
                                    x.data() + r * in, weight.data() + o * in, in)) +
                                (bias == nullptr ? 0 : bias[o]);
  }
};

template <>
struct tessera::kernel_for<tessera::operation::conv2d, fixed_point>
    : tessera::kernel_for<tessera::operation::conv2d, tessera::reference> {
  static void forward(tessera::operation::conv2d_geometry const& g, float const* x,
                      tessera::weight_matrix<float> const& weight, float const* bias, float* y,
                      float*) {
    for (auto p = std::size_t{0}; p < g.batch * g.output.area(); ++p) {
      auto const image = p / g.output.area();
      auto const row = p % g.output.area() / g.output.width;
      auto const column = p % g.output.width;
      for (auto o = std::size_t{0}; o < g.out; ++o) {
        auto sum = std::int64_t{0};
        for (auto tap = std::size_t{0}; tap < g.kernel.area(); ++tap) {
          auto const i = row * g.stride.height + tap / g.kernel.width * g.dilation.height;
          auto const j = column * g.stride.width + tap % g.kernel.width * g.dilation.width;
          if (i < g.padding.height || i - g.padding.height >= g.image.height) continue;
          if (j < g.padding.width || j - g.padding.width >= g.image.width) continue;
          auto const* const from =
              x +
              ((image * g.image.height + i - g.padding.height) * g.image.width + j -
               g.padding.width) *
                  g.in +
              o / g.group_out() * g.group_in();
          for (auto c = std::size_t{0}; c < g.group_in(); ++c)
            sum += fixed_point::product(from[c], weight.at(o, c * g.kernel.area() + tap));
        }
        y[p * g.out + o] = fixed_point::to_float(sum) + (bias == nullptr ? 0 : bias[o]);
      }
    }
  }
};

template <>
struct tessera::kernel_for<tessera::operation::recurrent_step<tessera::lstm_cell>, fixed_point>
    : tessera::kernel_for<tessera::operation::recurrent_step<tessera::lstm_cell>,
                          tessera::reference> {
  static void run(auto const& p, auto x, auto h, auto c_before, auto gates, auto c, auto y, auto&) {
    constexpr auto in = tessera::last_of<tessera::shape_of<decltype(x)>>;
    constexpr auto out = tessera::last_of<tessera::shape_of<decltype(h)>>;
    constexpr auto hidden = tessera::last_of<tessera::shape_of<decltype(c)>>;
    for (auto r = std::size_t{0}; r < x.size() / in; ++r) {
      for (auto j = std::size_t{0}; j < hidden; ++j) {
        float gate[4];
        for (auto q = std::size_t{0}; q < 4; ++q) {
          auto const o = q * hidden + j;
          gate[q] =
              fixed_point::to_float(
                  fixed_point::sum_of(x.data() + r * in, p.weight_ih.data() + o * in, in) +
                  fixed_point::sum_of(h.data() + r * out, p.weight_hh.data() + o * out, out)) +
              p.bias_ih.data()[o] + p.bias_hh.data()[o];
          gate[q] = q == 2 ? tessera::lane::tanh(gate[q]) : tessera::lane::sigmoid(gate[q]);
          if (gates.data() != nullptr) gates.data()[r * 4 * hidden + o] = gate[q];
        }
        auto const at = r * hidden + j;
        c.data()[at] = gate[1] * c_before.data()[at] + gate[0] * gate[2];
        y.data()[at] = gate[3] * tessera::lane::tanh(c.data()[at]);
      }
    }
  }
};
