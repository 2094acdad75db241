// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

constexpr auto small_product =
    evaluate(matmul(tensor<float, shape<2, 2>>{{1, 2, 3, 4}}, tensor<float, shape<2, 1>>{{5, 6}}));
static_assert(small_product.values[0] == 17 && small_product.values[1] == 39);

namespace {
template <class T, class S, class R> void check() {
  auto const a = std::make_unique<tensor<T, S, simd>>();
  auto const b = std::make_unique<tensor<T, R, simd>>();
  auto const ra = std::make_unique<tensor<T, S, reference>>();
  auto const rb = std::make_unique<tensor<T, R, reference>>();
  test::fill(*a, 1);
  test::fill(*b, 2);
  test::fill(*ra, 1);
  test::fill(*rb, 2);
  CHECK(test::same_bits(evaluate(matmul(*a, *b)), evaluate(matmul(*ra, *rb))));
}
}  // namespace

TEST_CASE("matmul: the reference's bits, for tails of every kind") {
  check<float, shape<1, 1>, shape<1, 1>>();
  check<float, shape<17, 33>, shape<33, 65>>();
  check<float, shape<6, 64>, shape<64, 64>>();
  check<double, shape<13, 7>, shape<7, 19>>();
  check<float, shape<3, 5, 7>, shape<7, 9>>();
  check<float, shape<4, 1, 5, 7>, shape<3, 7, 2>>();
  check<double, shape<9>, shape<9, 5>>();
  check<float, shape<4, 6, 9>, shape<9>>();
  check<float, shape<9>, shape<2, 9, 3>>();
}
TEST_CASE("matmul: NumPy's rule for stacks and vectors") {
  auto a = tensor<double, shape<2, 1, 3, 4>>{};
  auto b = tensor<double, shape<5, 4, 2>>{};
  test::fill(a, 1);
  test::fill(b, 2);
  auto const y = evaluate(matmul(a, b));
  static_assert(std::same_as<shape_of<decltype(y)>, shape<2, 5, 3, 2>>);
  for (auto i = std::size_t{0}; i < 2; ++i)
    for (auto j = std::size_t{0}; j < 5; ++j)
      for (auto r = std::size_t{0}; r < 3; ++r)
        for (auto c = std::size_t{0}; c < 2; ++c) {
          auto want = 0.0;
          for (auto k = std::size_t{0}; k < 4; ++k) want += a(i, 0, r, k) * b(j, k, c);
          CHECK(y(i, j, r, c) == Approx(want).margin(1e-15));
        }
  auto const v = tensor<double, shape<4>>{{1, 2, 3, 4}};
  static_assert(std::same_as<shape_of<decltype(matmul(v, b))>, shape<5, 2>>);
  static_assert(std::same_as<shape_of<decltype(matmul(a, v))>, shape<2, 1, 3>>);
  CHECK(*evaluate(matmul(v, v)).data() == 30);
  auto const product_of_expressions = evaluate(matmul(a * 2.0, b + 0.0));
  CHECK(product_of_expressions(1, 2, 0, 1) == Approx(2 * y(1, 2, 0, 1)));
}
