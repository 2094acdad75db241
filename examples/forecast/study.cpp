// SPDX-License-Identifier: MIT
#include "study.hpp"

#include <tessera/data/scaler.hpp>
#include <tessera/data/walk_forward.hpp>
#include <tessera/train/interrupt.hpp>
#include <tessera/train/log.hpp>

#include <xtensor/xview.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "leaks.hpp"

namespace forecast {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] auto rows_of(tessera::recording_part const& p) -> day_range {
  return {p.begin, p.end};
}

[[nodiscard]] auto rows_of(samples const& s, day_range days) -> xt::xtensor<double, 2> {
  return xt::view(s.features.values, xt::range(days.begin, days.end), xt::all());
}

/// One training of a study: a target, and a fold or the last days.
struct job {
  samples const* data = nullptr;
  tessera::fold part;
  judged_part* judged = nullptr;
  target_study* last = nullptr;  ///< of the model that is kept
};

[[nodiscard]] auto outline(price_table const& prices, samples const& s, tessera::fold const& f,
                           std::string name) -> judged_part {
  auto const& dates = s.features.dates;
  auto part = judged_part{.name = std::move(name),
                          .train_begin = dates[f.train.begin],
                          .train_end = dates[f.train.end - 1],
                          .begin = dates[f.held_out.begin],
                          .end = dates[f.held_out.end - 1],
                          .dates = {},
                          .target = {},
                          .came = {},
                          .next_return = {},
                          .model = {},
                          .baselines = baselines(s, f.train, f.held_out),
                          .epochs = {}};
  for (auto r = f.held_out.begin; r < f.held_out.end; ++r) {
    part.dates.push_back(dates[r]);
    part.came.push_back(s.target[r]);
    auto const day = s.features.first + r;
    part.target.push_back(prices.dates[day + s.horizon]);
    part.next_return.push_back(prices.close[day + 1] / prices.close[day] - 1);
  }
  return part;
}

/// Errors  usage_error for a leak
void refuse(std::vector<leak> const& found) {
  if (not found.empty()) throw usage_error("the data leaks: " + found.front().text);
}
/// Errors  usage_error for a feature that is the target, or a window that knows more than its day
void refuse_leaks(settings const& s, samples const& data, tessera::walk_forward const& parts) {
  refuse(correlated_features(data.features, data.target));
  auto folds = parts.folds;
  folds.push_back(parts.test);
  for (auto const& f : folds)
    refuse(overlapping_windows(
        f, tessera::windows({f.train}, s.look_back),
        tessera::windows({tessera::with_history(f.held_out, s.look_back)}, s.look_back),
        s.horizon));
}

/// Errors  usage_error where there are too few days
[[nodiscard]] auto split(settings const& s, std::size_t days) -> tessera::walk_forward {
  try {
    return tessera::split_forward(days, s.splits());
  } catch (std::invalid_argument const& e) {
    throw usage_error("--train-days " + std::to_string(s.train_days) + ", --folds " +
                      std::to_string(s.folds) + " of --validation-days " +
                      std::to_string(s.validation_days) + ", --test-days " +
                      std::to_string(s.test_days) + ": " + e.what());
  }
}

/// A line after each epoch.
class line_of_epoch : public tessera::callback {
 public:
  line_of_epoch(std::string title, std::uint64_t epochs, tell line)
      : title_(std::move(title)), epochs_(epochs), line_(std::move(line)) {}
  void on_train_epoch_end(tessera::fit_control&, tessera::epoch_report const& r) override {
    char text[160];
    (void)std::snprintf(text, sizeof text, "%s: epoch %llu/%llu  loss %.4f  %.1f s", title_.c_str(),
                        static_cast<unsigned long long>(r.epoch),
                        static_cast<unsigned long long>(epochs_), r.training_loss, r.seconds);
    line_(text);
  }

 private:
  std::string title_;
  std::uint64_t epochs_;
  tell line_;
};

void run_job(settings const& s, job const& j, study_place const& place, tell const& line) {
  auto const& data = *j.data;
  auto const name = name_of(data.kind) + '-' + j.judged->name;
  auto const folder = place.folder / "trainings" / name;
  auto const title =
      name_of(data.kind) + (j.last != nullptr ? ", last days" : ", fold " + j.judged->name);
  auto callbacks = tessera::callbacks{
      std::make_shared<line_of_epoch>(title, s.training.max_epochs.value_or(1), line)};
  tracking::add_loggers(callbacks, s.tracking, place.folder / "logs",
                        {.name = name,
                         .project = "forecast",
                         .group = s.data + ", " + s.model,
                         .settings = tracking::described(s)});
  auto done = fit_part(s, data, j.part, j.last == nullptr, {folder, place.resumes, callbacks});
  if (is_solved(s.model))
    line(title + ": solved in closed form, no epochs");
  else if (s.training.fast_dev_run == 0)
    j.judged->epochs = tessera::read_epoch_log(folder);
  j.judged->model = std::move(done.forecasts);
  if (j.last == nullptr) return;
  j.last->attention =
      done.model->attention(make_table(data, done.scales), rows_of(j.part.held_out), s.look_back);
  j.last->learned = learned_from(data, rows_of(j.part.train));
  j.last->last = std::make_shared<fitted>(std::move(done));
}

