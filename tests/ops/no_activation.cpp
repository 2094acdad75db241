// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/reference/no_activation.hpp>

using namespace tessera;

TEST_CASE("no_activation: every number keeps its bits") {
  using P = lane::pack<float>;
  auto numbers = std::vector<float>(64);
  auto r = torch_generator(1);
  test::fill(numbers.data(), numbers.size(), 1);
  test::put_extremes(numbers.data(), numbers.size(), 20, r);
  auto alone = numbers;
  auto together = numbers;
  for (auto& v : alone) v = detail::no_activation::apply(v);
  for (auto i = std::size_t{0}; i < numbers.size(); i += P::width)
    lane::store(together.data() + i, detail::no_activation::apply(lane::load(numbers.data() + i)));
  CHECK(test::same_bits(alone, numbers));
  CHECK(test::same_bits(together, numbers));
}
