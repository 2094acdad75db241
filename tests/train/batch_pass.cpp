// SPDX-License-Identifier: MIT
#include <tessera/train/batch_pass.hpp>

#include "small.hpp"

using namespace tessera;

TEST_CASE("batch_pass: loss and gradient of a batch, whatever it is called with before") {
  auto data = small::points{};
  using training_type = small::training_of<adam>;
  auto const training = std::make_unique<training_type>();
  clear(*training);
  test::fill_parameters(training->parameters, 1);
  auto team = workers(1);
  auto pass = detail::batch_pass<training_type, mse>(*training, team, {});
  auto source = data.source(false);
  source.begin(0);
  auto const slots = detail::evaluation<training_type, mse>::slots_of(source);
  pass.load(source, 1, slots);
  CHECK(pass.terms_of(slots) == 8);
  auto const loss = pass.differentiate(source, slots, 8, {});
  auto const gradient = training->passes[0].gradient;
  (void)pass.differentiate(source, slots, 8, {});
  CHECK(test::same_parameters(training->passes[0].gradient, gradient));
  CHECK(pass.differentiate(source, slots, 16, {}) == Approx(loss / 2));  // as two processes have it

  auto const step = 1e-3F;
  auto& bias = get<2>(training->parameters).bias.values[0];
  bias += step;
  auto const more = pass.differentiate(source, slots, 8, {});
  bias -= 2 * step;
  auto const less = pass.differentiate(source, slots, 8, {});
  CHECK((more - less) / (2 * static_cast<double>(step)) ==
        Approx(get<2>(gradient).bias.values[0]).epsilon(1e-3));
  get<0>(training->parameters).bias.values[2] = INFINITY;
  CHECK(pass.reason(source, slots, NAN, {}) == "the parameter 0.bias is not finite");
}
