// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "bands.hpp"
#include "scores.hpp"
#include "significance.hpp"
#include "strategy.hpp"
#include "study.hpp"

/// What a study says, judged: figures beside all baselines, and no claim that a test denies.
namespace forecast {

struct named_scores {
  std::string name;  ///< "model", or a baseline
  scores figures;
};

/// Days that are judged together.
struct judged_days {
  std::string name;  ///< "walk forward", "fold 1" ..., "last days"
  std::string begin, end;
  std::vector<named_scores> all;  ///< the model first
  std::vector<comparison> tests;  ///< Diebold-Mariano, of the model against others
  double ratio_to_har = 0;        ///< of mean squared errors
  verdict judgement;

  [[nodiscard]] auto of(std::string const& name) const -> scores const&;
};

struct target_report {
  target_kind kind = target_kind::range;
  bool solved = false;  ///< in closed form: there are no epochs
  judged_days walk_forward;
  std::vector<judged_days> folds;
  judged_days last_days;
  bool relative_bands = false;  ///< factors of the forecast, where values are never negative
  std::vector<band> bands;      ///< quantiles of what the folds missed by
  strategy traded;              ///< the last days; nothing where the target has no sign
  strategy held;                ///< the same days, bought and held
};

/// Errors  those of the scores and tests
[[nodiscard]] auto make_report(target_study const& study, settings const& s) -> target_report;

/// One object: for each target its figures by name.
[[nodiscard]] auto to_json(std::vector<target_report> const& reports) -> std::string;
/// The same as a table for a terminal.
[[nodiscard]] auto to_text(std::vector<target_report> const& reports) -> std::string;

}  // namespace forecast
