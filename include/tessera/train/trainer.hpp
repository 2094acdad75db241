// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/train/callback.hpp>
#include <tessera/train/checkpoint.hpp>
#include <tessera/train/described.hpp>
#include <tessera/train/interrupt.hpp>
#include <tessera/train/placement.hpp>
#include <tessera/train/stepper.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>

namespace tessera {

/// Trains: epochs of batches, validation with frozen weights, the best parameters, checkpoints.
///
/// Training is a tessera::training; Loss as in layers/loss.hpp, sources as in data/batches.hpp,
/// Parts as in train/parts.hpp. Schedule has rate(base, epoch), or is by_step, or
/// reduce_on_plateau. Chunks of a batch are shared among threads, and their number is part of the
/// type; where there is one, its large products are. The bits do not depend on the threads. Where
/// the tensors of the training are a device's, one thread launches, and the host waits for each
/// step; what sources and callbacks are given lies where both see it.
///
/// State   `progress`, and with it everything that the next step depends on: see checkpoint.hpp
/// Cost    allocates when it is made and when a fit begins, a batch nothing. A validation runs in
///         the memory of the training passes: see lent_passes.hpp
/// Errors  diverged_error where loss or gradient is no number, naming where it came from;
///         std::invalid_argument for options that are none; file_error
template <class Training, class Loss, class Schedule = constant_rate, class... Parts>
class trainer : private fit_control {
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

  tessera::callbacks callbacks;  ///< those with a state are the same ones when it is resumed
  std::function<void(epoch_report const&)> on_epoch;
  std::function<void(step_report const&)> on_step;
  std::function<void(std::uint64_t batch, std::uint64_t batches)> on_batch;
  std::function<void()> on_checkpoint;  ///< one was written

  trainer(trainer_options const& options, optimizer_type optimizer, Schedule schedule, Loss loss,
          Parts... parts)
      : options_((options.check(), options.resolved())),
        optimizer_(optimizer),
        schedule_(schedule),
        loss_(loss),
        parts_{{std::move(parts)...}},
        workers_(threads_of(options_.threads)),
        training_(make_placed<Training, backend>()),
        best_(make_placed<parameters_type, backend>()),
        best_statistics_(make_placed<statistics_type, backend>()),
        evaluation_(*training_, workers_, loss),
        stepper_(*training_, workers_, loss, options_, parts_) {
    clear(*training_);
    progress_.seed = options_.seed;
  }

  [[nodiscard]] auto parameters() -> parameters_type& { return training_->parameters; }
  /// Those that were judged best; until something was judged, what `parameters` are.
  [[nodiscard]] auto best() const -> parameters_type const& {
    return progress_.validations == 0 ? training_->parameters : *best_;
  }
  /// The statistics that belong to them; of a model without any, an empty object.
  [[nodiscard]] auto statistics() -> statistics_type& { return training_->statistics; }
  [[nodiscard]] auto best_statistics() const -> statistics_type const& {
    return progress_.validations == 0 ? training_->statistics : *best_statistics_;
  }
  [[nodiscard]] auto progress() const -> training_progress const& override { return progress_; }
  template <class Part> [[nodiscard]] auto part() const -> Part const& {
    return std::get<Part>(parts_.all);
  }
  [[nodiscard]] auto checkpoint_file() const -> std::filesystem::path {
    return options_.folder / "checkpoint.safetensors";
  }
  /// The threads, for whoever computes between two steps: see shared_operations.
  [[nodiscard]] auto team() -> workers& { return workers_; }
  /// The folder of checkpoint and logs has another name now: see run_folder.hpp.
  void move_to(std::filesystem::path folder) { options_.folder = std::move(folder); }
  /// Goes on from a checkpoint: "last" is the one that the folder's run wrote last, "best" the best
  /// of those that a model_checkpoint kept; or a path. The fit writes its own checkpoint before it
  /// cuts the log or takes away a file: until then the folder is what it was. A folder without a
  /// log gets the one that lies beside the checkpoint, or beside its folder.
  ///
  /// Errors  safetensors_error where it is of another training: other parameters, optimizer, loss,
  ///         schedule, parts, callbacks, or options and settings that change what a step does;
  ///         file_error where there is no file; std::invalid_argument without a folder, and for
  ///         "best" where no model_checkpoint kept one
  void resume(std::string const& which = "last") {
    auto const file = file_of(which);
    wait_on<backend>();  // an initialization may still run
    auto best_model = detail::learned{*best_, *best_statistics_};
    (void)load_checkpoint(
        file, *training_, best_model, progress_, facts(), options_.settings, parts_.all,
        [&](training_progress const& p, training_facts const& found) { accept(p, found); });
    judged_at_ = never;  // what this object has seen is of another training
    auto error = std::error_code{};
    resumed_from_ = std::filesystem::absolute(file, error);
    resumed_ = true;
    unsaved_ = true;
  }

