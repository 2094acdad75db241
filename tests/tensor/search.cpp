// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

constexpr auto table_ = tensor<float, shape<2, 3>>{{1, 5, 5, 7, 2, -1}};
static_assert(evaluate(argmax(table_, axis<1>)).values[0] == 1, "the first of equals");
static_assert(evaluate(argmin(table_, axis<0>)).values[2] == 1);

TEST_CASE("search: along every axis") {
  auto const rows = evaluate(argmax(table_, axis<-1>));
  CHECK(std::vector<std::int64_t>(rows.begin(), rows.end()) == std::vector<std::int64_t>{1, 0});
  auto const columns = evaluate(argmax(table_ * -1.0F, axis<0>));
  CHECK(std::vector<std::int64_t>(columns.begin(), columns.end()) ==
        std::vector<std::int64_t>{0, 1, 1});
  auto cube = tensor<double, shape<3, 4, 5>>{};
  test::fill(cube, 1);
  auto const middle = evaluate(argmax(cube, axis<1>));
  for (auto i = std::size_t{0}; i < 3; ++i)
    for (auto k = std::size_t{0}; k < 5; ++k)
      for (auto j = std::size_t{0}; j < 4; ++j)
        CHECK(cube(i, j, k) <= cube(i, static_cast<std::size_t>(middle(i, k)), k));
}
TEST_CASE("search: a NaN is found first") {
  auto const y = tensor<float, shape<4>>{{1, NAN, 9, NAN}};
  CHECK(*evaluate(argmax(y, axis<0>)).data() == 1);
  CHECK(*evaluate(argmin(y, axis<0>)).data() == 1);
}
static_assert(evaluate(argmin(tensor<float, shape<3>>{{2, 1, 1}}, axis<0>)).values[0] == 1,
              "of equals the first");
