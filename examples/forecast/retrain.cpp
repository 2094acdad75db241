// SPDX-License-Identifier: MIT
#include "retrain.hpp"

#include <tessera/data/walk_forward.hpp>

#include <algorithm>

#include "scores.hpp"
#include "versions.hpp"

namespace forecast {

namespace {

namespace fs = std::filesystem;

/// The settings that a folder was trained with, for one target and other prices.
[[nodiscard]] auto settings_of(fs::path const& folder, target_kind kind, std::string const& data)
    -> settings {
  auto s = settings_in(folder);
  s.targets = name_of(kind);
  if (not data.empty()) s.data = data;
  return s;
}
[[nodiscard]] auto forecasts_of(described_model const& m, samples const& data,
                                tessera::recording_part const& days) -> std::vector<double> {
  auto const& d = m.description;
  auto result = m.model->predict(make_table(data, d.scales), {days.begin, days.end}, d.look_back);
  for (auto& y : result) y = d.scales.forecast(y);
  return result;
}

}  // namespace

auto retrain(fs::path const& folder, target_kind kind, std::string const& data, promotion when)
    -> candidate {
  auto const s = settings_of(folder, kind, data);
  auto const place = folder / "repository" / name_of(kind);
  auto result = candidate{};
  result.before = served_version(place);
  auto const before = load_model(place / result.before);
  auto const rows = make_samples(load_prices(s), kind, s.horizon);
  auto splits = s.splits();
  splits.folds = 1;
  splits.test = s.validation_days;
  auto const part = tessera::split_forward(rows.size(), splits).test;
  result.begin = rows.features.dates[part.held_out.begin];
  result.end = rows.features.dates[part.held_out.end - 1];
  // The target of the last day that it has learned from is known a horizon later.
  auto const& dates = rows.features.dates;
  auto const later = std::ranges::upper_bound(dates, before.description.learned.end);
  if (static_cast<std::size_t>(later - dates.begin()) + s.horizon - 1 > part.held_out.begin)
    throw usage_error("version " + result.before + " has learned until " +
                      before.description.learned.end + "; expected prices of " +
                      std::to_string(s.validation_days) + " days behind it, and they begin on " +
                      result.begin);
  check_learned(part);
  auto fit = fit_part(s, rows, part, false);
  auto const came = std::span{rows.target}.subspan(part.held_out.begin, part.held_out.length());
  auto const others = forecasts_of(before, rows, part.held_out);
  result.mse_before = scores_of(others, came).mse;
  result.mse = scores_of(fit.forecasts, came).mse;
  result.test = diebold_mariano(fit.forecasts, others, came, s.horizon);
  result.version = next_version(place);
  result.promoted =
      result.mse < result.mse_before && (when == promotion::better || stricter(result.test) < 0.05);
  if (not result.promoted) return result;
  auto d = before.description;
  d.choice = s.choice();
  d.look_back = s.look_back;
  d.scales = fit.scales;
  d.learned = learned_from(rows, {part.train.begin, part.train.end});
  // What the old model missed by says nothing of the new one.
  auto const positive = std::ranges::all_of(fit.forecasts, [](double x) { return x > 0; });
  d.relative_bands = kind == target_kind::range && positive;
  d.bands = bands_of(fit.forecasts, came, d.relative_bands);
  save_model(place / result.version, *fit.model, d);
  serve_version(place, result.version);
  return result;
}

auto roll_back(fs::path const& folder, target_kind kind) -> std::string {
  auto const place = folder / "repository" / name_of(kind);
  auto const version = version_before(place);
  if (version.empty())
    throw usage_error(name_of(kind) + ": version " + served_version(place) +
                      " is the first that was served");
  serve_version(place, version);
  return version;
}

}  // namespace forecast
