// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/affine_map.hpp>
#include <tessera/ops/simd/affine_map_row.hpp>
#include <tessera/ops/simd/block_product.hpp>
#include <tessera/ops/simd/multiply_by_blocks.hpp>
#include <tessera/ops/simd/shared_product.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// A weight (Out, In) by panels of 64 outputs (of float; 32 of double): the columns of a panel
/// follow one another. Outputs beyond Out are zero.
template <class T, std::size_t In, std::size_t Out> struct packed_weight {
  static constexpr auto width = tiles::panel<T>;
  static constexpr auto panels = (Out + width - 1) / width;

  alignas(storage_alignment) T values[panels * In * width];

  template <class Stored> void pack(weight_matrix<T, Stored> const& weight) {
    auto* to = values;
    for (auto first = std::size_t{0}; first < Out; first += width, to += In * width) {
      auto const wide = Out - first < width ? Out - first : width;
      if (wide < width)
        for (auto i = std::size_t{0}; i < In * width; ++i) to[i] = T{0};
      if constexpr (std::same_as<T, Stored>) {
        if (weight.column == 1) {
          lane::copy_turned(wide, In, weight.data + first * weight.row, weight.row, to, width);
          continue;
        }
      }
      for (auto k = std::size_t{0}; k < In; ++k)
        for (auto o = std::size_t{0}; o < wide; ++o) to[k * width + o] = weight.at(first + o, k);
    }
  }
};

/// Rows of x and outputs of y = b + x·Wᵀ, as the weights lie.
template <class T> struct affine_map_part {
  std::size_t rows;
  std::size_t in;
  std::size_t out;
  T const* x;
  T const* bias;
  T* y;
  std::size_t y_row;  ///< the distance of two rows of y

  /// Packed panels, of which the first begins with the first output; so many rows go over all of
  /// them as stay in a cache.
  void by_panels(T const* values) const {
    auto const step = tiles::rows_at_once(rows, in * sizeof(T));
    for (auto row = std::size_t{0}; row < rows; row += step) {
      auto const count = rows - row < step ? rows - row : step;
      for (auto first = std::size_t{0}; first < out; first += tiles::panel<T>) {
        auto const columns = out - first < tiles::panel<T> ? out - first : tiles::panel<T>;
        tiles::multiply<T>(
            {count, columns, in, x + row * in, in, 1, values + first * in, tiles::panel<T>,
             y + row * y_row + first, y_row, from(), bias == nullptr ? nullptr : bias + first},
            tiles::is_distant(rows * y_row * sizeof(T)) ? rows - row : 0);
      }
    }
  }
  /// Wᵀ (In, Out), whose rows are contiguous: where they lie, unless a second level has no place
  /// for a panel of them, or many rows a first one for a copy; blocks widen what is stored narrower
  /// once for many.
  template <class Stored> void by_columns(weight_matrix<T, Stored> const& b) const {
    auto const p = tiles::product<T, Stored>{rows,  out, in,    x,      in,   1,       b.data,
                                             b.row, y,   y_row, from(), bias, b.scales};
    auto const stays = in <= tiles::few ||
                       in * b.row * sizeof(T) < tiles::least_copied(out > tiles::panel<T>) ||
                       (lane::third_level_is_near() && tiles::has_places<T>(in, b.row) &&
                        in * 256 <= tiles::block_bytes);
    auto const gains = std::same_as<T, Stored>
                           ? not stays || (out >= lane::pack<T>::width &&
                                           tiles::fits_if_copied(rows, in, b.row * sizeof(T)))
                           : out >= lane::pack<T>::width;
    if (rows >= 4 * tiles::rows && gains)
      tiles::multiply_by_blocks(
          tiles::product<T>{rows, out, in, x, in, 1, nullptr, 0, y, y_row, from(), bias},
          tiles::rows_of_b<T, Stored>{b.data, b.row, b.scales});
    else
      tiles::multiply<T, Stored>(p);
  }
  /// W (Out, In) where it lies: a row of x at a time, or blocks for three or more; what is turned,
  /// some rows at a time, or blocks for more than 16. Blocks also take what else is stored
  /// narrower, and few outputs.
  template <class Stored> void by_rows(weight_matrix<T, Stored> const& w) const {
    if constexpr (std::same_as<T, Stored>)
      if (rows < 3 && out >= lane::pack<T>::width) {
        for (auto r = std::size_t{0}; r < rows; ++r)
          affine_map_row<T>(in, out, x + r * in, w.data, bias, y + r * y_row);
        return;
      }
    if constexpr (is_turned<T, Stored>)
      if (rows <= 16) return affine_map_by_turning(rows, in, out, x, w, bias, y, y_row);
    tiles::multiply_by_blocks(
        tiles::product<T>{rows, out, in, x, in, 1, nullptr, 0, y, y_row, from(), bias},
        tiles::columns_of_b<T, Stored>{w.transposed()});
  }

 private:
  [[nodiscard]] auto from() const -> tiles::start {
    return bias == nullptr ? tiles::start::zero : tiles::start::bias;
  }
};

