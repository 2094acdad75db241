// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/slot.hpp>

using namespace tessera;

TEST_CASE("slot: it takes the extents that it is given") {
  auto part = filled<tensor<float, shape<at_most(4), 3, at_most(2)>>>{};
  auto const to = part.resize(std::array<std::size_t, 3>{2, 3, 1}, "x");
  CHECK(to.size() == 6);
  to(1, 2, 0) = 5;
  CHECK(part.read()(1, 2, 0) == 5);
  CHECK(part.read().actual.full() == std::array<std::size_t, 3>{2, 3, 1});
}
TEST_CASE("slot: extents that do not fit are refused by name, and leave it as it was") {
  auto part = filled<tensor<float, shape<at_most(4), 3>>>{};
  (void)part.resize(std::array<std::size_t, 2>{2, 3}, "x");
  CHECK_THROWS_WITH(part.resize(std::array<std::size_t, 2>{5, 3}, "x"),
                    "batches: x has 5 at axis 0, the model is compiled for at most 4");
  CHECK_THROWS_WITH(part.resize(std::array<std::size_t, 2>{4, 2}, "target"),
                    "batches: target has 2 at axis 1, the model is compiled for 3");
  CHECK_THROWS_WITH(part.resize(std::array<std::size_t, 1>{4}, "x"),
                    "batches: x has 1 axes, the model is compiled for 2");
  CHECK(part.read().extent_of<0>() == 2);
}
