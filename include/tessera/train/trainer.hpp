// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/slot.hpp>
#include <tessera/train/checkpoint.hpp>
#include <tessera/train/described.hpp>
#include <tessera/train/diagnosis.hpp>
#include <tessera/train/interrupt.hpp>
#include <tessera/train/lent_passes.hpp>
#include <tessera/train/log.hpp>
#include <tessera/train/parts.hpp>
#include <tessera/train/scores.hpp>
#include <tessera/train/workers.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>

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
  std::filesystem::path folder = {};  ///< of checkpoint and logs, made by run; empty: no files
  double checkpoint_seconds = 10;     ///< between checkpoints; 0 writes one after every batch
  std::string model = {};             ///< the name in the checkpoint: another is refused
  std::string settings = {};  ///< "name: value" lines, kept in the checkpoint: others are refused
  std::uint64_t stop_after_batches = 0;  ///< leaves as an interrupt would; 0: never
  std::string monitor = {};              ///< the score that decides what is best; empty: the loss

  /// Errors  std::invalid_argument, which names the option
  void check() const {
    auto const refuse = [](char const* what, double got) {
      throw std::invalid_argument(std::string{"trainer: expected "} + what + ", got " +
                                  std::to_string(got));
    };
    if (epochs == 0) refuse("at least one epoch", 0);
    if (not(dropout >= 0 && dropout < 1))
      refuse("a dropout from 0 and below 1", static_cast<double>(dropout));
    if (not(clip_norm >= 0)) refuse("a clip_norm of 0 or more", clip_norm);
    if (not(min_delta >= 0)) refuse("a min_delta of 0 or more", min_delta);
  }
};

enum class ending { finished, stopped_early, interrupted };

/// A batch that was trained on.
struct step_report {
  std::uint64_t step = 0;  ///< counted from 1, over all epochs
  double rate = 0;
  double loss = 0;
  double gradient_norm = 0;  ///< before clipping
};

/// Trains: epochs of batches, validation with frozen weights, the best parameters, checkpoints.
///
/// Training is a tessera::training; Loss as in layers/loss.hpp, sources as in data/batches.hpp,
/// Parts as in train/parts.hpp. Schedule has rate(base, epoch), or is by_step, or
/// reduce_on_plateau. Chunks of a batch are shared among threads, and their number is part of the
/// type; where there is one, its large products are. The bits do not depend on the threads.
///
/// State   `progress`, and with it everything that the next step depends on: see checkpoint.hpp
/// Cost    allocates when it is made and when a run begins, a batch nothing. A validation runs in
///         the memory of the training passes: see lent_passes.hpp
/// Errors  diverged_error where loss or gradient is no number, naming where it came from;
///         std::invalid_argument for options that are none; file_error
template <class Training, class Loss, class Schedule = constant_rate, class... Parts>
class trainer {
 public:
  using X = typename Training::input;
  using Y = typename Training::output;
  using model = typename Training::model;
  using optimizer_type = typename Training::optimizer_type;
  using parameters_type = typename Training::parameters_type;
  using statistics_type = typename Training::statistics_type;
  using target_type = detail::target_type<Loss, Y, Y>;
  static constexpr auto chunks = Training::chunks;
  static_assert((true && ... && detail::is_part<Parts, parameters_type>),
                "trainer: a part has none of the functions that train/parts.hpp names");

  std::function<void(epoch_report const&)> on_epoch;
  std::function<void(step_report const&)> on_step;
  std::function<void(std::uint64_t batch, std::uint64_t batches)> on_batch;
  std::function<void()> on_checkpoint;  ///< one was written

  trainer(trainer_options options, optimizer_type optimizer, Schedule schedule, Loss loss,
          Parts... parts)
      : options_(std::move(options)),
        optimizer_(optimizer),
        schedule_(schedule),
        loss_(loss),
        parts_(std::move(parts)...),
        workers_(chunks > 1 ? std::min(options_.threads, chunks) : options_.threads),
        training_(std::make_unique<Training>()),
        best_(std::make_unique<parameters_type>()),
        best_statistics_(std::make_unique<statistics_type>()),
        passes_(*training_) {
    options_.check();
    clear(*training_);
    progress_.seed = options_.seed;
  }

