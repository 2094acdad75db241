// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

TEST_CASE("product: the bits of a plain loop, for sizes around the tile and either layout") {
  auto r = torch_generator(1);
  for (auto const rows : {1, 31, 33})
    for (auto const columns : {1, 32, 65})
      for (auto const depth : {0, 1, 32, 70})
        for (auto const turned : {false, true})
          for (auto const from : {device::start::zero, device::start::bias, device::start::y}) {
            auto const n = static_cast<std::size_t>(rows);
            auto const m = static_cast<std::size_t>(columns);
            auto const k = static_cast<std::size_t>(depth);
            auto const numbers = [&](std::size_t count) {
              auto v = std::vector<float>(count);
              r.uniform(v.data(), count, -1, 1);
              return v;
            };
            auto const a = numbers(n * k);
            auto const b = numbers(k * m);
            auto const bias = numbers(m);
            auto y = numbers(n * m);
            auto want = y;
            auto const a_row = turned ? 1 : k;
            auto const a_column = turned ? n : 1;
            auto const b_row = turned ? 1 : m;
            auto const b_column = turned ? k : 1;
            for (auto i = std::size_t{0}; i < n; ++i)
              for (auto j = std::size_t{0}; j < m; ++j) {
                auto sum = from == device::start::y      ? y[i * m + j]
                           : from == device::start::bias ? bias[j]
                                                         : 0.0F;
                for (auto l = std::size_t{0}; l < k; ++l)
                  sum = lane::fma(a[i * a_row + l * a_column], b[l * b_row + j * b_column], sum);
                want[i * m + j] = sum;
              }
            device::multiply(device::product<float>{n,
                                                    m,
                                                    k,
                                                    {a.data(), a_row, a_column},
                                                    {b.data(), b_row, b_column},
                                                    y.data(),
                                                    m,
                                                    from,
                                                    bias.data()});
            INFO(rows << " by " << columns << " by " << depth << (turned ? ", turned" : ""));
            CHECK(y == want);
          }
}
TEST_CASE("product: large tiles, and a depth cut into parts, up to the rounding of their sums") {
  auto r = torch_generator(2);
  auto const agrees = [&](std::size_t n, std::size_t m, std::size_t k) {
    auto const numbers = [&](std::size_t count) {
      auto v = std::vector<double>(count);
      r.uniform(v.data(), count, -1, 1);
      return v;
    };
    auto const a = numbers(n * k);
    auto const b = numbers(k * m);
    auto y = numbers(n * m);
    auto worst = 0.0;
    auto want = y;
    for (auto i = std::size_t{0}; i < n; ++i)
      for (auto j = std::size_t{0}; j < m; ++j)
        for (auto l = std::size_t{0}; l < k; ++l) want[i * m + j] += a[i * k + l] * b[l * m + j];
    device::multiply(device::product<double>{
        n, m, k, {a.data(), k, 1}, {b.data(), m, 1}, y.data(), m, device::start::y, nullptr});
    for (auto i = std::size_t{0}; i < n * m; ++i) worst = std::max(worst, std::abs(y[i] - want[i]));
    return worst < 1e-12;
  };
  CHECK(agrees(700, 700, 5));   // 11 by 11 tiles of 64
  CHECK(agrees(770, 710, 17));  // 13 by 12
  CHECK(agrees(5, 40, 1000));   // two tiles of 32, 7 parts
  CHECK(agrees(33, 33, 2050));  // the last part is shorter
}
TEST_CASE("product: rows are added to what is there") {
  auto r = torch_generator(3);
  for (auto const rows : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{130}}) {
    auto dy = std::vector<double>(rows * 3);
    r.uniform(dy.data(), dy.size(), -1, 1);
    auto sums = std::vector<double>{1, 2, 3};
    auto want = sums;
    for (auto i = std::size_t{0}; i < dy.size(); ++i) want[i % 3] += dy[i];
    device::add_rows(rows, std::size_t{3}, dy.data(), sums.data());
    for (auto c = std::size_t{0}; c < 3; ++c) CHECK(sums[c] == Approx(want[c]).epsilon(1e-13));
  }
}