/// y = b + x·Wᵀ for one row and a vector of outputs or fewer, weights by columns: a chain of
/// latencies, with everything known that does not belong to it. One output has no vectors.
template <std::size_t In, std::size_t Out, class T, class Stored>
void affine_map_few_outputs(T const* x, weight_matrix<T, Stored> const& w, T const* bias, T* y) {
  if constexpr (Out == 1) {
    auto sum = bias == nullptr ? T{0} : *bias;
#pragma GCC unroll 8
    for (auto k = std::size_t{0}; k < In; ++k) sum = lane::fma(x[k], w.at(0, k), sum);
    *y = sum;
  } else {
    using V = lane::pack<T>;
    auto sum = bias == nullptr ? V(T{0}) : lane::load_first<Out>(bias);
    auto const* column = w.data;
    auto const scales = w.transposed().scales;
#pragma GCC unroll 4
    for (auto k = std::size_t{0}; k < In; ++k, column += w.column)
      sum = fma(V(x[k]), tiles::stored_vector<true>(column, scales, k, 0, Out), sum);
    lane::store_first<Out>(y, sum);
  }
}

/// All rows of x and outputs of y.
template <class X, class Y>
[[nodiscard]] auto whole_product(X x, float const* bias, Y y) -> block_product {
  constexpr auto out = last_of<shape_of<Y>>;
  return {.rows = rows_of(x),
          .in = last_of<shape_of<X>>,
          .out = out,
          .x = x.data(),
          .bias = bias,
          .y = y.data(),
          .y_row = out};
}

/// y = b + x·Wᵀ for weights as they are stored: f(part, weights) for each part that the team of
/// this thread shares, or for all.
template <class X, class Y, class Stored>
void in_shares_as_stored(X x, weight_matrix<float, Stored> const& weights, float const* bias, Y y,
                         auto const& f) {
  auto const whole = whole_product(x, bias, y);
  auto const run_part = [&](share const& r, share const& o) {
    auto part = whole;
    part.rows = r.count;
    part.out = o.count;
    part.x += r.first * whole.in;
    if (bias != nullptr) part.bias += o.first;
    part.y += r.first * whole.out + o.first;
    f(part, weights.part(o.first, 0));
  };
  if (not is_shared(whole.rows, whole.out, whole.in))
    return run_part({0, whole.rows}, {0, whole.out});
  in_shares<float>(whole.rows, whole.out, whole.in, run_part, 2 * lane::tile_rows, false,
                   2 * lane::pack<float>::width);
}

}  // namespace detail::inline TESSERA_TARGET

template <> struct kernel_for<detail::affine_map_fn, simd> {
  /// A large weight is not packed as a whole, but block by block on the way.
  template <class T, std::size_t Rows, std::size_t In, std::size_t Out>
  using packed = std::conditional_t<(In * Out * sizeof(T) < tiles::large),
                                    detail::packed_weight<T, In, Out>, nothing>;

  static constexpr void prepare(auto const& weight, auto& packed) {
    if constexpr (requires { packed.values; } && not by_columns<decltype(weight)> &&
                  not is_as_stored<stored_of<decltype(weight)>>)
      packed.pack(weights_of<std::remove_reference_t<decltype(packed.values[0])>>(weight));
  }
  static constexpr void run(auto x, auto const& weight, auto const* bias, auto y, auto& packed) {
    constexpr auto as_they_are = is_as_stored<stored_of<decltype(weight)>>;
    if constexpr (not as_they_are)
      run_widened(x, weight, bias, y, packed);
    else if (std::is_constant_evaluated())
      kernel_for<detail::affine_map_fn, reference>::run(x, weight, bias, y, packed);
    else
      detail::in_shares_as_stored(x, weights_of<float>(weight), bias, y,
                                  []<class Stored>(detail::block_product const& part,
                                                   weight_matrix<float, Stored> const& of_part) {
                                    detail::block_kernel<Stored>{part, of_part}.run();
                                  });
  }

 private:
  static constexpr void run_widened(auto x, auto const& weight, auto const* bias, auto y,
                                    auto& packed) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(y)>>;
    constexpr auto width = lane::pack<T>::width;
    constexpr auto has_columns = by_columns<decltype(weight)>;
    constexpr auto has_panels = requires { packed.values; };
    constexpr auto turns = (in >= width && out >= width) || in * out * sizeof(T) >= tiles::large;
    auto const rows = detail::rows_of(x);
    if constexpr (has_columns && out <= width)
      if (rows == 1)
        return detail::affine_map_few_outputs<in, out>(x.data(), weights_of<T>(weight), bias,
                                                       y.data());
    if constexpr (has_columns || has_panels || turns)
      if (not std::is_constant_evaluated()) {
        auto const run_part = [&](detail::share const& r, detail::share const& o) {
          auto const part = detail::affine_map_part<T>{r.count,
                                                       in,
                                                       o.count,
                                                       x.data() + r.first * in,
                                                       bias == nullptr ? nullptr : bias + o.first,
                                                       y.data() + r.first * out + o.first,
                                                       out};
          if constexpr (has_panels && not has_columns)
            part.by_panels(packed.values + o.first * in);
          else if constexpr (has_columns)
            part.by_columns(weights_of<T>(weight).part(o.first, 0).transposed());
          else
            part.by_rows(weights_of<T>(weight).part(o.first, 0));
        };
        if (not detail::is_shared(rows, out, in)) return run_part({0, rows}, {0, out});
        return detail::in_shares<T>(rows, out, in, run_part);
      }
    kernel_for<detail::affine_map_fn, reference>::run(x, weight, bias, y, packed);
  }
};

}  // namespace tessera
