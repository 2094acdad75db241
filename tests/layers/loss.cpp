// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/loss.hpp>

using namespace tessera;

// -- contract, values by hand ---------------------------------------------------------------------
constexpr auto by_hand() -> bool {
  auto const y = tensor<double, shape<2, 2>>{{1, 2, 3, 4}};
  auto const target = tensor<double, shape<2, 2>>{{1, 0, 3, 5}};
  auto dy = tensor<double, shape<2, 2>>{};
  auto const slope = view<double, shape<2, 2>>{dy.data()};
  auto const squares = mse::value_and_slope(as_const(y), as_const(target), slope, 0.25);
  auto const right = squares == 1.25 && dy(0, 1) == 1.0 && dy(1, 1) == -0.5;
  auto const distances = l1::value_and_slope(as_const(y), as_const(target), slope, 0.25);
  return right && distances == 0.75 && dy(0, 0) == 0 && dy(0, 1) == 0.25 && dy(1, 1) == -0.25;
}
static_assert(by_hand());
TEST_CASE("losses: by hand") { CHECK(by_hand()); }

TEST_CASE("cross_entropy: a certain row costs nothing, a wrong class is refused") {
  auto const y = tensor<float, shape<1, 3>>{{0, 100, 0}};
  auto target = tensor<std::int64_t, shape<1>>{{1}};
  CHECK(cross_entropy{}.value(as_const(y), as_const(target), 1.0F) == 0);
  target = {{3}};
  CHECK_THROWS_AS(cross_entropy{}.value(as_const(y), as_const(target), 1.0F),
                  std::invalid_argument);
  target = {{-1}};
  CHECK_THROWS_AS(cross_entropy{}.value(as_const(y), as_const(target), 1.0F),
                  std::invalid_argument);
}

