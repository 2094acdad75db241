// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>

namespace tessera {

namespace detail {

/// A run of outputs whose inputs by one tap are inside of the image: [first, first + count) see
/// input, input + stride, ...
struct conv_run {
  std::size_t first;
  std::size_t count;
  std::size_t input;
};
[[nodiscard]] constexpr auto run_of_tap(std::size_t tap, std::size_t inputs, std::size_t outputs,
                                        std::size_t stride, std::size_t padding,
                                        std::size_t dilation) -> conv_run {
  auto const shift = tap * dilation;
  auto const first = shift >= padding ? std::size_t{0} : (padding - shift + stride - 1) / stride;
  if (first >= outputs || first * stride + shift - padding >= inputs) return {0, 0, 0};
  auto const input = first * stride + shift - padding;
  auto const room = (inputs - 1 - input) / stride + 1;
  return {first, room < outputs - first ? room : outputs - first, input};
}
[[nodiscard]] constexpr auto rows_of_tap(conv2d_geometry const& g, std::size_t k) -> conv_run {
  return run_of_tap(k, g.image.height, g.output.height, g.stride.height, g.padding.height,
                    g.dilation.height);
}
[[nodiscard]] constexpr auto columns_of_tap(conv2d_geometry const& g, std::size_t k) -> conv_run {
  return run_of_tap(k, g.image.width, g.output.width, g.stride.width, g.padding.width,
                    g.dilation.width);
}

}  // namespace detail

/// Sums over taps and then over channels, ascending, one fma each; what is outside of the image
/// adds nothing.
template <> struct kernel_for<detail::conv2d_fn, reference> {
  using geometry = detail::conv2d_geometry;
  template <class T, std::size_t Weights> struct packed {
    [[nodiscard]] static constexpr auto data() -> T* { return nullptr; }
  };

  template <class T, class Stored>
  static constexpr void forward(geometry const& g, T const* x,
                                weight_matrix<T, Stored> const& weight, T const* bias, T* y, T*) {
    for (auto i = std::size_t{0}; i < g.batch * g.output.area(); ++i)
      for (auto o = std::size_t{0}; o < g.out; ++o)
        y[i * g.out + o] = bias == nullptr ? T{0} : bias[o];
    for_each_pair(g, [&](std::size_t in, std::size_t out, std::size_t o, std::size_t tap) {
      for (auto i = std::size_t{0}; i < g.group_in(); ++i)
        y[out] = lane::fma(x[in + i], weight.at(o, i * g.kernel.area() + tap), y[out]);
    });
  }
  template <class T, class Stored>
  static constexpr void input(geometry const& g, weight_matrix<T, Stored> const& weight,
                              T const* dy, T* dx, T*) {
    for (auto i = std::size_t{0}; i < g.batch * g.image.area() * g.in; ++i) dx[i] = T{0};
    for_each_pair(g, [&](std::size_t in, std::size_t out, std::size_t o, std::size_t tap) {
      for (auto i = std::size_t{0}; i < g.group_in(); ++i)
        dx[in + i] = lane::fma(dy[out], weight.at(o, i * g.kernel.area() + tap), dx[in + i]);
    });
  }
  template <class T>
  static constexpr void parameters(geometry const& g, T const* x, T const* dy, T* dweight, T* dbias,
                                   T*) {
    for (auto i = std::size_t{0}; dbias != nullptr && i < g.batch * g.output.area(); ++i)
      for (auto o = std::size_t{0}; o < g.out; ++o) dbias[o] += dy[i * g.out + o];
    if (dweight == nullptr) return;
    for_each_pair(g, [&](std::size_t in, std::size_t out, std::size_t o, std::size_t tap) {
      for (auto i = std::size_t{0}; i < g.group_in(); ++i) {
        auto& slope = dweight[g.weight_at(o, i, tap)];
        slope = lane::fma(dy[out], x[in + i], slope);
      }
    });
  }

 private:
  /// Calls f(place in x of the first channel of the group, place in y, output channel, tap) for all
  /// that outputs see: taps ascending, then images, rows, columns, channels.
  static constexpr void for_each_pair(geometry const& g, auto const& f) {
    for (auto k = std::size_t{0}; k < g.kernel.height; ++k) {
      for (auto m = std::size_t{0}; m < g.kernel.width; ++m) {
        auto const rows = detail::rows_of_tap(g, k);
        auto const columns = detail::columns_of_tap(g, m);
        for (auto b = std::size_t{0}; b < g.batch; ++b)
          for (auto i = std::size_t{0}; i < rows.count; ++i)
            for (auto j = std::size_t{0}; j < columns.count; ++j)
              for (auto o = std::size_t{0}; o < g.out; ++o)
                f(((b * g.image.height + rows.input + i * g.stride.height) * g.image.width +
                   columns.input + j * g.stride.width) *
                          g.in +
                      o / g.group_out() * g.group_in(),
                  ((b * g.output.height + rows.first + i) * g.output.width + columns.first + j) *
                          g.out +
                      o,
                  o, k * g.kernel.width + m);
      }
    }
  }
};

}  // namespace tessera
