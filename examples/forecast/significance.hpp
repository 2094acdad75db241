// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

/// Whether a forecast is better than another by more than chance.
namespace forecast {

struct diebold_mariano_result {
  double difference =
      0;  ///< mean loss of the first minus that of the second: below 0, it is better
  double statistic = 0;
  double p_value = 1;         ///< two-sided
  double p_value_robust = 1;  ///< the same by the cube root of n lags, where those are more
  std::size_t n = 0;
};

enum class correction {
  none,   ///< normal distribution
  harvey  ///< Harvey, Leybourne and Newbold 1997: for small samples, Student's t with n - 1
};

/// Diebold-Mariano test of squared errors, with the variance of Newey and West over horizon - 1
/// lags, as forecasts that miss nothing they could know need; and over the cube root of n lags, as
/// losses of wild days follow each other. Losses that differ nowhere have the p-value 1.
///
/// Errors  std::invalid_argument for fewer than 8 rows, numbers that differ, a horizon of 0 or more
///         than a third of the rows
/// Source  Diebold and Mariano 1995; reference values: tests/reference/forecast_significance.py
[[nodiscard]] auto diebold_mariano(std::span<double const> forecasts, std::span<double const> other,
                                   std::span<double const> came, std::size_t horizon,
                                   correction c = correction::none) -> diebold_mariano_result;

/// The larger of both p-values.
[[nodiscard]] auto stricter(diebold_mariano_result const& r) -> double;

struct comparison {
  std::string against;  ///< as "HAR"
  diebold_mariano_result result;
};

struct verdict {
  bool skill = false;
  std::string text;    ///< "better than HAR, p = 0.012", or "no skill"
  std::string reason;  ///< "no better than zero, p = 0.41": never a claim that a test denies
};

/// Skill is a smaller loss than every one of `tests`, each significant at `level` by both p-values:
/// the larger one is told.
///
/// Errors  std::invalid_argument for no tests
[[nodiscard]] auto judge(std::vector<comparison> const& tests, double level = 0.05) -> verdict;

}  // namespace forecast
