// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>
#include <tessera/train/settings_text.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <limits>

#include "study.hpp"

namespace forecast {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

[[nodiscard]] auto to_json(judged_part const& p) -> json {
  auto baselines = json::array();
  for (auto const& b : p.baselines)
    baselines.push_back({{"name", b.name}, {"forecasts", b.forecasts}});
  auto epochs = json::array();
  for (auto const& e : p.epochs)
    epochs.push_back({{"epoch", e.epoch},
                      {"rate", e.rate},
                      {"training_loss", e.training_loss},
                      {"monitored_loss", e.monitored_loss}});
  return {{"name", p.name},
          {"train", {p.train_begin, p.train_end}},
          {"held_out", {p.begin, p.end}},
          {"dates", p.dates},
          {"target", p.target},
          {"came", p.came},
          {"next_return", p.next_return},
          {"model", p.model},
          {"baselines", baselines},
          {"epochs", epochs}};
}

/// JSON has no NaN: an epoch that was not validated has null.
[[nodiscard]] auto number_or_none(json const& j) -> double {
  return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}

/// "test", or the number of a fold.
[[nodiscard]] auto part_name_of(json const& j) -> std::string {
  auto name = j.get<std::string>();
  auto const is_number =
      not name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  if (not is_number && name != "test")
    throw usage_error("part: expected test or the number of a fold, got " +
                      tessera::shortened(name));
  return name;
}

[[nodiscard]] auto part_of(json const& j) -> judged_part {
  auto p = judged_part{.name = part_name_of(j.at("name")),
                       .train_begin = j.at("train").at(0).get<std::string>(),
                       .train_end = j.at("train").at(1).get<std::string>(),
                       .begin = j.at("held_out").at(0).get<std::string>(),
                       .end = j.at("held_out").at(1).get<std::string>(),
                       .dates = j.at("dates").get<std::vector<std::string>>(),
                       .target = j.at("target").get<std::vector<std::string>>(),
                       .came = j.at("came").get<std::vector<double>>(),
                       .next_return = j.at("next_return").get<std::vector<double>>(),
                       .model = j.at("model").get<std::vector<double>>(),
                       .baselines = {},
                       .epochs = {}};
  for (auto const& b : j.at("baselines"))
    p.baselines.push_back(
        {b.at("name").get<std::string>(), b.at("forecasts").get<std::vector<double>>()});
  for (auto const& e : j.at("epochs"))
    p.epochs.push_back({.epoch = e.at("epoch").get<std::uint64_t>(),
                        .rate = e.at("rate").get<double>(),
                        .training_loss = e.at("training_loss").get<double>(),
                        .monitored_loss = number_or_none(e.at("monitored_loss"))});
  auto const n = p.dates.size();
  auto same = p.target.size() == n && p.came.size() == n && p.next_return.size() == n &&
              p.model.size() == n;
  for (auto const& b : p.baselines) same = same && b.forecasts.size() == n;
  if (n == 0 || not same)
    throw usage_error("part " + p.name + ": expected as many forecasts as dates");
  return p;
}

/// A row for each forecast: what came on the day that it was for, and what everyone forecast.
[[nodiscard]] auto table_of(target_study const& study) -> std::string {
  auto text = std::string{"part,made_on,for_day,came,model"};
  for (auto const& b : study.parts.front().baselines) text += ',' + b.name;
  text += '\n';
  char number[32];
  for (auto const& p : study.parts)
    for (auto i = std::size_t{0}; i < p.dates.size(); ++i) {
      text.append(p.name).append(",").append(p.dates[i]).append(",").append(p.target[i]);
      auto const add = [&](double x) {
        (void)std::snprintf(number, sizeof number, ",%.9g", x);
        text += number;
      };
      add(p.came[i]);
      add(p.model[i]);
      for (auto const& b : p.baselines) add(b.forecasts[i]);
      text += '\n';
    }
  return text;
}

}  // namespace

void save_study(fs::path const& folder, std::vector<target_study> const& studies) {
  auto all = json::array();
  for (auto const& study : studies) {
    auto parts = json::array();
    for (auto const& p : study.parts) parts.push_back(to_json(p));
    all.push_back(
        {{"target", name_of(study.kind)},
         {"parts", parts},
         {"attention", {{"heads", study.attention.heads}, {"weights", study.attention.weights}}}});
    tessera::write_file(folder / ("forecasts-" + name_of(study.kind) + ".csv"), table_of(study));
  }
  tessera::write_file(folder / "study.json", all.dump() + '\n');
}

auto load_study(fs::path const& folder) -> std::vector<target_study> {
  auto const path = folder / "study.json";
  auto const text = tessera::read_text(path);
  auto studies = std::vector<target_study>{};
  try {
    for (auto const& j : json::parse(text)) {
      auto study =
          target_study{.kind = target_of(j.at("target").get<std::string>()),
                       .parts = {},
                       .attention = {j.at("attention").at("heads").get<std::size_t>(),
                                     j.at("attention").at("weights").get<std::vector<double>>()}};
      for (auto const& p : j.at("parts")) study.parts.push_back(part_of(p));
      if (study.parts.size() < 2) throw usage_error("expected a fold and the last days");
      studies.push_back(std::move(study));
    }
  } catch (std::exception const& e) {
    throw usage_error(path.string() + ": is no study: " + tessera::shortened(e.what(), 200));
  }
  if (studies.empty()) throw usage_error(path.string() + ": has no target");
  return studies;
}

}  // namespace forecast
