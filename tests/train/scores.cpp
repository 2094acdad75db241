// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/scores.hpp>

using namespace tessera;

TEST_CASE("scores: by hand") {
  auto const y = tensor<float, shape<3, 2>>{{1, 0, 2, 5, 3, 3}};
  auto const classes = tensor<std::int32_t, shape<3>>{{0, 0, 0}};
  CHECK(accuracy::value(as_const(y), as_const(classes)) == 2);  // of equal ones the first
  CHECK(accuracy::terms(as_const(classes)) == 3);
  auto const target = tensor<float, shape<3, 2>>{{1, 1, 0, 5, 3, -1}};
  CHECK(mean_absolute_error::value(as_const(y), as_const(target)) == 7);
  CHECK(root_mean_squared_error::value(as_const(y), as_const(target)) == 21);
  CHECK(finished(root_mean_squared_error{}, 9.0) == 3);
  CHECK(finished(mean_absolute_error{}, 9.0) == 9);
  CHECK(more_is_better<accuracy>);
  CHECK_FALSE(more_is_better<mean_absolute_error>);
}
TEST_CASE("scores: a target that the loss ignores is no term of accuracy") {
  auto const y = tensor<float, shape<4, 2>>{{0, 1, 0, 1, 0, 1, 0, 1}};
  auto const target = tensor<std::int64_t, shape<4>>{{1, -100, 0, -100}};
  CHECK(accuracy::terms(target) == 2);
  CHECK(accuracy::value(y, target) == 1);
}
TEST_CASE("scores: of what a bounded batch has") {
  using Y = tensor<float, shape<at_most(4), 2>>;
  auto const y = Y{{0, 1, 0, 1, 0, 1, 0, 1}};
  auto const target = tensor<std::int64_t, shape<at_most(4)>>{{1, 0, 1, 1}};
  CHECK(accuracy::terms(target.sized(2)) == 2);
  CHECK(accuracy::value(y.sized(2), target.sized(2)) == 1);
}
