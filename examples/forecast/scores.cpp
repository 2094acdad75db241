// SPDX-License-Identifier: MIT
#include "scores.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace forecast {
namespace {

[[nodiscard]] auto sign(double x) -> int { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

auto scores_of(std::span<double const> forecasts, std::span<double const> came, double epsilon)
    -> scores {
  if (came.empty()) throw std::invalid_argument("scores: expected rows, got none");
  if (forecasts.size() != came.size())
    throw std::invalid_argument("scores: expected " + std::to_string(came.size()) +
                                " forecasts, got " + std::to_string(forecasts.size()));
  auto s = scores{.n = came.size()};
  auto const n = static_cast<double>(s.n);
  auto sum = 0.0;
  for (auto const y : came) sum += y;
  auto spread = 0.0;
  for (auto i = std::size_t{0}; i < s.n; ++i) {
    auto const y = came[i];
    auto const error = forecasts[i] - y;
    s.mse += error * error / n;
    s.mae += std::abs(error) / n;
    s.direction_accuracy += sign(forecasts[i]) == sign(y) ? 1 / n : 0;
    spread += (y - sum / n) * (y - sum / n) / n;
    if (std::abs(y) <= epsilon) continue;
    ++s.mape_rows;
    s.mape += std::abs(error / y);
  }
  s.rmse = std::sqrt(s.mse);
  s.r2 = spread > 0 ? 1 - s.mse / spread : 0;
  if (s.mape_rows > 0) s.mape /= static_cast<double>(s.mape_rows);
  return s;
}

}  // namespace forecast
