// SPDX-License-Identifier: MIT
#include "drift_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace forecast {

namespace {

[[nodiscard]] auto is_finite(std::span<double const> features) -> bool {
  return std::ranges::all_of(features, [](double x) { return std::isfinite(x); });
}

/// The model's runner, which tells the monitor of every row that it answers.
class watched_runner final : public tessera::model_runner {
 public:
  watched_runner(std::unique_ptr<tessera::model_runner> runner,
                 std::shared_ptr<drift_monitor> monitor, std::size_t look_back)
      : runner_(std::move(runner)), monitor_(std::move(monitor)), look_back_(look_back) {}
  void run(std::span<tessera::inference_step> steps) override {
    runner_->run(steps);
    for (auto const& step : steps) {
      auto const values = std::span{std::get<std::vector<double>>(step.inputs[0].values)};
      for (auto row = std::size_t{0}; row < step.rows; ++row)
        monitor_->add(values.subspan(((row + 1) * look_back_ - 1) * feature_count, feature_count));
    }
  }

 private:
  std::unique_ptr<tessera::model_runner> runner_;
  std::shared_ptr<drift_monitor> monitor_;
  std::size_t look_back_;
};

}  // namespace

drift_monitor::drift_monitor(training_statistics statistics, tessera::metrics& counted,
                             tessera::metric_labels const& labels)
    : statistics_(std::move(statistics)),
      score_(counted.gauge_of("forecast_input_drift_score",
                              "Distance of the last window of different days from the training's.",
                              labels)),
      drifted_(counted.gauge_of("forecast_input_drifted",
                                "1 where that distance is more than chance gives.", labels)),
      windows_(counted.counter_of("forecast_input_windows_total",
                                  "Windows of different days that were measured.", labels)) {}

auto drift_monitor::has(std::vector<double> const& day, std::string const& date) const -> bool {
  return std::ranges::find(days_, day) != days_.end() ||
         (not date.empty() && std::ranges::find(dates_, date) != dates_.end());
}

void drift_monitor::add(std::span<double const> features) {
  if (not is_finite(features)) return;
  auto day = std::vector<double>(features.begin(), features.end());
  auto const lock = std::scoped_lock{mutex_};
  auto const told = told_.find(day);
  auto date = told == told_.end() ? std::string{} : told->second;
  if (has(day, date)) return;
  days_.push_back(std::move(day));
  dates_.push_back(std::move(date));
  if (days_.size() < statistics_.window) return;
  auto rows = xt::xtensor<double, 2>(std::array{statistics_.window, feature_count});
  for (auto i = std::size_t{0}; i < days_.size(); ++i)
    std::ranges::copy(days_[i], rows.data() + i * feature_count);
  auto const found = measure_drift(statistics_, rows);
  score_.set(found.score);
  drifted_.set(found.drifted ? 1 : 0);
  windows_.add();
  days_.clear();
  dates_.clear();
}

void drift_monitor::tell_date(std::span<double const> features, std::string const& date) {
  constexpr auto most = std::size_t{1000};
  if (not is_finite(features)) return;
  auto const lock = std::scoped_lock{mutex_};
  if (told_.size() >= most) told_.clear();
  told_[{features.begin(), features.end()}] = date;
}

served_version_model::served_version_model(described_model m, tessera::metrics& counted,
                                           tessera::metric_labels const& labels)
    : description(std::move(m.description)),
      model_(m.model->serve(description.scales, description.look_back)),
      monitor_(std::make_shared<drift_monitor>(description.learned.statistics, counted, labels)) {}

auto served_version_model::inputs() const -> std::vector<tessera::tensor_spec> const& {
  return model_->inputs();
}
auto served_version_model::outputs() const -> std::vector<tessera::tensor_spec> const& {
  return model_->outputs();
}
auto served_version_model::most_rows() const -> std::size_t { return model_->most_rows(); }
auto served_version_model::objection(std::span<tessera::served_tensor const> given) const
    -> std::string {
  constexpr auto farthest = 1e6;  // standard deviations
  auto const shown = [](double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return std::string{text};
  };
  auto const& values = std::get<std::vector<double>>(given[0].values);
  for (auto i = std::size_t{0}; i < values.size(); ++i) {
    auto const column = i % feature_count;
    auto const middle = description.scales.feature_shift[column];
    auto const most = farthest * description.scales.feature_scale[column];
    if (std::abs(values[i] - middle) <= most) continue;
    return "input \"" + given[0].name + "\": element " + std::to_string(i) + ", " +
           feature_names[column] + ": expected a number from " + shown(middle - most) + " to " +
           shown(middle + most) + ", got " + shown(values[i]);
  }
  return {};
}
auto served_version_model::make_runner() const -> std::unique_ptr<tessera::model_runner> {
  return std::make_unique<watched_runner>(model_->make_runner(), monitor_, description.look_back);
}
void served_version_model::tell_date(std::span<double const> features,
                                     std::string const& date) const {
  monitor_->tell_date(features.last(feature_count), date);
}

}  // namespace forecast
