// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/compose/facts.hpp>

using namespace tessera;

static_assert(reads_input(reads::input) && not reads_output(reads::input));
static_assert(reads_output(reads::output) && not reads_input(reads::output));
static_assert(reads_input(reads::both) && reads_output(reads::both));
static_assert(not reads_input(reads::neither) && not reads_output(reads::neither));
static_assert(reads_of(true, true) == reads::both && reads_of(false, false) == reads::neither);

TEST_CASE("facts: a layer that says nothing has none") {
  constexpr auto none = facts{};
  CHECK(none.backward_reads == reads::neither);
  CHECK_FALSE((none.row_wise || none.streams || none.in_place || none.adds_dx || none.random));
  CHECK_FALSE(none.reads_parameters_first);
  CHECK_FALSE((none.kept || none.state || none.scratch || none.slopes || none.statistics));
}
TEST_CASE("facts: what reads is asked for is what it says") {
  for (auto const input : {false, true})
    for (auto const output : {false, true}) {
      CHECK(reads_input(reads_of(input, output)) == input);
      CHECK(reads_output(reads_of(input, output)) == output);
    }
}
