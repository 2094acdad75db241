// SPDX-License-Identifier: MIT
#include <tessera/train/learning_rate_monitor.hpp>

#include "small.hpp"

using namespace tessera;

TEST_CASE("learning_rate_monitor: the rates of the steps that are logged") {
  struct rates : callback {
    std::vector<double> found;
    void on_log(fit_control&, log_report const& r) override {
      for (auto const& one : r.numbers)
        if (one.name == "learning_rate") found.push_back(one.value);
    }
  };
  auto const data = small::points{};
  auto source = data.source();
  using type = trainer<small::training_of<adam>, mse, by_step<step_lr>>;
  auto const options =
      trainer_options{.max_epochs = 2, .accumulate_grad_batches = 2, .log_every_n_steps = 2};
  auto const t = std::make_unique<type>(options, adam{.rate = 1},
                                        by_step<step_lr>{{.every = 3, .gamma = 0.5}}, mse{});
  auto const seen = std::make_shared<rates>();
  t->callbacks = {seen, std::make_shared<learning_rate_monitor>()};
  t->fit(source);
  CHECK(seen->found == std::vector<double>{1, 0.5, 0.5});  // steps 2, 4 and 6 of three an epoch
}
