// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/cuda/product.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/tensor/cuda/reduction.hpp>

namespace tessera {

template <> struct kernel<detail::affine_map_fn, cuda> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Out> using packed = nothing;
  static void prepare(auto const&, auto&) {}

  static void run(auto x, auto const& weight, auto const* bias, auto y, auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(y)>>;
    device::multiply(device::product<T>{detail::rows_of(x),
                                        out,
                                        in,
                                        {x.data(), in, 1},
                                        {weight.data(), 1, in},
                                        y.data(),
                                        out,
                                        bias == nullptr ? device::start::zero : device::start::bias,
                                        bias});
  }
};

template <> struct kernel<detail::affine_map_input_fn, cuda> {
  static void run(auto const& weight, auto dy, auto dx, bool adds = false) {
    using T = scalar_of<decltype(dy)>;
    constexpr auto in = last_of<shape_of<decltype(dx)>>;
    constexpr auto out = last_of<shape_of<decltype(dy)>>;
    if (dx.data() == nullptr) return;
    device::multiply(device::product<T>{detail::rows_of(dy),
                                        in,
                                        out,
                                        {dy.data(), out, 1},
                                        {weight.data(), in, 1},
                                        dx.data(),
                                        in,
                                        adds ? device::start::y_last : device::start::zero,
                                        nullptr});
  }
};

template <> struct kernel<detail::affine_map_parameters_fn, cuda> {
  static void run(auto x, auto dy, auto* dweight, auto* dbias) {
    using T = scalar_of<decltype(dy)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(dy)>>;
    auto const rows = detail::rows_of(x);
    if (dbias != nullptr) device::add_rows(rows, out, dy.data(), dbias);
    if (dweight != nullptr)
      device::multiply(device::product<T>{out,
                                          in,
                                          rows,
                                          {dy.data(), 1, out},
                                          {x.data(), in, 1},
                                          dweight,
                                          in,
                                          device::start::y,
                                          nullptr});
  }
};

template <> struct kernel<detail::matmul_fn, cuda> {
  template <class T>
  static void run(std::size_t rows, std::size_t columns, std::size_t depth, T const* a, T const* b,
                  T* y) {
    device::multiply(device::product<T>{rows,
                                        columns,
                                        depth,
                                        {a, depth, 1},
                                        {b, columns, 1},
                                        y,
                                        columns,
                                        device::start::zero,
                                        nullptr});
  }
  template <class T>
  static void left(std::size_t rows, std::size_t columns, std::size_t depth, T const* dy,
                   T const* b, T* da) {
    device::multiply(device::product<T>{rows,
                                        depth,
                                        columns,
                                        {dy, columns, 1},
                                        {b, 1, columns},
                                        da,
                                        depth,
                                        device::start::y,
                                        nullptr});
  }
  template <class T>
  static void right(std::size_t rows, std::size_t columns, std::size_t depth, T const* a,
                    T const* dy, T* db) {
    device::multiply(device::product<T>{depth,
                                        columns,
                                        rows,
                                        {a, 1, depth},
                                        {dy, columns, 1},
                                        db,
                                        columns,
                                        device::start::y,
                                        nullptr});
  }
};

}  // namespace tessera
