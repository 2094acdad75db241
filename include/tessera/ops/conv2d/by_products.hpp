// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/product.hpp>
#include <tessera/ops/reference/conv2d.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera {

/// A matrix product for every tap, group and image: the pixels are the rows of the matrix, at the
/// distance of the stride; those of a row of pixels are a run. Taps side by side are one product
/// for the pixels that see all of them. A backend that has a kernel of products has convolutions by
/// deriving from it.
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
    auto const pixels = g.batch * g.output.area();
    for (auto o = std::size_t{0}; pixels > 0 && o < g.out; ++o)
      y[o] = bias == nullptr ? T{0} : bias[o];
    for (auto i = std::size_t{1}; i < pixels; ++i) std::memcpy(y + i * g.out, y, g.out * sizeof(T));
    auto const product_with = [&]<class U>(weight_matrix<T, U> const& b, image_pixels const& at) {
      detail::multiply_in_runs<Backend>(
          detail::matrix_product<T, U>{.rows = at.count,
                                       .columns = g.group_out(),
                                       .depth = at.taps * g.group_in(),
                                       .a = {x + at.in, at.in_pixel, 1},
                                       .b = b,
                                       .c = y + at.out,
                                       .c_row = at.out_pixel,
                                       .adds = true},
          {at.run, at.in_run, at.out_run}, {});
    };
    if (weight.row == 1) {  // by columns: they are the rows of the product
      for_each_image(
          g, joined::none,
          [&](image_pixels const& at, std::size_t, std::size_t tap, std::size_t group) {
            product_with(weight.transposed().part(tap, group * g.group_out(), g.kernel.area()), at);
          });
      return;
    }
    for_each_weight(g, 1, g.group_out(), [&](std::size_t o, std::size_t column, std::size_t to) {
      w[to] = weight.at(o, column);
    });
    for_each_image(g, joins(g) ? joined::by_output : joined::none,
                   [&](image_pixels const& at, std::size_t first, std::size_t, std::size_t) {
                     product_with(weight_matrix<T>{w + first, g.group_out(), 1}, at);
                   });
  }
  template <class T, class Stored>
  static void input(geometry const& g, weight_matrix<T, Stored> const& weight, T const* dy, T* dx,
                    T* w) {
    for (auto i = std::size_t{0}; i < g.batch * g.image.area() * g.in; ++i) dx[i] = T{0};
    for_each_weight(g, g.group_in(), 1, [&](std::size_t o, std::size_t column, std::size_t to) {
      w[to] = weight.at(o, column);
    });
    // Along the taps the pixels of dy go backward.
    for_each_image(g, joins(g) && g.stride.width == 1 ? joined::by_input : joined::none,
                   [&](image_pixels const& at, std::size_t first, std::size_t, std::size_t) {
                     detail::multiply_in_runs<Backend>(
                         detail::matrix_product<T>{.rows = at.count,
                                                   .columns = g.group_in(),
                                                   .depth = at.taps * g.group_out(),
                                                   .a = {dy + at.out, at.out_pixel, 1},
                                                   .b = {w + first, g.group_in(), 1},
                                                   .c = dx + at.in,
                                                   .c_row = at.in_pixel,
                                                   .adds = true},
                         {at.run, at.out_run, at.in_run},
                         {.length = g.group_out(),
                          .a = std::size_t{0} - g.out,
                          .other = g.group_out() * g.group_in(),
                          .first = (at.taps - 1) * g.out});
                   });
  }
  template <class T>
  static void parameters(geometry const& g, T const* x, T const* dy, T* dweight, T* dbias, T* w) {
    if (dbias != nullptr)
      kernel_for<detail::product_fn, Backend>::add_rows(g.batch * g.output.area(), g.out, dy,
                                                        dbias);
    if (dweight == nullptr) return;
    auto const slopes = weight_matrix<T>{dweight, g.group_in() * g.kernel.area(), 1};
    for_each_weight(g, g.group_in(), 1, [&](std::size_t o, std::size_t column, std::size_t from) {
      w[from] = slopes.at(o, column);
    });
    for_each_image(g, joined::none,
                   [&](image_pixels const& at, std::size_t first, std::size_t, std::size_t) {
                     detail::multiply_in_runs<Backend>(
                         detail::matrix_product<T>{.rows = g.group_out(),
                                                   .columns = g.group_in(),
                                                   .depth = at.count,
                                                   .a = {dy + at.out, 1, at.out_pixel},
                                                   .b = {x + at.in, at.in_pixel, 1},
                                                   .c = w + first,
                                                   .c_row = g.group_in(),
                                                   .adds = true},
                         {}, {at.run, at.out_run, at.in_run});
                   });
    for_each_weight(g, g.group_in(), 1, [&](std::size_t o, std::size_t column, std::size_t from) {
      dweight[o * slopes.row + column] = w[from];
    });
  }

  /// The images whose x and y a second level holds between the rows of taps, 512 KiB of floats; all
  /// where there is one row, or where to read the weights again for each costs more.
  [[nodiscard]] static auto images_together(geometry const& g) -> std::size_t {
    constexpr auto held = std::size_t{1} << 17U;
    auto const of_image = g.image.area() * g.in + g.output.area() * g.out;
    auto const weights = g.kernel.area() * g.out * g.group_in();
    if (of_image == 0 || weights >= (g.kernel.height - 1) * held) return g.batch;
    return std::max(std::size_t{1}, held / of_image);
  }

 private:
  /// Calls f(output channel, column of the weight, place in the packed weights), in which output
  /// and input channels of a tap and group are so far apart. A function of its own keeps the loops'
  /// counters in registers.
  [[gnu::noinline]] static void for_each_weight(geometry const& g, std::size_t of_out,
                                                std::size_t of_in, auto const& f) {
    auto const taps = g.kernel.area();
    auto const outputs = g.group_out();
    auto const inputs = g.group_in();
    auto const of_tap = g.groups * outputs * inputs;
    for (auto group = std::size_t{0}; group < g.groups; ++group)
      for (auto o = std::size_t{0}; o < outputs; ++o)
        for (auto tap = std::size_t{0}; tap < taps; ++tap) {
          auto const first = tap * of_tap + group * outputs * inputs + o * of_out;
          for (auto i = std::size_t{0}; i < inputs; ++i)
            f(group * outputs + o, i * taps + tap, first + i * of_in);
        }
  }
  /// Whether taps of a row of the kernel are one product for the columns of y that see the same of
  /// them, or for those of x that these columns see.
  enum class joined { none, by_output, by_input };
  [[nodiscard]] static auto joins(geometry const& g) -> bool {
    return g.groups == 1 && g.dilation.width == 1;
  }

  /// Columns that see the taps [tap, tap + taps) of a row of the kernel.
  struct seen_columns {
    std::size_t out;  ///< the first in y; by input, that of the last tap
    std::size_t in;   ///< the first in x; by output, that of the first tap
    std::size_t count;
    std::size_t tap;
    std::size_t taps;
  };
  static void for_each_columns(geometry const& g, joined by, auto const& f) {
    if (by == joined::none) {
      for (auto m = std::size_t{0}; m < g.kernel.width; ++m)
        if (auto const run = detail::columns_of_tap(g, m); run.count > 0)
          f(seen_columns{run.first, run.input, run.count, m, 1});
      return;
    }
    auto const by_output = by == joined::by_output;
    auto const length = by_output ? g.output.width : g.image.width;
    auto const taps_of = by_output ? &taps_of_output : &taps_of_input;
    for (auto i = std::size_t{0}; i < length;) {
      auto const taps = taps_of(g, i);
      auto const [first, end] = taps;
      auto count = std::size_t{1};
      while (i + count < length && taps_of(g, i + count) == taps) ++count;
      if (first < end)
        f(seen_columns{by_output ? i : i + g.padding.width + 1 - end,
                       by_output ? i * g.stride.width + first - g.padding.width : i, count, first,
                       end - first});
      i += count;
    }
  }
  /// The taps by which column i of y sees x: from the first to the second.
  [[nodiscard]] static auto taps_of_output(geometry const& g, std::size_t i)
      -> std::pair<std::size_t, std::size_t> {
    auto const shift = i * g.stride.width;
    auto const end = g.image.width + g.padding.width;
    return {g.padding.width - std::min(g.padding.width, shift),
            std::min(g.kernel.width, end - std::min(end, shift))};
  }
  /// The taps by which column i of x is seen, where the stride is 1.
  [[nodiscard]] static auto taps_of_input(geometry const& g, std::size_t i)
      -> std::pair<std::size_t, std::size_t> {
    auto const end = i + g.padding.width + 1;
    return {end - std::min(end, g.output.width), std::min(g.kernel.width, end)};
  }

  /// The pixels of an image that some taps see, a row of them in a run; or of all images, where
  /// these are as far apart as rows, or where a run is the one column of an image.
  struct image_pixels {
    std::size_t in;         ///< the place of the first in x
    std::size_t out;        ///< and in y
    std::size_t count;      ///< of all runs
    std::size_t run;        ///< of one run
    std::size_t in_pixel;   ///< the distance of two of a run in x
    std::size_t out_pixel;  ///< and in y
    std::size_t in_run;     ///< the distance of two runs in x
    std::size_t out_run;    ///< and in y
    std::size_t taps;
  };
  /// Calls f(pixels, place in the packed weights, first tap, group) for all images, taps ascending;
  /// images_together, one after another by each row of taps.
  static void for_each_image(geometry const& g, joined by, auto const& f) {
    auto const together = images_together(g);
    for (auto first = std::size_t{0}; first < g.batch; first += together)
      for (auto k = std::size_t{0}; k < g.kernel.height; ++k)
        for_each_part(g, by, k, first, std::min(together, g.batch - first), f);
  }
  /// The same for the images [first, first + count) and row k of the kernel.
  static void for_each_part(geometry const& g, joined by, std::size_t k, std::size_t first,
                            std::size_t count, auto const& f) {
    auto const of_group = g.group_out() * g.group_in();
    auto const rows = detail::rows_of_tap(g, k);
    auto const all =
        rows.count == g.output.height && rows.count * g.stride.height == g.image.height;
    auto const in_row = g.image.width * g.in;
    auto const out_row = g.output.width * g.out;
    for_each_columns(g, by, [&](seen_columns const& columns) {
      auto const tap = k * g.kernel.width + columns.tap;
      auto const one_column = columns.count == 1 && not all;
      auto const at_once = all || one_column ? count : 1;
      auto const end = rows.count == 0 ? first : first + count;
      auto pixels = image_pixels{.in = 0,
                                 .out = 0,
                                 .count = rows.count * columns.count * at_once,
                                 .run = columns.count,
                                 .in_pixel = g.stride.width * g.in,
                                 .out_pixel = g.out,
                                 .in_run = g.stride.height * in_row,
                                 .out_run = out_row,
                                 .taps = columns.taps};
      if (one_column) {
        pixels.run = rows.count;
        pixels.in_pixel = pixels.in_run;
        pixels.out_pixel = out_row;
        pixels.in_run = g.image.height * in_row;
        pixels.out_run = g.output.height * out_row;
      }
      for (auto group = std::size_t{0}; group < g.groups; ++group)
        for (auto b = first; b < end; b += at_once) {
          pixels.in =
              (b * g.image.height + rows.input) * in_row + columns.in * g.in + group * g.group_in();
          pixels.out = (b * g.output.height + rows.first) * out_row + columns.out * g.out +
                       group * g.group_out();
          f(pixels, (tap * g.groups + group) * of_group, tap, group);
        }
    });
  }
};

}  // namespace tessera