  /// Trains until epochs, steps or time are done, a callback stops it or an interrupt is requested.
  /// `monitor` is evaluated after each epoch and where val_check_interval says, by the loss and by
  /// scores as in train/scores.hpp; one of them decides which parameters are the best.
  template <class Source, class Monitor, class... Scores>
  auto fit(Source& source, Monitor& monitor, Scores const&... scores) -> ending {
    check_monitor({"loss", scores.name...});
    auto const slots = evaluation_.slots_of(monitor);
    return fit_by(source, {scores.name...}, [&](std::uint64_t most) {
      auto const limit =
          std::min(most, batches_within(options_.limit_val_batches, "val", monitor.size()));
      return evaluation_.measure(slots, weights_of(parameters()), monitor, limit, scores...);
    });
  }
  /// The same without validation: the loss while the weights changed decides.
  template <class Source> auto fit(Source& source) -> ending {
    check_monitor({"loss"});
    return fit_by(source, {}, nothing{});
  }

  /// The mean loss over a source, with the given parameters as they are; best() has statistics of
  /// its own, all others, copies of it too, those of the training.
  template <class Source> auto evaluate(parameters_type const& p, Source& source) -> double {
    return validate(p, source)[0].value;
  }
  /// The mean loss over a source, named "loss", and scores.
  template <class Source, class... Scores>
  auto validate(parameters_type const& p, Source& source, Scores const&... scores)
      -> std::vector<named_score> {
    return evaluation_.measure(evaluation_.slots_of(source), weights_of(p), source, 1.0, scores...);
  }
  /// The same of the best parameters, told to the callbacks.
  template <class Source, class... Scores>
  auto test(Source& source, Scores const&... scores) -> std::vector<named_score> {
    auto const result = validate(best(), source, scores...);
    tell([&](callback& one) { one.on_test_end(*this, result); });
    log_scores("test_", result);
    return result;
  }
  /// Calls f(x, y, target, batch) for every chunk of every batch, in order; y is what the model
  /// answers, with carried state where the source carries. Between two steps of a training it takes
  /// the memory of their passes: the last gradient is gone.
  template <class Source> void predict(parameters_type const& p, Source& source, auto&& f) {
    evaluation_.predict(evaluation_.slots_of(source), weights_of(p), source, 1.0, f);
  }

 private:
  using scalar = typename Training::scalar;
  using backend = backend_of<X>;
  using clock = std::chrono::steady_clock;
  using scores_type = std::vector<named_score>;
  using evaluation_type = detail::evaluation<Training, Loss>;
  static constexpr bool observes =
      requires(Schedule s, reduce_on_plateau::state state) { s.observe(state, 1.0, 1.0); };
  template <class Validate> static constexpr bool validates = not std::same_as<Validate, nothing>;
  static constexpr auto none = std::numeric_limits<double>::quiet_NaN();
  static constexpr auto never = ~std::uint64_t{0};

  /// One alone launches on a device, whose launches run in order.
  [[nodiscard]] static auto threads_of(std::size_t wanted) -> std::size_t {
    if constexpr (on_device<backend>) return 1;
    return chunks > 1 ? std::min(wanted, chunks) : wanted;
  }
  [[nodiscard]] static auto seconds_since(clock::time_point start) -> double {
    return std::chrono::duration<double>(clock::now() - start).count();
  }
  [[nodiscard]] auto writes() const -> bool { return not options_.folder.empty(); }
  /// The best parameters have statistics of their own.
  [[nodiscard]] auto weights_of(parameters_type const& p) const -> detail::model_weights<Training> {
    return {p, &p == best_.get() ? *best_statistics_ : training_->statistics};
  }

