// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>

namespace tessera {

template <> struct kernel_for<detail::product_fn, reference> {
  template <class T, class Stored>
  static constexpr void run(detail::matrix_product<T, Stored> const& p) {
    for (auto r = std::size_t{0}; r < p.rows; ++r) {
      auto* const c = p.c + r * p.c_row;
      if (p.adds_last) {
        for (auto i = std::size_t{0}; i < p.columns; ++i) c[i] = c[i] + sum(p, r, i);
        continue;
      }
      for (auto i = std::size_t{0}; not p.adds && i < p.columns; ++i) c[i] = T{0};
      for (auto k = std::size_t{0}; k < p.depth; ++k) {
        auto const a = p.a.at(r, k);
        for (auto i = std::size_t{0}; i < p.columns; ++i) c[i] = lane::fma(a, p.b.at(k, i), c[i]);
      }
    }
  }
  template <class T>
  static constexpr void add_rows(std::size_t rows, std::size_t columns, T const* d, T* sums) {
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto i = std::size_t{0}; i < columns; ++i) sums[i] += d[r * columns + i];
  }

 private:
  template <class T, class Stored>
  [[nodiscard]] static constexpr auto sum(detail::matrix_product<T, Stored> const& p, std::size_t r,
                                          std::size_t i) -> T {
    auto result = T{0};
    for (auto k = std::size_t{0}; k < p.depth; ++k)
      result = lane::fma(p.a.at(r, k), p.b.at(k, i), result);
    return result;
  }
};

}  // namespace tessera
