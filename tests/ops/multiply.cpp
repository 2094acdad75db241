// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/multiply.hpp>

#include <vector>

using namespace tessera;

// C (+)= A·B on random shapes and distances, bit for bit what three loops give.
TEMPLATE_TEST_CASE("multiply: the bits of three loops, and nothing beyond C", "", float, double) {
  using T = TestType;
  auto r = torch_generator(1);
  for (auto round = 0; round < 300; ++round) {
    auto const rows = 1 + r.randint(20);
    auto const columns = 1 + r.randint(round % 3 == 0 ? 200 : 40);
    auto const depth = r.randint(50);
    auto const a_row = round % 2 == 0 ? depth + r.randint(5) : std::uint32_t{1};
    auto const a_depth = round % 2 == 0 ? std::uint32_t{1} : rows + r.randint(5);
    auto const b_depth = columns + r.randint(5);
    auto const c_row = columns + r.randint(5);
    auto a = std::vector<T>((rows + 5) * (depth + 5) + 25);
    auto b = std::vector<T>(depth * b_depth + columns);
    auto c = std::vector<T>(rows * c_row);
    auto bias = std::vector<T>(columns);
    for (auto* v : {&a, &b, &c, &bias})
      for (auto& x : *v) x = static_cast<T>(r.rand<double>() - 0.5);
    auto const from = static_cast<tiles::start>(r.randint(4));
    auto want = c;
    for (auto i = std::size_t{0}; i < rows; ++i)
      for (auto j = std::size_t{0}; j < columns; ++j) {
        auto sum = from == tiles::start::c      ? c[i * c_row + j]
                   : from == tiles::start::bias ? bias[j]
                                                : T{0};
        for (auto k = std::size_t{0}; k < depth; ++k)
          sum = lane::fma(a[i * a_row + k * a_depth], b[k * b_depth + j], sum);
        want[i * c_row + j] = from == tiles::start::c_last ? c[i * c_row + j] + sum : sum;
      }
    tiles::multiply<T>({.rows = rows,
                        .columns = columns,
                        .depth = depth,
                        .a = a.data(),
                        .a_row = a_row,
                        .a_depth = a_depth,
                        .b = b.data(),
                        .b_depth = b_depth,
                        .c = c.data(),
                        .c_row = c_row,
                        .from = from,
                        .bias = bias.data()});
    INFO(rows << " x " << columns << ", depth " << depth);
    CHECK(std::memcmp(c.data(), want.data(), c.size() * sizeof(T)) == 0);
  }
}