  [[nodiscard]] auto parameters() -> parameters_type& { return training_->parameters; }
  [[nodiscard]] auto best() const -> parameters_type const& { return *best_; }
  /// The statistics that belong to them; of a model without any, an empty object.
  [[nodiscard]] auto statistics() -> statistics_type& { return training_->statistics; }
  [[nodiscard]] auto best_statistics() const -> statistics_type const& { return *best_statistics_; }
  [[nodiscard]] auto progress() const -> training_progress const& { return progress_; }
  template <class Part> [[nodiscard]] auto part() const -> Part const& {
    return std::get<Part>(parts_);
  }
  [[nodiscard]] auto checkpoint_file() const -> std::filesystem::path {
    return options_.folder / "checkpoint.safetensors";
  }
  /// The threads, for whoever computes between two steps: see shared_operations.
  [[nodiscard]] auto team() -> workers& { return workers_; }
  /// The folder of checkpoint and logs has another name now: see run_folder.hpp.
  void move_to(std::filesystem::path folder) { options_.folder = std::move(folder); }
  /// Goes on where the checkpoint of the folder was written.
  ///
  /// Errors  safetensors_error where it is of another training: other parameters, optimizer, loss,
  ///         schedule, parts, or options and settings that change what a step does
  void resume() {
    auto best_model = detail::learned{*best_, *best_statistics_};
    auto const found = load_checkpoint(checkpoint_file(), *training_, best_model, progress_,
                                       facts(), options_.settings, parts_);
    if (progress_.seed != options_.seed)
      throw safetensors_error(checkpoint_file().string() + ": was trained with seed " +
                              std::to_string(progress_.seed) + ", expected " +
                              std::to_string(options_.seed));
    batches_of_epoch_ = found.at("batches");
    resumed_ = true;
  }

  /// Trains until the epochs are done, patience has run out or an interrupt is requested. `monitor`
  /// is evaluated after each epoch, by the loss and by scores as in train/scores.hpp; one of them
  /// decides which parameters are the best.
  template <class Source, class Monitor, class... Scores>
  auto run(Source& source, Monitor& monitor, Scores const&... scores) -> ending {
    check_monitor({"loss", scores.name...});
    auto const slots = slots_of(monitor);
    return run_epochs(source, {scores.name...},
                      [&] { return measure_by(slots, parameters(), monitor, scores...); });
  }
  /// The same without validation: the loss while the weights changed decides.
  template <class Source> auto run(Source& source) -> ending {
    check_monitor({"loss"});
    return run_epochs(source, {}, [&] {
      return scores_type{{"loss", progress_.loss_sum / static_cast<double>(source.size())}};
    });
  }

  /// The mean loss over a source, with the given parameters as they are.
  template <class Source> auto evaluate(parameters_type const& p, Source& source) -> double {
    return measure(p, source)[0].value;
  }
  /// The mean loss over a source, named "loss", and scores.
  template <class Source, class... Scores>
  auto measure(parameters_type const& p, Source& source, Scores const&... scores)
      -> std::vector<named_score> {
    return measure_by(slots_of(source), p, source, scores...);
  }
  /// Calls f(x, y, target, batch) for every chunk of every batch, in order; y is what the model
  /// answers, with carried state where the source carries. Between two steps of a training it takes
  /// the memory of their passes: the last gradient is gone.
  template <class Source> void predict(parameters_type const& p, Source& source, auto&& f) {
    predict_by(slots_of(source), p, source, f);
  }

 private:
  using scalar = typename Training::scalar;
  using clock = std::chrono::steady_clock;
  static constexpr bool observes =
      requires(Schedule s, reduce_on_plateau::state state) { s.observe(state, 1.0, 1.0); };
  template <class Source> using slot_type = slot_of<Source, X, target_type>;
  using scores_type = std::vector<named_score>;

  template <class Source> [[nodiscard]] static auto slots_of(Source const&) {
    return std::make_unique<slot_type<Source>[]>(chunks);
  }
  /// What a source lends a call besides x.
  template <class Source>
  [[nodiscard]] static auto context_of(Source const& source, auto const& slot, auto base) {
    if constexpr (requires { source.context(slot, base); })
      return source.context(slot, base);
    else
      return base;
  }
  [[nodiscard]] static auto seconds_since(clock::time_point start) -> double {
    return std::chrono::duration<double>(clock::now() - start).count();
  }
  [[nodiscard]] auto writes() const -> bool { return not options_.folder.empty(); }