  // -- what callbacks ask ------------------------------------------------------------------------
  [[nodiscard]] auto options() const -> trainer_options const& override { return options_; }
  void stop() override { stops_ = true; }
  void log(std::string_view name, double value) override {
    log_numbers(std::array{logged_number{name, value}});
  }
  void save(std::filesystem::path const& file) override {
    auto all_facts = facts();
    all_facts["batches"] = batches_of_epoch_;
    detail::each_state(callbacks, [&](std::string const& key, callback const& one) {
      all_facts[key] = one.state();
    });
    auto const best_model = detail::learned{*best_, *best_statistics_};
    save_checkpoint(file, *training_, best_model, progress_, all_facts, options_.settings,
                    parts_.all);
  }
  void request_checkpoint() override { wants_checkpoint_ = true; }

  void tell(auto const& f) {
    for (auto const& one : callbacks) f(*one);
  }
  void log_numbers(std::span<logged_number const> numbers) {
    if (options_.fast_dev_run > 0) return;
    tell([&](callback& one) {
      one.on_log(*this, {.epoch = progress_.epoch, .step = progress_.updates, .numbers = numbers});
    });
  }
  void log_scores(std::string const& prefix, scores_type const& scores) {
    for (auto const& score : scores) log(prefix + score.name, score.value);
  }
  // -- checkpoints -------------------------------------------------------------------------------
  /// What a training that goes on must have in common with this one.
  [[nodiscard]] auto facts() const -> training_facts {
    auto result = options_.facts();
    result["callbacks"] = detail::settings_of(callbacks);
    result["input"] = std::string{name_of(dtype_of<scalar>())} + described_shape<shape_of<X>>();
    result["chunks"] = std::to_string(chunks);
    result["optimizer"] = described(optimizer_);
    result["schedule"] = described(schedule_);
    result["loss"] = described(loss_);
    result["parts"] = parts_.settings();
    return result;
  }
  /// Errors  std::invalid_argument where no callback keeps a best one; file_error
  [[nodiscard]] auto file_of(std::string const& which) const -> std::filesystem::path {
    if (not writes()) throw std::invalid_argument("trainer: expected a folder to resume from");
    if (which == "last") return checkpoint_file();
    if (which != "best") return which;
    auto const last = safetensors::read(checkpoint_file());
    auto const name = detail::best_file_of(callbacks, last.metadata());
    if (name.empty())
      throw std::invalid_argument(checkpoint_file().string() +
                                  ": expected a best checkpoint, no model_checkpoint kept one");
    return options_.folder / name;
  }
  /// What a checkpoint says besides numbers, the last that is asked before they are loaded.
  ///
  /// Errors  safetensors_error, and nothing has changed
  void accept(training_progress const& p, training_facts const& found) {
    if (p.seed != options_.seed)
      throw safetensors_error("was trained with seed " + std::to_string(p.seed) + ", expected " +
                              std::to_string(options_.seed));
    auto const batches = found.find("batches");
    if (batches == found.end()) throw safetensors_error("does not tell the batches of an epoch");
    try {
      detail::restore_states(callbacks, found);
    } catch (std::exception const& e) {
      throw safetensors_error(e.what());
    }
    batches_of_epoch_ = batches->second;
  }
  void save_own() {
    wants_checkpoint_ = false;
    if (writes()) save(checkpoint_file());
    unsaved_ = false;
    saved_ = clock::now();
    if (not writes()) return;
    if (on_checkpoint) on_checkpoint();
    tell([&](callback& one) { one.on_checkpoint(*this); });
  }
  /// What is done between two steps; the checkpoint where it is time for one.
  void rest(bool leaves) {
    tell([&](callback& one) { one.between_steps(*this); });
    if (leaves || wants_checkpoint_ || seconds_since(saved_) >= options_.checkpoint_seconds)
      save_own();
  }
  [[nodiscard]] auto folder_of_log() const -> std::filesystem::path {
    if (resumed_from_.empty()) return options_.folder;
    auto error = std::error_code{};
    auto const beside = resumed_from_.parent_path();
    for (auto const& folder : {options_.folder, beside, beside.parent_path()})
      if (exists(folder / "log.csv", error)) return folder;
    return options_.folder;
  }
  /// Brings a log that the folder lacks, before a checkpoint is there that needs its rows.
  ///
  /// Errors  file_error where it has not the rows of the epochs before
  void check_log(std::vector<std::string> const& scores) const {
    auto const from = folder_of_log();
    auto const rows = epoch_log::rows_of(from, progress_.epoch, progress_.log, scores);
    if (from != options_.folder) write_file(options_.folder / "log.csv", rows);
  }
  /// Errors  std::invalid_argument for a text that no checkpoint holds
  void check_texts() const {
    auto texts = facts();
    texts["settings"] = options_.settings;
    for (auto const& [name, text] : texts)
      if (auto const fault = fault_of_utf8(text); not fault.empty())
        throw std::invalid_argument("trainer: the checkpoint's \"" + name + "\": " + fault);
  }
  /// Errors  std::invalid_argument where no score has the name of the monitor
  void check_monitor(std::vector<std::string> const& names) const {
    auto scores = scores_type{};
    for (auto const& name : names) scores.push_back({name});
    if (not options_.monitor.empty()) (void)detail::find_score(scores, options_.monitor, "trainer");
  }
  /// A progress that this training arrives at, with the epochs of the source that it began with.
  ///
  /// Errors  std::invalid_argument
  template <class Source> void check_progress(Source const& source) {
    auto const batches = training_batches_of(source);
    auto const now = std::to_string(batches);
    constexpr auto differ = requires { requires Source::epochs_differ; };
    auto problem = differ ? progress_.problem() : progress_.problem(options_.max_epochs, batches);
    if (resumed_ && not differ && now != batches_of_epoch_)
      problem = "an epoch has " + now + " batches, it had " + batches_of_epoch_;
    if (not problem.empty())
      throw std::invalid_argument("trainer: the checkpoint is of another training: " + problem);
    if (not differ || batches_of_epoch_.empty()) batches_of_epoch_ = now;
    epochs_ = options_.max_epochs;
    if constexpr (requires { source.epochs(); })
      if (options_.overfit_batches.is_none())  // else its first epoch is all of them
        epochs_ = std::min(epochs_, std::uint64_t{source.epochs()});
  }

