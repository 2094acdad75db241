// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

constexpr auto aliasing() -> bool {
  auto x = tensor<float, shape<2, 2>>{{1, 2, 3, 4}};
  x = x + transpose(x);
  return x(0, 0) == 2 && x(0, 1) == 5 && x(1, 0) == 5 && x(1, 1) == 8;
}
static_assert(aliasing());

TEST_CASE("assign: an operand that overlaps the target is read before it is written") {
  CHECK(aliasing());
  auto x = tensor<float, shape<3, 3>>{{1, 2, 3, 4, 5, 6, 7, 8, 9}};
  x = transpose(x) * 1;
  CHECK(x(0, 1) == 4);
  x = x - x[0];  // a row of itself, broadcast
  CHECK(x(0, 0) == 0);
  CHECK(x(2, 0) == 2);
  x[1] = x[0] + x[2];
  CHECK(x(1, 0) == 2);
  auto const most = evaluate(max(x)).values[0];
  auto const at = x(2, 2);
  x = x / max(x);
  CHECK(x(2, 2) == at / most);
}
TEST_CASE("assign: an overlap that is too large for the stack is right too") {
  using X = tensor<float, shape<200, 200>>;
  static_assert(sizeof(X) > stack_limit);
  auto const x = std::make_unique<X>();
  test::fill(*x, 1);
  auto const before = std::make_unique<X>(*x);
  *x = *x + transpose(*x);
  for (auto i = std::size_t{0}; i < 200; ++i)
    for (auto j = std::size_t{0}; j < 200; ++j)
      if ((*x)(i, j) != (*before)(i, j) + (*before)(j, i)) FAIL(i << " " << j);
}
TEST_CASE("assign: shifted views of one memory") {
  auto x = tensor<float, shape<40>>{};
  for (auto i = std::size_t{0}; i < 40; ++i) x.values[i] = static_cast<float>(i);
  auto const to = view<float, shape<30>>{x.data() + 1};
  auto const from = view<float const, shape<30>>{x.data()};
  assign(to, from * 2);
  for (auto i = std::size_t{0}; i < 30; ++i) CHECK(x.values[i + 1] == static_cast<float>(2 * i));
}
TEST_CASE("assign: bounded extents must agree at run time") {
  auto a = tensor<float, shape<at_most(8), 3>>{};
  auto b = tensor<float, shape<at_most(8), 3>>{};
  CHECK_NOTHROW(assign(a.sized(4), b.sized(4) + 1));
  CHECK_THROWS_AS(assign(a.sized(4), b.sized(5) + 1), std::invalid_argument);
  CHECK_THROWS_AS(assign(a.sized(4), a.sized(4) + b.sized(5)), std::invalid_argument);
  CHECK(a.values[11] == 1);
  CHECK(a.values[12] == 0);
}
TEST_CASE("assign: in place") {
  auto x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  x += 1;
  x *= x;
  x -= tensor<float, shape<3>>{{4, 9, 16}};
  x /= 3;
  CHECK(x(0, 0) == 0);
  CHECK(x(1, 2) == 11);
  slice(x, whole_axis, range<0, 2>) += 5;
  CHECK(x(0, 1) == 5);
  CHECK(x(1, 2) == 11);
}
TEST_CASE("assign: nothing to do for nothing") {
  auto a = tensor<float, shape<at_most(8), 3>>{};
  assign(a.sized(0), 7.0F);
  for (auto const v : a.values) CHECK(v == 0);
}
TEST_CASE("assign: nothing is added to a view without memory") {
  auto const v = view<float, shape<2, 3>>{};
  auto const e = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  v += e * 2.0F;
  v -= e;
  slice(v, whole_axis, range<1, 3>) += slice(e, whole_axis, range<0, 2>);
  slice(v, whole_axis, range<1, 3>) -= 1.0F;
  v[1] += sum(e, axis<0>);
  CHECK_FALSE(v.has_memory());
  auto x = e;
  view<float, shape<2, 3>>{x} += e;
  CHECK(x(1, 2) == 12);
}
