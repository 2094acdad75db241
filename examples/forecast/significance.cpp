// SPDX-License-Identifier: MIT
#include "significance.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace forecast {
namespace {

void check(std::size_t forecasts, std::size_t other, std::size_t n, std::size_t horizon) {
  constexpr auto least = std::size_t{8};
  if (n < least)
    throw std::invalid_argument("diebold_mariano: expected at least " + std::to_string(least) +
                                " rows, got " + std::to_string(n));
  if (forecasts != n || other != n)
    throw std::invalid_argument("diebold_mariano: expected " + std::to_string(n) +
                                " forecasts of each, got " + std::to_string(forecasts) + " and " +
                                std::to_string(other));
  if (horizon == 0 || horizon > n / 3)
    throw std::invalid_argument("diebold_mariano: expected a horizon of 1 to " +
                                std::to_string(n / 3) + ", a third of the rows, got " +
                                std::to_string(horizon));
}

/// sum of (x(t) - mean)·(x(t - lag) - mean) / n.
[[nodiscard]] auto autocovariance(std::vector<double> const& x, double mean, std::size_t lag)
    -> double {
  auto sum = 0.0;
  for (auto t = lag; t < x.size(); ++t) sum += (x[t] - mean) * (x[t - lag] - mean);
  return sum / static_cast<double>(x.size());
}

/// Newey and West's variance of the sum over sqrt(n), with falling weights for `horizon` - 1 lags.
[[nodiscard]] auto long_run_variance(std::vector<double> const& x, double mean, std::size_t horizon)
    -> double {
  auto variance = autocovariance(x, mean, 0);
  for (auto lag = std::size_t{1}; lag < horizon; ++lag)
    variance += 2 * (1 - static_cast<double>(lag) / static_cast<double>(horizon)) *
                autocovariance(x, mean, lag);
  return variance;
}

/// The smallest number whose cube is above n: the cube root as lags, and one.
[[nodiscard]] auto bandwidth_of(std::size_t n) -> std::size_t {
  auto k = std::size_t{1};
  while (k * k * k <= n) ++k;
  return k;
}

/// The factor of Harvey, Leybourne and Newbold.
[[nodiscard]] auto small_sample_factor(double n, double h) -> double {
  return std::sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n);
}

[[nodiscard]] auto shown(double p) -> std::string {
  char text[32];
  std::snprintf(text, sizeof text, "p = %.3g", p);
  return text;
}

}  // namespace

auto diebold_mariano(std::span<double const> forecasts, std::span<double const> other,
                     std::span<double const> came, std::size_t horizon, correction c)
    -> diebold_mariano_result {
  check(forecasts.size(), other.size(), came.size(), horizon);
  auto const n = static_cast<double>(came.size());
  auto losses = std::vector<double>(came.size());
  auto sum = 0.0;
  for (auto i = std::size_t{0}; i < came.size(); ++i) {
    auto const one = forecasts[i] - came[i];
    auto const two = other[i] - came[i];
    losses[i] = one * one - two * two;
    sum += losses[i];
  }
  if (not std::isfinite(sum))
    throw std::invalid_argument("diebold_mariano: expected finite numbers");
  auto result = diebold_mariano_result{.difference = sum / n, .n = came.size()};
  auto const factor =
      c == correction::harvey ? small_sample_factor(n, static_cast<double>(horizon)) : 1;
  auto const statistic = [&](std::size_t bandwidth) {
    auto const variance = long_run_variance(losses, result.difference, bandwidth);
    return variance > 0 ? factor * result.difference / std::sqrt(variance / n) : 0;
  };
  auto const p_value = [&](double t) {
    return c == correction::harvey
               ? 2 * cdf(complement(boost::math::students_t{n - 1}, std::abs(t)))
               : 2 * cdf(complement(boost::math::normal{}, std::abs(t)));
  };
  result.statistic = statistic(horizon);
  result.p_value = p_value(result.statistic);
  result.p_value_robust = p_value(statistic(std::max(horizon, bandwidth_of(came.size()))));
  return result;
}

auto stricter(diebold_mariano_result const& r) -> double {
  return std::isnan(r.p_value) ? r.p_value : std::max(r.p_value, r.p_value_robust);
}

auto judge(std::vector<comparison> const& tests, double level) -> verdict {
  if (tests.empty()) throw std::invalid_argument("judge: expected comparisons, got none");
  auto better = std::string{};
  auto reasons = std::string{};
  auto const append = [](std::string& to, std::string const& what) {
    to += (to.empty() ? "" : "; ") + what;
  };
  for (auto const& t : tests) {
    auto const strict = stricter(t.result);
    auto const p = ", " + shown(strict);
    auto const significant = strict < level;
    if (significant && t.result.difference < 0)
      append(better, "better than " + t.against + p);
    else
      append(reasons, (significant ? "worse than " : "no better than ") + t.against + p);
  }
  if (reasons.empty()) return {.skill = true, .text = better, .reason = {}};
  return {.skill = false, .text = "no skill", .reason = reasons};
}

}  // namespace forecast