  // -- epochs ------------------------------------------------------------------------------------
  [[nodiscard]] auto training_batches_of(auto const& source) const -> std::uint64_t {
    return batches_within(options_.limit_train_batches, "train", source.size());
  }
  [[nodiscard]] auto is_done() const -> bool {
    auto const has_all_steps = options_.max_steps > 0 && progress_.updates >= options_.max_steps;
    return has_all_steps || progress_.epoch >= epochs_;
  }
  [[nodiscard]] auto is_out_of_time() const -> bool {
    return options_.max_time > 0 && done_ > 0 && seconds_since(began_) >= options_.max_time;
  }
  /// Nothing as long as the training goes on.
  [[nodiscard]] auto ended() const -> std::optional<ending> {
    if (is_done()) return ending::finished;
    if (stops_) return ending::stopped_early;
    if (is_out_of_time()) return ending::out_of_time;
    return std::nullopt;
  }

  auto fit_by(auto& source, std::vector<std::string> const& scores, auto const& validate)
      -> ending {
    try {
      auto const how = run_epochs(source, scores, validate);
      tell([&](callback& one) { one.on_fit_end(*this, how); });
      return how;
    } catch (std::exception const& e) {
      tell([&](callback& one) { one.on_exception(*this, e); });
      throw;
    }
  }
  template <class Source>
  auto run_epochs(Source& source, std::vector<std::string> const& scores, auto const& validate)
      -> ending {
    auto const slots = evaluation_.slots_of(source);
    auto rows = std::optional<epoch_log>{};
    wait_on<backend>();  // an initialization may still run
    check_progress(source);
    detail::check_folders(callbacks);
    if (writes()) {
      check_texts();
      detail::make_folder(options_.folder);
      check_log(scores);
    }
    saved_ = began_ = clock::now();
    done_ = 0;
    stops_ = false;
    tell([&](callback& one) { one.on_fit_start(*this); });
    if (not resumed_ && progress_.step == 0) begin(validate);
    if (unsaved_) save_own();
    // The rows that it drops are of the checkpoint before this one.
    if (writes()) rows.emplace(options_.folder, progress_.epoch, progress_.log, scores);
    for (;;) {
      // An epoch that was begun is ended, too, where its last step was the last of all.
      if (auto const how = ended(); how && (progress_.batch == 0 || not is_done())) {
        save_own();
        return *how;
      }
      auto const begun = clock::now();
      if (not run_batches(source, slots, validate)) return ending::interrupted;
      auto const report = end_epoch(validate, scores, begun);
      if (rows) {
        rows->move_to(options_.folder);
        rows->add(report);
      }
      if (on_epoch) on_epoch(report);
      tell([&](callback& one) { one.on_train_epoch_end(*this, report); });
      rest(false);
    }
  }
  /// Before the first step of a training that is not resumed, nor goes on by another call.
  template <class Validate> void begin(Validate const& validate) {
    if constexpr (validates<Validate>)
      if (options_.num_sanity_val_steps > 0) (void)validate(options_.num_sanity_val_steps);
    parts_.begin(training_->parameters);
    wait_on<backend>();
    save_own();
  }
  /// The rest of an epoch, or of what is left of the training; false where it was interrupted, and
  /// saved.
  template <class Source, class Validate>
  auto run_batches(Source& source, auto const& slots, Validate const& validate) -> bool {
    auto const epoch = options_.overfit_batches.is_none() ? progress_.epoch : std::uint64_t{0};
    begin_epoch(source, epoch);
    auto const batches = training_batches_of(source);
    auto const every = std::max(options_.val_check_interval.of(batches), std::uint64_t{1});
    tell([&](callback& one) { one.on_train_epoch_start(*this, batches); });
    while (progress_.batch < batches && not is_done()) {
      auto const first = progress_.batch;
      begin_epoch_again(source, epoch);
      step(source, slots, batches, epoch);
      auto const ends = progress_.batch == batches;
      if constexpr (validates<Validate>)
        if (is_validated(false) && not ends && first / every != progress_.batch / every)
          (void)judge(validated_by(validate), true);
      if (ends || ended()) break;
      auto const leaves = interrupt_guard::requested() || has_enough();
      rest(leaves);
      if (leaves) return false;
    }
    if (progress_.batch == batches && not is_done() &&
        (interrupt_guard::requested() || has_enough())) {
      save_own();
      return false;
    }
    progress_.cut += batches - progress_.batch;
    return true;
  }
  void begin_epoch(auto& source, std::uint64_t epoch) {
    source.begin(epoch);
    runs_seen_ = evaluation_.runs();
  }
  /// What was evaluated meanwhile may have been this source, or what refers to it.
  void begin_epoch_again(auto& source, std::uint64_t epoch) {
    if (runs_seen_ != evaluation_.runs()) begin_epoch(source, epoch);
  }
  [[nodiscard]] auto has_enough() const -> bool {
    return options_.stop_after_batches > 0 && done_ >= options_.stop_after_batches;
  }
  [[nodiscard]] auto is_validated(bool last) const -> bool {
    return last || (progress_.epoch + 1) % options_.check_val_every_n_epoch == 0;
  }
  [[nodiscard]] auto rate() const -> double {
    return detail::rate_of(schedule_, optimizer_.rate, progress_);
  }

