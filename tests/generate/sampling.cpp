// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/generate/sampling.hpp>

#include <numeric>

using namespace tessera;
using Catch::Matchers::Contains;

namespace {

auto as_tokens(std::vector<double> const& numbers) -> std::vector<std::uint32_t> {
  auto result = std::vector<std::uint32_t>{};
  for (auto const n : numbers) result.push_back(static_cast<std::uint32_t>(n));
  return result;
}
auto as_scores(std::vector<double> const& numbers) -> std::vector<float> {
  auto result = std::vector<float>{};
  for (auto const n : numbers) result.push_back(static_cast<float>(n));
  return result;
}
/// Scores of a vocabulary, different in every place.
auto made_scores(std::size_t vocabulary, std::uint64_t seed) -> std::vector<float> {
  auto result = std::vector<float>{};
  for (auto i = std::size_t{0}; i < vocabulary; ++i)
    result.push_back(12 * philox_stream{seed}.uniform(i));
  return result;
}
auto all_draws(sampling_options const& options, std::vector<float> const& scores, int count) {
  auto draw = sampler(options, scores.size());
  auto tokens = std::vector<std::uint32_t>{};
  for (auto i = 0; i < count; ++i) tokens.push_back(draw(scores).token);
  return tokens;
}

}  // namespace

