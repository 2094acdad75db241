// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/random/numpy.hpp>

#include <string>

using tessera::numpy_random_state;

// -- reference: tests/reference/random_streams.py -------------------------------------------------
TEST_CASE("numpy: the doubles of RandomState, bit for bit") {
  auto const g = test::golden("random_streams");
  for (auto const seed : {0U, 1U, 2U, 12345U, 4294967295U}) {
    INFO("seed " << seed);
    auto const key = std::to_string(seed);
    auto r = numpy_random_state(seed);
    for (auto const want : g["numpy.random_sample." + key]) CHECK(r.random_sample() == want);
    for (auto const want : g["numpy.uniform." + key]) CHECK(r.uniform(0.8, 1.2) == want);
    auto n = numpy_random_state(seed);
    for (auto const want : g["numpy.normal." + key])
      CHECK(n.standard_normal() == Approx(want).epsilon(1e-15).margin(0));
  }
}
TEST_CASE("numpy: the mixture of the frequency application") {
  // The first two samples of seed 1 at 1 Hz: amplitude of [0.8, 1.2).
  auto r = numpy_random_state(1);
  CHECK(r.uniform(0.8, 1.2) == Approx(0.9668088018810296).epsilon(1e-16));
}