  [[nodiscard]] auto rate_of_last_step() const -> double {
    auto before = progress_;
    --before.updates;
    return detail::rate_of(schedule_, optimizer_.rate, before);
  }

  // -- steps -------------------------------------------------------------------------------------
  template <class Source>
  void step(Source& source, auto const& slots, std::uint64_t batches, std::uint64_t epoch) {
    auto optimizer = optimizer_;
    optimizer.rate = rate();
    stepper_.step(
        source, slots, batches, optimizer, progress_,
        [&](double loss) {
          end_batch(batches, loss);
          begin_epoch_again(source, epoch);
        },
        [&](double loss, double norm) { report_step(optimizer.rate, loss, norm); });
  }
  void report_step(double rate, double loss, double norm) {
    auto const report =
        step_report{.step = progress_.updates,
                    .rate = rate,
                    .loss = loss,
                    .gradient_norm = norm,
                    .is_logged = progress_.updates % options_.log_every_n_steps == 0,
                    .for_each = [this, runs = evaluation_.runs()](parameter_visitor const& f) {
                      if (evaluation_.runs() != runs)
                        throw std::logic_error(
                            "step_report: for_each after an evaluation, in whose memory the "
                            "gradient was");
                      visit_parameters(f);
                    }};
    if (on_step) on_step(report);
    tell([&](callback& one) { one.on_optimizer_step(*this, report); });
    if (report.is_logged)
      log_numbers(std::array<logged_number, 2>{{{"train_loss", loss}, {"gradient_norm", norm}}});
  }
  void visit_parameters(parameter_visitor const& f) const {
    for_each_parameter(
        [&](path_name const& path, auto const& w, auto const& g) {
          f(path.c_str(), {w.data(), w.size()}, {g.data(), g.size()});
        },
        training_->parameters, training_->passes[0].gradient);
  }
  void end_batch(std::uint64_t batches, double loss) {
    ++done_;
    if (on_batch) on_batch(progress_.batch, batches);
    auto const report = batch_report{
        .epoch = progress_.epoch + 1, .batch = progress_.batch, .batches = batches, .loss = loss};
    tell([&](callback& one) { one.on_train_batch_end(*this, report); });
  }

