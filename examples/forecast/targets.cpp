// SPDX-License-Identifier: MIT
#include "targets.hpp"

#include <cmath>
#include <stdexcept>

namespace forecast {
namespace {

constexpr auto kinds =
    std::array{target_kind::value_return, target_kind::direction, target_kind::range};

[[nodiscard]] auto range_of(price_table const& p, std::size_t day) -> double {
  return std::log(p.high[day] / p.low[day]);
}

[[nodiscard]] auto mean_range(price_table const& p, std::size_t day, std::size_t width) -> double {
  auto sum = 0.0;
  for (auto t = day + 1 - width; t <= day; ++t) sum += range_of(p, t);
  return sum / static_cast<double>(width);
}

/// The target of day `now`, known at the close of day `then`.
[[nodiscard]] auto target(price_table const& p, target_kind kind, std::size_t now, std::size_t then)
    -> double {
  if (kind == target_kind::range) return range_of(p, then);
  auto const change = p.close[then] / p.close[now] - 1;
  if (kind == target_kind::value_return) return change;
  return change > 0 ? 1 : change < 0 ? -1 : 0;
}

}  // namespace

auto name_of(target_kind kind) -> std::string {
  switch (kind) {
    case target_kind::value_return:
      return "return";
    case target_kind::direction:
      return "direction";
    case target_kind::range:
      break;
  }
  return "range";
}

auto target_of(std::string_view name) -> target_kind {
  for (auto const kind : kinds)
    if (name_of(kind) == name) return kind;
  throw std::invalid_argument("target: expected return, direction or range, got " +
                              std::string{name});
}

auto targets(price_table const& prices, target_kind kind, std::size_t horizon)
    -> std::vector<double> {
  if (horizon == 0) throw std::invalid_argument("targets: expected a horizon of at least 1, got 0");
  if (horizon >= prices.size())
    throw std::invalid_argument("targets: a horizon of " + std::to_string(horizon) +
                                " days leaves none of " + std::to_string(prices.size()));
  auto result = std::vector<double>(prices.size() - horizon);
  for (auto t = std::size_t{0}; t < result.size(); ++t)
    result[t] = target(prices, kind, t, t + horizon);
  return result;
}

auto make_samples(price_table const& prices, target_kind kind, std::size_t horizon) -> samples {
  auto s = samples{.features = features(prices),
                   .kind = kind,
                   .horizon = horizon,
                   .target = targets(prices, kind, horizon),
                   .known = {},
                   .range = {}};
  auto const first = s.features.first;
  if (first >= s.target.size())
    throw std::invalid_argument("make_samples: a horizon of " + std::to_string(horizon) +
                                " days leaves no row with a target");
  s.target.erase(s.target.begin(), s.target.begin() + static_cast<std::ptrdiff_t>(first));
  for (auto day = first; day < prices.size(); ++day) {
    auto const then = kind == target_kind::range ? day : day - std::min(day, horizon);
    s.known.push_back(target(prices, kind, then, day));
    s.range.push_back(
        {range_of(prices, day), mean_range(prices, day, 5), mean_range(prices, day, 22)});
  }
  return s;
}

}  // namespace forecast
