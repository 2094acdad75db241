// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optim/schedule.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace tessera {

/// Where a training stands, between two batches: with parameters, moments and states all that its
/// next step depends on.
struct training_progress {
  std::uint64_t epoch = 0;    ///< of the next batch
  std::uint64_t batch = 0;    ///< within that epoch
  std::uint64_t step = 0;     ///< batches in all: dropout counts by it
  std::uint64_t updates = 0;  ///< steps of the optimizer
  std::uint64_t cut = 0;      ///< batches that epochs so far lack, as they were ended before
  std::uint64_t seed = 0;
  double loss_sum = 0;  ///< of this epoch so far
  double largest_norm = 0;
  double best = std::numeric_limits<double>::infinity();
  std::uint64_t best_epoch = 0;  ///< counted from 1
  std::uint64_t validations = 0;
  std::uint64_t log = 0;  ///< the digest of the finished epochs' rows: see log.hpp
  reduce_on_plateau::state plateau = {};

  /// Calls f(name, number) for every number.
  void for_each(auto&& f) {
    f("epoch", epoch);
    f("batch", batch);
    f("step", step);
    f("updates", updates);
    f("cut", cut);
    f("seed", seed);
    f("loss_sum", loss_sum);
    f("largest_norm", largest_norm);
    f("best", best);
    f("best_epoch", best_epoch);
    f("validations", validations);
    f("log", log);
    f("plateau.scale", plateau.scale);
    f("plateau.best", plateau.best);
    f("plateau.bad", plateau.bad);
    f("plateau.cooling", plateau.cooling);
  }
  /// What no training arrives at, in words; nothing where all numbers go together.
  [[nodiscard]] auto problem() const -> std::string {
    constexpr auto none = std::numeric_limits<double>::infinity();
    auto const is_sum = [](double x) { return std::isfinite(x) && x >= 0; };
    if (not std::isfinite(loss_sum)) return "loss_sum is not finite";
    if (not is_sum(largest_norm)) return "largest_norm is no norm";
    if (batch == 0 && (loss_sum != 0 || largest_norm != 0))
      return "loss_sum or largest_norm is not 0 before the first batch of an epoch";
    if (step + cut < epoch || step < batch) return "step is less than epoch or batch";
    if (updates > step || (updates == 0 && step > 0)) return "updates are not what step allows";
    if (epoch == 0 && log != 0) return "log is there before the first epoch has ended";
    if (validations == 0 && (best != none || best_epoch != 0))
      return "best or best_epoch is there before the first validation";
    if (validations > 0 && not std::isfinite(best)) return "best is not finite";
    if (validations > 0 && (best_epoch < 1 || best_epoch > epoch + 1))
      return "best_epoch is no epoch so far";
    if (plateau.bad > epoch) return "more epochs without improvement than epochs";
    if (not(plateau.scale >= 0 && plateau.scale <= 1)) return "plateau.scale is outside of [0, 1]";
    if (std::isnan(plateau.best)) return "plateau.best is no number";
    return "";
  }
  /// The same for a training of so many epochs of so many batches.
  [[nodiscard]] auto problem(std::uint64_t epochs, std::uint64_t batches) const -> std::string {
    if (epoch > epochs) return "epoch is after the last one";
    if (batch > batches) return "batch is after the last one of an epoch";
    if (step + cut != epoch * batches + batch) return "step is not what epoch and batch add up to";
    return problem();
  }
};

namespace detail {

/// The learning rate where a training stands: by a schedule of steps, of epochs, of what a plateau
/// has left, or of the last two.
template <class Schedule>
[[nodiscard]] auto rate_of(Schedule const& schedule, double base, training_progress const& p)
    -> double {
  if constexpr (requires { requires Schedule::counts_steps; })
    return schedule.rate(base, p.updates);
  else if constexpr (requires { schedule.rate(base, p.epoch, p.plateau); })
    return schedule.rate(base, p.epoch, p.plateau);
  else if constexpr (requires { schedule.rate(base, p.plateau); })
    return schedule.rate(base, p.plateau);
  else
    return schedule.rate(base, p.epoch);
}

}  // namespace detail

}  // namespace tessera