TEST_CASE("losses: a target of other extents is refused, where it would be broadcast") {
  using Y = tensor<float, shape<at_most(4), 2>>;
  auto const y = Y{};
  auto const target = Y{};
  CHECK_THROWS_AS(mse::value(y.sized(3), target.sized(1), 1.0F), std::invalid_argument);
  CHECK_THROWS_AS(l1::value(y.sized(3), target.sized(1), 1.0F), std::invalid_argument);
  CHECK(mse::value(y.sized(3), target.sized(3), 1.0F) == 0);
}
TEST_CASE("losses: what they compare with") {
  using Y = tensor<double, shape<6, at_most(3), 5>>;
  CHECK(std::same_as<mse::target_type<view_of<Y>>, Y>);
  CHECK(std::same_as<cross_entropy::target_type<Y>, tensor<std::int32_t, shape<6, at_most(3)>>>);
}
TEST_CASE("binary_cross_entropy: far from 0 it neither overflows nor loses digits") {
  auto const y = tensor<float, shape<4>>{{-200, 200, -200, 200}};
  auto const target = tensor<float, shape<4>>{{0, 1, 1, 0}};
  CHECK(binary_cross_entropy::value(as_const(y), as_const(target), 1.0F) == 400);
}
TEST_CASE("binary_cross_entropy: of an infinite y that is wrong it is infinite, as torch's") {
  auto const y = tensor<float, shape<2>>{{INFINITY, -INFINITY}};
  auto const target = tensor<float, shape<2>>{{0, 1}};
  CHECK(binary_cross_entropy::value(as_const(y), as_const(target), 0.5F) == INFINITY);
  auto dy = tensor<float, shape<2>>{};
  (void)binary_cross_entropy::value_and_slope(as_const(y), as_const(target),
                                              view<float, shape<2>>{dy.data()}, 0.5F);
  CHECK(dy(0) == 0.5F);
  CHECK(dy(1) == -0.5F);
}
TEST_CASE("huber: delta is above 0") {
  auto const y = tensor<float, shape<4>>{};
  CHECK_THROWS_AS(huber{.delta = 0}.value(as_const(y), as_const(y), 1.0F), std::invalid_argument);
}
TEST_CASE("cross_entropy: label_smoothing is a share") {
  auto const y = tensor<float, shape<2, 3>>{};
  auto const target = tensor<std::int32_t, shape<2>>{{0, 2}};
  auto const value = [&](double smoothing) {
    return cross_entropy{.label_smoothing = smoothing}.value(as_const(y), as_const(target), 0.5F);
  };
  for (auto const share : {1.5, -0.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH(value(share), "cross_entropy: label_smoothing must be from 0 to 1");
  for (auto const share : {0.0, 1.0}) CHECK(value(share) == Approx(std::log(3.0)));
}

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("losses: the slope is the derivative of the value", "", mse, l1, huber,
                   binary_cross_entropy) {
  auto y = tensor<double, shape<3, 5>>{};
  auto target = tensor<double, shape<3, 5>>{};
  auto dy = tensor<double, shape<3, 5>>{};
  test::fill(y, 1);
  test::fill(target, 2);
  (void)TestType{}.value_and_slope(as_const(y), as_const(target),
                                   view<double, shape<3, 5>>{dy.data()}, 0.1);
  for (auto i = std::size_t{0}; i < 15; ++i) {
    auto const at = y.values[i];
    y.values[i] = at + 1e-6;
    auto const above = TestType{}.value(as_const(y), as_const(target), 0.1);
    y.values[i] = at - 1e-6;
    auto const below = TestType{}.value(as_const(y), as_const(target), 0.1);
    y.values[i] = at;
    CHECK(dy.values[i] == Approx((above - below) / 2e-6).margin(1e-8));
  }
}
TEST_CASE("cross_entropy: the slope is the derivative of the value") {
  auto y = tensor<double, shape<3, 5>>{};
  auto dy = tensor<double, shape<3, 5>>{};
  auto const target = tensor<std::int64_t, shape<3>>{{4, -100, 0}};
  auto const loss = cross_entropy{.label_smoothing = 0.2};
  test::fill(y, 1, 3);
  CHECK(loss.terms(as_const(target)) == 2);
  (void)loss.value_and_slope(as_const(y), as_const(target), view<double, shape<3, 5>>{dy.data()},
                             0.5);
  for (auto i = std::size_t{0}; i < 15; ++i) {
    auto const at = y.values[i];
    y.values[i] = at + 1e-6;
    auto const above = loss.value(as_const(y), as_const(target), 0.5);
    y.values[i] = at - 1e-6;
    auto const below = loss.value(as_const(y), as_const(target), 0.5);
    y.values[i] = at;
    CHECK(dy.values[i] == Approx((above - below) / 2e-6).margin(1e-8));
  }
}

// -- reference: tests/reference/loss.py -----------------------------------------------------------
template <class Loss>
void agrees(test::golden const& g, std::string const& name, Loss const& loss = {}) {
  auto y = tensor<float, shape<5, 3, 7>>{};
  auto target = y;
  auto dy = y;
  test::load(y, g[name + ".y"]);
  test::load(target, g[name + ".target"]);
  auto const value = loss.value_and_slope(as_const(y), as_const(target),
                                          view<float, shape<5, 3, 7>>{dy.data()}, 1.0F / 105);
  CHECK(value == Approx(g[name + ".value"][0]).epsilon(1e-6));
  CHECK(test::distance(dy, g[name + ".dy"]) <= 1e-7);
}
TEST_CASE("losses: agree with torch") {
  auto const g = test::golden("loss");
  agrees<mse>(g, "mse");
  agrees<l1>(g, "l1");
  agrees<huber>(g, "huber");
  agrees(g, "huber_half", huber{.delta = 0.5});
  agrees<binary_cross_entropy>(g, "bce");
  for (auto const& [name, loss] : {std::pair{"plain", cross_entropy{}},
                                   std::pair{"smooth", cross_entropy{.label_smoothing = 0.1}},
                                   std::pair{"ignore", cross_entropy{.ignore_index = 3}}}) {
    INFO(name);
    auto y = tensor<float, shape<6, 2, 70>>{};
    auto dy = y;
    auto target = tensor<std::int64_t, shape<6, 2>>{};
    auto const key = std::string{name};
    test::load(y, g[key + ".y"]);
    test::load(target, g[key + ".target"]);
    auto const scale = 1.0F / static_cast<float>(loss.terms(as_const(target)));
    auto const value = loss.value_and_slope(as_const(y), as_const(target),
                                            view<float, shape<6, 2, 70>>{dy.data()}, scale);
    CHECK(value == Approx(g[key + ".value"][0]).epsilon(1e-6));
    CHECK(test::distance(dy, g[key + ".dy"]) <= 1e-7);
  }
}
TEST_CASE("cross_entropy: a target of other extents than the rows of y is refused") {
  using Y = tensor<float, shape<at_most(8), 4>>;
  using Target = tensor<std::int64_t, shape<at_most(8)>>;
  auto const y = Y{};
  auto const target = Target{};
  auto dy = Y{};
  auto const slopes = [&](std::size_t rows, std::size_t targets) {
    (void)cross_entropy{}.value_and_slope(y.sized(rows), target.sized(targets), dy.sized(rows), 1);
  };
  CHECK_NOTHROW(slopes(5, 5));
  CHECK_THROWS_WITH(slopes(5, 8), Catch::Contains("an element a row"));
  CHECK_THROWS_WITH(slopes(8, 5), Catch::Contains("an element a row"));
  CHECK_THROWS_WITH(cross_entropy{}.value(y.sized(5), target.sized(8), 1),
                    Catch::Contains("an element a row"));
}
