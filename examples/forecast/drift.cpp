// SPDX-License-Identifier: MIT
#include "drift.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/kolmogorov_smirnov.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

namespace forecast {
namespace {

using table = xt::xtensor<double, 2>;

constexpr auto bins = std::size_t{10};
constexpr auto largest_sample = std::size_t{500};
constexpr auto least_windows = least_training_rows / bins;
constexpr auto unusual = 0.1;  // share of training windows beyond the unit of a distance

[[nodiscard]] auto sorted_column(table const& rows, std::size_t column, std::size_t begin,
                                 std::size_t end) -> std::vector<double> {
  auto values = std::vector<double>{};
  for (auto i = begin; i < end; ++i) {
    values.push_back(rows(i, column));
    if (not std::isfinite(values.back()))
      throw std::invalid_argument("drift: expected finite numbers, got " +
                                  std::to_string(values.back()) + " in row " + std::to_string(i));
  }
  std::ranges::sort(values);
  return values;
}

/// Values at `count` evenly spaced places of a sorted list, the ends among them.
[[nodiscard]] auto thinned(std::vector<double> const& sorted, std::size_t count)
    -> std::vector<double> {
  if (sorted.size() <= count) return sorted;
  auto values = std::vector<double>{};
  for (auto i = std::size_t{0}; i < count; ++i)
    values.push_back(sorted[i * (sorted.size() - 1) / (count - 1)]);
  return values;
}

/// Deciles, each once.
[[nodiscard]] auto edges_of(std::vector<double> const& sorted) -> std::vector<double> {
  auto edges = std::vector<double>{};
  for (auto i = std::size_t{1}; i < bins; ++i) {
    auto const edge = sorted[i * sorted.size() / bins];
    if (edges.empty() || edge > edges.back()) edges.push_back(edge);
  }
  return edges;
}

/// Share of the values below the first edge, from there to the second and so on.
[[nodiscard]] auto shares_of(std::vector<double> const& sorted, std::vector<double> const& edges)
    -> std::vector<double> {
  auto shares = std::vector<double>{};
  auto before = sorted.begin();
  for (auto const edge : edges) {
    auto const here = std::lower_bound(before, sorted.end(), edge);
    shares.push_back(static_cast<double>(here - before));
    before = here;
  }
  shares.push_back(static_cast<double>(sorted.end() - before));
  for (auto& s : shares) s /= static_cast<double>(sorted.size());
  return shares;
}

struct distances {
  double psi = 0, ks = 0;
};

/// A window that is part of the training rows, compared with the others of them.
[[nodiscard]] auto of_the_rest(column_statistics const& c, std::vector<double> const& window,
                               double part) -> distances {
  auto const own = shares_of(window, c.edges);
  auto rest = c.shares;
  for (auto i = std::size_t{0}; i < rest.size(); ++i)
    rest[i] = std::max(0.0, (rest[i] - part * own[i]) / (1 - part));
  // The distribution of all is that of the window and the rest, mixed.
  return {.psi = stability_index(rest, own),
          .ks = kolmogorov_smirnov(c.sample, window) / (1 - part)};
}

/// What a share of `rate` of the values exceeds.
[[nodiscard]] auto upper_quantile(std::vector<double> values, double rate) -> double {
  std::ranges::sort(values);
  auto const rank = std::ceil(static_cast<double>(values.size()) * (1 - rate));
  return values[static_cast<std::size_t>(rank) - 1];
}

/// The share of `n` values that may lie above a threshold so that of new ones no more than `rate`
/// do: a tolerance limit, which fails for one in ten sets of values. 0 where n is too small for it.
[[nodiscard]] auto tolerated(std::size_t n, double rate) -> double {
  constexpr auto doubt = 0.1;
  auto const count = boost::math::binomial{static_cast<double>(n), rate};
  auto above = 0;
  while (cdf(count, above) <= doubt) ++above;
  return std::max(0, above - 1) / static_cast<double>(n);
}

void check(table const& rows, std::vector<std::string> const& names, std::size_t window,
           double rate) {
  auto const refuse = [](std::string const& what) {
    throw std::invalid_argument("measure_training: expected " + what);
  };
  if (names.size() != rows.shape(1))
    refuse(std::to_string(rows.shape(1)) + " names, one for each column, got " +
           std::to_string(names.size()));
  if (not(rate > 0 && rate < 0.5)) refuse("a false alarm rate of (0, 0.5)");
  if (window < bins) refuse("a window of at least " + std::to_string(bins) + " rows");
  if (rows.shape(0) / window < least_windows)
    refuse("at least " + std::to_string(least_windows) + " windows of " + std::to_string(window) +
           " rows, got " + std::to_string(rows.shape(0)) + " rows");
}

/// A unit of 0 is that of a column that never changed.
[[nodiscard]] auto score_of(column_statistics const& c, distances const& d) -> double {
  auto const in_units = [](double x, double unit) { return x / std::max(unit, 1e-9); };
  return std::max(in_units(d.psi, c.psi_unit), in_units(d.ks, c.ks_unit));
}

}  // namespace

auto stability_index(std::vector<double> const& shares, std::vector<double> const& others,
                     double floor) -> double {
  if (shares.size() != others.size())
    throw std::invalid_argument("stability_index: expected " + std::to_string(shares.size()) +
                                " shares, got " + std::to_string(others.size()));
  auto sum = 0.0;
  for (auto i = std::size_t{0}; i < shares.size(); ++i) {
    auto const p = std::max(shares[i], floor);
    auto const q = std::max(others[i], floor);
    sum += (p - q) * std::log(p / q);
  }
  return sum;
}

auto kolmogorov_smirnov(std::vector<double> const& a, std::vector<double> const& b) -> double {
  if (a.empty() || b.empty())
    throw std::invalid_argument("kolmogorov_smirnov: expected two samples, got none");
  auto const step_a = 1 / static_cast<double>(a.size());
  auto const step_b = 1 / static_cast<double>(b.size());
  auto largest = 0.0;
  for (auto i = std::size_t{0}, j = std::size_t{0}; i < a.size() && j < b.size();) {
    auto const x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == x) ++i;
    while (j < b.size() && b[j] == x) ++j;
    largest = std::max(largest,
                       std::abs(static_cast<double>(i) * step_a - static_cast<double>(j) * step_b));
  }
  return largest;
}

