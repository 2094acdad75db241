// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/product.hpp>
#include <tessera/ops/reference/conv2d.hpp>

namespace tessera {

/// A matrix product for every tap, group and row of an image: the pixels of a row are the rows of
/// the matrix, at the distance of the stride. A backend that has a kernel of products has
/// convolutions by deriving from it.
template <class Backend> struct conv2d_by_products {
  using geometry = detail::conv2d_geometry;

  /// The weights by taps and groups: (group_in, group_out) forward, turned backward.
  template <class T, std::size_t Weights> struct packed {
    alignas(storage_alignment) T values[Weights];
    [[nodiscard]] auto data() -> T* { return values; }
  };

  template <class T, class Stored>
  static void forward(geometry const& g, T const* x, weight_matrix<T, Stored> const& weight,
                      T const* bias, T* y, T* w) {
    for (auto i = std::size_t{0}; i < g.batch * g.output.area(); ++i)
      for (auto o = std::size_t{0}; o < g.out; ++o)
        y[i * g.out + o] = bias == nullptr ? T{0} : bias[o];
    auto const product_with = [&]<class U>(weight_matrix<T, U> const& b, std::size_t in,
                                           std::size_t out, std::size_t pixels) {
      detail::multiply<Backend>(
          detail::matrix_product<T, U>{.rows = pixels,
                                       .columns = g.group_out(),
                                       .depth = g.group_in(),
                                       .a = {x + in, g.stride.width * g.in, 1},
                                       .b = b,
                                       .c = y + out,
                                       .c_row = g.out,
                                       .adds = true});
    };
    if (weight.row == 1) {  // by columns: they are the rows of the product
      for_each_row(g, [&](std::size_t in, std::size_t out, std::size_t pixels, std::size_t,
                          std::size_t tap, std::size_t group) {
        product_with(weight.transposed().part(tap, group * g.group_out(), g.kernel.area()), in, out,
                     pixels);
      });
      return;
    }
    for_each_weight(g, [&](std::size_t o, std::size_t i, std::size_t tap, std::size_t first) {
      w[first + i * g.group_out() + o % g.group_out()] = weight.at(o, i * g.kernel.area() + tap);
    });
    for_each_row(g, [&](std::size_t in, std::size_t out, std::size_t pixels, std::size_t first,
                        std::size_t, std::size_t) {
      product_with(weight_matrix<T>{w + first, g.group_out(), 1}, in, out, pixels);
    });
  }
  template <class T, class Stored>
  static void input(geometry const& g, weight_matrix<T, Stored> const& weight, T const* dy, T* dx,
                    T* w) {
    for (auto i = std::size_t{0}; i < g.batch * g.image.area() * g.in; ++i) dx[i] = T{0};
    for_each_weight(g, [&](std::size_t o, std::size_t i, std::size_t tap, std::size_t first) {
      w[first + o % g.group_out() * g.group_in() + i] = weight.at(o, i * g.kernel.area() + tap);
    });
    for_each_row(g, [&](std::size_t in, std::size_t out, std::size_t pixels, std::size_t first,
                        std::size_t, std::size_t) {
      detail::multiply<Backend>(detail::matrix_product<T>{.rows = pixels,
                                                          .columns = g.group_in(),
                                                          .depth = g.group_out(),
                                                          .a = {dy + out, g.out, 1},
                                                          .b = {w + first, g.group_in(), 1},
                                                          .c = dx + in,
                                                          .c_row = g.stride.width * g.in,
                                                          .adds = true});
    });
  }
  template <class T>
  static void parameters(geometry const& g, T const* x, T const* dy, T* dweight, T* dbias, T* w) {
    if (dbias != nullptr)
      kernel_for<detail::product_fn, Backend>::add_rows(g.batch * g.output.area(), g.out, dy,
                                                        dbias);
    if (dweight == nullptr) return;
    for_each_weight(g, [&](std::size_t o, std::size_t i, std::size_t tap, std::size_t first) {
      w[first + o % g.group_out() * g.group_in() + i] = dweight[g.weight_at(o, i, tap)];
    });
    for_each_row(g, [&](std::size_t in, std::size_t out, std::size_t pixels, std::size_t first,
                        std::size_t, std::size_t) {
      detail::multiply<Backend>(detail::matrix_product<T>{.rows = g.group_out(),
                                                          .columns = g.group_in(),
                                                          .depth = pixels,
                                                          .a = {dy + out, 1, g.out},
                                                          .b = {x + in, g.stride.width * g.in, 1},
                                                          .c = w + first,
                                                          .c_row = g.group_in(),
                                                          .adds = true});
    });
    for_each_weight(g, [&](std::size_t o, std::size_t i, std::size_t tap, std::size_t first) {
      dweight[g.weight_at(o, i, tap)] = w[first + o % g.group_out() * g.group_in() + i];
    });
  }

 private:
  /// Calls f(output channel, input channel of its group, tap, place of the tap and group in the
  /// packed weights).
  static void for_each_weight(geometry const& g, auto const& f) {
    auto const taps = g.kernel.area();
    for (auto o = std::size_t{0}; o < g.out; ++o)
      for (auto i = std::size_t{0}; i < g.group_in(); ++i)
        for (auto tap = std::size_t{0}; tap < taps; ++tap)
          f(o, i, tap, (tap * g.groups + o / g.group_out()) * g.group_out() * g.group_in());
  }
  /// Calls f(place in x, place in y, pixels, place in the packed weights, tap, group) for the runs
  /// of pixels of all rows, a tap after the other.
  static void for_each_row(geometry const& g, auto const& f) {
    auto first = std::size_t{0};
    for (auto k = std::size_t{0}; k < g.kernel.height; ++k) {
      for (auto m = std::size_t{0}; m < g.kernel.width; ++m) {
        auto const rows = detail::rows_of_tap(g, k);
        auto const columns = detail::columns_of_tap(g, m);
        for (auto group = std::size_t{0}; group < g.groups; ++group) {
          for (auto row = std::size_t{0}; row < (columns.count > 0 ? g.batch * rows.count : 0);
               ++row) {
            auto const b = row / rows.count;
            auto const i = row % rows.count;
            f(((b * g.image.height + rows.input + i * g.stride.height) * g.image.width +
               columns.input) *
                      g.in +
                  group * g.group_in(),
              ((b * g.output.height + rows.first + i) * g.output.width + columns.first) * g.out +
                  group * g.group_out(),
              columns.count, first, k * g.kernel.width + m, group);
          }
          first += g.group_out() * g.group_in();
        }
      }
    }
  }
};

}  // namespace tessera
