// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/block_product.hpp>
#include <tessera/ops/simd/multiply.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>
#include <tessera/tensor/simd/reduction.hpp>

#include <algorithm>
#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// The product of ops/reference/pair_product.hpp for many rows, in floats: numbers of x and of the
/// weights are widened once, the odd one of a pair before the even one, and multiplied as floats
/// are (multiply.hpp), whose sums go up just so. It has the same bits where zero_subnormals lives.
///
/// Cost  60 KiB of stack at most, 14 where a vector has four lanes. Weights are widened for every
///       part of the rows, 128 of them at most (32 with four lanes), which takes as long as the
///       products with eight; x for every 2 MiB of weights
template <class Stored> struct widened_product {
  static constexpr auto width = lane::pack<float>::width;
  static constexpr auto panel = tiles::vectors * width;
  /// A multiple of it are the numbers that are widened at a time.
  static constexpr auto length = numbers_of_block<bf16_pairs>;

  block_product const& p;
  weight_matrix<float, Stored> const& w;

  void run() const {
    constexpr auto floats = stack_of_turned / sizeof(float);
    alignas(64) float memory[floats];
    auto const rows = tiles::part(p.rows, most_rows_of_turned, 1);
    auto const depth = tiles::part(p.in, floats / (rows + panel) / length * length, length);
    auto const outputs =
        std::max(part_bytes_of_turned / (p.in * sizeof(bf16)) / panel, std::size_t{1}) * panel;
    auto* const x = memory + depth * panel;
    for (auto o = std::size_t{0}; o < p.out; o += outputs)
      for (auto k = std::size_t{0}; k < p.in; k += depth)
        for (auto row = std::size_t{0}; row < p.rows; row += rows) {
          auto const here = part{row, std::min(rows, p.rows - row), k, std::min(depth, p.in - k)};
          widen_rows(here, x);
          for (auto column = o; column < std::min(o + outputs, p.out); column += panel)
            multiply(here, column, x, memory);
        }
  }

 private:
  struct part {
    std::size_t row, rows;
    std::size_t k, depth;
  };

  [[gnu::noinline]] void widen_rows(part const& here, float* to) const {
    for (auto r = std::size_t{0}; r < here.rows; ++r) {
      auto const* const from = p.x + (here.row + r) * p.in + here.k;
      for (auto k = std::size_t{0}; k < here.depth; k += width, to += width)
        lane::store(to, exchanged<1>(lane::nearest_normal(lane::load(from + k))));
    }
  }
  /// Outputs of a panel from `column` on.
  void multiply(part const& here, std::size_t column, float const* x, float* weights) const {
    auto const columns = std::min(panel, p.out - column);
    for (auto c = std::size_t{0}; c < columns; c += width)
      if (c + width <= columns)
        widen_vector(here, column + c, weights + c);
      else
        widen_numbers(here, column + c, columns - c, weights + c);
    auto const goes_on = here.k > 0;
    tiles::multiply(tiles::product<float>{.rows = here.rows,
                                          .columns = columns,
                                          .depth = here.depth,
                                          .a = x,
                                          .a_row = here.depth,
                                          .a_depth = 1,
                                          .b = weights,
                                          .b_depth = panel,
                                          .c = p.y + here.row * p.y_row + column,
                                          .c_row = p.y_row,
                                          .from = goes_on             ? tiles::start::c
                                                  : p.bias == nullptr ? tiles::start::zero
                                                                      : tiles::start::bias,
                                          .bias = p.bias == nullptr ? nullptr : p.bias + column});
  }
  /// As many outputs as a vector has lanes.
  [[gnu::noinline]] void widen_vector(part const& here, std::size_t output, float* to) const {
    auto const* const first = w.blocks_of_row(output) + here.k / length;
    auto const blocks_of_row = p.in / length;
    for (auto b = std::size_t{0}; b < here.depth / length; ++b) {
      auto const turned = turned_numbers<bf16_pairs>(first + b, p.in);
      // What the next panel has there comes meanwhile; two blocks are a line of memory.
      if (b % 2 == 0)
        for (auto r = panel; r < panel + width; ++r) lane::fetch(first + b + r * blocks_of_row);
#pragma GCC unroll 8
      for (auto const& pair : turned.quants) {
        lane::store(to, lane::odd_of_pairs(pair));
        lane::store(to + panel, lane::even_of_pairs(pair));
        to += 2 * panel;
      }
    }
  }
  /// The last outputs, which fill no vector.
  void widen_numbers(part const& here, std::size_t output, std::size_t count, float* to) const {
    for (auto o = std::size_t{0}; o < count; ++o) {
      auto const* const blocks = w.blocks_of_row(output + o) + here.k / length;
      for (auto k = std::size_t{0}; k < here.depth; ++k)
        to[(k ^ 1U) * panel + o] = static_cast<float>(blocks[k / length].numbers[k % length]);
    }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
