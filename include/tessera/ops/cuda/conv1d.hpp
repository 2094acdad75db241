// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/ops/conv1d.hpp>
#include <tessera/ops/cuda/affine_map.hpp>

namespace tessera {

namespace detail {

template <class T, class Stored> struct conv1d_output {
  conv1d_geometry g;
  T const* x;
  T const* past;
  weight_matrix<T, Stored> weight;
  T const* bias;
  T* y;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const o = at % g.out;
    auto const r = at / g.out % g.rows;
    auto const t = at / g.out / g.rows;
    auto sum = bias == nullptr ? T{0} : bias[o];
    for (auto k = std::size_t{0}; k < g.kernel; ++k) {
      auto const* const row = g.seen(x, past, t, k);
      if (row == nullptr) continue;
      auto const* const from = row + r * g.in + o / g.group_out() * g.group_in();
      for (auto i = std::size_t{0}; i < g.group_in(); ++i)
        sum = lane::fma(from[i], weight.at(o, i * g.kernel + k), sum);
    }
    y[at] = sum;
  }
};
template <class T, class Stored> struct conv1d_input {
  conv1d_geometry g;
  weight_matrix<T, Stored> weight;
  T const* dy;
  T* dx;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const c = at % g.in;
    auto const r = at / g.in % g.rows;
    auto const place = at / g.in / g.rows + g.before;
    auto const group = c / g.group_in();
    auto sum = T{0};
    for (auto k = std::size_t{0}; k < g.kernel; ++k) {
      auto const shift = k * g.dilation;
      if (place < shift || (place - shift) % g.stride != 0) continue;
      auto const t = (place - shift) / g.stride;
      if (t >= g.out_time) continue;
      for (auto o = group * g.group_out(); o < (group + 1) * g.group_out(); ++o)
        sum = lane::fma(dy[(t * g.rows + r) * g.out + o],
                        weight.at(o, c % g.group_in() * g.kernel + k), sum);
    }
    dx[at] = sum;
  }
};
template <class T> struct conv1d_weight {
  conv1d_geometry g;
  T const* x;
  T const* past;
  T const* dy;
  T* dweight;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const k = at % g.kernel;
    auto const i = at / g.kernel % g.group_in();
    auto const o = at / g.kernel / g.group_in();
    auto sum = dweight[at];
    for (auto t = std::size_t{0}; t < g.out_time; ++t) {
      auto const* const row = g.seen(x, past, t, k);
      if (row == nullptr) continue;
      for (auto r = std::size_t{0}; r < g.rows; ++r)
        sum = lane::fma(dy[(t * g.rows + r) * g.out + o],
                        row[r * g.in + o / g.group_out() * g.group_in() + i], sum);
    }
    dweight[at] = sum;
  }
};
/// A thread for each number of a sample: what it overwrites, no other reads.
template <class T> struct conv1d_past {
  conv1d_geometry g;
  T const* x;
  T* past;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    kernel_for<conv1d_fn, reference>::remember_number(g, x, past, i);
  }
};

}  // namespace detail

template <> struct kernel_for<detail::conv1d_fn, cuda> {
  using geometry = detail::conv1d_geometry;
  template <class T, std::size_t Weights> using packed = nothing;

  template <class T, class Stored>
  static void forward(geometry const& g, T const* x, T const* past,
                      weight_matrix<T, Stored> const& weight, T const* bias, T* y, auto&) {
    device::for_each(g.out_time * g.rows * g.out,
                     detail::conv1d_output<T, Stored>{g, x, past, weight, bias, y});
  }
  template <class T, class Stored>
  static void input(geometry const& g, weight_matrix<T, Stored> const& weight, T const* dy, T* dx,
                    auto&) {
    device::for_each(g.time * g.rows * g.in, detail::conv1d_input<T, Stored>{g, weight, dy, dx});
  }
  template <class T>
  static void parameters(geometry const& g, T const* x, T const* past, T const* dy, T* dweight,
                         T* dbias, auto&) {
    if (dbias != nullptr) device::add_rows(g.out_time * g.rows, g.out, dy, dbias);
    if (dweight != nullptr)
      device::for_each(g.out * g.group_in() * g.kernel,
                       detail::conv1d_weight<T>{g, x, past, dy, dweight});
  }
  template <class T> static void remember(geometry const& g, T const* x, T* past) {
    device::for_each(g.rows * g.in, detail::conv1d_past<T>{g, x, past});
  }
};

}  // namespace tessera
