// SPDX-License-Identifier: MIT
#pragma once

#include <xtensor/xtensor.hpp>

#include <string>
#include <vector>

/// Whether inputs still are what a model was trained on.
namespace forecast {

/// What is kept of one training column: plain numbers, for checkpoints.
struct column_statistics {
  std::string name;
  std::vector<double> edges;   ///< inner edges of the bins, deciles of the training rows
  std::vector<double> shares;  ///< of the training rows in each bin, edges + 1 of them
  std::vector<double> sample;  ///< sorted, at most 500 quantiles of the training rows
  double psi_unit = 0;         ///< what a tenth of the windows of the training rows exceeds
  double ks_unit = 0;
};

struct training_statistics {
  std::vector<column_statistics> columns;
  std::size_t window = 0;       ///< rows that are compared at a time
  double threshold = 0;         ///< of drift_report::score
  double false_alarm_rate = 0;  ///< of clean windows, at most
};

struct column_drift {
  std::string name;
  double psi = 0;      ///< population stability index
  double ks = 0;       ///< two-sample Kolmogorov-Smirnov statistic
  double p_value = 1;  ///< of ks, as if rows did not depend on one another
  double score = 0;    ///< the larger one of psi and ks, each in its unit
};

struct drift_report {
  std::vector<column_drift> columns;
  double score = 0;  ///< the largest of the columns'
  bool drifted = false;
};

/// sum of (p - q)·ln(p / q) over bins; a share below `floor` counts as that.
[[nodiscard]] auto stability_index(std::vector<double> const& shares,
                                   std::vector<double> const& others, double floor = 1e-4)
    -> double;
/// The largest distance of two distribution functions; both samples sorted.
[[nodiscard]] auto kolmogorov_smirnov(std::vector<double> const& a, std::vector<double> const& b)
    -> double;
/// The chance of a larger distance, of samples of n and m rows (asymptotic).
[[nodiscard]] auto kolmogorov_smirnov_p(double distance, std::size_t n, std::size_t m) -> double;

/// The fewest rows that statistics can be made of.
inline constexpr auto least_training_rows = std::size_t{400};

/// Statistics of training rows (row, column). The threshold comes from the windows of `window`
/// consecutive rows of the training rows themselves, each compared with all others, as neighboring
/// days are alike. It is a tolerance limit: new windows of the same market are flagged at most at
/// `false_alarm_rate`, for nine of ten training sets; on average about half as often.
///
/// Cost    four sorts of a window for each `window` rows and column
/// Errors  std::invalid_argument for fewer rows than 40 windows, a window of fewer than 10 rows,
///         names that are not as many as columns, numbers that are not finite, and a rate outside
///         of (0, 0.5)
[[nodiscard]] auto measure_training(xt::xtensor<double, 2> const& rows,
                                    std::vector<std::string> const& names, std::size_t window = 60,
                                    double false_alarm_rate = 0.05) -> training_statistics;

/// Compares a window of rows with those of the training.
///
/// Errors  std::invalid_argument for another number of rows or columns than the statistics were
///         made for
[[nodiscard]] auto measure_drift(training_statistics const& training,
                                 xt::xtensor<double, 2> const& window) -> drift_report;

}  // namespace forecast