  /// What a training that goes on must have in common with this one.
  [[nodiscard]] auto facts() const -> training_facts {
    auto parts = std::string{};
    std::apply([&](auto const&... part) { ((parts += described(part) + ' '), ...); }, parts_);
    return {{"model", options_.model},
            {"input", std::string{name_of(dtype_of<scalar>())} + described_shape<shape_of<X>>()},
            {"chunks", std::to_string(chunks)},
            {"optimizer", described(optimizer_)},
            {"schedule", described(schedule_)},
            {"loss", described(loss_)},
            {"parts", parts},
            {"dropout", described(options_.dropout)},
            {"clip_norm", described(options_.clip_norm)},
            {"patience", described(options_.patience)},
            {"min_delta", described(options_.min_delta)},
            {"monitor", options_.monitor}};
  }
  void save() {
    if (writes()) {
      auto all_facts = facts();
      all_facts["batches"] = batches_of_epoch_;
      auto const best_model = detail::learned{*best_, *best_statistics_};
      save_checkpoint(checkpoint_file(), *training_, best_model, progress_, all_facts,
                      options_.settings, parts_);
    }
    saved_ = clock::now();
    if (writes() && on_checkpoint) on_checkpoint();
  }
  /// Errors  std::invalid_argument where no score has the name of the monitor
  void check_monitor(std::vector<std::string> const& names) const {
    auto known = std::string{};
    for (auto const& name : names) known += (known.empty() ? "" : ", ") + name;
    if (not options_.monitor.empty() && std::ranges::find(names, options_.monitor) == names.end())
      throw std::invalid_argument("trainer: expected a monitor of " + known + ", got " +
                                  options_.monitor);
  }
  /// A progress that this training arrives at, with the epochs of the source that it began with.
  ///
  /// Errors  std::invalid_argument
  template <class Source> void check_progress(Source const& source) {
    auto const now = std::to_string(source.size());
    auto problem = progress_.problem(options_.epochs, source.size());
    if constexpr (requires { requires Source::epochs_differ; }) problem = progress_.problem();
    if (resumed_ && now != batches_of_epoch_)
      problem = "an epoch has " + now + " batches, it had " + batches_of_epoch_;
    if (not problem.empty())
      throw std::invalid_argument("trainer: the checkpoint is of another training: " + problem);
    batches_of_epoch_ = now;
  }

