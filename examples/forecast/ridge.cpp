// SPDX-License-Identifier: MIT
#include "ridge.hpp"

#include <stdexcept>
#include <string>

#include "least_squares.hpp"

namespace forecast {

namespace {

/// The rows that were learned from as numbers in double; a window's column is a day and a feature.
struct window_columns {
  std::size_t look_back, features, windows;
  std::vector<double> x, y;

  [[nodiscard]] auto count() const -> std::size_t { return look_back * features; }
  [[nodiscard]] auto value(std::size_t window, std::size_t column) const -> double {
    return x[window * features + column];
  }
};

[[nodiscard]] auto columns_of(tessera::recording const& days, tessera::recording_part const& learn,
                              std::size_t look_back) -> window_columns {
  auto c = window_columns{.look_back = look_back,
                          .features = days.inputs.shape(1),
                          .windows = learn.length() + 1 - look_back,
                          .x = {},
                          .y = {}};
  for (auto r = learn.begin; r < learn.end; ++r)
    for (auto f = std::size_t{0}; f < c.features; ++f)
      c.x.push_back(static_cast<double>(days.inputs(r, f)));
  for (auto r = learn.begin + look_back - 1; r < learn.end; ++r)
    c.y.push_back(static_cast<double>(days.targets(r, 0)));
  return c;
}

[[nodiscard]] auto mean_of(std::vector<double> const& values) -> double {
  auto sum = 0.0;
  for (auto const v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

[[nodiscard]] auto means_of(window_columns const& c) -> std::vector<double> {
  auto means = std::vector<double>(c.count(), 0.0);
  for (auto w = std::size_t{0}; w < c.windows; ++w)
    for (auto j = std::size_t{0}; j < means.size(); ++j) means[j] += c.value(w, j);
  for (auto& m : means) m /= static_cast<double>(c.windows);
  return means;
}

/// The sums over windows of products of two columns.
[[nodiscard]] auto products_of(window_columns const& c) -> symmetric {
  auto a = symmetric{.n = c.count()};
  for (auto w = std::size_t{0}; w < c.windows; ++w)
    for (auto j = std::size_t{0}; j < a.n; ++j)
      for (auto k = std::size_t{0}; k < c.features; ++k) a(j, k) += c.value(w, j) * c.value(w, k);
  for (auto j = c.features; j < a.n; ++j)
    for (auto k = c.features; k <= j; ++k) {
      auto const i = j - c.features;
      auto const l = k - c.features;
      a(j, k) =
          a(i, l) - c.value(0, i) * c.value(0, l) + c.value(c.windows, i) * c.value(c.windows, l);
    }
  return a;
}

void check(tessera::recording const& days, tessera::recording_part const& learn,
           std::size_t look_back, double penalty) {
  if (learn.begin > learn.end || learn.end > days.length() || look_back == 0 ||
      learn.length() < look_back + 1)
    throw std::invalid_argument("ridge: expected at least two windows of " +
                                std::to_string(look_back) + " days, got rows " +
                                std::to_string(learn.begin) + " to " + std::to_string(learn.end) +
                                " of " + std::to_string(days.length()));
  if (not(penalty >= 0))
    throw std::invalid_argument("ridge: expected a penalty of at least 0, got " +
                                std::to_string(penalty));
}

}  // namespace

auto window_regression::at(tessera::recording const& days, std::size_t last) const -> double {
  auto const features = days.inputs.shape(1);
  auto const first = last + 1 - weight.size() / features;
  auto y = bias;
  for (auto j = std::size_t{0}; j < weight.size(); ++j)
    y += weight[j] * static_cast<double>(days.inputs(first + j / features, j % features));
  return y;
}

auto fit_ridge(tessera::recording const& days, tessera::recording_part const& learn,
               std::size_t look_back, double penalty) -> window_regression {
  check(days, learn, look_back, penalty);
  auto const c = columns_of(days, learn, look_back);
  auto const n = static_cast<double>(c.windows);
  auto const means = means_of(c);
  auto const mean = mean_of(c.y);
  auto a = products_of(c);
  auto b = std::vector<double>(a.n, 0.0);
  for (auto w = std::size_t{0}; w < c.windows; ++w)
    for (auto j = std::size_t{0}; j < a.n; ++j) b[j] += c.value(w, j) * (c.y[w] - mean);
  for (auto j = std::size_t{0}; j < a.n; ++j) {
    for (auto k = std::size_t{0}; k <= j; ++k) a(j, k) -= n * means[j] * means[k];
    a(j, j) += penalty;
  }
  auto result = window_regression{.weight = solve(std::move(a), std::move(b)), .bias = mean};
  for (auto j = std::size_t{0}; j < means.size(); ++j) result.bias -= result.weight[j] * means[j];
  return result;
}

}  // namespace forecast
