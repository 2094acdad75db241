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