  // -- validations -------------------------------------------------------------------------------
  /// Keeps the parameters where they are the best, and tells the scores; loggers, where they are of
  /// a validation. Returns what decides.
  auto judge(scores_type scores, bool is_validation) -> double {
    auto const monitored = monitored_of(scores);
    auto report = validation_report{.epoch = progress_.epoch + 1, .step = progress_.updates};
    ++progress_.validations;
    if (monitored < progress_.best) {
      progress_.best = monitored;
      progress_.best_epoch = report.epoch;
      *best_ = training_->parameters;
      *best_statistics_ = training_->statistics;
      report.best = true;
    }
    report.scores = judged_ = std::move(scores);
    judged_at_ = progress_.updates;
    tell([&](callback& one) { one.on_validation_end(*this, report); });
    if (is_validation) log_scores("val_", report.scores);
    return monitored;
  }
  auto validated_by(auto const& validate) -> scores_type {
    tell([&](callback& one) { one.on_validation_start(*this); });
    return validate(~std::uint64_t{0});
  }
  template <class Validate>
  auto end_epoch(Validate const& validate, std::vector<std::string> const& names,
                 clock::time_point begun) -> epoch_report {
    auto const loss = progress_.loss_sum / static_cast<double>(progress_.batch);
    auto const last = ended() || progress_.epoch + 1 == epochs_;
    auto const measure = [&] {
      if constexpr (validates<Validate>)
        return validated_by(validate);
      else
        return scores_type{{"loss", loss}};
    };
    auto monitored = none;
    auto const validated = not validates<Validate> || is_validated(last);
    if (validated && judged_at_ != progress_.updates)
      monitored = judge(measure(), validates<Validate>);
    else if (validated)
      monitored = monitored_of(judged_);
    auto report = epoch_report{.epoch = progress_.epoch + 1,
                               .rate = rate_of_last_step(),
                               .training_loss = loss,
                               .monitored_loss = validated ? judged_[0].value : none,
                               .largest_gradient_norm = progress_.largest_norm,
                               .seconds = seconds_since(begun),
                               .best = progress_.best_epoch == progress_.epoch + 1,
                               .validated = validated};
    for (auto i = std::size_t{0}; i < names.size(); ++i)
      report.scores.push_back(validated ? judged_[i + 1] : named_score{names[i], none});
    if constexpr (observes)
      if (validated) (void)schedule_.observe(progress_.plateau, optimizer_.rate, monitored);
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
  [[nodiscard]] auto monitored_of(scores_type const& scores) const -> double {
    auto const& score = options_.monitor.empty()
                            ? scores[0]
                            : detail::find_score(scores, options_.monitor, "trainer");
    for (auto const& each : {scores[0], score})
      if (not std::isfinite(each.value))
        throw diverged_error("training: epoch " + std::to_string(progress_.epoch + 1) + ": the " +
                             each.name + " with frozen weights is " + std::to_string(each.value) +
                             "; " + not_finite(training_->parameters).value_or("no parameter") +
                             " is not finite; it is nan also where no target counts");
    return detail::as_cost(score, monitor_mode::of_score);
  }

  trainer_options options_;
  optimizer_type optimizer_;
  [[no_unique_address]] Schedule schedule_;
  [[no_unique_address]] Loss loss_;
  detail::part_list<Parts...> parts_;
  workers workers_;
  placed<Training, backend> training_;
  placed<parameters_type, backend> best_;
  placed<statistics_type, backend> best_statistics_;
  evaluation_type evaluation_;
  detail::stepper<Training, Loss, Parts...> stepper_;
  training_progress progress_;
  scores_type judged_;               // of the last validation of this process,
  std::uint64_t judged_at_ = never;  // and the step that it was after
  std::uint64_t epochs_ = 0;         // at most: the options', or the source's where it has fewer
  std::string batches_of_epoch_;
  std::filesystem::path resumed_from_;
  bool resumed_ = false;
  bool unsaved_ = false;         // resumed, and the own checkpoint may be another one
  std::uint64_t runs_seen_ = 0;  // of evaluations, since the epoch began
  bool stops_ = false;
  bool wants_checkpoint_ = false;
  clock::time_point began_;
  clock::time_point saved_;  // when the last checkpoint was
  std::uint64_t done_ = 0;   // batches of this fit
};

}  // namespace tessera
