// SPDX-License-Identifier: MIT
#include "prediction.hpp"

#include <nlohmann/json.hpp>
#include <xtensor/xview.hpp>

#include <algorithm>
#include <cmath>

namespace forecast {

auto last_features(model_description const& d, price_table const& prices) -> std::vector<double> {
  auto const needed = static_cast<std::size_t>(d.look_back) + warm_up;
  if (prices.size() < needed)
    throw price_error("expected at least " + std::to_string(needed) + " days, " +
                      std::to_string(d.look_back) + " to look back on and " +
                      std::to_string(warm_up) + " for the indicators before, got " +
                      std::to_string(prices.size()));
  auto const table = features(prices);
  auto const begin = table.rows() - d.look_back;
  auto const rows = xt::view(table.values, xt::range(begin, table.rows()), xt::all());
  return {rows.begin(), rows.end()};
}

auto with_intervals(model_description const& d, std::string day, double forecast) -> prediction {
  auto p =
      prediction{.day = std::move(day), .horizon = d.horizon, .value = forecast, .intervals = {}};
  for (auto const& b : d.bands)
    if (b.share == 0.8 || b.share == 0.95)
      p.intervals.push_back({b.share, d.relative_bands ? forecast * b.low : forecast + b.low,
                             d.relative_bands ? forecast * b.high : forecast + b.high});
  return p;
}

auto is_finite(prediction const& p) -> bool {
  return std::isfinite(p.value) && std::ranges::all_of(p.intervals, [](interval const& i) {
           return std::isfinite(i.low) && std::isfinite(i.high);
         });
}

auto predict_next(described_model const& m, price_table const& prices) -> prediction {
  auto const& d = m.description;
  auto const served = m.model->serve(d.scales, d.look_back);
  auto const inputs = std::vector<tessera::served_tensor>{
      {"features",
       {1, static_cast<std::int64_t>(d.look_back), static_cast<std::int64_t>(feature_count)},
       last_features(d, prices)}};
  auto steps = std::vector<tessera::inference_step>(1);
  steps[0].inputs = inputs;
  served->make_runner()->run(steps);
  auto const y = std::get<std::vector<double>>(steps[0].outputs[0].values)[0];
  auto result = with_intervals(d, prices.dates.back(), y);
  if (not is_finite(result))
    throw price_error("expected prices that can be forecast, got a forecast of " +
                      std::to_string(y) + " or intervals that are not finite");
  return result;
}

auto drift_of(model_description const& d, price_table const& prices)
    -> std::optional<drift_report> {
  auto const table = features(prices);
  auto const window = d.learned.statistics.window;
  if (table.rows() < window) return std::nullopt;
  return measure_drift(
      d.learned.statistics,
      xt::view(table.values, xt::range(table.rows() - window, table.rows()), xt::all()));
}

auto to_json(prediction const& p) -> nlohmann::ordered_json {
  auto intervals = nlohmann::ordered_json::array();
  for (auto const& i : p.intervals)
    intervals.push_back({{"share", i.share}, {"low", i.low}, {"high", i.high}});
  return {{"day", p.day},
          {"horizon", p.horizon},
          {"forecast", p.value},
          {"intervals", std::move(intervals)}};
}

}  // namespace forecast
