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

namespace {

/// Every arrangement of operands against their copies; `at` makes them from a and b.
template <class T, class Backend, class S, class R>
void as_they_lie(auto const& of_a, auto const& of_b) {
  auto const a = std::make_unique<tensor<T, S, Backend>>();
  auto const b = std::make_unique<tensor<T, R, Backend>>();
  test::fill(*a, 1);
  test::fill(*b, 2);
  auto const copy_a = evaluate(of_a(*a) + T{0});
  auto const copy_b = evaluate(of_b(*b) + T{0});
  auto const want = evaluate(matmul(copy_a, copy_b));
  CHECK(test::same_bits(evaluate(matmul(of_a(*a), of_b(*b))), want));
  CHECK(test::same_bits(evaluate(matmul(of_a(*a), copy_b)), want));
  CHECK(test::same_bits(evaluate(matmul(copy_a, of_b(*b))), want));
  CHECK(test::same_bits(evaluate(matmul(of_a(*a * T{1}), of_b(*b * T{1}))), want));
}

}  // namespace

TEMPLATE_TEST_CASE("matmul: transposed matrices and slices have the bits of their copies", "",
                   (std::pair<float, simd>), (std::pair<double, simd>),
                   (std::pair<float, reference>)) {
  using T = typename TestType::first_type;
  using B = typename TestType::second_type;
  auto const turned = [](auto const& x) { return transpose(x); };
  auto const itself = [](auto const& x) { return slice(x, whole_axis); };
  as_they_lie<T, B, shape<33, 17>, shape<33, 70>>(turned, itself);
  as_they_lie<T, B, shape<17, 33>, shape<70, 33>>(itself, turned);
  as_they_lie<T, B, shape<33, 17>, shape<70, 33>>(turned, turned);
  auto const columns = [](auto const& x) { return slice(x, whole_axis, range<3, 20>); };
  as_they_lie<T, B, shape<9, 25>, shape<17, 21>>(columns, columns);
  auto const rows = [](auto const& x) { return slice(x, range<2, 9>); };
  as_they_lie<T, B, shape<11, 8>, shape<10, 7>>(
      [&](auto const& x) { return slice(rows(x), whole_axis, range<1, 8>); }, rows);
  auto const sparse = [](auto const& x) { return slice(x, whole_axis, whole_axis, 1); };
  as_they_lie<T, B, shape<6, 7, 3>, shape<7, 9, 2>>(sparse, sparse);
  auto const heads = [](auto const& x) { return transpose(x, axis<1, 0, 2>); };
  auto const keys = [](auto const& x) { return transpose(x, axis<1, 2, 0>); };
  as_they_lie<T, B, shape<12, 3, 5>, shape<13, 3, 5>>(heads, keys);
  auto const repeated = [](auto const& x) { return broadcast_to<shape<4, 6, 5>>(x); };
  as_they_lie<T, B, shape<6, 1>, shape<4, 5, 7>>(repeated, itself);
  as_they_lie<T, B, shape<6, 5, 2>, shape<5>>(
      [](auto const& x) { return transpose(x, axis<2, 0, 1>); }, itself);
}
TEST_CASE("matmul: what lies in the target is read before it is written") {
  auto x = tensor<float, shape<40, 40>>{};
  test::fill(x, 1);
  auto const before = x;
  auto const want = evaluate(matmul(evaluate(transpose(before) * 1.0F), before));
  x = matmul(transpose(x), x);
  CHECK(test::same_bits(x, want));
  x = before;
  assign(slice(x, range<0, 20>), matmul(slice(x, range<10, 30>), transpose(x)));
  auto const part = evaluate(
      matmul(evaluate(slice(before, range<10, 30>) * 1.0F), evaluate(transpose(before) * 1.0F)));
  CHECK(test::same_bits(evaluate(slice(x, range<0, 20>) * 1.0F), part));
}
TEST_CASE("matmul: large matrices are read where they lie, without memory") {
  auto const a = std::make_unique<tensor<float, shape<300, 260>>>();
  auto const c = std::make_unique<tensor<float, shape<260, 260>>>();
  test::fill(*a, 1);
  *c = matmul(transpose(*a), *a);
  auto sum = 0.0F;
  for (auto k = std::size_t{0}; k < 300; ++k) sum = lane::fma((*a)(k, 7), (*a)(k, 9), sum);
  CHECK((*c)(7, 9) == sum);
}
