// SPDX-License-Identifier: MIT
#pragma once

#include <support/catch.hpp>
#include <tessera/ops/reference/recurrent.hpp>

#include <cstddef>
#include <vector>

namespace test {

/// A recurrent cell of sizes that are known at run time, one number after another: what the
/// reference computes, without its compilation for each of many sizes.
template <class Cell, class T> struct any_cell {
  static constexpr auto sums = Cell::sums.size();

  std::size_t rows;
  std::size_t in;
  std::size_t hidden;
  std::vector<T> h = std::vector<T>(rows * hidden);
  std::vector<T> beside = h;
  std::vector<T> gates = std::vector<T>(rows * Cell::gates * hidden);
  std::vector<std::vector<T>> parameters{};  ///< weights of x and of h by rows, biases of both

  void copy_parameters(auto const& p) {
    parameters.clear();
    tessera::for_each_parameter(
        [&](tessera::path_name const&, auto const& w) {
          parameters.emplace_back(w.data(), w.data() + w.size());
        },
        p);
    REQUIRE(parameters.size() == 4);
  }
  void step(T const* x) {
    auto const before = h;
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto u = std::size_t{0}; u < hidden; ++u) {
        auto const at = r * hidden + u;
        T sum[sums];
        for (auto i = std::size_t{0}; i < sums; ++i)
          sum[i] = sum_of(Cell::sums[i], u, x + r * in, before.data() + r * hidden);
        auto const unit = Cell::template forward<T>(sum, Cell::carries ? beside[at] : before[at]);
        for (auto g = std::size_t{0}; g < Cell::gates; ++g)
          gates[(r * Cell::gates + g) * hidden + u] = unit.gates[g];
        beside[at] = unit.beside;
        h[at] = unit.h;
      }
  }

 private:
  [[nodiscard]] auto sum_of(tessera::recurrent_sum const& s, std::size_t unit, T const* x,
                            T const* of_h) const -> T {
    auto const o = s.gate * hidden + unit;
    auto sum = tessera::detail::sum_of_biases<T>(s, parameters[2][o], parameters[3][o]);
    for (auto k = std::size_t{0}; s.of_x && k < in; ++k)
      sum = tessera::lane::fma(x[k], parameters[0][o * in + k], sum);
    for (auto k = std::size_t{0}; s.of_h && k < hidden; ++k)
      sum = tessera::lane::fma(of_h[k], parameters[1][o * hidden + k], sum);
    return sum;
  }
};

}  // namespace test
