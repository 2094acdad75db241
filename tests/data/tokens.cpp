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
TEST_CASE("tokens: numbers of batches as large as they get do not wrap") {
  auto const text = counted_tokens(100);
  auto const rows = token_rows{.length = 4, .batch = 3};
  auto one = random_tokens(text, rows, 10, ~std::uint64_t{0}, torch_generator(5));
  CHECK(one.epochs() == 1);
  one.begin(0);
  CHECK(one.size() == 10);
  auto many = random_tokens(text, rows, 10, std::uint64_t{1} << 63, torch_generator(5));
  many.begin(2);
  CHECK(many.size() == 0);
  CHECK(random_tokens(text, rows, ~std::uint64_t{0}, 2, torch_generator(5)).epochs() ==
        std::uint64_t{1} << 63);
  CHECK(random_tokens(text, rows, 0, 2, torch_generator(5)).epochs() == 0);
}
TEST_CASE("tokens: rows of more tokens than can be counted are refused") {
  auto const text = counted_tokens(100);
  auto const refuses = [&](token_rows rows) {
    CHECK_THROWS_AS(consecutive_tokens(text, rows), std::invalid_argument);
  };
  refuses({.length = std::size_t{1} << 32, .batch = std::size_t{1} << 32});
  refuses({.length = 3, .batch = ~std::size_t{0} / 3 + 1});
  refuses({.length = 100, .batch = 1});
  CHECK(consecutive_tokens(text, {.length = 33, .batch = 3}).size() == 1);
  CHECK(consecutive_tokens(text, {.length = 99, .batch = 1}).size() == 1);
  CHECK_THROWS_AS(consecutive_tokens(std::vector<int>{}, {.length = 1, .batch = 1}),
                  std::invalid_argument);
  CHECK_THROWS_AS(
      random_tokens(text, {.length = ~std::size_t{0}, .batch = 1}, 1, 1, torch_generator(1)),
      std::invalid_argument);
}
TEST_CASE("tokens: a token that the model's numbers do not hold is refused by its place") {
  auto text = std::vector<std::int64_t>(25);
  text[7] = (std::int64_t{1} << 32) + 2;
  auto s = rows_of_three{};
  CHECK_THROWS_WITH(consecutive_tokens(text, {.length = 4, .batch = 3}).load(0, 0, 1, s),
                    "batches: target has 4294967298 at token 7, the model is compiled for integers "
                    "of 32 bits");
  using unsigned_rows = slot<tensor<std::uint8_t, shape<4, 3>>, tensor<std::int64_t, shape<4, 3>>>;
  auto bytes = unsigned_rows{};
  text[7] = -1;
  CHECK_THROWS_WITH(
      consecutive_tokens(text, {.length = 4, .batch = 3}).load(0, 0, 1, bytes),
      "batches: x has -1 at token 7, the model is compiled for unsigned integers of 8 "
      "bits");
  text[7] = 255;
  consecutive_tokens(text, {.length = 4, .batch = 3}).load(0, 0, 1, bytes);
  CHECK(bytes.x.read()(3, 1) == 255);
}
