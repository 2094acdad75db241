// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/tensor/operation.hpp>

#include <limits>

using namespace tessera;

// Every slope is the derivative of its value, by central differences in double.
template <class F, class... A> void check_slopes(char const* name, A... at) {
  double const values[] = {at...};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto const one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      if constexpr (op::has_slope<F, J>) {
        INFO(name << ", operand " << J << " at " << values[J]);
        auto const step = 1e-6;
        auto const moved = [&](double by) { return F::value((values[I] + (I == J ? by : 0))...); };
        auto const difference = (moved(step) - moved(-step)) / (2 * step);
        CHECK(op::times_slope<F, J>(1.0, F::value(at...), at...) ==
              Approx(difference).margin(1e-7));
      }
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
  }(std::index_sequence_for<A...>{});
}
#define SLOPES(F, ...) check_slopes<op::F>(#F, __VA_ARGS__)
TEST_CASE("operations: slopes are derivatives") {
  for (auto const x : {-2.3, -0.4, 0.3, 1.7}) {
    SLOPES(add, x, 0.5);
    SLOPES(subtract, x, 0.5);
    SLOPES(multiply, x, 0.7);
    SLOPES(divide, x, 0.7);
    SLOPES(negate, x);
    SLOPES(min, x, 0.5);
    SLOPES(max, x, 0.5);
    SLOPES(abs, x);
    SLOPES(square, x);
    SLOPES(exp, x);
    SLOPES(expm1, x);
    SLOPES(tanh, x);
    SLOPES(sigmoid, x);
    SLOPES(relu, x);
    SLOPES(silu, x);
    SLOPES(gelu, x);
    SLOPES(gelu_tanh, x);
    SLOPES(softplus, x);
    SLOPES(erf, x);
    SLOPES(sin, x);
    SLOPES(cos, x);
    SLOPES(clamp, x, -1.0, 1.0);
    SLOPES(clamp, x, 0.9, 0.7);
    SLOPES(sqrt, x * x);
    SLOPES(rsqrt, x * x);
    SLOPES(log, x * x);
    SLOPES(log1p, x * x);
    SLOPES(pow, x * x, 1.3);
  }
  CHECK(op::times_slope<op::where, 1>(3.0, 1.0, true, 1.0, 2.0) == 3);
  CHECK(op::times_slope<op::where, 2>(3.0, 1.0, true, 1.0, 2.0) == 0);
}
TEST_CASE("operations: at a kink the slope is torch's") {
  CHECK(op::abs::slope<0>(0.0, 0.0) == 0);
  CHECK(op::times_slope<op::relu, 0>(3.0, 0.0, 0.0) == 0);
  CHECK(op::times_slope<op::max, 0>(3.0, 1.0, 1.0, 1.0) == 1.5);
  CHECK(op::times_slope<op::clamp, 0>(3.0, 1.0, 1.0, -1.0, 1.0) == 3);
}
TEST_CASE("operations: no derivative reaches an operand that is not picked, be it infinite") {
  auto const d = std::numeric_limits<double>::infinity();
  CHECK(op::times_slope<op::relu, 0>(d, 0.0, -1.0) == 0);
  CHECK(op::times_slope<op::min, 0>(d, 0.0, 1.0, 0.0) == 0);
  CHECK(op::times_slope<op::min, 1>(d, 0.0, 1.0, 0.0) == d);
  CHECK(op::times_slope<op::max, 0>(d, 0.0, -1.0, 0.0) == 0);
  CHECK(op::times_slope<op::max, 1>(d, 0.0, 0.0, 0.0) == d);
  CHECK(op::times_slope<op::clamp, 0>(d, 0.0, -1.0, 0.0, 1.0) == 0);
  CHECK(op::times_slope<op::clamp, 1>(d, 0.0, 0.5, 0.0, 1.0) == 0);
  CHECK(op::times_slope<op::clamp, 2>(d, 0.0, 0.5, 0.0, 1.0) == 0);
  CHECK(op::times_slope<op::where, 1>(d, 0.0, false, 1.0, 0.0) == 0);
  CHECK(op::times_slope<op::where, 2>(d, 0.0, true, 1.0, 0.0) == 0);
}
TEST_CASE("operations: the derivative goes through relu of NaN, as torch") {
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(op::times_slope<op::relu, 0>(3.0, nan, nan) == 3);
}
TEST_CASE("operation: above 20 softplus is its argument, and its slope 1, as torch") {
  CHECK(op::softplus::value(20.5) == 20.5);
  CHECK(op::softplus::slope<0>(20.5, 20.5) == 1);
  CHECK(op::softplus::slope<0>(19.5, 19.5) == lane::sigmoid(19.5));
}
TEST_CASE("operations: slopes where operands of min are equal, and of powers at zero") {
  CHECK(op::times_slope<op::min, 0>(1.0, 1.0, 1.0, 1.0) == 0.5);
  CHECK(op::times_slope<op::min, 1>(1.0, 1.0, 1.0, 1.0) == 0.5);
  CHECK(op::pow::slope<0>(1.0, 0.0, 0.0) == 0);
  CHECK(op::pow::slope<1>(0.0, 0.0, 2.0) == 0);
  CHECK(op::length::slope<0>(0.0, 0.0) == 0);
}
