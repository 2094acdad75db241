// SPDX-License-Identifier: MIT
#pragma once

#include <support/test.hpp>

#include <memory>

namespace test {

/// A layer whose state has lanes along two axes, both bounded, goes on where the last ones of the
/// first have ended, and refuses another number of the second. X is (6, 2, 3, features) at most.
template <class Model, class X> void refuses_other_inner_lanes() {
  static_assert(tessera::shape_of<X>::bounded == 3);
  constexpr auto features = tessera::last_of<tessera::shape_of<X>>;
  auto const message =
      "a state goes on with as many lanes behind their first axis as it began with";
  auto const p = std::make_unique<tessera::parameters_of<Model, tessera::owned<float>>>();
  auto const x = std::make_unique<X>();
  fill_parameters(*p, 1, 0.5);
  fill(*x, 2);
  auto const of = [&](std::size_t first, std::size_t time, std::size_t a, std::size_t b) {
    return tessera::view<float const, tessera::shape_of<X>>{x->data() + first, {{{time, a, b}}}};
  };
  auto const whole = std::make_unique<tessera::inference<Model, X>>();
  auto const run = std::make_unique<tessera::inference<Model, X>>();
  auto const y = (*whole)(*p, of(0, 6, 1, 3));
  auto const row = y.size() / 6;
  (void)(*run)(*p, of(0, 1, 1, 3));
  CHECK_THROWS_WITH(run->resume(*p, of(3 * features, 1, 1, 2)), message);
  auto const next = run->resume(*p, of(3 * features, 5, 1, 3));
  for (auto i = std::size_t{0}; i < 5 * row; ++i) CHECK(next.data()[i] == y.data()[row + i]);
  (void)(*run)(*p, of(0, 2, 2, 2));  // begins anew
  CHECK_THROWS_WITH(run->resume(*p, of(0, 1, 2, 3)), message);
  CHECK_THROWS_WITH(run->resume(*p, of(0, 1, 2, 1)), message);

  using sample = tessera::sample_of<X>;
  auto const stream = std::make_unique<tessera::streaming<Model, sample>>();
  auto const sample_of_lanes = [&](std::size_t a, std::size_t b) {
    return tessera::view<float const, tessera::shape_of<sample>>{x->data(), {{{a, b}}}};
  };
  (void)stream->step(*p, sample_of_lanes(2, 3));
  CHECK_THROWS_WITH(stream->step(*p, sample_of_lanes(2, 2)), message);
  tessera::clear(stream->state);
  (void)stream->step(*p, sample_of_lanes(2, 2));
  CHECK_THROWS_WITH(stream->step(*p, sample_of_lanes(2, 3)), message);
}

}  // namespace test
