// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/sampling_options.hpp>

using namespace tessera;
using Catch::Matchers::Contains;

TEST_CASE("sampling_options: refuses what means nothing, by name") {
  auto const refused = [](sampling_options const& options, char const* what) {
    CHECK_THROWS_WITH(options.check(10), Contains(what));
  };
  refused({.temperature = -1}, "temperature: expected a number of [0");
  refused({.temperature = NAN}, "temperature");
  refused({.top_p = 0}, "top_p: expected a number of (0");
  refused({.top_p = 1.5}, "top_p");
  refused({.min_p = -0.1}, "min_p");
  refused({.repetition_penalty = 0}, "repetition_penalty");
  refused({.presence_penalty = INFINITY}, "presence_penalty");
  refused({.frequency_penalty = NAN}, "frequency_penalty");
  refused({.logprobs = 11}, "logprobs");
  refused({.logit_bias = {{10, 1.0F}}}, "logit_bias: expected tokens below 10, got 10");
  refused({.logit_bias = {{1, INFINITY}}}, "logit_bias: expected a finite number");
  refused({.stop = {""}}, "stop");
  CHECK_NOTHROW(sampling_options{.temperature = 0, .min_p = 1, .logprobs = 10}.check(10));
}
