// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/metrics.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "model_file.hpp"

namespace forecast {

/// Watches what a served version is asked: the last day of each request, a window of different days
/// at a time, beside what the version learned from. A day that is asked for again counts once.
///
/// State  the days of the window so far; threads may add at once
class drift_monitor {
 public:
  drift_monitor(training_statistics statistics, tessera::metrics& counted,
                tessera::metric_labels const& labels);

  /// The 15 features of a day. One that is in the window is known by its date, where it was told,
  /// or by its features.
  void add(std::span<double const> features);
  /// The date of features that come: they hang on how much a request says of the days before.
  void tell_date(std::span<double const> features, std::string const& date);

 private:
  [[nodiscard]] auto has(std::vector<double> const& day, std::string const& date) const -> bool;

  std::mutex mutex_;
  training_statistics statistics_;
  std::vector<std::vector<double>> days_;
  std::vector<std::string> dates_;                   // of days_; "" where none was told
  std::map<std::vector<double>, std::string> told_;  // bounded: a date that is lost costs little
  tessera::gauge& score_;
  tessera::gauge& drifted_;
  tessera::counter& windows_;
};

/// A version as a server has it: its model, what it was made from, and who watches its inputs.
class served_version_model final : public tessera::served_model {
 public:
  served_version_model(described_model m, tessera::metrics& counted,
                       tessera::metric_labels const& labels);

  [[nodiscard]] auto inputs() const -> std::vector<tessera::tensor_spec> const& override;
  [[nodiscard]] auto outputs() const -> std::vector<tessera::tensor_spec> const& override;
  [[nodiscard]] auto most_rows() const -> std::size_t override;
  /// To features too far from what was learned for a number to come of them.
  [[nodiscard]] auto objection(std::span<tessera::served_tensor const> given) const
      -> std::string override;
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<tessera::model_runner> override;

  /// The date of the last day of a request's inputs.
  void tell_date(std::span<double const> features, std::string const& date) const;

  model_description const description;

 private:
  std::unique_ptr<tessera::served_model> model_;
  std::shared_ptr<drift_monitor> monitor_;
};

}  // namespace forecast
