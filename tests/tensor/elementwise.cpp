// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

// -- values by hand, at compile time too ----------------------------------------------------------
constexpr auto broadcasting() -> bool {
  auto const a = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  auto const row = tensor<float, shape<3>>{{10, 20, 30}};
  auto const column = tensor<float, shape<2, 1>>{{100, 200}};
  tensor<float, shape<2, 3>> y = (a + row) * 2 + column - 1;
  return y(0, 0) == 121 && y(1, 2) == 271;
}
static_assert(broadcasting());
constexpr auto choices() -> bool {
  auto const a = tensor<float, shape<4>>{{-2, -1, 1, 2}};
  tensor<bool, shape<4>> const positive = a > 0;
  tensor<float, shape<4>> const y = where(positive && a < 2, a, -a) + max(a, 0) + clamp(a, -1, 1);
  return not positive[0] && positive[3] && y[0] == 1 && y[2] == 3 && y[3] == 1;
}
static_assert(choices());
TEST_CASE("elementwise: by hand") { CHECK((broadcasting() && choices())); }

// -- every function against the C library ---------------------------------------------------------
template <class F, class G>
void each(char const* name, F f, G g, double low = -5, double high = 5) {
  auto x = tensor<double, shape<3, 37>>{};
  auto r = torch_generator(1);
  for (auto& v : x) v = low + (high - low) * r.rand<double>();
  tensor<double, shape<3, 37>> const y = f(x);
  for (auto i = std::size_t{0}; i < x.size(); ++i) {
    INFO(name << " of " << x.values[i]);
    CHECK(y.values[i] == Approx(g(x.values[i])).epsilon(1e-14).margin(1e-300));
  }
}
TEST_CASE("elementwise: every function is what its name says") {
  each("exp", [](auto& x) { return exp(x); }, [](double x) { return std::exp(x); });
  each("log", [](auto& x) { return log(x); }, [](double x) { return std::log(x); }, 0.1, 10);
  each("log1p", [](auto& x) { return log1p(x); }, [](double x) { return std::log1p(x); }, -0.9, 5);
  each("expm1", [](auto& x) { return expm1(x); }, [](double x) { return std::expm1(x); });
  each("sqrt", [](auto& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0, 5);
  each(
      "rsqrt", [](auto& x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, 0.1, 5);
  each("square", [](auto& x) { return square(x); }, [](double x) { return x * x; });
  each("tanh", [](auto& x) { return tanh(x); }, [](double x) { return std::tanh(x); });
  each(
      "sigmoid", [](auto& x) { return sigmoid(x); },
      [](double x) { return 1 / (1 + std::exp(-x)); });
  each("relu", [](auto& x) { return relu(x); }, [](double x) { return std::max(x, 0.0); });
  each("silu", [](auto& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); });
  each(
      "gelu", [](auto& x) { return gelu(x); },
      [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
  each(
      "gelu_tanh", [](auto& x) { return gelu_tanh(x); },
      [](double x) {
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      },
      -2, 5);
  each(
      "softplus", [](auto& x) { return softplus(x); },
      [](double x) { return std::log1p(std::exp(x)); });
  each("erf", [](auto& x) { return erf(x); }, [](double x) { return std::erf(x); });
  each("sin", [](auto& x) { return sin(x); }, [](double x) { return std::sin(x); });
  each("cos", [](auto& x) { return cos(x); }, [](double x) { return std::cos(x); });
  each("abs", [](auto& x) { return abs(x); }, [](double x) { return std::abs(x); });
  each(
      "pow", [](auto& x) { return pow(x, 2.5); }, [](double x) { return std::pow(x, 2.5); }, 0.1,
      5);
  each("negate", [](auto& x) { return -x; }, [](double x) { return -x; });
  each("min", [](auto& x) { return min(x, 1); }, [](double x) { return std::min(x, 1.0); });
}

// -- the shapes of nested broadcasts --------------------------------------------------------------
TEST_CASE("elementwise: broadcasts of any nesting") {
  auto a = tensor<float, shape<4, 1, 3>>{};
  auto b = tensor<float, shape<2, 1>>{};
  auto c = tensor<float, shape<3>>{};
  test::fill(a, 1);
  test::fill(b, 2);
  test::fill(c, 3);
  tensor<float, shape<4, 2, 3>> const y = tanh(a * b) - exp(-(b + c)) * (a + c) / 2;
  for (auto i = std::size_t{0}; i < 4; ++i)
    for (auto j = std::size_t{0}; j < 2; ++j)
      for (auto k = std::size_t{0}; k < 3; ++k) {
        auto const want =
            std::tanh(a(i, 0, k) * b(j, 0)) - std::exp(-(b(j, 0) + c(k))) * (a(i, 0, k) + c(k)) / 2;
        CHECK(y(i, j, k) == Approx(want).epsilon(1e-6));
      }
}
TEST_CASE("elementwise: temporaries live in the expression") {
  auto const make = [] { return tensor<float, shape<3>>{{1, 2, 3}}; };
  auto const x = tensor<float, shape<3>>{{10, 20, 30}};
  auto const e = x + make() * make();  // the made tensors end here, and the expression holds them
  tensor<float, shape<3>> const y = e;
  CHECK(y[2] == 39);
}
TEST_CASE("elementwise: 16-bit scalars load and store, and compute in float") {
  auto x = tensor<bf16, shape<20>>{};
  for (auto i = std::size_t{0}; i < 20; ++i) x.values[i] = bf16(static_cast<float>(i) * 0.25F);
  tensor<float, shape<20>> const y = x * 2 + 0.125;
  CHECK(y[3] == 1.625F);
  tensor<bf16, shape<20>> z;
  z = y;
  CHECK(static_cast<float>(z[3]) == 1.625F);
  tensor<f16, shape<20>> half;
  half = x * x;
  CHECK(static_cast<float>(half[3]) == 0.5625F);
}
TEST_CASE("elementwise: whole numbers divide toward zero") {
  auto const n = tensor<std::int32_t, shape<2>>{{-7, 7}};
  CHECK(evaluate(n / 2)(0) == -3);
  CHECK(evaluate(n / 2)(1) == 3);
}
TEST_CASE("elementwise: cast changes the scalar type") {
  auto const x = tensor<float, shape<3>>{{1.5, -2.5, 3}};
  tensor<double, shape<3>> const y = cast<double>(x) / 3;
  CHECK(y[0] == 0.5);
  tensor<std::int32_t, shape<3>> const n = cast<std::int32_t>(x);
  CHECK(n[1] == -2);
}
TEST_CASE("cast: to the type that vectors of the numbers have") {
  auto x = tensor<float, shape<20>>{};
  test::fill(x, 1);
  tensor<float, shape<20>> const same = cast<float>(x);
  CHECK(test::same_bits(same, x));
  auto half = tensor<f16, shape<20>>{};
  for (auto i = std::size_t{0}; i < 20; ++i) half(i) = static_cast<f16>(x(i));
  tensor<float, shape<20>> const wide = cast<float>(half) + 1;
  for (auto i = std::size_t{0}; i < 20; ++i) CHECK(wide(i) == static_cast<float>(half(i)) + 1);
  auto const d = tensor<double, shape<3>>{{1, 2, 3}};
  tensor<double, shape<3>> const twice = cast<double>(d) * 2;
  CHECK(twice(2) == 6);
}
TEMPLATE_TEST_CASE("cast: truths to numbers, and back", "", reference, default_backend) {
  auto x = tensor<float, shape<19>, TestType>{};
  test::fill(x, 1);
  x(3) = 0;
  x(4) = std::numeric_limits<float>::quiet_NaN();
  auto const numbers = evaluate(cast<float>(x > 0) * 2);
  auto const wide = evaluate(cast<double>(x > 0));
  auto const whole = evaluate(cast<std::int32_t>(x > 0));
  auto const truths = evaluate(cast<bool>(x));
  auto const same = evaluate(cast<bool>(x > 0));
  auto const of_tensor = evaluate(cast<float>(same));
  auto const count = evaluate(sum(cast<float>(x > 0)));
  auto above = 0.0F;
  for (auto i = std::size_t{0}; i < 19; ++i) {
    CHECK(numbers(i) == (x(i) > 0 ? 2 : 0));
    CHECK(wide(i) == (x(i) > 0 ? 1 : 0));
    CHECK(whole(i) == (x(i) > 0 ? 1 : 0));
    CHECK(truths(i) == (i != 3));
    CHECK(same(i) == (x(i) > 0));
    CHECK(of_tensor(i) == (x(i) > 0 ? 1 : 0));
    above += x(i) > 0 ? 1.0F : 0.0F;
  }
  CHECK(count() == above);
}
TEST_CASE("expressions: a whole number that the array's type does not have is refused") {
  auto const pixels = tensor<std::uint8_t, shape<2>>{{100, 200}};
  auto const ids = tensor<std::int32_t, shape<2>>{{1, 2}};
  CHECK_THROWS_WITH((void)(pixels > 300), Catch::Contains("none of the array's type"));
  CHECK_THROWS_WITH((void)(pixels == -1), Catch::Contains("none of the array's type"));
  CHECK_THROWS_WITH((void)(ids == 5'000'000'000LL), Catch::Contains("none of the array's type"));
  CHECK(evaluate(where(pixels > 150, 1.0F, 0.0F) + 0.0F)(1) == 1);
  CHECK(evaluate(where(ids == 2LL, 1.0F, 0.0F) + 0.0F)(1) == 1);
}
TEST_CASE("elementwise: whole numbers have choices and sizes, too") {
  auto const ids = tensor<std::int32_t, shape<4>>{{-3, 7, 0, 2}};
  auto const same = [](auto const& got, tensor<std::int32_t, shape<4>> const& want) {
    CHECK(test::same_bits(evaluate(got), want));
  };
  same(abs(ids), {{3, 7, 0, 2}});
  same(max(ids, 0), {{0, 7, 0, 2}});
  same(min(ids, 1), {{-3, 1, 0, 1}});
  same(clamp(ids, 0, 5), {{0, 5, 0, 2}});
  same(where(ids > 1, ids, 1), {{1, 7, 1, 2}});
  same(cast<std::int32_t>(where(ids > 1, 1 << 30, -1'000'000'000)),
       {{-1'000'000'000, 1 << 30, -1'000'000'000, 1 << 30}});
  CHECK_THROWS_WITH((void)where(ids > 1, 16'777'217, 0), Catch::Contains("float does not hold"));
  CHECK_THROWS_WITH((void)where(ids > 1, 0U, ~0ULL), Catch::Contains("float does not hold"));
  CHECK_THROWS_WITH((void)where(ids > 1, std::int64_t{-123'456'789'012'345}, 0),
                    Catch::Contains("float does not hold"));
  same(cast<std::int32_t>(where(ids > 1, 16'777'217.0, 0)), {{0, 16'777'217, 0, 16'777'217}});
}
TEST_CASE("comparisons: or, unequal and at most, by vectors and one by one") {
  auto x = tensor<float, shape<19>>{};
  for (auto i = std::size_t{0}; i < 19; ++i) x(i) = static_cast<float>(i % 3) - 1;
  auto const either = evaluate(where(x < 0 || x > 0, 1.0F, 0.0F) + 0.0F);
  auto const unequal = evaluate(where(x != 0, 1.0F, 0.0F) + 0.0F);
  auto const at_most_zero = evaluate(where(x <= 0, 1.0F, 0.0F) + 0.0F);
  for (auto i = std::size_t{0}; i < 19; ++i) {
    CHECK(either(i) == (i % 3 == 1 ? 0 : 1));
    CHECK(unequal(i) == (i % 3 == 1 ? 0 : 1));
    CHECK(at_most_zero(i) == (i % 3 == 2 ? 0 : 1));
  }
}
