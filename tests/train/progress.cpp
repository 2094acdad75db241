// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/progress.hpp>

#include <set>
#include <string>

using namespace tessera;

TEST_CASE("progress: every number is visited, by a name of its own") {
  auto p = training_progress{};
  auto names = std::set<std::string>{};
  auto bytes = std::size_t{0};
  p.for_each([&](char const* name, auto& number) {
    names.insert(name);
    bytes += sizeof number;
    number = 7;
  });
  CHECK(bytes == sizeof p);
  CHECK(names.size() * 8 == bytes);
  CHECK(p.epoch == 7);
  CHECK(p.plateau.cooling == 7);
  CHECK(p.best == 7);
}
