// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/limits.hpp>

using namespace tessera;

static_assert(batch_limit(1).of(10) == 1, "an integer counts");
static_assert(batch_limit(1.0).of(10) == 10, "a floating-point number is a share");
static_assert(batch_limit(0.25).of(10) == 2, "rounded down");
static_assert(batch_limit(12).of(10) == 10, "there are no more");
static_assert(batch_limit(0).is_none() && batch_limit(0.0).is_none());

TEST_CASE("limits: a text is what it was before") {
  for (auto const limit : {batch_limit(3), batch_limit(0), batch_limit(0.5), batch_limit(1.0),
                           batch_limit(0.0), batch_limit(1e-7)}) {
    auto const again = batch_limit::parse(limit.text());
    REQUIRE(again);
    CHECK(again->text() == limit.text());
    CHECK(again->of(1000) == limit.of(1000));
  }
  CHECK(batch_limit(1.0).text() == "1.0");
  CHECK(batch_limit(1).text() == "1");
  for (auto const* const none : {"", "-1", "1.5", "half", "0.5 ", "nan", "-0.5"})
    CHECK_FALSE(batch_limit::parse(none));
}
TEST_CASE("limits: what is none is refused") {
  CHECK_THROWS_WITH(batch_limit(-1), "batch_limit: expected 0 batches or more, got -1");
  CHECK_THROWS_WITH(batch_limit(1.5), Catch::Contains("expected a share from 0 to 1, got 1.5"));
  CHECK_THROWS_AS(batch_limit(std::nan("")), std::invalid_argument);
}
