// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/ops/operations.hpp>

#include <concepts>

namespace tessera {

namespace detail {

/// The row of a table that x names: the nearest whole number, where it is not one; `rows` where it
/// names none.
template <class I>
  requires std::integral<I>
[[nodiscard]] constexpr auto row_or_end(I x, std::size_t rows) -> std::size_t {
  return x >= 0 && static_cast<std::size_t>(x) < rows ? static_cast<std::size_t>(x) : rows;
}
template <class T> [[nodiscard]] constexpr auto row_or_end(T x, std::size_t rows) -> std::size_t {
  auto const inside = x > T{-0.5} && x < static_cast<T>(rows);
  auto const row = inside ? static_cast<std::size_t>(x) : rows;
  return inside && x - static_cast<T>(row) >= T{0.5} ? row + 1 : row;
}
[[nodiscard]] constexpr auto existing_row(std::size_t row, std::size_t rows) -> std::size_t {
  require(row < rows, "embedding: x names no row of the table");
  return row;
}

}  // namespace detail

/// Slopes add over the places of x, ascending.
template <> struct kernel_for<detail::embedding_fn, reference> {
  template <class I, class T, class Stored>
  static constexpr void forward(std::size_t count, I const* x, std::size_t rows, std::size_t width,
                                weight_matrix<T, Stored> const& weight, T* y) {
    for (auto i = std::size_t{0}; i < count; ++i) {
      auto const row = detail::existing_row(detail::row_or_end(x[i], rows), rows);
      for (auto k = std::size_t{0}; k < width; ++k) y[i * width + k] = weight.at(row, k);
    }
  }
  template <class I, class T>
  static constexpr void parameters(std::size_t count, I const* x, std::size_t rows,
                                   std::size_t width, T const* dy, T* dweight) {
    for (auto i = std::size_t{0}; i < count; ++i) {
      auto* const to = dweight + detail::existing_row(detail::row_or_end(x[i], rows), rows) * width;
      for (auto k = std::size_t{0}; k < width; ++k) to[k] += dy[i * width + k];
    }
  }
};

}  // namespace tessera
