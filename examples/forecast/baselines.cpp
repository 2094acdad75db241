// SPDX-License-Identifier: MIT
#include "baselines.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include "least_squares.hpp"

namespace forecast {
namespace {

using rows = tessera::recording_part;
using vector = std::vector<double>;

/// Columns of numbers that a regression reads: value(row, column).
struct regressors {
  std::size_t columns;
  std::function<double(std::size_t, std::size_t)> value;
};

/// y = mean + sum of coefficient·(x - shift) / scale.
struct regression {
  double mean = 0;
  vector shift, scale, coefficient;

  [[nodiscard]] auto forecast(regressors const& x, std::size_t row) const -> double {
    auto y = mean;
    for (auto j = std::size_t{0}; j < coefficient.size(); ++j)
      y += coefficient[j] * (x.value(row, j) - shift[j]) / scale[j];
    return y;
  }
};

/// Mean and deviation of each column.
void scale_columns(regression& r, regressors const& x, rows const& part) {
  auto const n = static_cast<double>(part.length());
  for (auto j = std::size_t{0}; j < x.columns; ++j) {
    auto sum = 0.0;
    for (auto i = part.begin; i < part.end; ++i) sum += x.value(i, j);
    auto spread = 0.0;
    for (auto i = part.begin; i < part.end; ++i)
      spread += (x.value(i, j) - sum / n) * (x.value(i, j) - sum / n);
    r.shift.push_back(sum / n);
    r.scale.push_back(spread > 0 ? std::sqrt(spread / n) : 1);
  }
}

/// Least squares with penalty·|coefficients|²; the mean is free of it.
[[nodiscard]] auto fit(regressors const& x, vector const& target, rows const& part, double penalty)
    -> regression {
  auto r = regression{};
  for (auto i = part.begin; i < part.end; ++i) r.mean += target[i];
  r.mean /= static_cast<double>(part.length());
  scale_columns(r, x, part);
  auto a = symmetric{.n = x.columns};
  auto b = vector(x.columns, 0.0);
  auto z = vector(x.columns);
  for (auto i = part.begin; i < part.end; ++i) {
    for (auto j = std::size_t{0}; j < x.columns; ++j)
      z[j] = (x.value(i, j) - r.shift[j]) / r.scale[j];
    for (auto j = std::size_t{0}; j < x.columns; ++j) {
      b[j] += z[j] * (target[i] - r.mean);
      for (auto k = std::size_t{0}; k <= j; ++k) a(j, k) += z[j] * z[k];
    }
  }
  for (auto j = std::size_t{0}; j < x.columns; ++j) a(j, j) += penalty;
  r.coefficient = solve(std::move(a), std::move(b));
  return r;
}

void check(samples const& s, rows const& train, rows const& held_out, double penalty) {
  constexpr auto least = std::size_t{32};
  auto const refuse = [](std::string const& what) {
    throw std::invalid_argument("baselines: " + what);
  };
  if (train.begin > train.end || train.end > s.size())
    refuse("training rows " + std::to_string(train.begin) + " to " + std::to_string(train.end) +
           " of " + std::to_string(s.size()));
  if (held_out.begin > held_out.end || held_out.end > s.features.rows())
    refuse("held-out rows " + std::to_string(held_out.begin) + " to " +
           std::to_string(held_out.end) + " of " + std::to_string(s.features.rows()));
  if (train.length() < least)
    refuse("expected at least " + std::to_string(least) + " training rows, got " +
           std::to_string(train.length()));
  if (train.end - 1 + s.horizon >= held_out.begin)
    refuse("training targets reach into the held-out rows, which begin with row " +
           std::to_string(held_out.begin));
  if (not(penalty >= 0)) refuse("expected a penalty of at least 0");
}

/// The first row whose latest known target lies in the data.
[[nodiscard]] auto first_known(samples const& s) -> std::size_t {
  return s.horizon - std::min(s.horizon, s.features.first);
}

}  // namespace

auto baselines(samples const& s, rows const& train, rows const& held_out, double penalty)
    -> std::vector<baseline> {
  check(s, train, held_out, penalty);
  auto const known = [&](std::size_t i, std::size_t) { return s.known[i]; };
  auto const range = [&](std::size_t i, std::size_t j) { return s.range[i][j]; };
  auto const all = [&](std::size_t i, std::size_t j) { return s.features.values(i, j); };
  auto const rows_known = rows{0, std::max(train.begin, first_known(s)), train.end};
  auto result = std::vector<baseline>{};
  auto const add = [&](char const* name, auto const& forecast) {
    result.push_back({.name = name, .forecasts = {}});
    for (auto i = held_out.begin; i < held_out.end; ++i)
      result.back().forecasts.push_back(forecast(i));
  };
  auto const add_fitted = [&](char const* name, regressors const& x, rows const& part,
                              double weight) {
    auto const fitted = fit(x, s.target, part, weight);
    add(name, [&](std::size_t i) { return fitted.forecast(x, i); });
  };
  add("zero", [](std::size_t) { return 0.0; });
  add_fitted("mean", {0, known}, train, 0);
  add("persistence", [&](std::size_t i) { return s.known[i]; });
  add_fitted("ar1", {1, known}, rows_known, 0);
  add_fitted("har", {3, range}, train, 0);
  add_fitted("ridge", {s.features.names.size(), all}, train, penalty);
  return result;
}

}  // namespace forecast
