// SPDX-License-Identifier: MIT
#include "least_squares.hpp"

#include <cmath>

namespace forecast {

auto solve(symmetric a, std::vector<double> b) -> std::vector<double> {
  constexpr auto rounding = 1e-12;
  auto const n = a.n;
  for (auto j = std::size_t{0}; j < n; ++j) {
    auto const before = a(j, j);
    for (auto k = std::size_t{0}; k < j; ++k) a(j, j) -= a(j, k) * a(j, k);
    auto const spared = a(j, j) <= rounding * before;
    a(j, j) = spared ? 0 : std::sqrt(a(j, j));
    for (auto i = j + 1; i < n; ++i) {
      auto rest = a(i, j);
      auto const* const row = &a.values[i * n];
      auto const* const pivot = &a.values[j * n];
      for (auto k = std::size_t{0}; k < j; ++k) rest -= row[k] * pivot[k];
      a(i, j) = spared ? 0 : rest / a(j, j);
    }
  }
  auto const divided = [&](double x, std::size_t i) { return a(i, i) > 0 ? x / a(i, i) : 0; };
  for (auto i = std::size_t{0}; i < n; ++i) {
    for (auto k = std::size_t{0}; k < i; ++k) b[i] -= a(i, k) * b[k];
    b[i] = divided(b[i], i);
  }
  for (auto i = n; i-- > 0;) {
    for (auto k = i + 1; k < n; ++k) b[i] -= a(k, i) * b[k];
    b[i] = divided(b[i], i);
  }
  return b;
}

}  // namespace forecast
