// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/cuda/queue.hpp>

#include <array>

using namespace tessera;

namespace {

/// Adds the numbers of a block by halves: what is wrong where phases are not kept apart.
struct block_sum {
  static constexpr std::size_t threads = 8;
  struct shared {
    int at[threads];
  };
  using registers = device::empty;
  int const* from;
  int* to;

  [[nodiscard]] static constexpr auto phases() -> std::size_t { return 5; }
  void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s, registers&) const {
    auto const half = threads >> phase;
    if (phase == 0)
      s.at[thread] = from[block * threads + thread];
    else if (phase < 4 && thread < half)
      s.at[thread] += s.at[thread + half];
    else if (phase == 4 && thread == 0)
      to[block] = s.at[0];
  }
};

}  // namespace

TEST_CASE("queue: the phases of a block are apart, blocks share nothing") {
  REQUIRE(device::is_present());
  int from[24];
  for (auto i = 0; i < 24; ++i) from[i] = i;
  int to[3];
  device::current().launch(block_sum{from, to}, 3);
  CHECK(to[0] == 28);
  CHECK(to[1] == 92);
  CHECK(to[2] == 156);
}
TEST_CASE("queue: what is delayed runs in order where it is waited for") {
  auto& q = device::current();
  auto values = std::array{0, 0};
  auto* const to = values.data();
  q.delay(true);
  device::for_each(2, [to](std::size_t i) { to[i] += 3; });
  device::for_each(2, [to](std::size_t i) { to[i] *= 2; });
  CHECK(values == std::array{0, 0});
  q.synchronize();
  CHECK(values == std::array{6, 6});
  device::for_each(1, [to](std::size_t i) { to[i] = 1; });
  q.delay(false);
  CHECK(values == std::array{1, 6});
  device::for_each(1, [to](std::size_t i) { to[i] = 2; });
  CHECK(values == std::array{2, 6});
}
TEST_CASE("queue: scratch is given back in order, and says where it is too small") {
  auto& q = device::current();
  auto* const first = q.take(100);
  auto* const second = q.take(100);
  CHECK(static_cast<char*>(second) - static_cast<char*>(first) == 128);
  q.give_back(100);
  CHECK(q.take(7) == second);
  q.give_back(7);
  q.give_back(100);
  CHECK(q.take(1) == first);
  q.give_back(1);
  CHECK_THROWS_WITH(q.take(device::queue::scratch_bytes + 1), Catch::Contains("does not fit"));
}
TEST_CASE("queue: a constant of the host has one copy") {
  static constexpr float values[] = {1, 2, 3};
  auto const* const copy = device::current().constant(values, 3);
  CHECK(copy != values);
  CHECK(copy[2] == 3);
  CHECK(device::current().constant(values, 3) == copy);
}
