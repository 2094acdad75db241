// SPDX-License-Identifier: MIT
#include "settings.hpp"

#include "market.hpp"

namespace forecast {

auto settings::fit() const -> fit_options {
  return {.look_back = look_back,
          .gap = splits().gap,
          .batch = batch,
          .seed = seed,
          .learning_rate = learning_rate,
          .weight_decay = weight_decay,
          .dropout = dropout,
          .schedule = schedule,
          .training = training,
          .ridge_penalty = ridge_penalty};
}

auto settings::splits() const -> tessera::walk_forward_settings {
  using growth = tessera::training_growth;
  return {.folds = folds,
          .training = split == "sliding" ? growth::sliding : growth::anchored,
          .train_length = train_days,
          .validation = validation_days,
          .test = test_days,
          .horizon = horizon,
          .gap = gap == 0 ? horizon : gap};
}

auto settings::kinds() const -> std::vector<target_kind> {
  auto result = std::vector<target_kind>{};
  for (auto const& name :
       tessera::check_words("targets", targets, {"range", "return", "direction"}))
    result.push_back(target_of(name));
  return result;
}

void check(settings const& s) {
  tessera::check_ranges(s);
  tessera::check_one_of("split", s.split, {"anchored", "sliding"});
  tessera::check_one_of("schedule", s.schedule, {"cosine", "constant"});
  (void)s.kinds();
  (void)s.tracking.names();
  s.training.check();
  (void)make_forecaster(s.choice());
  if (s.gap != 0 && s.gap < s.horizon)
    tessera::refuse("gap", "at least the horizon, " + std::to_string(s.horizon), s.gap);
  auto const judged = std::min(s.validation_days, s.test_days);
  if (s.horizon > judged / 3)
    tessera::refuse(
        "horizon",
        "at most a third of validation_days and of test_days, " + std::to_string(judged / 3),
        s.horizon);
}

auto settings_in(std::filesystem::path const& folder) -> settings {
  auto const path = folder / "settings.yaml";
  if (not std::filesystem::exists(path))
    throw usage_error(folder.string() +
                      " has no settings.yaml: `train` has not begun there, or not ended");
  auto s = settings{};
  tessera::read_config(path.string(), s);
  check(s);
  return s;
}

auto load_prices(settings const& s) -> price_table {
  if (s.data == "synthetic") return synthetic_market(5031, s.seed);
  if (s.data == "sp500" || s.data == "nasdaq")
    return read_prices(FORECAST_FOLDER "/data/" + s.data + ".csv.gz");
  return read_prices(s.data);
}

}  // namespace forecast