// -- values ---------------------------------------------------------------------------------------
TEST_CASE("sampler: the highest score, its log-probability, and those next to it") {
  auto draw = sampler({.temperature = 0, .logprobs = 2}, 4);
  auto const scores = std::vector<float>{0, 2, 2, -1};
  auto const got = draw(scores);
  auto const sum = std::log(1 + 2 * std::exp(2.0) + std::exp(-1.0));
  CHECK(got.token == 1);
  CHECK(got.log_probability == Approx(2 - sum));
  REQUIRE(got.top.size() == 2);
  CHECK(got.top[0].token == 1);
  CHECK(got.top[1].token == 2);
  CHECK(got.top[1].log_probability == Approx(2 - sum));
}
TEST_CASE("sampler: log-probabilities keep their digits beside large scores") {
  for (auto const most : {30.0F, 1e4F, 1e6F}) {
    auto draw = sampler({.temperature = 0, .logprobs = 3}, 3);
    auto const got = draw(std::vector<float>{most - 12, most, most - 13});
    auto const want = -std::log1p(std::exp(-12.0) + std::exp(-13.0));
    CHECK(got.log_probability == Approx(want).epsilon(1e-6));
    CHECK(got.top[0].log_probability == got.log_probability);
    CHECK(got.top[2].log_probability == Approx(want - 13).epsilon(1e-6));
  }
}
TEST_CASE("sampler: nothing but what is allowed, at any setting") {
  auto const scores = made_scores(900, 1);
  auto const allowed = std::vector<std::uint32_t>{5, 90, 700};
  for (auto const& options :
       {sampling_options{.temperature = 0}, sampling_options{.temperature = 2},
        sampling_options{.top_k = 1}, sampling_options{.top_k = 2, .top_p = 0.9},
        sampling_options{.min_p = 0.5}}) {
    auto draw = sampler(options, scores.size());
    for (auto i = 0; i < 50; ++i)
      CHECK(std::ranges::find(allowed, draw(scores, allowed).token) != allowed.end());
  }
}
TEST_CASE("sampler: the top k are those of the allowed, with those equal to the last") {
  auto const scores = std::vector<float>{9, 3, 2, 2, 1, 8};
  auto const allowed = std::vector<std::uint32_t>{1, 2, 3, 4};
  auto const drawn = [&](std::size_t k) {
    auto result = std::vector<double>(scores.size());
    sampler({.top_k = k}, scores.size()).probabilities(scores, result, allowed);
    auto tokens = std::vector<std::size_t>{};
    for (auto i = std::size_t{0}; i < result.size(); ++i)
      if (result[i] > 0) tokens.push_back(i);
    return tokens;
  };
  CHECK(drawn(1) == std::vector<std::size_t>{1});
  CHECK(drawn(2) == std::vector<std::size_t>{1, 2, 3});
  CHECK(drawn(3) == std::vector<std::size_t>{1, 2, 3});
  CHECK(drawn(4) == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(drawn(0) == drawn(4));
}

// -- reference: tests/reference/sampling.py -------------------------------------------------------
TEST_CASE("sampler: the probabilities of transformers") {
  auto const g = test::golden("sampling");
  auto const scores = as_scores(g["scores"]);
  auto const prompt = as_tokens(g["prompt"]);
  auto const generated = as_tokens(g["generated"]);
  auto cases = 0;
  for (; g.has("settings." + std::to_string(cases)); ++cases) {
    INFO("case " << cases);
    auto const& s = g["settings." + std::to_string(cases)];
    auto options = sampling_options{.temperature = s[0],
                                    .top_k = static_cast<std::size_t>(s[1]),
                                    .top_p = s[2],
                                    .min_p = s[3],
                                    .repetition_penalty = s[4],
                                    .presence_penalty = s[5],
                                    .frequency_penalty = s[6]};
    if (s[7] != 0) options.logit_bias = {{8, static_cast<float>(s[7])}};
    auto draw = sampler(options, scores.size());
    draw.read(prompt);
    for (auto const token : generated) {  // scores that leave nothing but this token
      auto only = std::vector<float>(scores.size(), -1e30F);
      only[token] = 0;
      REQUIRE(draw(only).token == token);
    }
    auto got = std::vector<double>(scores.size());
    draw.probabilities(scores, got);
    auto const& want = g["probabilities." + std::to_string(cases)];
    auto worst = 0.0;
    for (auto i = std::size_t{0}; i < got.size(); ++i) {
      CHECK((got[i] == 0) == (want[i] == 0));
      worst = std::max(worst, std::abs(got[i] - want[i]));
    }
    CHECK(worst < 1e-6);
  }
  CHECK(cases == 20);
  auto draw = sampler({.logprobs = scores.size()}, scores.size());
  for (auto const& [token, log_probability] : draw(scores).top)
    CHECK(std::abs(static_cast<double>(log_probability) - g["log_probabilities"][token]) < 2e-6);
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("sampler: draws as often as the probabilities say, nothing that was cut") {
  auto const scores = made_scores(600, 3);  // more than one block of weights
  for (auto const& options :
       {sampling_options{.temperature = 0.7}, sampling_options{.temperature = 0.7, .top_k = 9},
        sampling_options{.top_p = 0.5}, sampling_options{.min_p = 0.2}}) {
    auto want = std::vector<double>(scores.size());
    auto draw = sampler(options, scores.size());
    draw.probabilities(scores, want);
    CHECK(std::accumulate(want.begin(), want.end(), 0.0) == Approx(1));
    constexpr auto draws = 1'500;
    auto counts = std::vector<double>(scores.size());
    for (auto i = 0; i < draws; ++i) counts[draw(scores).token] += 1.0 / draws;
    for (auto i = std::size_t{0}; i < scores.size(); ++i) {
      if (want[i] == 0) CHECK(counts[i] == 0);
      CHECK(std::abs(counts[i] - want[i]) < 0.04);
    }
  }
}
TEST_CASE("sampler: what is allowed has the probabilities of scores without the others") {
  auto const scores = made_scores(600, 2);
  auto const allowed = std::vector<std::uint32_t>{5, 90, 91, 92, 300, 301, 450, 599};
  auto masked = std::vector<float>(scores.size(), -INFINITY);
  for (auto const token : allowed) masked[token] = scores[token];
  for (auto const& options :
       {sampling_options{.temperature = 0}, sampling_options{.temperature = 3},
        sampling_options{.temperature = 3, .top_k = 3},
        sampling_options{.temperature = 3, .top_p = 0.7},
        sampling_options{.temperature = 3, .min_p = 0.3},
        sampling_options{.temperature = 3, .top_k = 5, .top_p = 0.9, .min_p = 0.1},
        sampling_options{.temperature = 3, .top_k = 3, .logit_bias = {{91, 20}, {7, 99}}}}) {
    auto got = std::vector<double>(scores.size());
    auto want = got;
    sampler(options, scores.size()).probabilities(scores, got, allowed);
    sampler(options, scores.size()).probabilities(masked, want);
    auto worst = 0.0;
    for (auto i = std::size_t{0}; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - want[i]));
    CHECK(worst < 1e-6);
  }
}
TEST_CASE("sampler: a seed and a stream are a sequence, whatever is drawn beside it") {
  auto const scores = made_scores(700, 4);
  auto const options = sampling_options{.seed = 9};
  auto const alone = all_draws(options, scores, 40);
  CHECK(all_draws(options, scores, 40) == alone);
  CHECK(all_draws({.seed = 10}, scores, 40) != alone);
  CHECK(all_draws({.seed = 0x100000009}, scores, 40) != alone);
  CHECK(all_draws({.seed = 9, .stream = 1}, scores, 40) != alone);
  // The same with a sort of the vocabulary as with weights in its order.
  auto a = sampler(options, scores.size());
  auto b = sampler(options, scores.size());
  auto together = std::vector<std::uint32_t>{};
  for (auto i = 0; i < 40; ++i) {
    together.push_back(a(scores).token);
    (void)b(made_scores(700, static_cast<std::uint64_t>(i)));
  }
  CHECK(together == alone);
}
TEST_CASE("sampler: selection agrees with a sort, at every size") {
  auto kept = std::vector<detail::scored_token>{};
  for (auto const size : {1, 2, 7, 8, 9, 63, 64, 65, 1000, 5000})
    for (auto const most : {1, 2, 50, 64, 700, 5000}) {
      auto scores = made_scores(static_cast<std::size_t>(size), 6);
      for (auto i = std::size_t{0}; i < scores.size(); i += 3) scores[i] = 4;  // ties
      auto sorted = std::vector<detail::scored_token>{};
      for (auto i = std::size_t{0}; i < scores.size(); ++i)
        sorted.push_back({scores[i], static_cast<std::uint32_t>(i)});
      std::ranges::sort(sorted, std::less<>{});
      if (sorted.size() > static_cast<std::size_t>(most))
        sorted.resize(static_cast<std::size_t>(most));
      detail::select_highest(scores, static_cast<std::size_t>(most), kept);
      std::ranges::sort(kept, std::less<>{});
      CHECK(std::ranges::equal(kept, sorted, [](auto const& a, auto const& b) {
        return a.token == b.token && a.score == b.score;
      }));
      CHECK(detail::highest_score(scores) == sorted.front().score);
    }
}
TEST_CASE("sampler: a token takes no memory after the first ones") {
  auto const scores = made_scores(1000, 7);
  for (auto const& options :
       {sampling_options{.logprobs = 5}, sampling_options{.top_k = 40, .logprobs = 5},
        sampling_options{.top_p = 0.9}, sampling_options{.repetition_penalty = 1.1}}) {
    auto draw = sampler(options, scores.size());
    for (auto i = 0; i < 100; ++i) (void)draw(scores);
    auto const before = test::allocations();
    for (auto i = 0; i < 20; ++i) (void)draw(scores);
    CHECK(test::allocations() <= before + (draw.options().repetition_penalty == 1 ? 0 : 1));
  }
}

// -- errors ---------------------------------------------------------------------------------------
TEST_CASE("sampler: refuses scores that mean nothing") {
  auto draw = sampler({}, 3);
  CHECK_THROWS_AS(sampler({.top_p = 0}, 3), std::invalid_argument);
  CHECK_THROWS_WITH(draw(std::vector<float>{1, 2}), Contains("expected 3 scores, got 2"));
  CHECK_THROWS_WITH(draw(std::vector<float>{1, NAN, 0}), Contains("no numbers"));
  CHECK_THROWS_WITH(draw(std::vector<float>{1, INFINITY, 0}), Contains("no numbers"));
  CHECK_THROWS_WITH(draw(std::vector<float>(3, -INFINITY)), Contains("no numbers"));
  auto const masked = std::vector<float>{-INFINITY, 0, -INFINITY};
  CHECK(draw(masked).token == 1);
  CHECK_THROWS_WITH(draw(masked, std::vector<std::uint32_t>{0, 2}), Contains("no token to draw"));
  CHECK_THROWS_WITH(draw.read(std::vector<std::uint32_t>{3}), Contains("below 3, got 3"));
}
