// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/simd/near_rows.hpp>
#include <tessera/ops/simd/staggered_rows.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// sum += the first numbers of x times columns of weights.
template <class T>
TESSERA_INLINE inline void add_columns(T const* x,
                                       lane::pack<T> const (&columns)[lane::columns_at_once<T>],
                                       lane::pack<T>& sum) {
#pragma GCC unroll 4
  for (auto i = std::size_t{0}; i < lane::columns_at_once<T>; ++i)
    sum = fma(lane::pack<T>(x[i]), columns[i], sum);
}

/// sum += x from k on times what is left of as many rows of weights as it has lanes.
template <class T>
TESSERA_INLINE inline void add_rest(std::size_t k, std::size_t in, T const* x, T const* weights,
                                    lane::pack<T>& sum) {
  for (; k < in; ++k) {
    T column[lane::pack<T>::width];
    for (auto r = std::size_t{0}; r < lane::pack<T>::width; ++r) column[r] = weights[r * in + k];
    sum = fma(lane::pack<T>(x[k]), lane::load(column), sum);
  }
}

/// The products of a vector of outputs with one row: their weights lie in rows, and are turned a
/// cache line of each at a time.
///
/// Accuracy  from the bias over In ascending, one fma each
template <class T>
[[nodiscard]] auto outputs_of_row(std::size_t in, T const* x, T const* weights, lane::pack<T> sum)
    -> lane::pack<T> {
  constexpr auto line = std::size_t{64} / sizeof(T);
  auto k = std::size_t{0};
  for (; k + line <= in; k += line)
    lane::for_columns_of_line(weights + k, in,
                              [&](std::size_t c, auto const& columns)
                                  TESSERA_INLINE { add_columns(x + k + c, columns, sum); });
  add_rest(k, in, x, weights, sum);
  return sum;
}

/// y = b + W·x for one row, with at least a vector of outputs: reads the weights once.
template <class T>
void affine_map_row(std::size_t in, std::size_t out, T const* x, T const* weights, T const* bias,
                    T* y) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  auto const start = [&](std::size_t o) TESSERA_INLINE {
    return bias == nullptr ? V(T{0}) : lane::load(bias + o);
  };
  constexpr auto together = staggered_rows<T>::rows;
  auto o = std::size_t{0};
  auto const put_group = [&](auto const& read) TESSERA_INLINE {
    V sum[together / width];
    for (auto v = std::size_t{0}; v < together / width; ++v) sum[v] = start(o + v * width);
    read([&](std::size_t k, T const* lines) TESSERA_INLINE {
#pragma GCC unroll 4
      for (auto v = std::size_t{0}; v < together / width; ++v)
        lane::for_columns_of_near_line(lines + v * width * together, together,
                                       [&](std::size_t c, auto const& columns) TESSERA_INLINE {
                                         add_columns(x + k + c, columns, sum[v]);
                                       });
    });
    for (auto v = std::size_t{0}; v < together / width; ++v) {
      add_rest(in / together * together, in, x, weights + (o + v * width) * in, sum[v]);
      lane::store(y + o + v * width, sum[v]);
    }
  };
  if (out >= together && staggered_rows<T>::takes(in)) {
    if (lane::first_level_waits_for_many()) {
      for (; o + together <= out; o += together)
        put_group([&](auto const& add)
                      TESSERA_INLINE { near_rows<T>{weights + o * in, in}.read(add); });
    } else {
      auto rows = staggered_rows<T>(weights, in, out / together);
      for (; o + together <= out; o += together)
        put_group([&](auto const& add) TESSERA_INLINE { rows.read_group(add); });
    }
  }
  for (; o < out; o += width) {
    auto const first = out - o < width ? out - width : o;  // the last ones may be computed twice
    lane::store(y + first, outputs_of_row(in, x, weights + first * in, start(first)));
  }
}

