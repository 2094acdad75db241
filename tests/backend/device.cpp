// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/cuda/device.hpp>

#include <algorithm>

using namespace tessera;

static_assert(device::is_fake && on_device<cuda> && not on_device<reference>);

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
struct add {
  float* to;
  float amount;
  void operator()(std::size_t i) const { to[i] += amount; }
};

}  // namespace

TEST_CASE("device: memory of zeros, aligned as storage") {
  struct large {
    alignas(storage_alignment) float values[1000];
  };
  auto const memory = device::make<large>();
  CHECK(reinterpret_cast<std::uintptr_t>(memory.get()) % storage_alignment == 0);
  CHECK(std::all_of(memory->values, memory->values + 1000, [](float v) { return v == 0; }));
}
TEST_CASE("device: the phases of a block are apart, blocks share nothing") {
  int from[24];
  for (auto i = 0; i < 24; ++i) from[i] = i;
  int to[3];
  device::current().launch(block_sum{from, to}, 3);
  CHECK(to[0] == 28);
  CHECK(to[1] == 92);
  CHECK(to[2] == 156);
}
TEST_CASE("device: a graph runs with what its host code says at each call") {
  auto const numbers = device::make<float[1]>();
  auto amount = 1.0F;
  auto launches = 2;
  auto step = device::graph([&] {
    for (auto i = 0; i < launches; ++i) device::for_each(1, add{*numbers, amount});
  });
  CHECK((*numbers)[0] == 0);
  step();
  CHECK((*numbers)[0] == 2);
  amount = 10;
  step();
  CHECK((*numbers)[0] == 22);
  CHECK(step.kernels() == 2);
  launches = 3;
  CHECK_THROWS_WITH(step(), Catch::Contains("more than was recorded"));
  launches = 1;
  CHECK_THROWS_WITH(step(), Catch::Contains("less than was recorded"));
  launches = 2;
  step();
  CHECK((*numbers)[0] == 42);
}
TEST_CASE("device: scratch is given back in order, and says where it is too small") {
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
TEST_CASE("device: a constant of the host has one copy") {
  static constexpr float values[] = {1, 2, 3};
  auto const* const copy = device::current().constant(values, 3);
  CHECK(copy != values);
  CHECK(copy[2] == 3);
  CHECK(device::current().constant(values, 3) == copy);
}
