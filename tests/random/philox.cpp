// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/random/philox.hpp>

using namespace tessera;

// -- known answers of Random123 -------------------------------------------------------------------
static_assert(philox::words({0, 0}, {0, 0, 0, 0}) ==
              philox::counter_type{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
static_assert(philox::words({0xFFFFFFFF, 0xFFFFFFFF},
                            {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}) ==
              philox::counter_type{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
static_assert(philox::words({0xA4093822, 0x299F31D0},
                            {0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}) ==
              philox::counter_type{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
// The same, by all 64 bits of a seed, a stream and an index.
static_assert(philox_stream{.seed = 0x299F31D0A4093822, .stream = 0x0370734413198A2E}.block(
                  0x85A308D3243F6A88) ==
              philox::counter_type{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});

TEST_CASE("philox: a place has its number, however the range is cut") {
  auto const stream = philox_stream{.seed = 0x123456789ABCDEFULL, .stream = 42};
  for (auto i = std::uint64_t{0}; i < 1000; ++i) {
    CHECK(stream.word(i) == stream.block(i / 4)[i % 4]);
    auto const u = stream.uniform(i);
    CHECK(u >= 0);
    CHECK(u < 1);
  }
  CHECK(philox_stream{1, 2}.word(3) != philox_stream{1, 3}.word(3));
  CHECK(philox_stream{1, 2}.word(3) != philox_stream{2, 2}.word(3));
  CHECK(philox_stream{1, 2}.word(3) != philox_stream{0x100000001, 2}.word(3));
  CHECK(torch_philox{5, 6}.block(7) == philox::words({5, 0}, {7, 0, 6, 0}));
}
TEST_CASE("philox: the mean and variance of a uniform number") {
  auto const stream = philox_stream{.seed = 1, .stream = 0};
  auto sum = 0.0;
  auto squares = 0.0;
  constexpr auto n = 100000;
  for (auto i = 0; i < n; ++i) {
    auto const u = static_cast<double>(stream.uniform(static_cast<std::uint64_t>(i)));
    sum += u;
    squares += u * u;
  }
  CHECK(sum / n == Approx(0.5).margin(0.003));
  CHECK(squares / n - sum / n * (sum / n) == Approx(1.0 / 12).margin(0.001));
}
