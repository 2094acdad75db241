// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

using namespace tessera;

TEST_CASE("in_numbers: each place once, in order") {
  float const x[] = {1, 2, 3};
  float y[3] = {};
  auto places = std::vector<std::size_t>{};
  detail::in_numbers::each<float>(3, [&](auto lanes, std::size_t i) {
    places.push_back(i);
    lanes.store(y + i, lanes.load(x + i) * 2.0F);
  });
  CHECK(places == std::vector<std::size_t>{0, 1, 2});
  CHECK(y[2] == 6);
}
