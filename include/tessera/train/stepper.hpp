// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/batch_pass.hpp>
#include <tessera/train/gradient_sum.hpp>
#include <tessera/train/options.hpp>
#include <tessera/train/parts.hpp>
#include <tessera/train/placement.hpp>
#include <tessera/train/progress.hpp>
#include <tessera/train/rounded_weights.hpp>

#include <memory>

namespace tessera::detail {

/// One step of a training: the gradient of as many batches as are accumulated, what its parts do
/// with it, and one update.
///
/// Errors  diverged_error where loss or gradient is no number
template <class Training, class Loss, class... Parts> class stepper {
 public:
  using parameters_type = typename Training::parameters_type;

  /// Training, team, options and parts are another's, and outlive this.
  stepper(Training& training, workers& team, Loss loss, trainer_options const& options,
          part_list<Parts...>& parts)
      : training_(training),
        workers_(team),
        options_(options),
        parts_(parts),
        pass_(training, team, loss),
        sum_(options.accumulate_grad_batches > 1),
        rounded_(options.precision == "bf16") {
    if (options.accumulate_grad_batches < 2) return;
    if constexpr (Training::has_statistics)
      statistics_ = std::make_unique<typename Training::statistics_type>();
  }

  /// Calls on_step(loss, norm) after the update, and on_batch(loss) after each batch, the last one
  /// after the update.
  template <class Source>
  void step(Source const& source, auto const& slots, std::uint64_t batches,
            typename Training::optimizer_type const& optimizer, training_progress& p,
            auto const& on_batch, auto const& on_step) {
    auto const sharing = shared_operations(workers_);
    auto const n = std::min(options_.accumulate_grad_batches, batches - p.batch);
    auto const found = find_gradient(source, slots, n, p, on_batch);
    training_.update(optimizer);
    auto const updates = p.updates;
    p.loss_sum += found.loss * static_cast<double>(n);
    p.largest_norm = std::max(p.largest_norm, found.norm);
    ++p.updates;
    count(p);
    parts_.updated(training_.parameters, updates);
    wait_on<backend_of<typename Training::input>>();
    on_step(found.loss, found.norm);
    on_batch(found.last_loss);
  }

 private:
  using state_type = decltype(Training::pass_type::state);
  static constexpr bool has_state = bytes_of<state_type> > 0;

  struct found_gradient {
    double loss = 0;
    double norm = 0;       ///< before it was clipped
    double last_loss = 0;  ///< of the last batch
  };
  struct differentiated {
    double loss = 0;
    std::size_t terms = 0;
  };
  static void count(training_progress& p) {
    ++p.batch;
    ++p.step;
  }
  /// Of n batches, as the optimizer takes it. What throws leaves nothing of them: states and
  /// statistics are what they were before the first; but for a device's state before one batch,
  /// which would go through the host each time.
  template <class Source>
  auto find_gradient(Source const& source, auto const& slots, std::uint64_t n, training_progress& p,
                     auto const& on_batch) -> found_gradient {
    auto const begun = std::pair{p.batch, p.step};
    auto const has_states =
        n > 1 || (Source::carries && not on_device<backend_of<typename Training::input>>);
    auto const has_statistics = n > 1;  // the last batch's are taken up by the update
    keep(has_states, has_statistics);
    try {
      auto const own = differentiate_all(source, slots, n, p, on_batch);
      auto& gradient = training_.passes[0].gradient;
      auto loss = own.loss;
      if (n > 1) {
        sum_.add(gradient, own.loss, own.terms);
        loss = sum_.take(gradient);
      }
      parts_.exchange(gradient, loss);
      auto const norm = global_norm(gradient);
      if (not std::isfinite(loss) || not std::isfinite(norm)) fail(source, slots, p, loss, norm);
      clip(gradient, norm);
      return {loss, norm, own.loss};
    } catch (...) {
      std::tie(p.batch, p.step) = begun;
      put_back(has_states, has_statistics);
      throw;
    }
  }
  /// The last of n batches; those before it are in the sum.
  template <class Source>
  auto differentiate_all(Source const& source, auto const& slots, std::uint64_t n,
                         training_progress& p, auto const& on_batch) -> differentiated {
    sum_.clear();
    for (auto i = std::uint64_t{1}; i < n; ++i) {
      auto const own = differentiate(source, slots, p);
      sum_.add(training_.passes[0].gradient, own.loss, own.terms);
      absorb_observed<typename Training::model>(training_.statistics, training_.passes[0].observed);
      wait_on<backend_of<typename Training::input>>();
      count(p);
      on_batch(own.loss);
    }
    return differentiate(source, slots, p);
  }
  void keep([[maybe_unused]] bool states, [[maybe_unused]] bool statistics) {
    if constexpr (has_state) {
      if (states && states_ == nullptr) states_ = std::make_unique<state_type[]>(Training::chunks);
      for (auto c = std::size_t{0}; states && c < Training::chunks; ++c)
        states_[c] = training_.passes[c].state;
    }
    if constexpr (Training::has_statistics)
      if (statistics) *statistics_ = training_.statistics;
  }
  void put_back([[maybe_unused]] bool states, [[maybe_unused]] bool statistics) {
    wait_on<backend_of<typename Training::input>>();
    if constexpr (has_state)
      for (auto c = std::size_t{0}; states && c < Training::chunks; ++c)
        training_.passes[c].state = states_[c];
    if constexpr (Training::has_statistics)
      if (statistics) training_.statistics = *statistics_;
  }
  template <class Source>
  auto differentiate(Source const& source, auto const& slots, training_progress const& p)
      -> differentiated {
    if (not Source::carries || p.batch == 0) training_.restart();
    pass_.load(source, p.batch, slots);
    auto const terms = parts_.terms(pass_.terms_of(slots));
    auto const rounded = rounded_.round(training_.parameters);
    auto const loss = pass_.differentiate(source, slots, terms, random(p));
    if (options_.accumulate_grad_batches > 1) {  // another batch hides it else
      auto const norm = global_norm(training_.passes[0].gradient);
      if (not std::isfinite(loss) || not std::isfinite(norm)) fail(source, slots, p, loss, norm);
    }
    return {loss, terms};
  }
  void clip(parameters_type& gradient, double norm) {
    auto const most = options_.gradient_clip_val;
    if (most > 0 && options_.gradient_clip_algorithm == "value")
      value_clipping{most}.adjust(gradient, norm);
    else if (most > 0)
      norm_clipping{most}.adjust(gradient, norm);
    parts_.adjust(gradient, norm);
  }
  [[nodiscard]] auto random(training_progress const& p) const -> drawn {
    return {options_.seed, p.step, options_.dropout};
  }
  [[noreturn]] void fail(auto const& source, auto const& slots, training_progress const& p,
                         double loss, double norm) const {
    throw diverged_error("training: epoch " + std::to_string(p.epoch + 1) + ", batch " +
                         std::to_string(p.batch + 1) + ": loss " + std::to_string(loss) +
                         ", norm of the gradient " + std::to_string(norm) + "; " +
                         pass_.reason(source, slots, loss, random(p)));
  }

  Training& training_;
  workers& workers_;
  trainer_options const& options_;
  part_list<Parts...>& parts_;
  batch_pass<Training, Loss> pass_;
  gradient_sum<parameters_type> sum_;
  rounded_weights<parameters_type> rounded_;
  std::unique_ptr<state_type[]> states_;  ///< with the next, as the batches of a step began
  std::unique_ptr<typename Training::statistics_type> statistics_;
};

}  // namespace tessera::detail