auto kolmogorov_smirnov_p(double distance, std::size_t n, std::size_t m) -> double {
  auto const a = static_cast<double>(n);
  auto const b = static_cast<double>(m);
  if (distance <= 0) return 1;
  auto const limit = boost::math::kolmogorov_smirnov_distribution<double>{a * b / (a + b)};
  return std::clamp(cdf(complement(limit, distance)), 0.0, 1.0);
}

auto measure_training(table const& rows, std::vector<std::string> const& names, std::size_t window,
                      double false_alarm_rate) -> training_statistics {
  check(rows, names, window, false_alarm_rate);
  auto const n = rows.shape(0);
  auto const part = static_cast<double>(window) / static_cast<double>(n);
  auto const stride = std::max(std::size_t{1}, window / 4);
  auto const windows = (n - window) / stride + 1;
  auto result = training_statistics{
      .columns = {}, .window = window, .threshold = 0, .false_alarm_rate = false_alarm_rate};
  auto scores = std::vector<double>(windows, 0.0);
  for (auto j = std::size_t{0}; j < names.size(); ++j) {
    auto const sorted = sorted_column(rows, j, 0, n);
    auto c = column_statistics{};
    c.name = names[j];
    c.edges = edges_of(sorted);
    c.shares = shares_of(sorted, c.edges);
    c.sample = thinned(sorted, largest_sample);
    auto measured = std::vector<distances>{};
    auto psi = std::vector<double>{};
    auto ks = std::vector<double>{};
    for (auto w = std::size_t{0}; w < windows; ++w) {
      auto const here = sorted_column(rows, j, w * stride, w * stride + window);
      measured.push_back(of_the_rest(c, here, part));
      psi.push_back(measured.back().psi);
      ks.push_back(measured.back().ks);
    }
    c.psi_unit = upper_quantile(psi, unusual);
    c.ks_unit = upper_quantile(ks, unusual);
    for (auto w = std::size_t{0}; w < windows; ++w)
      scores[w] = std::max(scores[w], score_of(c, measured[w]));
    result.columns.push_back(std::move(c));
  }
  result.threshold = upper_quantile(scores, tolerated(n / window, false_alarm_rate));
  return result;
}

auto measure_drift(training_statistics const& training, table const& window) -> drift_report {
  if (window.shape(0) != training.window || window.shape(1) != training.columns.size())
    throw std::invalid_argument("measure_drift: expected " + std::to_string(training.window) +
                                " rows of " + std::to_string(training.columns.size()) +
                                " columns, got " + std::to_string(window.shape(0)) + " of " +
                                std::to_string(window.shape(1)));
  auto report = drift_report{};
  for (auto j = std::size_t{0}; j < training.columns.size(); ++j) {
    auto const& c = training.columns[j];
    auto const sorted = sorted_column(window, j, 0, training.window);
    auto const d = distances{.psi = stability_index(c.shares, shares_of(sorted, c.edges)),
                             .ks = kolmogorov_smirnov(c.sample, sorted)};
    report.columns.push_back({.name = c.name,
                              .psi = d.psi,
                              .ks = d.ks,
                              .p_value = kolmogorov_smirnov_p(d.ks, c.sample.size(), sorted.size()),
                              .score = score_of(c, d)});
    report.score = std::max(report.score, report.columns.back().score);
  }
  report.drifted = report.score > training.threshold;
  return report;
}

}  // namespace forecast
