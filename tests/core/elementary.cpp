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
  CHECK(sum == (TESSERA_FMA ? 0x263B3204BEB98CACULL : 0x27176B76E465450EULL));
}
