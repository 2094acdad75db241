// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/checkpoint.hpp>
#include <tessera/train/diagnosis.hpp>
#include <tessera/train/interrupt.hpp>
#include <tessera/train/log.hpp>
#include <tessera/train/workers.hpp>

#include <chrono>

namespace tessera {

/// The numbers of a training that are no part of its types.
struct trainer_options {
  std::uint64_t epochs = 10;
  std::uint64_t seed = 0;             ///< of dropout; the source has its own for the order
  float dropout = 0;                  ///< of layers whose probability is decided at run time
  double clip_norm = 0;               ///< largest norm of the gradient; 0 does not clip
  std::uint64_t patience = 0;         ///< epochs without improvement before an early stop; 0: never
  double min_delta = 0;               ///< what counts as improvement
  std::size_t threads = 1;            ///< changes no bit
  std::filesystem::path folder = {};  ///< of checkpoint and logs; empty: no files
  double checkpoint_seconds = 10;     ///< between checkpoints; 0 writes one after every batch
  std::string model = {};             ///< the name in the checkpoint: another is refused
  std::string settings = {};  ///< "name: value" lines, kept in the checkpoint: others are refused
  std::uint64_t stop_after_batches = 0;  ///< leaves as an interrupt would; 0: never
};

enum class ending { finished, stopped_early, interrupted };

/// Trains: epochs of batches, evaluation with frozen weights, the best parameters, checkpoints.
///
/// Training is a tessera::training; Schedule has rate(base, epoch), or is reduce_on_plateau. Loss
/// as in layers/loss.hpp; sources as in data/batches.hpp. Chunks of a batch are shared among
/// threads, and their number is part of the type: the bits do not depend on the threads.
///
/// State   `progress`, and with it everything that the next step depends on: see checkpoint.hpp
/// Cost    allocates when it is made; a batch allocates nothing
/// Errors  diverged_error where loss or gradient is no number, naming where it came from;
///         std::invalid_argument for options that are none; file_error
template <class Training, class Loss, class Schedule = constant_rate> class trainer {
 public:
  using X = typename Training::input;
  using Y = typename Training::output;
  using model = typename Training::model;
  using optimizer_type = typename Training::optimizer_type;
  using parameters_type = typename Training::parameters_type;
  static constexpr auto chunks = Training::chunks;

  std::function<void(epoch_report const&)> on_epoch;
  std::function<void(std::uint64_t batch, std::uint64_t batches)> on_batch;
  std::function<void()> on_checkpoint;  ///< one was written

  trainer(trainer_options options, optimizer_type optimizer, Schedule schedule, Loss loss)
      : options_(std::move(options)),
        optimizer_(optimizer),
        schedule_(schedule),
        loss_(loss),
        workers_(std::min(options_.threads, chunks)),
        training_(std::make_unique<Training>()),
        best_(std::make_unique<parameters_type>()),
        lanes_(std::make_unique<lane[]>(chunks)) {
    auto const refuse = [](char const* what, double got) {
      throw std::invalid_argument(std::string{"trainer: expected "} + what + ", got " +
                                  std::to_string(got));
    };
    if (options_.epochs == 0) refuse("at least one epoch", 0);
    if (not(options_.dropout >= 0 && options_.dropout < 1))
      refuse("a dropout from 0 and below 1", static_cast<double>(options_.dropout));
    if (not(options_.clip_norm >= 0)) refuse("a clip_norm of 0 or more", options_.clip_norm);
    if (not(options_.min_delta >= 0)) refuse("a min_delta of 0 or more", options_.min_delta);
    clear(*training_);
    progress_.seed = options_.seed;
  }

  [[nodiscard]] auto parameters() -> parameters_type& { return training_->parameters; }
  [[nodiscard]] auto best() const -> parameters_type const& { return *best_; }
  [[nodiscard]] auto progress() const -> training_progress const& { return progress_; }
  [[nodiscard]] auto checkpoint_file() const -> std::filesystem::path {
    return options_.folder / "checkpoint.safetensors";
  }
  /// The folder of checkpoint and logs has another name now: see run_folder.hpp.
  void move_to(std::filesystem::path folder) { options_.folder = std::move(folder); }
  /// Goes on where the checkpoint of the folder was written.
  void resume() {
    load_checkpoint(checkpoint_file(), *training_, *best_, progress_, options_.model,
                    options_.settings);
    if (progress_.seed != options_.seed)
      throw safetensors_error(checkpoint_file().string() + ": was trained with seed " +
                              std::to_string(progress_.seed) + ", expected " +
                              std::to_string(options_.seed));
    resumed_ = true;
  }

  /// Trains until the epochs are done, patience has run out or an interrupt is requested. `monitor`
  /// is evaluated after each epoch and decides which parameters are the best.
  template <class Source, class Monitor> auto run(Source& source, Monitor& monitor) -> ending {
    auto log = std::optional<epoch_log>{};
    if (auto const problem = progress_.problem(options_.epochs, source.size()); not problem.empty())
      throw std::invalid_argument("trainer: the checkpoint is of another training: " + problem);
    if (writes()) log.emplace(options_.folder, progress_.epoch, progress_.log);
    saved_ = clock::now();
    done_ = 0;
    if (not resumed_) save();
    while (progress_.epoch < options_.epochs) {
      if (stops_early()) {
        save();
        return ending::stopped_early;
      }
      auto const begun = clock::now();
      if (not run_batches(source)) return ending::interrupted;
      auto const report = end_epoch(source.size(), evaluate(training_->parameters, monitor), begun);
      if (log) {
        log->move_to(options_.folder);
        log->add(report);
      }
      if (on_epoch) on_epoch(report);
      if (seconds_since(saved_) >= options_.checkpoint_seconds) save();
    }
    save();
    return ending::finished;
  }

  /// The mean loss over a source, with the given parameters as they are.
  template <class Source> auto evaluate(parameters_type const& p, Source& source) -> double {
    auto sum = 0.0;
    auto terms = 0.0;
    predict(p, source, [&](auto const&, auto y, auto target, std::size_t) {
      auto const n = loss_.terms(target);
      if (n == 0) return;
      sum += static_cast<double>(loss_.value(y, target, scalar{1}));
      terms += static_cast<double>(n);
    });
    return terms > 0 ? sum / terms : 0;
  }
  /// Calls f(x, y, target, batch) for every chunk of every batch, in order; y is what the model
  /// answers, with carried state where the source carries.
  template <class Source> void predict(parameters_type const& p, Source& source, auto&& f) {
    source.begin(0);
    for (auto c = std::size_t{0}; c < chunks; ++c) clear(lanes_[c].run.state);
    for (auto b = std::size_t{0}; b < source.size(); ++b) {
      workers_.run(chunks, [&](std::size_t c) {
        load(source, b, c);
        auto& own = lanes_[c];
        if (not Source::carries) clear(own.run.state);
        if (own.from.size() > 0) own.answer = own.run.resume(p, own.from);
      });
      for (auto c = std::size_t{0}; c < chunks; ++c)
        if (lanes_[c].from.size() > 0)
          f(as_const(lanes_[c].from), lanes_[c].answer, as_const(lanes_[c].to), b);
    }
  }

 private:
  using scalar = typename Training::scalar;
  static constexpr bool observes =
      requires(Schedule s, reduce_on_plateau::state state) { s.observe(state, 1.0, 1.0); };
  using clock = std::chrono::steady_clock;

  /// What a chunk of a batch needs besides its pass.
  struct lane {
    X x;
    Y y;
    view_of<X> from;
    view_of<Y> to;
    const_view_of<Y> answer;
    inference<model, X> run;
    scalar loss;
  };

  [[nodiscard]] static auto seconds_since(clock::time_point start) -> double {
    return std::chrono::duration<double>(clock::now() - start).count();
  }
  [[nodiscard]] auto writes() const -> bool { return not options_.folder.empty(); }
  void save() {
    if (writes())
      save_checkpoint(checkpoint_file(), *training_, *best_, progress_, options_.model,
                      options_.settings);
    saved_ = clock::now();
    if (writes() && on_checkpoint) on_checkpoint();
  }
  /// The rest of an epoch; false where it was interrupted, and saved.
  template <class Source> auto run_batches(Source& source) -> bool {
    source.begin(progress_.epoch);
    while (progress_.batch < source.size()) {
      step(source);
      ++done_;
      if (on_batch) on_batch(progress_.batch, source.size());
      auto const leaves = interrupt_guard::requested() || done_ == options_.stop_after_batches;
      if (leaves || seconds_since(saved_) >= options_.checkpoint_seconds) save();
      if (leaves) return false;
    }
    return true;
  }
  [[nodiscard]] auto stops_early() const -> bool {
    return options_.patience > 0 && progress_.without_improvement >= options_.patience;
  }
  [[nodiscard]] auto rate() const -> double {
    if constexpr (requires { schedule_.rate(optimizer_.rate, progress_.epoch, progress_.plateau); })
      return schedule_.rate(optimizer_.rate, progress_.epoch, progress_.plateau);
    else if constexpr (observes)
      return schedule_.rate(optimizer_.rate, progress_.plateau);
    else
      return schedule_.rate(optimizer_.rate, progress_.epoch);
  }
  template <class Source> void load(Source const& source, std::size_t batch, std::size_t chunk) {
    auto& own = lanes_[chunk];
    auto const [from, to] = source.load(batch, chunk, chunks, own.x, own.y);
    // A view is not assigned to: it would copy what it views.
    std::construct_at(&own.from, from);
    std::construct_at(&own.to, to);
  }

  template <class Source> void step(Source const& source) {
    auto const batch = progress_.batch;
    if (not Source::carries || batch == 0) training_->restart();
    workers_.run(chunks, [&](std::size_t c) { load(source, batch, c); });
    auto terms = std::size_t{0};
    for (auto c = std::size_t{0}; c < chunks; ++c)
      if (lanes_[c].from.size() > 0) terms += loss_.terms(as_const(lanes_[c].to));
    workers_.run(chunks, [&](std::size_t c) {
      auto& own = lanes_[c];
      if (own.from.size() == 0) {
        clear_parameters(training_->passes[c].gradient);
        own.loss = 0;
        return;
      }
      own.loss = training_->differentiate(c, as_const(own.from), as_const(own.to), loss_, terms,
                                          random_context{.seed = options_.seed,
                                                         .step = progress_.step,
                                                         .chunk = static_cast<std::uint32_t>(c),
                                                         .dropout = options_.dropout});
    });
    auto loss = 0.0;
    for (auto c = std::size_t{0}; c < chunks; ++c) loss += static_cast<double>(lanes_[c].loss);
    auto& gradient = training_->gradient();
    auto const norm =
        options_.clip_norm > 0 ? clip_norm(gradient, options_.clip_norm) : global_norm(gradient);
    if (not std::isfinite(loss) || not std::isfinite(norm)) fail(loss, norm);
    auto optimizer = optimizer_;
    optimizer.rate = rate();
    training_->update(optimizer);
    progress_.loss_sum += loss;
    progress_.largest_norm = std::max(progress_.largest_norm, norm);
    ++progress_.batch;
    ++progress_.step;
  }
  [[noreturn]] void fail(double loss, double norm) {
    auto where = std::string{};
    for (auto c = std::size_t{0}; c < chunks && where.empty(); ++c)
      if (lanes_[c].from.size() > 0 && (not std::isfinite(static_cast<double>(lanes_[c].loss)) ||
                                        c + 1 == chunks || std::isfinite(loss)))
        where = diagnose<model>(training_->parameters, as_const(lanes_[c].from),
                                training_->passes[0].gradient);
    throw diverged_error("training: epoch " + std::to_string(progress_.epoch + 1) + ", batch " +
                         std::to_string(progress_.batch + 1) + ": loss " + std::to_string(loss) +
                         ", norm of the gradient " + std::to_string(norm) + "; " + where);
  }
  auto end_epoch(std::size_t batches, double monitored, clock::time_point begun) -> epoch_report {
    auto report = epoch_report{.epoch = progress_.epoch + 1,
                               .rate = rate(),
                               .training_loss = progress_.loss_sum / static_cast<double>(batches),
                               .monitored_loss = monitored,
                               .largest_gradient_norm = progress_.largest_norm,
                               .seconds = seconds_since(begun)};
    if (not std::isfinite(monitored))
      throw diverged_error("training: epoch " + std::to_string(report.epoch) +
                           ": the loss with frozen weights is " + std::to_string(monitored) + "; " +
                           not_finite(training_->parameters).value_or("no parameter") +
                           " is not finite");
    if (monitored < progress_.best) {
      progress_.best = monitored;
      progress_.best_epoch = report.epoch;
      *best_ = training_->parameters;
      report.best = true;
    }
    if (monitored < progress_.best_before - options_.min_delta) {
      progress_.best_before = monitored;
      progress_.without_improvement = 0;
    } else {
      ++progress_.without_improvement;
    }
    if constexpr (observes) (void)schedule_.observe(progress_.plateau, optimizer_.rate, monitored);
    progress_.log = log_digest(progress_.log, report);
    ++progress_.epoch;
    progress_.batch = 0;
    progress_.loss_sum = 0;
    progress_.largest_norm = 0;
    return report;
  }

  trainer_options options_;
  optimizer_type optimizer_;
  [[no_unique_address]] Schedule schedule_;
  [[no_unique_address]] Loss loss_;
  workers workers_;
  std::unique_ptr<Training> training_;
  std::unique_ptr<parameters_type> best_;
  std::unique_ptr<lane[]> lanes_;
  training_progress progress_;
  bool resumed_ = false;
  clock::time_point saved_;  // when the last checkpoint was
  std::uint64_t done_ = 0;   // batches of this run
};

}  // namespace tessera
