// SPDX-License-Identifier: MIT
#include "features.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace forecast {
namespace {

using series = std::vector<double>;

/// The `width` values that end with value t. Sums over it begin anew for every t: a running sum
/// would carry the rounding errors of all the past.
[[nodiscard]] auto window(series const& x, std::size_t t, std::size_t width)
    -> std::span<double const> {
  return {x.data() + (t + 1 - width), width};
}

[[nodiscard]] auto mean(std::span<double const> x) -> double {
  auto sum = 0.0;
  for (auto const v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

/// Sum of squared distances from the mean.
[[nodiscard]] auto spread(std::span<double const> x) -> double {
  auto const center = mean(x);
  auto sum = 0.0;
  for (auto const v : x) sum += (v - center) * (v - center);
  return sum;
}

/// y(t) = y(t-1) + 2 / (span + 1)·(x(t) - y(t-1)), from y(0) = x(0).
[[nodiscard]] auto exponential_mean(series const& x, double span) -> series {
  auto const alpha = 2 / (span + 1);
  auto y = x;
  for (auto t = std::size_t{1}; t < x.size(); ++t) y[t] = alpha * x[t] + (1 - alpha) * y[t - 1];
  return y;
}

/// f(t) of every day from the second on; 0 for the first.
template <class F> [[nodiscard]] auto changes(std::size_t days, F const& f) -> series {
  auto y = series(days, 0.0);
  for (auto t = std::size_t{1}; t < days; ++t) y[t] = f(t);
  return y;
}

/// Part of gains in gains and losses: rsi / 100.
[[nodiscard]] auto strength(std::span<double const> change) -> double {
  auto gains = 0.0;
  auto losses = 0.0;
  for (auto const c : change) (c > 0 ? gains : losses) += std::abs(c);
  return gains + losses > 0 ? gains / (gains + losses) : 0.5;
}

/// (close - lower) / (upper - lower) with the mean, less and more two deviations.
[[nodiscard]] auto position_in_bands(std::span<double const> close) -> double {
  auto const width = 2 * std::sqrt(spread(close) / static_cast<double>(close.size()));
  return width > 0 ? (close.back() - mean(close) + width) / (2 * width) : 0.5;
}

/// What indicators are made of, day by day.
struct indicators {
  explicit indicators(price_table const& prices) : p(prices) {
    auto const days = p.size();
    auto const& c = p.close;
    range = series(days);
    for (auto t = std::size_t{0}; t < days; ++t) range[t] = std::log(p.high[t] / p.low[t]);
    change = changes(days, [&](std::size_t t) { return c[t] - c[t - 1]; });
    log_return = changes(days, [&](std::size_t t) { return std::log(c[t] / c[t - 1]); });
    ema12 = exponential_mean(c, 12);
    ema26 = exponential_mean(c, 26);
    macd = series(days);
    for (auto t = std::size_t{0}; t < days; ++t) macd[t] = ema12[t] - ema26[t];
    signal = exponential_mean(macd, 9);
  }

  [[nodiscard]] auto row(std::size_t t) const -> std::array<double, feature_count> {
    auto const c = p.close[t];
    auto const before = p.close[t - 1];
    auto const volumes = p.volume[t] > 0 && p.volume[t - 1] > 0;
    return {c / before - 1,
            p.open[t] / before - 1,
            range[t],
            mean(window(p.close, t, 5)) / c - 1,
            mean(window(p.close, t, 10)) / c - 1,
            mean(window(p.close, t, 20)) / c - 1,
            ema12[t] / c - 1,
            ema26[t] / c - 1,
            macd[t] / c,
            signal[t] / c,
            strength(window(change, t, 14)),
            position_in_bands(window(p.close, t, 20)),
            volumes ? std::log(p.volume[t] / p.volume[t - 1]) : 0,
            std::sqrt(spread(window(log_return, t, 10)) / 9),
            mean(window(range, t, 22))};
  }

  price_table const& p;
  series range, change, log_return, ema12, ema26, macd, signal;
};

}  // namespace

auto features(price_table const& prices) -> feature_table {
  if (prices.size() <= warm_up)
    throw price_error("features: expected at least " + std::to_string(warm_up + 1) + " days, got " +
                      std::to_string(prices.size()));
  auto const of = indicators{prices};
  auto const rows = prices.size() - warm_up;
  auto result = feature_table{
      .names = {feature_names.begin(), feature_names.end()},
      .dates = {prices.dates.begin() + static_cast<std::ptrdiff_t>(warm_up), prices.dates.end()},
      .values = xt::xtensor<double, 2>(std::array{rows, feature_count}),
      .first = warm_up};
  for (auto i = std::size_t{0}; i < rows; ++i) {
    auto const row = of.row(warm_up + i);
    std::ranges::copy(row, result.values.data() + i * feature_count);
  }
  return result;
}

}  // namespace forecast
