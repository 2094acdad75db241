// SPDX-License-Identifier: MIT
#include <tessera/train/evaluation.hpp>

#include "small.hpp"

using namespace tessera;

TEST_CASE("evaluation: scores of some batches are those of their examples") {
  auto const data = small::points{};
  using training_type = small::training_of<adam>;
  auto const training = std::make_unique<training_type>();
  clear(*training);
  test::fill_parameters(training->parameters, 1);
  auto team = workers(1);
  auto measures = detail::evaluation<training_type, mse>(*training, team, {});
  auto source = data.source(false);
  auto const slots = measures.slots_of(source);
  auto const w = detail::model_weights<training_type>{training->parameters, training->statistics};
  auto absolute = 0.0;
  auto squares = 0.0;
  auto examples = std::size_t{0};
  measures.predict(slots, w, source, 2, [&](auto, auto y, auto target, std::size_t) {
    for (auto i = std::size_t{0}; i < y.size(); ++i, ++examples) {
      CHECK(target.data()[i] == data.y(examples, 0));
      auto const error = static_cast<double>(y.data()[i] - target.data()[i]);
      absolute += std::abs(error);
      squares += error * error;
    }
  });
  CHECK(examples == 16);
  auto const scores = measures.measure(slots, w, source, 2, mean_absolute_error{});
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].name == "loss");
  CHECK(scores[0].value == Approx(squares / 16));
  CHECK(scores[1].value == Approx(absolute / 16));
  CHECK(measures.measure(slots, w, source, 1.0)[0].value != scores[0].value);
  for (auto const& each : measures.measure(slots, w, source, 0, mean_absolute_error{}))
    CHECK(std::isnan(each.value));  // no batches: 0 would be the best loss there is
}
