// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>
#include <tessera/bridge/xtensor.hpp>

#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include <sstream>

using namespace tessera;

TEST_CASE("xtensor: one memory, both ways, no heap") {
  auto x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  auto const before = test::allocations();
  auto a = as_xtensor(x);
  a(1, 2) = 60;
  auto const total = xt::sum(a)();
  CHECK(test::allocations() == before);
  CHECK(total == 75);
  CHECK(x(1, 2) == 60);
  CHECK(static_cast<void const*>(a.data()) == x.data());
  auto const& constant = x;
  CHECK(as_xtensor(constant)(0, 1) == 2);
  CHECK(as_xtensor(as_const(x)[1])(2) == 60);
}
TEST_CASE("xtensor: any expression of the shape is assigned, and may read what it writes") {
  auto x = tensor<double, shape<2, 2>>{{1, 2, 3, 4}};
  auto const a = xt::xtensor<double, 2>{{10, 20}, {30, 40}};
  assign(x, a + as_xtensor(x));
  CHECK(x(1, 0) == 33);
  assign(x, xt::transpose(as_xtensor(x)));
  CHECK(x(0, 1) == 33);
  auto const y = from_xtensor<tensor<double, shape<2>>>(xt::view(a, xt::all(), 1));
  CHECK(y(0) == 20);
  CHECK(y(1) == 40);
}
TEST_CASE("xtensor: the numbers of another tensor are copied, whichever is const") {
  using X = tensor<float, shape<2, 2>>;
  auto x = X{{1, 2, 3, 4}};
  auto y = X{{5, 6, 7, 8}};
  assign(x, as_xtensor(y));
  CHECK(x(0, 0) == 5);
  CHECK(x(1, 1) == 8);
  CHECK(from_xtensor<X>(as_xtensor(y))(1, 0) == 7);
  y(0, 0) = 50;
  CHECK(x(0, 0) == 5);
  assign(x, as_xtensor(as_const(y)));
  CHECK(x(0, 0) == 50);
}
TEST_CASE("xtensor: another shape is refused with both shapes, and nothing is written") {
  auto x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  auto const a = xt::xtensor<float, 2>(xt::zeros<float>({3, 2}));
  CHECK_THROWS_WITH(assign(x, a), "expected an array of shape (2, 3), got (3, 2)");
  auto const row = xt::xtensor<float, 1>(xt::zeros<float>({3}));
  CHECK_THROWS_WITH(assign(x, row), "expected an array of shape (2, 3), got (3,)");
  CHECK(x(0, 0) == 1);
}
TEST_CASE("xtensor: bounded extents have their actual length") {
  auto x = tensor<float, shape<at_most(5), 2>>{};
  assign(x.sized(3), xt::ones<float>({3, 2}));
  CHECK(as_xtensor(x.sized(3)).shape(0) == 3);
  CHECK(as_xtensor(x).shape(0) == 5);
  CHECK(xt::sum(as_xtensor(x))() == 6);
  CHECK_THROWS_AS(assign(x.sized(4), xt::ones<float>({3, 2})), shape_error);
}
TEST_CASE("xtensor: tensors print") {
  auto text = std::ostringstream{};
  text << tensor<float, shape<2, 2>>{{1, 2, 3, 4}} << ' ' << tensor<float, shape<>>{{5}};
  CHECK(text.str() == "{{ 1.,  2.},\n { 3.,  4.}} 5");
  text.str({});
  text << tensor<std::int8_t, shape<>>{{65}} << ' ' << tensor<std::int8_t, shape<1>>{{65}};
  CHECK(text.str() == "65 {65}");
}