/// Runs all jobs, some at a time; the first failure ends the others before their next job.
void run_jobs(std::vector<job> const& jobs, std::size_t threads,
              std::function<void(job const&)> const& run) {
  auto next = std::atomic<std::size_t>{0};
  auto failure = std::exception_ptr{};
  auto lock = std::mutex{};
  auto const work = [&] {
    for (auto i = next++; i < jobs.size(); i = next++) try {
        run(jobs[i]);
      } catch (...) {
        auto const guard = std::scoped_lock{lock};
        if (not failure) failure = std::current_exception();
        next = jobs.size();
      }
  };
  auto team = std::vector<std::jthread>{};
  for (auto t = std::size_t{1}; t < std::min(threads, jobs.size()); ++t) team.emplace_back(work);
  work();
  team.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

auto fit_scaling(samples const& s, day_range learned) -> scaling {
  auto const features = tessera::standard_scaler::fit(rows_of(s, learned));
  auto target = xt::xtensor<double, 2>(std::array{learned.size(), std::size_t{1}});
  for (auto r = learned.begin; r < learned.end; ++r) target(r - learned.begin, 0) = s.target[r];
  auto const of_target = tessera::standard_scaler::fit(target);
  return {.feature_shift = {features.shift.begin(), features.shift.end()},
          .feature_scale = {features.scale.begin(), features.scale.end()},
          .target_shift = of_target.shift(0),
          .target_scale = of_target.scale(0)};
}

void check_learned(tessera::fold const& last) {
  if (last.train.length() < least_training_rows)
    throw usage_error("expected at least " + std::to_string(least_training_rows) +
                      " days to learn from before the last ones, got " +
                      std::to_string(last.train.length()) +
                      ": more prices, a larger --train-days, or fewer --test-days");
}

auto learned_from(samples const& s, day_range days) -> learned_days {
  // A quarter of a year at a time, where there are enough of them to tell what is usual.
  auto const window = std::min(std::size_t{60}, days.size() / 40);
  return {s.features.dates[days.begin], s.features.dates[days.end - 1],
          measure_training(rows_of(s, days), s.features.names, window)};
}

auto make_table(samples const& s, scaling const& by) -> day_table {
  auto const rows = s.features.rows();
  auto const columns = by.feature_shift.size();
  auto table = tessera::recording{xt::xtensor<float, 2>(std::array{rows, columns}),
                                  xt::zeros<float>({rows, std::size_t{1}})};
  for (auto r = std::size_t{0}; r < rows; ++r)
    for (auto c = std::size_t{0}; c < columns; ++c)
      table.inputs(r, c) = by.feature(c, s.features.values(r, c));
  for (auto r = std::size_t{0}; r < s.size(); ++r)
    table.targets(r, 0) = static_cast<float>((s.target[r] - by.target_shift) / by.target_scale);
  return std::make_shared<tessera::recordings>(1, std::move(table));
}

auto device_of(settings const& s) -> tessera::chosen_device {
  auto const gpu = on_gpu(s.choice());
  auto const name = is_solved(s.model) ? s.model : s.model + " of " + std::to_string(s.hidden);
  return tessera::choose_device(s.training.device, gpu.answers,
                                gpu.train == nullptr ? "the model " + name : "");
}

auto fit_part(settings const& s, samples const& data, tessera::fold const& part, bool watches,
              fit_place const& place) -> fitted {
  auto const held = rows_of(part.held_out);
  auto result = fitted{.model = make_forecaster(s.choice()),
                       .scales = fit_scaling(data, rows_of(part.train)),
                       .forecasts = {}};
  auto const table = make_table(data, result.scales);
  auto const by = device_of(s).cuda ? on_gpu(s.choice()).train : nullptr;
  auto const how = result.model->train(table, rows_of(part.train), watches ? held : day_range{},
                                       s.fit(), place, by);
  if (how == tessera::ending::interrupted) throw study_interrupted("interrupted");
  for (auto const y : result.model->predict(table, held, s.look_back))
    result.forecasts.push_back(result.scales.forecast(y));
  return result;
}

auto run_study(settings const& s, price_table const& prices, study_place const& place,
               tell const& line) -> std::vector<target_study> {
  auto const kinds = s.kinds();
  auto data = std::vector<samples>{};
  auto studies = std::vector<target_study>(kinds.size());
  for (auto const kind : kinds) data.push_back(make_samples(prices, kind, s.horizon));
  refuse(features_of_future(features, prices, 1, s.seed));  // the same for all targets
  auto jobs = std::vector<job>{};
  for (auto k = std::size_t{0}; k < kinds.size(); ++k) {
    auto const parts = split(s, data[k].size());
    refuse_leaks(s, data[k], parts);
    check_learned(parts.test);
    studies[k].kind = kinds[k];
    for (auto const& f : parts.folds)
      studies[k].parts.push_back(
          outline(prices, data[k], f, std::to_string(studies[k].parts.size() + 1)));
    studies[k].parts.push_back(outline(prices, data[k], parts.test, "test"));
    for (auto i = std::size_t{0}; i <= parts.folds.size(); ++i) {
      auto const is_last = i == parts.folds.size();
      jobs.push_back({&data[k], is_last ? parts.test : parts.folds[i], &studies[k].parts[i],
                      is_last ? &studies[k] : nullptr});
    }
  }
  std::ranges::stable_sort(jobs, std::ranges::greater{},
                           [](job const& j) { return j.part.train.length(); });
  auto lock = std::mutex{};
  auto const one_at_a_time = [&](std::string const& text) {
    auto const guard = std::scoped_lock{lock};
    line(text);
  };
  auto const threads = s.training.options().threads;
  auto const guard = tessera::interrupt_guard{};
  if (place.begins) place.begins();
  run_jobs(jobs, threads, [&](job const& j) { run_job(s, j, place, one_at_a_time); });
  return studies;
}

}  // namespace forecast
