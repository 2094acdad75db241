// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/random/token_sampler.hpp>

#include <limits>

using namespace tessera;

constexpr auto row = tensor<float, shape<4>>{{0.0F, 2.0F, 2.0F, -1.0F}};
static_assert(token_sampler{.temperature = 0}.probabilities(row).values[1] == 1,
              "of equal scores the first");
static_assert(token_sampler{.top_k = 1}.probabilities(row).values[2] == 0.5,
              "scores equal to the last of top_k stay");

TEST_CASE("token_sampler: the highest score stays, however little top_p leaves") {
  auto const scores = tensor<float, shape<5>>{{1, 9, 2, 3, 0}};
  auto generator = torch_generator(1);
  for (auto const top_p : {0.0, 1e-300, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto const sampler = token_sampler{.top_p = top_p};
    CHECK(test::distance(sampler.probabilities(scores), {0, 1, 0, 0, 0}) == 0);
    CHECK(sampler(scores, generator) == 1);
  }
}
TEST_CASE(
    "token_sampler: refuses scores that are no numbers, and takes tokens that are ruled out") {
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  for (auto const temperature : {0.0, 1.0}) {
    auto const sampler = token_sampler{.temperature = temperature};
    for (auto const wrong : {nan, infinity}) {
      auto scores = row;
      scores.values[2] = wrong;
      CHECK_THROWS_WITH(sampler.probabilities(scores),
                        "token_sampler: expected finite scores, got some that are no numbers");
    }
    auto scores = tensor<float, shape<3>>{{-infinity, -infinity, -infinity}};
    CHECK_THROWS_AS(sampler.probabilities(scores), std::invalid_argument);
    scores.values[1] = -2;
    CHECK(test::distance(sampler.probabilities(scores), {0, 1, 0}) == 0);
  }
}

// -- reference: tests/reference/token_sampler.py --------------------------------------------------
TEST_CASE("token_sampler: the probabilities of torch") {
  auto const g = test::golden("token_sampler");
  auto scores = tensor<double, shape<12>>{};
  std::copy(g["scores"].begin(), g["scores"].end(), scores.values);
  auto const settings = {
      token_sampler{},
      token_sampler{.temperature = 0.5},
      token_sampler{.temperature = 2, .top_k = 5},
      token_sampler{.top_k = 1},
      token_sampler{.top_k = 50},
      token_sampler{.top_p = 0.9},
      token_sampler{.temperature = 0.7, .top_p = 0.3},
      token_sampler{.temperature = 1.3, .top_k = 6, .top_p = 0.8},
      token_sampler{.top_p = 0.01},
  };
  auto i = 0;
  for (auto const& s : settings) {
    INFO("setting " << i);
    CHECK(test::distance(s.probabilities(scores), g["probabilities." + std::to_string(i++)]) <
          1e-12);
  }
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("token_sampler: draws as often as the probabilities say, nothing that was cut") {
  auto const sampler = token_sampler{.temperature = 0.8, .top_p = 0.95};
  auto const p = sampler.probabilities(row);
  REQUIRE(p.values[3] == 0);
  auto generator = torch_generator(5);
  auto counts = std::array<double, 4>{};
  constexpr auto draws = 20'000;
  for (auto i = 0; i < draws; ++i) counts[sampler(row, generator)] += 1.0 / draws;
  CHECK(counts[3] == 0);
  for (auto i = std::size_t{0}; i < 4; ++i) CHECK(std::abs(counts[i] - p.values[i]) < 0.015);
}