  template <class Source>
  auto run_epochs(Source& source, std::vector<std::string> const& scores, auto const& validate)
      -> ending {
    auto const slots = slots_of(source);
    auto log = std::optional<epoch_log>{};
    check_progress(source);
    if (writes()) {
      detail::make_folder(options_.folder);
      log.emplace(options_.folder, progress_.epoch, progress_.log, scores);
    }
    saved_ = clock::now();
    done_ = 0;
    if (not resumed_) {
      each_part([&](auto& part) {
        if constexpr (requires { part.begin(training_->parameters); })
          part.begin(training_->parameters);
      });
      save();
    }
    while (progress_.epoch < options_.epochs) {
      if (stops_early()) {
        save();
        return ending::stopped_early;
      }
      auto const begun = clock::now();
      if (not run_batches(source, slots)) return ending::interrupted;
      auto const report = end_epoch(source.size(), validate(), begun);
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
  /// The rest of an epoch; false where it was interrupted, and saved.
  template <class Source> auto run_batches(Source& source, auto const& slots) -> bool {
    source.begin(progress_.epoch);
    while (progress_.batch < source.size()) {
      step(source, slots);
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
    if constexpr (requires { requires Schedule::counts_steps; })
      return schedule_.rate(optimizer_.rate, progress_.step);
    else if constexpr (requires {
                         schedule_.rate(optimizer_.rate, progress_.epoch, progress_.plateau);
                       })
      return schedule_.rate(optimizer_.rate, progress_.epoch, progress_.plateau);
    else if constexpr (observes)
      return schedule_.rate(optimizer_.rate, progress_.plateau);
    else
      return schedule_.rate(optimizer_.rate, progress_.epoch);
  }
  void each_part(auto const& f) {
    std::apply([&](auto&... part) { (f(part), ...); }, parts_);
  }

  template <class Source> void step(Source const& source, auto const& slots) {
    auto const sharing = shared_operations(workers_);
    auto const batch = progress_.batch;
    if (not Source::carries || batch == 0) training_->restart();
    workers_.run(chunks, [&](std::size_t c) { source.load(batch, c, chunks, slots[c]); });
    auto const terms = terms_of(slots);
    workers_.run(chunks, [&](std::size_t c) {
      auto const x = slots[c].x.read();
      losses_[c] = 0;
      if (x.size() == 0)
        training_->differentiate_nothing(c);
      else
        losses_[c] = training_->differentiate(c, x, slots[c].target.read(), loss_, terms,
                                              context_of(source, slots[c], random(c)));
    });
    auto loss = 0.0;
    for (auto const part : losses_) loss += static_cast<double>(part);
    auto& gradient = training_->gradient();
    each_part([&](auto& part) {
      if constexpr (requires { part.exchange(gradient, loss); }) part.exchange(gradient, loss);
    });
    auto const norm = global_norm(gradient);
    if (not std::isfinite(loss) || not std::isfinite(norm)) fail(source, slots, loss, norm);
    auto clipped = norm;
    if (options_.clip_norm > 0) clipped = clip_to(gradient, norm, options_.clip_norm);
    each_part([&](auto& part) {
      if constexpr (requires { part.adjust(gradient, clipped); }) part.adjust(gradient, clipped);
    });
    auto optimizer = optimizer_;
    optimizer.rate = rate();
    training_->update(optimizer);
    each_part([&](auto& part) {
      if constexpr (requires { part.updated(training_->parameters, progress_.step); })
        part.updated(training_->parameters, progress_.step);
    });
    progress_.loss_sum += loss;
    progress_.largest_norm = std::max(progress_.largest_norm, norm);
    ++progress_.batch;
    ++progress_.step;
    if (on_step) on_step({progress_.step, optimizer.rate, loss, norm});
  }
  [[nodiscard]] auto terms_of(auto const& slots) -> std::size_t {
    auto terms = std::size_t{0};
    for (auto c = std::size_t{0}; c < chunks; ++c)
      if (slots[c].x.read().size() > 0) terms += loss_.terms(slots[c].target.read());
    each_part([&](auto& part) {
      if constexpr (requires { part.terms(terms); }) terms = part.terms(terms);
    });
    return terms;
  }
  [[nodiscard]] auto random(std::size_t chunk) const -> random_context {
    return {.seed = options_.seed,
            .step = progress_.step,
            .chunk = static_cast<std::uint32_t>(chunk),
            .dropout = options_.dropout};
  }
  template <class Source>
  [[noreturn]] void fail(Source const& source, auto const& slots, double loss, double norm) {
    auto where = std::string{};
    for (auto c = std::size_t{0}; c < chunks && where.empty(); ++c) {
      auto const x = slots[c].x.read();
      if (x.size() > 0 && (not std::isfinite(static_cast<double>(losses_[c])) || c + 1 == chunks ||
                           std::isfinite(loss)))
        where =
            diagnose<model>(training_->parameters, training_->statistics, x, slots[c].target.read(),
                            training_->passes[0].gradient, context_of(source, slots[c], random(c)));
    }
    throw diverged_error("training: epoch " + std::to_string(progress_.epoch + 1) + ", batch " +
                         std::to_string(progress_.batch + 1) + ": loss " + std::to_string(loss) +
                         ", norm of the gradient " + std::to_string(norm) + "; " + where);
  }

  /// The best parameters have statistics of their own.
  [[nodiscard]] auto statistics_of_parameters(parameters_type const& p) const
      -> statistics_type const& {
    return &p == best_.get() ? *best_statistics_ : training_->statistics;
  }
  template <class Source>
  void predict_by(auto const& slots, parameters_type const& p, Source& source, auto&& f) {
    auto const sharing = shared_operations(workers_);
    auto runs = typename lent_passes<Training>::loan(passes_);
    const_view_of<Y> answers[chunks] = {};
    source.begin(0);
    for (auto b = std::size_t{0}; b < source.size(); ++b) {
      workers_.run(chunks, [&](std::size_t c) {
        source.load(b, c, chunks, slots[c]);
        if (not Source::carries) clear(runs[c].state);
        if (slots[c].x.read().size() == 0) return;
        auto const context = context_of(source, slots[c], plain_context{});
        auto const y = [&] {
          if constexpr (Training::has_statistics)
            return runs[c].resume(p, statistics_of_parameters(p), slots[c].x.read(), context);
          else
            return runs[c].resume(p, slots[c].x.read(), context);
        }();
        answers[c] = y;
      });
      for (auto c = std::size_t{0}; c < chunks; ++c)
        if (slots[c].x.read().size() > 0)
          f(slots[c].x.read(), answers[c], slots[c].target.read(), b);
    }
  }
  template <class Source, class... Scores>
  auto measure_by(auto const& slots, parameters_type const& p, Source& source,
                  Scores const&... scores) -> scores_type {
    auto sums = std::array<double, 1 + sizeof...(Scores)>{};
    auto terms = sums;
    predict_by(slots, p, source, [&](auto const&, auto y, auto target, std::size_t) {
      auto const n = loss_.terms(target);
      if (n > 0) sums[0] += static_cast<double>(loss_.value(y, target, scalar{1}));
      terms[0] += static_cast<double>(n);
      auto i = std::size_t{0};
      ((++i, sums[i] += scores.value(y, target),
        terms[i] += static_cast<double>(scores.terms(target))),
       ...);
    });
    auto result = scores_type{};
    auto const mean = [&] {
      auto const i = result.size();
      return terms[i] > 0 ? sums[i] / terms[i] : 0;
    };
    result.push_back({"loss", mean()});
    (result.push_back({scores.name, finished(scores, mean()), more_is_better<Scores>}), ...);
    return result;
  }

  auto end_epoch(std::size_t batches, scores_type scores, clock::time_point begun) -> epoch_report {
    auto report = epoch_report{.epoch = progress_.epoch + 1,
                               .rate = rate(),
                               .training_loss = progress_.loss_sum / static_cast<double>(batches),
                               .monitored_loss = scores[0].value,
                               .largest_gradient_norm = progress_.largest_norm,
                               .seconds = seconds_since(begun)};
    auto const monitored = monitored_of(scores, report.epoch);
    scores.erase(scores.begin());
    report.scores = std::move(scores);
    if (monitored < progress_.best) {
      progress_.best = monitored;
      progress_.best_epoch = report.epoch;
      *best_ = training_->parameters;
      *best_statistics_ = training_->statistics;
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
  /// What decides, less being better.
  ///
  /// Errors  diverged_error where it is no number
  [[nodiscard]] auto monitored_of(scores_type const& scores, std::uint64_t epoch) const -> double {
    auto const& score = options_.monitor.empty()
                            ? scores[0]
                            : *std::ranges::find(scores, options_.monitor, &named_score::name);
    for (auto const& each : {scores[0], score})
      if (not std::isfinite(each.value))
        throw diverged_error("training: epoch " + std::to_string(epoch) + ": the " + each.name +
                             " with frozen weights is " + std::to_string(each.value) + "; " +
                             not_finite(training_->parameters).value_or("no parameter") +
                             " is not finite");
    return score.more_is_better ? -score.value : score.value;
  }

  trainer_options options_;
  optimizer_type optimizer_;
  [[no_unique_address]] Schedule schedule_;
  [[no_unique_address]] Loss loss_;
  std::tuple<Parts...> parts_;
  workers workers_;
  std::unique_ptr<Training> training_;
  std::unique_ptr<parameters_type> best_;
  std::unique_ptr<statistics_type> best_statistics_;
  lent_passes<Training> passes_;
  std::array<scalar, chunks> losses_ = {};  // of the last batch
  training_progress progress_;
  std::string batches_of_epoch_;
  bool resumed_ = false;
  clock::time_point saved_;  // when the last checkpoint was
  std::uint64_t done_ = 0;   // batches of this run
};

}  // namespace tessera
