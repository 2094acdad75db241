// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

TEST_CASE("torch: very many numbers are brought in its other order") {
  auto const g = test::golden("random_streams");
  auto order = std::vector<std::uint8_t>((std::uint64_t{1} << 32U) / 20);  // the lowest bytes
  torch_generator(3).randperm(order.data(), order.size());
  auto ends = std::vector<std::uint8_t>(order.begin(), order.begin() + 20);
  ends.insert(ends.end(), order.end() - 20, order.end());
  CHECK(test::distance(ends, g["randperm.many"]) == 0);
  auto sum = 0.0;
  for (auto part = std::size_t{0}; part < order.size(); part += 251'000)
    for (auto i = std::size_t{0}; i < 251 && part + i < order.size(); ++i)
      sum += static_cast<double>(order[part + i]) * static_cast<double>(i);
  CHECK(sum == g["randperm.many.sum"][0]);
}
