// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/cuda/graph.hpp>

using namespace tessera;

namespace {

struct add {
  float* to;
  float amount;
  void operator()(std::size_t i) const { to[i] += amount; }
};
struct multiply {
  float* to;
  float by;
  void operator()(std::size_t i) const { to[i] *= by; }
};
struct add_one {
  float* to;
  void operator()(std::size_t i) const { to[i] += 1; }
};

}  // namespace

TEST_CASE("graph: runs with what its host code says at each call") {
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
TEST_CASE("graph: a replay launches the kernels that were recorded, and no others of their size") {
  auto const numbers = device::make<float[1]>();
  auto kind = 0;
  auto step = device::graph([&] {
    if (kind == 0) device::for_each(1, add{*numbers, 1});
    if (kind == 1) device::for_each(1, multiply{*numbers, 3});
    if (kind == 2) device::for_each(1, add_one{*numbers});
    device::for_each(1, add{*numbers, 10});
  });
  step();
  CHECK((*numbers)[0] == 11);
  for (kind = 1; kind < 3; ++kind)
    CHECK_THROWS_WITH(step(), Catch::Contains("launches what was not recorded"));
  CHECK((*numbers)[0] == 11);
  kind = 0;
  step();
  CHECK((*numbers)[0] == 22);
}
