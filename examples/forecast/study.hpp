// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "baselines.hpp"
#include "drift.hpp"
#include "forecaster.hpp"
#include "settings.hpp"

/// A walk forward: a model for each fold, one for the last days, and what all of them forecast.
namespace forecast {

/// What was forecast of the days of one part, and what came.
struct judged_part {
  std::string name;                                ///< "1" ... for folds, "test" for the last days
  std::string train_begin, train_end, begin, end;  ///< dates of the first and last rows
  std::vector<std::string> dates;                  ///< when forecasts were made
  std::vector<std::string> target;                 ///< the days that they are for, a horizon later
  std::vector<double> came;                        ///< on those
  std::vector<double> next_return;  ///< c(t+1) / c(t) - 1, what a position of day t makes
  std::vector<double> model;
  std::vector<baseline> baselines;
  std::vector<tessera::epoch_report> epochs;
};

/// What a model learned from, as served inputs are compared with it: see drift.hpp.
struct learned_days {
  std::string begin, end;
  training_statistics statistics;
};

/// Scales all rows of samples by what rows [begin, end) say.
[[nodiscard]] auto fit_scaling(samples const& s, day_range learned) -> scaling;
/// What drift is measured against.
[[nodiscard]] auto learned_from(samples const& s, day_range days) -> learned_days;
/// Errors  usage_error where the served model would learn from too few days for that
void check_learned(tessera::fold const& last);
/// Every row as a day; one without a target has 0 for it.
[[nodiscard]] auto make_table(samples const& s, scaling const& by) -> day_table;

/// A model that learned from one part, and its forecasts of the part behind.
struct fitted {
  std::unique_ptr<forecaster> model;
  scaling scales;
  std::vector<double> forecasts;  ///< in the target's own units
};
/// Where a model of these settings is trained.
///
/// Errors  usage_error where that is a GPU that is not there
[[nodiscard]] auto device_of(settings const& s) -> tessera::chosen_device;

/// `watches`: losses on what is judged are told after each epoch; they decide nothing.
///
/// Errors  study_interrupted
[[nodiscard]] auto fit_part(settings const& s, samples const& data, tessera::fold const& part,
                            bool watches, fit_place const& place = {}) -> fitted;

/// Ctrl-C, or a polite kill: what was done is kept in the study's folder.
struct study_interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Where a study keeps the checkpoints of its trainings, trainings/<target>-<part>, and its logs.
struct study_place {
  std::filesystem::path folder;
  bool resumes = false;
  std::function<void()> begins = {};  ///< called where nothing was refused, before any training
};

struct target_study {
  target_kind kind = target_kind::range;
  std::vector<judged_part> parts;     ///< folds by time, then the test
  attention_map attention;            ///< of the last model over the test days
  std::shared_ptr<fitted> last = {};  ///< where it was trained here
  learned_days learned = {};
};

using tell = std::function<void(std::string const&)>;  ///< a line to the user, from any thread

/// Trains and judges.
///
/// Cost    folds + 1 trainings for each target, `threads` of them at a time
/// Errors  those of the parts, the first of several; study_interrupted
[[nodiscard]] auto run_study(settings const& s, price_table const& prices, study_place const& place,
                             tell const& line) -> std::vector<target_study>;

/// The study as study.json of a folder, every number exactly, and as a table
/// forecasts-<target>.csv.
void save_study(std::filesystem::path const& folder, std::vector<target_study> const& studies);
/// Errors  tessera::file_error; usage_error for a file that is no study
[[nodiscard]] auto load_study(std::filesystem::path const& folder) -> std::vector<target_study>;

}  // namespace forecast
