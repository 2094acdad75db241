// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/ops/cuda/affine_map.hpp>
#include <tessera/ops/cuda/conv2d_lines.hpp>

namespace tessera {

namespace detail {

/// Calls f(place in x of the group's first channel, tap) for all that output (image, row, column)
/// sees, taps ascending.
TESSERA_DEVICE inline void for_each_tap(conv2d_geometry const& g, std::size_t image,
                                        std::size_t row, std::size_t column, std::size_t group,
                                        auto const& f) {
  for (auto k = std::size_t{0}; k < g.kernel.height; ++k) {
    auto const i = row * g.stride.height + k * g.dilation.height;
    if (i < g.padding.height || i - g.padding.height >= g.image.height) continue;
    for (auto m = std::size_t{0}; m < g.kernel.width; ++m) {
      auto const j = column * g.stride.width + m * g.dilation.width;
      if (j < g.padding.width || j - g.padding.width >= g.image.width) continue;
      f(((image * g.image.height + i - g.padding.height) * g.image.width + j - g.padding.width) *
                g.in +
            group * g.group_in(),
        k * g.kernel.width + m);
    }
  }
}

// With groups, a thread for each number.

template <class T, class Stored> struct conv2d_output {
  conv2d_geometry g;
  T const* x;
  weight_matrix<T, Stored> weight;
  T const* bias;
  T* y;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const o = at % g.out;
    auto const pixel = at / g.out;
    auto const column = pixel % g.output.width;
    auto const row = pixel / g.output.width % g.output.height;
    auto sum = bias == nullptr ? T{0} : bias[o];
    for_each_tap(g, pixel / g.output.area(), row, column, o / g.group_out(),
                 [&](std::size_t first, std::size_t tap) {
                   for (auto i = std::size_t{0}; i < g.group_in(); ++i)
                     sum = lane::fma(x[first + i], weight.at(o, i * g.kernel.area() + tap), sum);
                 });
    y[at] = sum;
  }
};
template <class T, class Stored> struct conv2d_input {
  conv2d_geometry g;
  weight_matrix<T, Stored> weight;
  T const* dy;
  T* dx;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const c = at % g.in;
    auto const pixel = at / g.in;
    auto const column = pixel % g.image.width + g.padding.width;
    auto const row = pixel / g.image.width % g.image.height + g.padding.height;
    auto const image = pixel / g.image.area();
    auto const group = c / g.group_in();
    auto sum = T{0};
    for (auto k = std::size_t{0}; k < g.kernel.height; ++k) {
      auto const i = seen_by(row, k * g.dilation.height, g.stride.height, g.output.height);
      if (i == g.output.height) continue;
      for (auto m = std::size_t{0}; m < g.kernel.width; ++m) {
        auto const j = seen_by(column, m * g.dilation.width, g.stride.width, g.output.width);
        if (j == g.output.width) continue;
        auto const* const d = dy + ((image * g.output.height + i) * g.output.width + j) * g.out;
        for (auto o = group * g.group_out(); o < (group + 1) * g.group_out(); ++o)
          sum = lane::fma(
              d[o], weight.at(o, c % g.group_in() * g.kernel.area() + k * g.kernel.width + m), sum);
      }
    }
    dx[at] = sum;
  }
};
template <class T> struct conv2d_weight {
  conv2d_geometry g;
  T const* x;
  T const* dy;
  T* dweight;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const tap = at % g.kernel.area();
    auto const i = at / g.kernel.area() % g.group_in();
    auto const o = at / g.kernel.area() / g.group_in();
    auto const rows = rows_of_tap(g, tap / g.kernel.width);
    auto const columns = columns_of_tap(g, tap % g.kernel.width);
    auto const channel = o / g.group_out() * g.group_in() + i;
    auto sum = dweight[at];
    for (auto b = std::size_t{0}; b < g.batch; ++b)
      for (auto r = std::size_t{0}; r < rows.count; ++r)
        for (auto c = std::size_t{0}; c < columns.count; ++c) {
          auto const in = (b * g.image.height + rows.input + r * g.stride.height) * g.image.width +
                          columns.input + c * g.stride.width;
          auto const out =
              (b * g.output.height + rows.first + r) * g.output.width + columns.first + c;
          sum = lane::fma(dy[out * g.out + o], x[in * g.in + channel], sum);
        }
    dweight[at] = sum;
  }
};

}  // namespace detail

/// Products of tiles, or with groups a thread for each output, input and weight. Sums are in the
/// order of `reference`, but for weights whose depth is cut.
template <> struct kernel_for<detail::conv2d_fn, cuda> {
  using geometry = detail::conv2d_geometry;
  template <class T, std::size_t Weights> struct packed {
    [[nodiscard]] static constexpr auto data() -> T* { return nullptr; }
  };

  template <class T, class Stored>
  static void forward(geometry const& g, T const* x, weight_matrix<T, Stored> const& weight,
                      T const* bias, T* y, T*) {
    auto const pixels = g.batch * g.output.area();
    if (g.groups > 1)
      return device::for_each(pixels * g.out,
                              detail::conv2d_output<T, Stored>{g, x, weight, bias, y});
    auto const taps = g.kernel.area();
    device::multiply_lines(pixels, g.out, taps * g.in, detail::conv2d_seen<T>{g, x},
                           detail::conv2d_weights<T, Stored>{weight, taps, g.in, false},
                           device::outputs<T>{y, g.out},
                           bias == nullptr ? device::start::zero : device::start::bias, bias);
  }
  template <class T, class Stored>
  static void input(geometry const& g, weight_matrix<T, Stored> const& weight, T const* dy, T* dx,
                    T*) {
    auto const pixels = g.batch * g.image.area();
    if (g.groups > 1)
      return device::for_each(pixels * g.in, detail::conv2d_input<T, Stored>{g, weight, dy, dx});
    auto const taps = g.kernel.area();
    device::multiply_lines(pixels, g.in, taps * g.out, detail::conv2d_seers<T>{g, dy},
                           detail::conv2d_weights<T, Stored>{weight, taps, g.out, true},
                           device::outputs<T>{dx, g.in}, device::start::zero,
                           static_cast<T const*>(nullptr));
  }
  template <class T>
  static void parameters(geometry const& g, T const* x, T const* dy, T* dweight, T* dbias, T*) {
    auto const pixels = g.batch * g.output.area();
    auto const taps = g.kernel.area();
    if (dbias != nullptr) device::add_rows(pixels, g.out, dy, dbias);
    if (dweight == nullptr) return;
    if (g.groups > 1)
      return device::for_each(g.out * g.group_in() * taps,
                              detail::conv2d_weight<T>{g, x, dy, dweight});
    device::multiply_lines(g.out, taps * g.in, pixels, device::lines<T>{dy, 1, g.out},
                           detail::conv2d_seen_by_tap<T>{{g, x}},
                           device::outputs<T>{dweight, g.in * taps, g.in, taps}, device::start::y,
                           static_cast<T const*>(nullptr));
  }
};

}  // namespace tessera
