// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/draws.hpp>

using namespace tessera;

TEST_CASE("draws: the stream of a seed and a number") {
  auto a = draws(3, 5);
  auto b = draws(3, 5);
  auto other_number = draws(3, 6);
  auto other_seed = draws(4, 5);
  auto const first = a.uniform();
  auto const words = philox_stream{3, 5}.block(0);
  CHECK(first == static_cast<double>((std::uint64_t{words[0]} << 32 | words[1]) >> 11) * 0x1p-53);
  CHECK(first == b.uniform());
  CHECK(first != other_number.uniform());
  CHECK(first != other_seed.uniform());
  CHECK(a.normal() == b.normal());
}
TEST_CASE("draws: moments") {
  auto random = draws(1, 0);
  constexpr auto n = 50'000;
  auto uniform = 0.0;
  auto normal = 0.0;
  auto square = 0.0;
  auto counts = std::array<int, 3>{};
  for (auto i = 0; i < n; ++i) {
    uniform += random.uniform(2, 4) / n;
    auto const x = random.normal();
    normal += x / n;
    square += x * x / n;
    ++counts.at(random.below(3));
  }
  CHECK(uniform == Approx(3).margin(0.01));
  CHECK(normal == Approx(0).margin(0.02));
  CHECK(square == Approx(1).margin(0.03));
  for (auto const count : counts) CHECK(count == Approx(n / 3.0).epsilon(0.03));
}
