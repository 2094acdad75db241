// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/optim/schedule.hpp>

using namespace tessera;

// -- contract, values by hand ---------------------------------------------------------------------
static_assert(step_lr{2, 0.5}.rate(8, 5) == 2);
static_assert(geometric_lr{10, 20, 0.25}.rate(4, 10) == 4 &&
              geometric_lr{10, 20, 0.25}.rate(4, 99) == 1);
static_assert(constant_rate{}.rate(3, 100) == 3);

static_assert(one_cycle_lr{.total = 200, .rise = 1}.rate(0.1, 199) == 0.1);
static_assert(one_cycle_lr{.total = 200, .rise = 1}.rate(0.1, 1000) == 0.1);
static_assert(by_step{step_lr{2, 0.5}}.rate(8, 5) == 2 && by_step<step_lr>::counts_steps);

// -- reference: tests/reference/schedule.py -------------------------------------------------------
template <class Schedule>
void follows(test::golden const& g, std::string const& name, Schedule const& s) {
  INFO(name);
  auto t = std::uint64_t{0};
  for (auto const want : g[name])
    CHECK(s.rate(0.1, t++) == Approx(want).epsilon(1e-11).margin(1e-17));
}
TEST_CASE("schedules: agree with torch") {
  auto const g = test::golden("schedule");
  follows(g, "step", step_lr{.every = 3});
  follows(g, "exponential", exponential_lr{0.9});
  follows(g, "cosine", cosine_lr{.period = 4});
  follows(g, "cosine_least", cosine_lr{.period = 5, .least = 0.01});
  follows(g, "linear", linear_lr{});
  follows(g, "one_cycle", one_cycle_lr{.total = 6});
  follows(g, "one_cycle_long", one_cycle_lr{.total = 14});
  follows(g, "sequential",
          sequential_lr{linear_lr{.start = 0.1, .end = 1, .total = 4}, cosine_lr{.period = 10}, 4});
}
TEST_CASE("reduce_on_plateau: agrees with torch") {
  auto const g = test::golden("schedule");
  for (auto const& [name, s] :
       {std::pair{"plateau", reduce_on_plateau{.factor = 0.5, .patience = 2}},
        std::pair{"cooldown", reduce_on_plateau{.factor = 0.1, .patience = 1, .cooldown = 2}},
        std::pair{"least", reduce_on_plateau{.factor = 0.1, .patience = 0, .least = 0.004}}}) {
    INFO(name);
    auto state = reduce_on_plateau::state{};
    auto const& measures = g["plateau.measures"];
    auto const& want = g[std::string("plateau.") + name];
    for (auto i = std::size_t{0}; i < measures.size(); ++i) {
      s.observe(state, 0.1, measures[i]);
      CHECK(s.rate(0.1, state) == Approx(want[i]).epsilon(1e-12));
    }
  }
}
TEST_CASE("reduce_on_plateau: a measure below zero gets better by getting smaller") {
  auto const s = reduce_on_plateau{.factor = 0.5, .patience = 0};
  auto state = reduce_on_plateau::state{};
  CHECK_FALSE(s.observe(state, 0.1, -0.5));
  CHECK_FALSE(s.observe(state, 0.1, -0.6));
  CHECK(s.observe(state, 0.1, -0.6));
}
TEST_CASE("schedules: numbers that make no schedule are refused") {
  CHECK_THROWS_AS(step_lr{.every = 0}.rate(1, 1), std::invalid_argument);
  CHECK_THROWS_AS((geometric_lr{5, 5, 0.1}.rate(1, 1)), std::invalid_argument);
  CHECK_THROWS_AS((geometric_lr{5, 6, 0}.rate(1, 1)), std::invalid_argument);
  CHECK_THROWS_WITH(cosine_lr{.period = 0}.rate(1, 1), "cosine_lr: the period is at least 1");
  CHECK_THROWS_WITH(linear_lr{.total = 0}.rate(1, 1), "linear_lr: at least one step");
  CHECK_THROWS_WITH(one_cycle_lr{.total = 1}.rate(1, 1), "one_cycle_lr: at least two steps");
  CHECK_THROWS_WITH(one_cycle_lr{.rise = NAN}.rate(1, 1),
                    "one_cycle_lr: the rise is a share of the steps, 0 to 1");
  CHECK_THROWS_WITH(one_cycle_lr{.initial_divisor = 0}.rate(1, 1),
                    "one_cycle_lr: divisors are above 0");
  CHECK_NOTHROW(one_cycle_lr{.rise = 0}.rate(1, 1) + one_cycle_lr{.rise = 1}.rate(1, 1));
  CHECK_NOTHROW(cosine_lr{.period = 1}.rate(1, 1) + linear_lr{.total = 1}.rate(1, 1) +
                one_cycle_lr{.total = 2}.rate(1, 1));
}
TEST_CASE("geometric_lr: between its ends the rate falls by the same factor a step") {
  constexpr auto schedule = geometric_lr{10, 20, 0.25};
  CHECK(schedule.rate(4, 15) == Approx(2));
  CHECK(schedule.rate(4, 12) == Approx(4 * std::pow(0.25, 0.2)));
}
