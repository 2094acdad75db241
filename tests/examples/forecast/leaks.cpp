// SPDX-License-Identifier: MIT
#include "leaks.hpp"

#include <support/catch.hpp>
#include <tessera/random/torch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "market.hpp"
#include "parts.hpp"
#include "targets.hpp"

using namespace forecast;

namespace {

using column = std::vector<double>;

/// The value of day t, from one of the whole series.
using plant = std::function<double(column const& series, std::size_t t)>;

/// Features of which column j is replaced by what `p` makes of a series of the prices.
auto planted(std::size_t j, std::function<column(price_table const&)> series, plant p)
    -> feature_function {
  return [=](price_table const& prices) {
    auto table = features(prices);
    auto const x = series(prices);
    for (auto i = std::size_t{0}; i < table.rows(); ++i) table.values(i, j) = p(x, table.first + i);
    return table;
  };
}

auto closes(price_table const& p) -> column { return p.close; }
auto ranges(price_table const& p) -> column {
  auto r = column(p.size());
  for (auto t = std::size_t{0}; t < r.size(); ++t) r[t] = std::log(p.high[t] / p.low[t]);
  return r;
}

/// Mean of days [from, to], of which those that are there count.
auto mean(column const& x, std::size_t from, std::size_t to) -> double {
  to = std::min(to, x.size() - 1);
  from = std::min(from, to);
  auto sum = 0.0;
  for (auto t = from; t <= to; ++t) sum += x[t];
  return sum / static_cast<double>(to + 1 - from);
}

constexpr auto ways = std::size_t{7};

/// A leak of one of seven kinds, `k` days wide.
auto leaky(std::size_t way, std::size_t j, std::size_t k) -> feature_function {
  switch (way) {
    case 0:  // the target, k days on
      return planted(j, ranges, [=](column const& x, std::size_t t) {
        return x[std::min(t + k, x.size() - 1)];
      });
    case 1:  // the mean of the days to come
      return planted(j, closes, [=](column const& x, std::size_t t) {
        return mean(x, t + 1, t + k) / x[t] - 1;
      });
    case 2:  // a moving average around the day
      return planted(j, closes, [=](column const& x, std::size_t t) {
        return mean(x, t - std::min(t, k), t + k) / x[t] - 1;
      });
    case 3:  // smoothed from the end backwards
      return planted(j, ranges, [=](column const& x, std::size_t t) {
        auto y = x.back();
        for (auto i = x.size() - 1; i-- > t;) y += (x[i] - y) / static_cast<double>(k + 1);
        return y;
      });
    case 4:  // scaled by mean and deviation of all days
      return planted(j, closes, [](column const& x, std::size_t t) {
        auto const center = mean(x, 0, x.size() - 1);
        auto spread = 0.0;
        for (auto const v : x) spread += (v - center) * (v - center);
        return (x[t] - center) / std::sqrt(spread);
      });
    case 5:  // scaled by the range of all days
      return planted(j, closes, [](column const& x, std::size_t t) {
        auto const [low, high] = std::ranges::minmax(x);
        return (x[t] - low) / (high - low);
      });
    default:  // the rank among all days
      return planted(j, ranges, [](column const& x, std::size_t t) {
        return static_cast<double>(std::ranges::count_if(x, [&](double v) { return v < x[t]; })) /
               static_cast<double>(x.size());
      });
  }
}

auto market_of(std::uint32_t i) -> price_table {
  if (i % 3 == 0) return days_of(parts::index("sp500"), 1000, 2500);
  if (i % 3 == 1) return days_of(parts::index("nasdaq"), 3000, 4500);
  return synthetic_market(1000, i);
}

auto names_of(std::vector<leak> const& leaks) -> std::vector<std::string> {
  auto names = std::vector<std::string>{};
  for (auto const& l : leaks) names.push_back(l.where);
  return names;
}

}  // namespace

