// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/product.hpp>
#include <tessera/ops/reference/conv1d.hpp>

namespace tessera {

/// A matrix product for every tap and group: neighbouring times are neighbouring rows. A backend
/// that has a kernel of products has convolutions by deriving from it.
template <class Backend> struct conv1d_by_products {
  using geometry = detail::conv1d_geometry;

  /// The weights of one tap and group, (group_in, group_out) forward, turned backward; not used
  /// forward where they lie by columns.
  template <class T, std::size_t Weights> struct packed {
    alignas(storage_alignment) T values[Weights];
  };

  template <class T, class Stored>
  static void forward(geometry const& g, T const* x, T const* past,
                      weight_matrix<T, Stored> const& weight, T const* bias, T* y, auto& memory) {
    for (auto row = std::size_t{0}; row < g.out_time * g.rows; ++row)
      for (auto o = std::size_t{0}; o < g.out; ++o)
        y[row * g.out + o] = bias == nullptr ? T{0} : bias[o];
    for (auto k = std::size_t{0}; k < g.kernel; ++k) {
      for (auto group = std::size_t{0}; group < g.groups; ++group) {
        auto const first = group * g.group_out();
        auto const product_with = [&]<class U>(weight_matrix<T, U> const& b) {
          for_each_run(g, x, past, k, [&](T const* from, std::size_t t, std::size_t times) {
            detail::multiply<Backend>(
                detail::matrix_product<T, U>{.rows = times * g.rows,
                                             .columns = g.group_out(),
                                             .depth = g.group_in(),
                                             .a = {from + group * g.group_in(), g.in, 1},
                                             .b = b,
                                             .c = y + t * g.rows * g.out + first,
                                             .c_row = g.out,
                                             .adds = true});
          });
        };
        if (weight.row == 1) {  // by columns: they are the rows of the product
          product_with(weight.transposed().part(k, first, g.kernel));
          continue;
        }
        auto* const w = memory.values;
        for_each_weight(g, k, [&](std::size_t o, std::size_t i, std::size_t seen) {
          w[i * g.group_out() + o] = weight.at(first + o, seen);
        });
        product_with(weight_matrix<T>{w, g.group_out(), 1});
      }
    }
  }
  template <class T, class Stored>
  static void input(geometry const& g, weight_matrix<T, Stored> const& weight, T const* dy, T* dx,
                    auto& memory) {
    for (auto i = std::size_t{0}; i < g.time * g.rows * g.in; ++i) dx[i] = T{0};
    for (auto k = std::size_t{0}; k < g.kernel; ++k) {
      for (auto group = std::size_t{0}; group < g.groups; ++group) {
        auto* const w = memory.values;
        for_each_weight(g, k, [&](std::size_t o, std::size_t i, std::size_t seen) {
          w[o * g.group_in() + i] = weight.at(group * g.group_out() + o, seen);
        });
        for_each_run(g, static_cast<T const*>(dx), static_cast<T const*>(nullptr), k,
                     [&](T const* to, std::size_t t, std::size_t times) {
                       detail::multiply<Backend>(detail::matrix_product<T>{
                           .rows = times * g.rows,
                           .columns = g.group_in(),
                           .depth = g.group_out(),
                           .a = {dy + t * g.rows * g.out + group * g.group_out(), g.out, 1},
                           .b = {w, g.group_in(), 1},
                           .c = dx + (to - dx) + group * g.group_in(),
                           .c_row = g.in,
                           .adds = true});
                     });
      }
    }
  }
  template <class T>
  static void parameters(geometry const& g, T const* x, T const* past, T const* dy, T* dweight,
                         T* dbias, auto& memory) {
    if (dbias != nullptr)
      kernel_for<detail::product_fn, Backend>::add_rows(g.out_time * g.rows, g.out, dy, dbias);
    if (dweight == nullptr) return;
    for (auto k = std::size_t{0}; k < g.kernel; ++k) {
      for (auto group = std::size_t{0}; group < g.groups; ++group) {
        auto* const w = memory.values;
        auto const at = [&](std::size_t o, std::size_t seen) -> T& {
          return dweight[(group * g.group_out() + o) * g.group_in() * g.kernel + seen];
        };
        for_each_weight(g, k, [&](std::size_t o, std::size_t i, std::size_t seen) {
          w[o * g.group_in() + i] = at(o, seen);
        });
        for_each_run(g, x, past, k, [&](T const* from, std::size_t t, std::size_t times) {
          detail::multiply<Backend>(detail::matrix_product<T>{
              .rows = g.group_out(),
              .columns = g.group_in(),
              .depth = times * g.rows,
              .a = {dy + t * g.rows * g.out + group * g.group_out(), 1, g.out},
              .b = {from + group * g.group_in(), g.in, 1},
              .c = w,
              .c_row = g.group_in(),
              .adds = true});
        });
        for_each_weight(g, k, [&](std::size_t o, std::size_t i, std::size_t seen) {
          at(o, seen) = w[o * g.group_in() + i];
        });
      }
    }
  }
  template <class T> static void remember(geometry const& g, T const* x, T* past) {
    kernel_for<detail::conv1d_fn, reference>::remember(g, x, past);
  }

 private:
  /// Calls f(output and input of a group, place in the weights of the output) for tap k.
  static void for_each_weight(geometry const& g, std::size_t k, auto const& f) {
    for (auto o = std::size_t{0}; o < g.group_out(); ++o)
      for (auto i = std::size_t{0}; i < g.group_in(); ++i) f(o, i, i * g.kernel + k);
  }
  /// Calls f(inputs, first output, how many outputs) for runs of times whose inputs by tap k follow
  /// one another, in order.
  template <class T>
  static void for_each_run(geometry const& g, T const* x, T const* past, std::size_t k,
                           auto const& f) {
    for (auto t = std::size_t{0}; t < g.out_time;) {
      auto const* const from = g.seen(x, past, t, k);
      auto times = std::size_t{1};
      if (from != nullptr && g.stride == 1)
        while (t + times < g.out_time &&
               g.seen(x, past, t + times, k) == from + times * g.rows * g.in)
          ++times;
      if (from != nullptr) f(from, t, times);
      t += times;
    }
  }
};

}  // namespace tessera
