// SPDX-License-Identifier: MIT
#include "market.hpp"

#include <tessera/core/elementary.hpp>
#include <tessera/random/torch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace forecast {
namespace {

constexpr auto steps = std::size_t{32};  // of a trading day
constexpr auto night = 0.2;              // share of a day's variance between close and open

/// One day's normal numbers: the night's, the volume's, and one for each step.
using shocks = std::array<double, steps + 2>;

/// Prices of one day, relative to the close before it, as logarithms.
struct day {
  double open = 0, high = 0, low = 0, close = 0;
};

[[nodiscard]] auto walk(shocks const& z, double deviation) -> day {
  auto at = deviation * std::sqrt(night) * z[0];
  auto d = day{.open = at, .high = at, .low = at, .close = at};
  auto const step = deviation * std::sqrt((1 - night) / static_cast<double>(steps));
  for (auto i = std::size_t{0}; i < steps; ++i) {
    at += step * z[i + 2];
    d.high = std::max(d.high, at);
    d.low = std::min(d.low, at);
  }
  d.close = at;
  return d;
}

/// Weekdays from 2000-01-03, a Monday, on.
[[nodiscard]] auto weekday(std::size_t i) -> std::string {
  using namespace std::chrono;
  auto const start = sys_days{year{2000} / 1 / 3};
  auto const date = year_month_day{start + days{static_cast<int>(i / 5 * 7 + i % 5)}};
  char text[16];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

void check(std::size_t days, garch const& g) {
  constexpr auto most = std::size_t{1'000'000};  // the year 5833
  if (days == 0 || days > most)
    throw std::invalid_argument("synthetic_market: expected 1 to " + std::to_string(most) +
                                " days, got " + std::to_string(days));
  if (not(g.omega > 0 && g.alpha >= 0 && g.beta >= 0 && g.alpha + g.beta < 1))
    throw std::invalid_argument(
        "synthetic_market: expected omega above 0, alpha and beta of at least 0 and a sum below 1");
}

}  // namespace

auto synthetic_market(std::size_t days, std::uint64_t seed, garch const& g) -> price_table {
  namespace lane = tessera::lane;
  check(days, g);
  auto random = tessera::torch_generator{seed};
  auto p = price_table{};
  auto close = 1000.0;
  auto variance = g.omega / (1 - g.alpha - g.beta);
  auto activity = 0.0;
  for (auto i = std::size_t{0}; i < days; ++i) {
    auto z = shocks{};
    random.normal(z.data(), z.size());
    auto const d = walk(z, std::sqrt(variance));
    auto const start = close * lane::exp(g.drift);
    auto const at = [&](double logarithm) { return start * lane::exp(logarithm); };
    activity = 0.8 * activity + 10 * (d.high - d.low) + 0.15 * z[1];
    p.dates.push_back(weekday(i));
    p.open.push_back(at(d.open));
    p.high.push_back(at(d.high));
    p.low.push_back(at(d.low));
    p.close.push_back(close = at(d.close));
    p.volume.push_back(std::floor(1e9 * lane::exp(activity)));
    variance = g.omega + g.alpha * d.close * d.close + g.beta * variance;
  }
  return p;
}

}  // namespace forecast