TEST_CASE("leaks: 20 of 20 random plants are found, and nothing besides") {
  auto random = tessera::torch_generator{20};
  auto found = 0;
  for (auto i = std::uint32_t{0}; i < 20; ++i) {
    auto const way = i < ways ? i : random.randint(ways);
    auto const j = random.randint(feature_count);
    auto const k = 1 + random.randint(10);
    INFO("way " << way << ", feature " << j << ", width " << k);
    auto const leaks = features_of_future(leaky(way, j, k), market_of(i), 4, i);
    CHECK(names_of(leaks) == std::vector<std::string>{feature_names[j]});
    found += leaks.empty() ? 0 : 1;
  }
  CHECK(found == 20);
}
TEST_CASE("leaks: 20 of 20 targets in a table are found by their correlation") {
  auto random = tessera::torch_generator{21};
  for (auto i = std::uint32_t{0}; i < 20; ++i) {
    auto const kind =
        std::array{target_kind::value_return, target_kind::range, target_kind::direction}[i % 3];
    auto s = make_samples(market_of(i), kind, 1 + random.randint(5));
    auto const j = random.randint(feature_count);
    auto deviation = 0.0;
    for (auto const y : s.target) deviation += y * y / static_cast<double>(s.size());
    auto noise = std::vector<double>(s.size());
    random.normal(noise.data(), noise.size(), 0, 0.2 * std::sqrt(deviation));
    auto const turn = random.randint(2) == 0 ? 1.0 : -3.0;
    for (auto t = std::size_t{0}; t < s.size(); ++t)
      s.features.values(t, j) =
          turn * (s.target[t] + noise[t] * (kind == target_kind::range ? 0.3 : 1));
    auto const leaks = correlated_features(s.features, s.target);
    INFO("plant " << i);
    CHECK(names_of(leaks) == std::vector<std::string>{feature_names[j]});
  }
}
TEST_CASE("leaks: no false alarm where there is none") {
  auto markets = std::vector{parts::index("sp500"), parts::index("nasdaq")};
  for (auto seed = std::uint64_t{1}; seed <= 8; ++seed)
    markets.push_back(synthetic_market(3000, seed));
  for (auto const& p : markets) {
    CHECK(features_of_future(features, p).empty());
    for (auto const kind : {target_kind::value_return, target_kind::direction, target_kind::range})
      for (auto const horizon : {std::size_t{1}, std::size_t{5}}) {
        auto const s = make_samples(p, kind, horizon);
        CHECK(correlated_features(s.features, s.target).empty());
      }
  }
}
TEST_CASE("leaks: rows that depend on the future are found as well") {
  auto const p = synthetic_market(300, 1);
  auto const drops_last = [](price_table const& prices) {
    return features(days_of(prices, 0, prices.size() - 5));
  };
  CHECK(names_of(features_of_future(drops_last, p)) == std::vector<std::string>{"rows"});
  CHECK_THROWS_AS(features_of_future(features, synthetic_market(59, 1)), price_error);
}
TEST_CASE("leaks: windows of a split do not overlap the gap, others are found") {
  using tessera::windows;
  for (auto const horizon : {std::size_t{1}, std::size_t{5}}) {
    auto const split = tessera::split_forward(5000, {.horizon = horizon, .gap = horizon});
    for (auto const& f : split.folds) {
      auto const look_back = std::size_t{60};
      auto const training = windows{{f.train}, look_back};
      auto const held_out = windows{{tessera::with_history(f.held_out, look_back)}, look_back};
      CHECK(overlapping_windows(f, training, held_out, horizon).empty());

      auto late = f.train;
      late.end += 1;
      auto const leaks = overlapping_windows(f, windows{{late}, look_back}, held_out, horizon);
      REQUIRE(leaks.size() == 2);  // it reads a row too far, and its target is one too late
      CHECK(leaks[0].where == "train");
      CHECK(leaks[0].value == 1);
      CHECK(leaks[0].text == "train: windows read past the part by up to 1 rows");
      CHECK(overlapping_windows(f, training, held_out, horizon + 1).size() == 1);

      auto const early = tessera::with_history(f.held_out, look_back + 3);
      auto const found = overlapping_windows(f, training, windows{{early}, look_back}, horizon);
      REQUIRE(found.size() == 1);
      CHECK(found[0].where == "held-out");
      CHECK(found[0].value == 3);
      auto past = f.held_out;
      past.end += 2;
      CHECK(overlapping_windows(f, training, windows{{past}, look_back}, horizon).size() == 1);
    }
  }
}
TEST_CASE("leaks: more targets than rows are refused") {
  auto const table = features(synthetic_market(30, 1));
  CHECK_THROWS_WITH(correlated_features(table, std::vector<double>(10)),
                    "correlated_features: expected at most 9 targets, got 10");
}
