// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optim/schedule.hpp>

#include <cstdint>
#include <limits>

namespace tessera {

/// Where a training stands, between two batches: with parameters, moments and states all that its
/// next step depends on.
struct training_progress {
  std::uint64_t epoch = 0;  ///< of the next batch
  std::uint64_t batch = 0;  ///< within that epoch
  std::uint64_t step = 0;   ///< batches in all: dropout counts by it
  std::uint64_t seed = 0;
  double loss_sum = 0;  ///< of this epoch so far
  double largest_norm = 0;
  double best = std::numeric_limits<double>::infinity();
  double best_before = std::numeric_limits<double>::infinity();  ///< what counts as better
  std::uint64_t best_epoch = 0;
  std::uint64_t without_improvement = 0;
  reduce_on_plateau::state plateau = {};

  /// Calls f(name, number) for every number.
  void for_each(auto&& f) {
    f("epoch", epoch);
    f("batch", batch);
    f("step", step);
    f("seed", seed);
    f("loss_sum", loss_sum);
    f("largest_norm", largest_norm);
    f("best", best);
    f("best_before", best_before);
    f("best_epoch", best_epoch);
    f("without_improvement", without_improvement);
    f("plateau.scale", plateau.scale);
    f("plateau.best", plateau.best);
    f("plateau.bad", plateau.bad);
    f("plateau.cooling", plateau.cooling);
  }
};

}  // namespace tessera
