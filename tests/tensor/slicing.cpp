// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
using X = tensor<float, shape<2, 3, 4>>;
static_assert(std::same_as<shape_of<decltype(slice(std::declval<X&>(), whole_axis, range<1, 3>))>,
                           shape<2, 2, 4>>);
static_assert(
    std::same_as<shape_of<decltype(slice(std::declval<X&>(), 0, whole_axis, 1))>, shape<3>>);
static_assert(contiguous<decltype(reshape<shape<24>>(std::declval<X&>()))>,
              "no copy, still a view");
static_assert(
    std::same_as<shape_of<decltype(expand_dims(std::declval<X&>(), axis<1>))>, shape<2, 1, 3, 4>>);
static_assert(
    std::same_as<shape_of<decltype(squeeze(std::declval<tensor<float, shape<2, 1>>&>(), axis<1>))>,
                 shape<2>>);

TEST_CASE("slicing: every element where NumPy has it") {
  auto x = X{};
  for (auto i = std::size_t{0}; i < 24; ++i) x.values[i] = static_cast<float>(i);
  tensor<float, shape<2, 2, 2>> const a = slice(x, whole_axis, range<1, 3>, range<2, 4>) + 0;
  CHECK(test::distance(a, {6, 7, 10, 11, 18, 19, 22, 23}) == 0);
  tensor<float, shape<3>> const b = slice(x, 1, whole_axis, 2) + 0;
  CHECK(test::distance(b, {14, 18, 22}) == 0);
  tensor<float, shape<4, 2, 3>> const c = transpose(x, axis<2, 0, 1>) + 0;
  CHECK(c(3, 1, 2) == x(1, 2, 3));
  tensor<float, shape<4, 3, 2>> const d = transpose(x) + 0;
  CHECK(d(3, 2, 1) == x(1, 2, 3));
  tensor<float, shape<2, 3, 2>> const e = chunk<1, 2>(x) + 0;
  CHECK(e(1, 2, 0) == x(1, 2, 2));
  tensor<float, shape<2, 1, 4>> const f = chunk<2, 3>(x, axis<1>) + 0;
  CHECK(f(1, 0, 3) == x(1, 2, 3));
  tensor<float, shape<6, 4>> const g = reshape<shape<6, 4>>(x) + 0;
  CHECK(g(5, 3) == 23);
  tensor<float, shape<2, 4>> const h = broadcast_to<shape<2, 4>>(slice(x, 0, 1)) + 0;
  CHECK(test::distance(h, {4, 5, 6, 7, 4, 5, 6, 7}) == 0);
  tensor<float, shape<3, 2>> const t = transpose(slice(x, whole_axis, whole_axis, 3)) + 0;
  CHECK(t(2, 1) == x(1, 2, 3));
}
TEST_CASE("slicing: parts of an expression are parts of its value") {
  auto const x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  tensor<float, shape<3, 2>> const a = transpose(x * x) + 1;
  CHECK(a(2, 1) == 37);
  tensor<float, shape<2, 1>> const b = chunk<2, 3>(x + x) * 10;
  CHECK(b(1, 0) == 120);
  tensor<float, shape<3, 2>> const c = reshape<shape<3, 2>>(x - 1) + 0;
  CHECK(c(1, 1) == 3);
}
TEST_CASE("slicing: parts can be written") {
  auto x = tensor<float, shape<2, 3>>{};
  slice(x, whole_axis, 1) = tensor<float, shape<2>>{{7, 8}};
  slice(x, 0) = 1;
  CHECK(test::distance(x, {1, 1, 1, 0, 8, 0}) == 0);
}
TEST_CASE("slicing: an index beyond its axis is refused") {
  auto x = tensor<float, shape<2, 3>>{};
  CHECK_THROWS_AS(slice(x, 2), std::invalid_argument);
  CHECK_THROWS_AS(slice(x, whole_axis, 3), std::invalid_argument);
}
TEST_CASE("slicing: a part of nothing is nothing") {
  auto const none = view<float, shape<4, 6>>{};
  CHECK(chunk<1, 3>(none).data() == nullptr);
  CHECK(transpose(none).data() == nullptr);
}
TEST_CASE("slicing: a number is broadcast to any shape") {
  auto const x = tensor<float, shape<4>>{{1, 2, 3, 4}};
  auto const y = evaluate(broadcast_to<shape<2, 3>>(sum(x)) + 0.0F);
  for (auto v : y) CHECK(v == 10);
  auto const one_number = tensor<float, shape<>>{{7}};
  CHECK(evaluate(broadcast_to<shape<2>>(one_number) * 2.0F)(1) == 14);
}
TEST_CASE("slicing: what is repeated cannot be written, as one number has many places") {
  auto x = tensor<float, shape<1, 3>>{{1, 2, 3}};
  auto const y = broadcast_to<shape<2, 3>>(x);
  static_assert(std::same_as<decltype(y.data()), float const*>);
  CHECK(test::distance(evaluate(y + 0), {1, 2, 3, 1, 2, 3}) == 0);
  auto const of_a_view = broadcast_to<shape<2, 3>>(view_of<tensor<float, shape<1, 3>>>(x));
  static_assert(std::same_as<decltype(of_a_view.data()), float const*>);
}
