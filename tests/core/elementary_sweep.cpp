// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/backend/simd/pack.hpp>
#include <tessera/random/torch.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

// How far the elementary functions are from exact arithmetic. In float every one of the 2^32
// numbers is tried, against the double version of the same function; that one is tried at 2,500,000
// points against the C library's long double. With TESSERA_SWEEP_EVERY=n in the environment, as
// ctest has it, one of n blocks of 64 numbers that follow each other is tried.
using namespace tessera;

namespace {

struct worst {
  double ulp = 0;
  double at = 0;
};

/// 1 over the unit of the last place of a float near x, 0 where that is not normal.
inline auto per_ulp(double x) -> double {
  auto const exponent = lane::as_bits(x) >> 52 & 0x7FF;
  return lane::from_bits((std::uint64_t{2046 + 23} - exponent) << 52);
}

auto sweep_every() -> std::uint64_t {
  auto const* text = std::getenv("TESSERA_SWEEP_EVERY");
  return text == nullptr ? 1 : std::stoull(text);
}

/// All floats from `low` to `high` against the double version. Where the result is below the normal
/// range of float, the unit is that of its smallest normal number.
template <class F> void sweep(char const* name, F f, double bound, float low, float high) {
  constexpr auto block = std::size_t{64};
  using S = lane::pack<float>;
  using D = lane::pack<double>;
  auto const every = sweep_every();
  auto most = worst{};
  for (auto k = std::uint64_t{0}; k < (std::uint64_t{1} << 32) / block; k += every) {
    auto const base = (k + k / every % every) * block;  // not the same ones of each binade
    if (base >= std::uint64_t{1} << 32) break;
    float in[block];
    float out[block];
    double x[block];
    double exact[block];
    double distance[block];
    auto const first = lane::from_bits(static_cast<std::uint32_t>(base));
    auto const last = lane::from_bits(static_cast<std::uint32_t>(base + block - 1));
    if (not(std::max(first, last) >= low && std::min(first, last) <= high)) continue;
    for (auto i = std::size_t{0}; i < block; ++i) {
      in[i] = lane::from_bits(static_cast<std::uint32_t>(base + i));
      x[i] = static_cast<double>(in[i]);
    }
    for (auto i = std::size_t{0}; i < block; i += S::width)
      lane::store(out + i, f(lane::load(in + i)));
    for (auto i = std::size_t{0}; i < block; i += D::width)
      lane::store(exact + i, f(lane::load(x + i)));
    auto block_most = 0.0;
    for (auto i = std::size_t{0}; i < block; ++i) {
      auto const size = std::max(std::abs(exact[i]), 0x1p-126);
      distance[i] = std::abs(static_cast<double>(out[i]) - exact[i]) * per_ulp(size);
      // Where float ends, an overflow may come one unit early or late.
      auto const counts = in[i] >= low && in[i] <= high && size < 0x1.fffffdp127;
      distance[i] = counts ? distance[i] : 0;
      block_most = distance[i] <= block_most ? block_most : distance[i];
    }
    if (block_most <= most.ulp) continue;
    for (auto i = std::size_t{0}; i < block; ++i)
      if (not(distance[i] <= most.ulp)) most = {distance[i], x[i]};
  }
  std::printf(
      "  %-10s float  %6.3f ulp at %-12.9g (numbers of %g .. %g, one block of %d; bound %g)\n",
      name, most.ulp, most.at, static_cast<double>(low), static_cast<double>(high),
      static_cast<int>(every), bound);
  CHECK(most.ulp <= bound);
}

/// 2,500,000 doubles against long double.
template <class F, class G>
void sample(char const* name, F f, G exact, double bound, double low, double high) {
  auto g = torch_generator(1);
  auto most = worst{};
  for (auto k = 0; k < 2500000; ++k) {
    auto x = low + (high - low) * g.rand<double>();
    if (k % 4 == 0) x *= 1e-3;
    if (x < low || x > high) continue;
    auto const want = exact(static_cast<long double>(x));
    if (want == 0 || std::isinf(static_cast<double>(want)) || std::abs(want) < 1e-300L) continue;
    auto exponent = 0;
    std::frexp(static_cast<double>(want), &exponent);
    auto const distance = static_cast<double>(std::abs(static_cast<long double>(f(x)) - want) /
                                              std::ldexp(1.0L, exponent - 53));
    if (not(distance <= most.ulp)) most = {distance, x};
  }
  std::printf("  %-10s double %6.3f ulp at %.17g (2,500,000 numbers, bound %g)\n", name, most.ulp,
              most.at, bound);
  CHECK(most.ulp <= bound);
}

}  // namespace

