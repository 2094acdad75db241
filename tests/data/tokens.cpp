// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/tokens.hpp>
#include <tessera/random/torch.hpp>

#include <numeric>

using namespace tessera;

namespace {
using rows_of_three =
    slot<tensor<float, shape<4, at_most(3)>>, tensor<std::int32_t, shape<4, at_most(3)>>>;
[[nodiscard]] auto counted_tokens(std::size_t n) {
  auto tokens = std::vector<int>(n);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}
}  // namespace

TEST_CASE("tokens: rows follow each other, each token once, the target one ahead") {
  auto const text = counted_tokens(26);
  auto const source = consecutive_tokens(text, {.length = 4, .batch = 3});
  REQUIRE(source.size() == 2);
  auto s = rows_of_three{};
  auto next = 0;
  for (auto b = std::size_t{0}; b < 2; ++b) {
    source.load(b, 0, 1, s);
    for (auto i = std::size_t{0}; i < 3; ++i)
      for (auto t = std::size_t{0}; t < 4; ++t, ++next) {
        CHECK(s.x.read()(t, i) == static_cast<float>(next));
        CHECK(s.target.read()(t, i) == next + 1);
      }
  }
  CHECK(consecutive_tokens(counted_tokens(25), {.length = 4, .batch = 3}).size() == 2);
  CHECK(consecutive_tokens(counted_tokens(24), {.length = 4, .batch = 3}).size() == 1);
  CHECK_THROWS_AS(consecutive_tokens(counted_tokens(12), {.length = 4, .batch = 3}),
                  std::invalid_argument);
}
TEST_CASE("tokens: random rows are those that the generator draws, in any epoch") {
  auto const text = counted_tokens(1000);
  auto const rows = token_rows{.length = 4, .batch = 3};
  auto source = random_tokens(text, rows, 10, 4, torch_generator(5));
  CHECK(source.epochs() == 3);
  auto generator = torch_generator(5);
  auto want = std::vector<float>{};
  for (auto i = 0; i < 30; ++i) want.push_back(static_cast<float>(generator.randint(996)));
  for (auto const epoch : {0U, 1U, 2U, 1U, 2U, 0U}) {
    source.begin(epoch);
    REQUIRE(source.size() == (epoch < 2 ? 4U : 2U));
    for (auto b = std::size_t{0}; b < source.size(); ++b)
      for (auto c = std::size_t{0}; c < 2; ++c) {
        auto s = rows_of_three{};
        source.load(b, c, 2, s);
        REQUIRE(s.x.read().extent_of<1>() == (c == 0 ? 2U : 1U));
        for (auto i = std::size_t{0}; i < s.x.read().extent_of<1>(); ++i) {
          CHECK(s.x.read()(0, i) == want[(epoch * 4 + b) * 3 + 2 * c + i]);
          CHECK(static_cast<float>(s.target.read()(3, i)) == s.x.read()(0, i) + 4);
        }
      }
  }
  CHECK_THROWS_AS(random_tokens(counted_tokens(4), rows, 1, 1, torch_generator(1)),
                  std::invalid_argument);
}
