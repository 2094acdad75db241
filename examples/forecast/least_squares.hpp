// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

/// What regressions are solved by.
namespace forecast {

/// A symmetric matrix, of which only the lower half is read.
struct symmetric {
  std::size_t n;
  std::vector<double> values = std::vector<double>(n * n, 0.0);
  [[nodiscard]] auto operator()(std::size_t i, std::size_t j) -> double& {
    return values[i * n + j];
  }
};

/// Solves a·x = b by Cholesky's decomposition. A direction in which `a` is nothing but rounding
/// gets no coefficient.
///
/// Cost  n³ / 6 multiplications, always in the same order
[[nodiscard]] auto solve(symmetric a, std::vector<double> b) -> std::vector<double>;

}  // namespace forecast