#define BOTH(name, function, single, twice, low, high, exact)                             \
  TEST_CASE("sweep: " name) {                                                             \
    auto const f = [](auto x) { return lane::function(x); };                              \
    sweep(name, f, single, low, high);                                                    \
    sample(                                                                               \
        name, f, [](long double x) { return exact; }, twice, std::max<double>(low, -700), \
        std::min<double>(high, 700));                                                     \
  }

constexpr auto everything = std::numeric_limits<float>::max();
BOTH("exp", exp, 1.0, 1.0, -200, 200, std::exp(x))
BOTH("expm1", expm1, 1.5, 2.0, -200, 200, std::expm1(x))
BOTH("log", log, 1.0, 1.0, 0, everything, std::log(x))
BOTH("log1p", log1p, 1.0, 1.0, -1, everything, std::log1p(x))
BOTH("tanh", tanh, 2.6, 2.6, -everything, everything, std::tanh(x))
BOTH("erf", erf, 1.3, 1.5, -10, 10, std::erf(x))
BOTH("softplus", softplus, 2.0, 2.5, -80, 50, x > 20 ? x : std::log1p(std::exp(x)))
BOTH("sin", sin, 2.5, 3.0, -65536, 65536, std::sin(x))
BOTH("cos", cos, 2.5, 3.0, -65536, 65536, std::cos(x))
BOTH("sigmoid", sigmoid, 2.5, 3.0, -87.336F, everything, 1 / (1 + std::exp(-x)))
BOTH("silu", silu, 3.5, 3.5, -80, 100, x / (1 + std::exp(-x)))
BOTH("erfc", erfc, 4.5, 5.0, -10, 9, std::erfc(x))
BOTH("normal", normal_distribution, 6.0, 5.5, -12.9F, 10,
     0.5L * std::erfc(-x * 0.707106781186547524400844362104849039L))
BOTH("gelu", gelu, 7.0, 8.0, -12, 20,
     0.5L * x * std::erfc(-x * 0.707106781186547524400844362104849039L))
BOTH("rsqrt", rsqrt, 1.5, 1.5, 1e-30F, 1e30F, 1 / std::sqrt(x))

TEST_CASE("sweep: gelu_tanh") {
  auto const f = [](auto x) { return lane::gelu_tanh(x); };
  sweep("gelu_tanh", f, 20.0, -4, 20);  // the argument's rounding grows with it
}

TEST_CASE("sweep: pow") {
  auto g = torch_generator(1);
  auto single = worst{};
  auto twice = worst{};
  for (auto k = 0; k < 5000000; ++k) {
    auto const x = std::exp2((g.rand<double>() - 0.5) * (k % 2 == 0 ? 2.0 : 60.0));
    auto const y = (g.rand<double>() - 0.5) * (k % 3 == 0 ? 4.0 : 60.0);
    auto const xf = static_cast<float>(x);
    auto const yf = static_cast<float>(y);
    auto const exact = std::pow(static_cast<double>(xf), static_cast<double>(yf));
    if (exact > 1e-37 && exact < 3e38) {
      auto const distance =
          std::abs(static_cast<double>(lane::pow(xf, yf)) - exact) * per_ulp(exact);
      if (not(distance <= single.ulp)) single = {distance, x};
    }
    auto const want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    if (want > 1e-300L && want < 1e300L) {
      auto exponent = 0;
      std::frexp(static_cast<double>(want), &exponent);
      auto const distance =
          static_cast<double>(std::abs(static_cast<long double>(lane::pow(x, y)) - want) /
                              std::ldexp(1.0L, exponent - 53));
      if (not(distance <= twice.ulp)) twice = {distance, x};
    }
  }
  std::printf("  pow        float  %6.3f ulp, double %6.3f ulp (5,000,000 pairs, bound 2)\n",
              single.ulp, twice.ulp);
  CHECK(single.ulp <= 2);
  CHECK(twice.ulp <= 2);
}
