// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera::detail {

/// The row of a table that x names: the nearest whole number.
template <class T> [[nodiscard]] constexpr auto row_of_table(T x, std::size_t rows) -> std::size_t {
  auto const inside = x > T{-0.5} && x < static_cast<T>(rows);
  auto row = inside ? static_cast<std::size_t>(x) : rows;
  if (inside && x - static_cast<T>(row) >= T{0.5}) ++row;
  require(row < rows, "embedding: x names no row of the table");
  return row;
}

/// kernel<embedding_fn, Backend> has forward(count, x, rows, width, weight, y) and
/// parameters(count, x, rows, width, dy, dweight), by pointers.
struct embedding_fn {};

}  // namespace tessera::detail

#include <tessera/ops/reference/embedding.hpp>  // IWYU pragma: keep