/// Some rows of y = b + x·Wᵀ, of weights in 16 bits or in blocks: reads them once. Rows of x are
/// `in` apart.
template <std::size_t Rows, class Stored> struct affine_map_turned {
  using V = lane::pack<float>;
  using turned = turned_numbers<Stored>;
  static constexpr auto width = V::width;

  std::size_t in;
  float const* x;
  weight_matrix<float, Stored> const& weights;
  float const* bias;
  float* y;
  std::size_t y_row;

  [[gnu::noinline]] void run(std::size_t out) const {
    auto o = std::size_t{0};
    for (; o + width <= out; o += width) vector(o);
    for (; o < out; ++o)
      for (auto r = std::size_t{0}; r < Rows; ++r) {
        auto sum = bias == nullptr ? 0.0F : bias[o];
        for (auto k = std::size_t{0}; k < in; ++k)
          sum = lane::fma(x[r * in + k], weights.at(o, k), sum);
        y[r * y_row + o] = sum;
      }
  }

 private:
  TESSERA_INLINE void vector(std::size_t o) const {
    constexpr auto stored = turned::length / numbers_of_stored<Stored>;
    constexpr auto bytes = stored * sizeof(Stored);
    V sum[Rows];
    for (auto& s : sum) s = bias == nullptr ? V(0.0F) : lane::load(bias + o);
    auto const* const from = row_of(o);
    auto k = std::size_t{0};
    if (in >= turned::length) {
      // The next numbers are turned before the products with these: loads of theirs come first.
      auto const last = in / turned::length - 1;
      auto next = turned(from, weights.row);
      for (auto i = std::size_t{0}; i <= last; ++i, k += turned::length) {
        fetch_ahead<width * bytes>(from + i * stored * width, in / turned::length * bytes);
        auto const numbers = next;
        next = turned(from + (i < last ? i + 1 : i) * stored, weights.row);
#pragma GCC unroll 32
        for (auto j = std::size_t{0}; j < turned::length; ++j) add(k + j, numbers[j], sum);
      }
    }
    for (; k < in; ++k) {
      float column[width];
      for (auto i = std::size_t{0}; i < width; ++i) column[i] = weights.at(o + i, k);
      add(k, lane::load(column), sum);
    }
    for (auto r = std::size_t{0}; r < Rows; ++r) lane::store(y + r * y_row + o, sum[r]);
  }
  TESSERA_INLINE void add(std::size_t k, V numbers, V (&sum)[Rows]) const {
#pragma GCC unroll 8
    for (auto r = std::size_t{0}; r < Rows; ++r) sum[r] = fma(V(x[r * in + k]), numbers, sum[r]);
  }
  [[nodiscard]] auto row_of(std::size_t o) const {
    if constexpr (is_block<Stored>)
      return weights.blocks_of_row(o);
    else
      return weights.data + o * weights.row;
  }
};

/// The same of any number of rows, four at a time, or eight where registers are 32.
template <class Stored>
void affine_map_by_turning(std::size_t rows, std::size_t in, std::size_t out, float const* x,
                           // NOLINTNEXTLINE(readability-non-const-parameter): written
                           weight_matrix<float, Stored> const& weights, float const* bias, float* y,
                           std::size_t y_row) {
  if constexpr (lane::pack<float>::width == 16)
    for (; rows >= 8; rows -= 8, x += 8 * in, y += 8 * y_row)
      affine_map_turned<8, Stored>{in, x, weights, bias, y, y_row}.run(out);
  for (; rows >= 4; rows -= 4, x += 4 * in, y += 4 * y_row)
    affine_map_turned<4, Stored>{in, x, weights, bias, y, y_row}.run(out);
  if (rows == 3) affine_map_turned<3, Stored>{in, x, weights, bias, y, y_row}.run(out);
  if (rows == 2) affine_map_turned<2, Stored>{in, x, weights, bias, y, y_row}.run(out);
  if (rows == 1) affine_map_turned<1, Stored>{in, x, weights, bias, y, y_row}.run(out);
}

}  // namespace tessera::detail::inline TESSERA_TARGET
