// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

constexpr auto square_ = tensor<float, shape<2, 2>>{{1, 2, 3, 4}};
constexpr auto column_ = tensor<float, shape<2, 1>>{{5, 6}};
constexpr auto row_ = tensor<float, shape<1, 2>>{{7, 8}};

static_assert(evaluate(concatenate(axis<1>, square_, column_)).values[2] == 5);
static_assert(std::same_as<decltype(evaluate(concatenate(axis<-1>, square_, column_, square_))),
                           tensor<float, shape<2, 5>>>);

TEST_CASE("join: along every axis, tensors and expressions") {
  auto const columns = evaluate(concatenate(axis<1>, square_, column_ * 10.0F, square_));
  CHECK(std::vector<float>(columns.begin(), columns.end()) ==
        std::vector<float>{1, 2, 50, 1, 2, 3, 4, 60, 3, 4});
  auto const rows = evaluate(concatenate(axis<0>, row_, square_));
  CHECK(std::vector<float>(rows.begin(), rows.end()) == std::vector<float>{7, 8, 1, 2, 3, 4});
}
TEST_CASE("join: a stack has a new axis anywhere") {
  auto const front = evaluate(stack(axis<0>, square_, square_ * 2.0F));
  CHECK(std::same_as<shape_of<decltype(front)>, shape<2, 2, 2>>);
  CHECK(front(1, 0, 1) == 4);
  auto const back = evaluate(stack(axis<-1>, square_, square_ * 2.0F, square_ * 3.0F));
  CHECK(std::same_as<shape_of<decltype(back)>, shape<2, 2, 3>>);
  for (auto i = std::size_t{0}; i < 2; ++i)
    for (auto k = std::size_t{0}; k < 3; ++k)
      CHECK(back(i, 1, k) == static_cast<float>(k + 1) * square_(i, 1));
  auto const middle = evaluate(stack(axis<1>, square_, square_));
  CHECK(middle(1, 1, 0) == 3);
}
