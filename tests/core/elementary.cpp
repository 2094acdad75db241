// SPDX-License-Identifier: MIT
#include <tessera/core/elementary.hpp>

#include <cstdio>

#include "elementary/sameness.hpp"

using namespace tessera;

// One checksum over all functions, of numbers of every kind. It is a constant for targets with a
// fused multiply-add and another for those without: compilers and vector widths do not show.
TEST_CASE("elementary: the same bits by every compiler and instruction set") {
  auto sum = std::uint64_t{0};
  auto const add = [&](auto f) {
    auto source = test::patterns<float>{};
    auto wide = test::patterns<double>{};
    for (auto k = 0; k < 100000; ++k) {
      auto const a = f(source.next());
      auto const b = f(wide.next());
      sum = (sum ^ (std::isnan(a) ? 1 : lane::as_bits(a))) * 1099511628211ULL;
      sum = (sum ^ (std::isnan(b) ? 1 : lane::as_bits(b))) * 1099511628211ULL;
    }
  };
  add([](auto x) { return lane::exp(x); });
  add([](auto x) { return lane::expm1(x); });
  add([](auto x) { return lane::log(x); });
  add([](auto x) { return lane::log1p(x); });
  add([](auto x) { return lane::tanh(x); });
  add([](auto x) { return lane::sigmoid(x); });
  add([](auto x) { return lane::softplus(x); });
  add([](auto x) { return lane::erf(x); });
  add([](auto x) { return lane::gelu(x); });
  add([](auto x) { return lane::gelu_tanh(x); });
  add([](auto x) { return lane::sin(x); });
  add([](auto x) { return lane::cos(x); });
  add([](auto x) { return lane::pow(x, decltype(x)(1.5)); });
  std::printf("checksum %s fma: %016llx\n", TESSERA_FMA ? "with" : "without",
              static_cast<unsigned long long>(sum));
  CHECK(sum == (TESSERA_FMA ? 0x3FEB24723CDC42E7ULL : 0xBDB1810F8C9F7510ULL));
}
TEST_CASE("elementary: sine and cosine stay within 1, however large their argument") {
  auto const within = [](auto x) {
    INFO(x);
    CHECK(std::abs(lane::sin(x)) <= 1);
    CHECK(std::abs(lane::cos(x)) <= 1);
  };
  for (auto const x : {3e6F, 1e9F, 1.7e9F, 1e10F, 3e20F, 3e38F}) within(x), within(-x);
  for (auto const x : {3e15, 1e18, 1e100, 1e308}) within(x), within(-x);
  CHECK(std::isnan(lane::sin(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(lane::cos(std::numeric_limits<double>::infinity())));
}
