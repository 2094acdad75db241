// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/callback.hpp>

namespace tessera {

/// Logs the learning rate of every step that is logged, as "learning_rate".
struct learning_rate_monitor : callback {
  void on_optimizer_step(fit_control& fit, step_report const& r) override {
    if (r.is_logged) fit.log("learning_rate", r.rate);
  }
};

}  // namespace tessera
