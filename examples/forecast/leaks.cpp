// SPDX-License-Identifier: MIT
#include "leaks.hpp"

#include <tessera/random/torch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <stdexcept>

namespace forecast {
namespace {

[[nodiscard]] auto shown(double value) -> std::string {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Pearson's correlation over the rows in which both are numbers; 0 where one does not change.
[[nodiscard]] auto correlation(feature_table const& table, std::size_t column,
                               std::span<double const> target) -> double {
  auto n = 0.0;
  auto mx = 0.0;
  auto my = 0.0;
  auto xx = 0.0;
  auto yy = 0.0;
  auto xy = 0.0;
  for (auto i = std::size_t{0}; i < target.size(); ++i) {
    auto const x = table.values(i, column);
    if (not std::isfinite(x) || not std::isfinite(target[i])) continue;
    n += 1;
    auto const dx = x - mx;
    auto const dy = target[i] - my;
    mx += dx / n;
    my += dy / n;
    xx += dx * (x - mx);
    yy += dy * (target[i] - my);
    xy += dx * (target[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// The same days up to the cut, and prices out of thin air from there on.
[[nodiscard]] auto with_noise_from(price_table p, std::size_t cut, tessera::torch_generator& random)
    -> price_table {
  for (auto t = cut; t < p.size(); ++t) {
    auto const base = p.close[cut] * (0.5 + random.rand<double>());
    p.open[t] = base * (1 + 0.1 * random.rand<double>());
    p.close[t] = base * (1 + 0.1 * random.rand<double>());
    p.low[t] = base * (1 - 0.1 * random.rand<double>());
    p.high[t] = base * (1.1 + 0.1 * random.rand<double>());
    p.volume[t] = p.volume[cut] * (0.5 + random.rand<double>()) + 1;
  }
  return p;
}

/// Largest change of each feature; infinite for what appears or goes.
using differences = std::map<std::string, double>;

[[nodiscard]] auto change(double a, double b) -> double {
  if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
      (std::isnan(a) && std::isnan(b)))
    return 0;
  auto const distance = std::abs(a - b);
  return distance > 0 ? distance : std::numeric_limits<double>::infinity();
}

/// Compares rows of days before `end`.
void compare(feature_table const& whole, feature_table const& other, std::string const& end,
             differences& found) {
  auto const count = [&](feature_table const& t) {
    return static_cast<std::size_t>(std::ranges::lower_bound(t.dates, end) - t.dates.begin());
  };
  auto const rows = count(whole);
  auto const others = count(other);
  auto const same_rows =
      rows == others && std::equal(whole.dates.begin(), whole.dates.begin() + std::ptrdiff_t(rows),
                                   other.dates.begin());
  if (not same_rows) found["rows"] = std::numeric_limits<double>::infinity();
  if (whole.names != other.names) found["names"] = std::numeric_limits<double>::infinity();
  if (not same_rows || whole.names != other.names) return;
  for (auto i = std::size_t{0}; i < rows; ++i)
    for (auto j = std::size_t{0}; j < whole.names.size(); ++j) {
      auto const distance = change(whole.values(i, j), other.values(i, j));
      if (distance > 0) found[whole.names[j]] = std::max(found[whole.names[j]], distance);
    }
}

[[nodiscard]] auto leak_of_windows(std::string const& where, std::size_t rows,
                                   std::string const& what) -> leak {
  return {.kind = leak_kind::window_over_gap,
          .where = where,
          .value = static_cast<double>(rows),
          .text = where + ": " + what + " by up to " + std::to_string(rows) + " rows"};
}

/// Largest value of `excess` over all windows.
template <class F>
[[nodiscard]] auto most(tessera::windows const& all, F const& excess) -> std::size_t {
  auto result = std::size_t{0};
  for (auto i = std::size_t{0}; i < all.size(); ++i) result = std::max(result, excess(all[i]));
  return result;
}

[[nodiscard]] auto above(std::size_t value, std::size_t limit) -> std::size_t {
  return value - std::min(value, limit);
}

}  // namespace

auto correlated_features(feature_table const& table, std::span<double const> target, double limit)
    -> std::vector<leak> {
  if (target.size() > table.rows())
    throw std::invalid_argument("correlated_features: expected at most " +
                                std::to_string(table.rows()) + " targets, got " +
                                std::to_string(target.size()));
  auto leaks = std::vector<leak>{};
  for (auto j = std::size_t{0}; j < table.names.size(); ++j) {
    auto const r = correlation(table, j, target);
    if (std::abs(r) <= limit) continue;
    leaks.push_back({.kind = leak_kind::correlated_with_target,
                     .where = table.names[j],
                     .value = r,
                     .text = table.names[j] + ": its correlation with the target is " + shown(r) +
                             ", beyond " + shown(limit)});
  }
  return leaks;
}

auto features_of_future(feature_function const& f, price_table const& prices, std::size_t cuts,
                        std::uint64_t seed) -> std::vector<leak> {
  constexpr auto least = std::size_t{60};
  if (prices.size() < least)
    throw price_error("features_of_future: expected at least " + std::to_string(least) +
                      " days, got " + std::to_string(prices.size()));
  auto random = tessera::torch_generator{seed};
  auto const whole = f(prices);
  auto found = differences{};
  for (auto i = std::size_t{0}; i < cuts; ++i) {
    auto const half = prices.size() / 2;
    auto const cut = half + random.randint(static_cast<std::uint32_t>(prices.size() - half - 1));
    compare(whole, f(days_of(prices, 0, cut)), prices.dates[cut], found);
    compare(whole, f(with_noise_from(prices, cut, random)), prices.dates[cut], found);
  }
  auto leaks = std::vector<leak>{};
  for (auto const& [name, distance] : found)
    leaks.push_back({.kind = leak_kind::depends_on_future,
                     .where = name,
                     .value = distance,
                     .text = name + ": changes by up to " + shown(distance) +
                             " where only later days are others"});
  return leaks;
}

auto overlapping_windows(tessera::fold const& f, tessera::windows const& training,
                         tessera::windows const& held_out, std::size_t horizon)
    -> std::vector<leak> {
  auto leaks = std::vector<leak>{};
  auto const report = [&](std::string const& where, std::size_t rows, std::string const& what) {
    if (rows > 0) leaks.push_back(leak_of_windows(where, rows, what));
  };
  report("train", most(training, [&](auto w) { return above(w.end, f.train.end); }),
         "windows read past the part");
  report("train", most(training, [&](auto w) { return above(w.end + horizon, f.held_out.begin); }),
         "targets of windows are known after the held-out part begins");
  report("held-out", most(held_out, [&](auto w) { return above(w.end, f.held_out.end); }),
         "windows end past the part");
  report("held-out", most(held_out, [&](auto w) { return above(f.held_out.begin + 1, w.end); }),
         "windows end before the part");
  return leaks;
}

}  // namespace forecast
