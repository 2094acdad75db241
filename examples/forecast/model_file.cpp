// SPDX-License-Identifier: MIT
#include "model_file.hpp"

#include <tessera/io/file.hpp>

#include <nlohmann/json.hpp>

namespace forecast {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Errors  tessera::file_error; usage_error for a file that is no JSON
[[nodiscard]] auto read_json(fs::path const& path) -> json {
  auto const text = tessera::read_text(path);
  try {
    return json::parse(text);
  } catch (json::exception const& e) {
    throw usage_error(path.string() + ": " + tessera::shortened(e.what(), 200));
  }
}

[[nodiscard]] auto json_of(training_statistics const& s) -> json {
  auto columns = json::array();
  for (auto const& c : s.columns)
    columns.push_back({{"name", c.name},
                       {"edges", c.edges},
                       {"shares", c.shares},
                       {"sample", c.sample},
                       {"psi_unit", c.psi_unit},
                       {"ks_unit", c.ks_unit}});
  return {{"window", s.window},
          {"threshold", s.threshold},
          {"false_alarm_rate", s.false_alarm_rate},
          {"columns", columns}};
}
[[nodiscard]] auto statistics_of(json const& j) -> training_statistics {
  auto s = training_statistics{.columns = {},
                               .window = j.at("window").get<std::size_t>(),
                               .threshold = j.at("threshold").get<double>(),
                               .false_alarm_rate = j.at("false_alarm_rate").get<double>()};
  for (auto const& c : j.at("columns"))
    s.columns.push_back({c.at("name").get<std::string>(), c.at("edges").get<std::vector<double>>(),
                         c.at("shares").get<std::vector<double>>(),
                         c.at("sample").get<std::vector<double>>(), c.at("psi_unit").get<double>(),
                         c.at("ks_unit").get<double>()});
  return s;
}

[[nodiscard]] auto json_of(model_description const& d) -> json {
  auto bands = json::array();
  for (auto const& b : d.bands)
    bands.push_back({{"share", b.share}, {"low", b.low}, {"high", b.high}});
  auto names = json::array();
  for (auto const* name : feature_names) names.push_back(name);
  return {{"kind", "forecast"},
          {"model", d.choice.kind},
          {"hidden", d.choice.hidden},
          {"look_back", d.look_back},
          {"target", name_of(d.kind)},
          {"horizon", d.horizon},
          {"trained_from", d.learned.begin},
          {"trained_until", d.learned.end},
          {"features", names},
          {"feature_shift", d.scales.feature_shift},
          {"feature_scale", d.scales.feature_scale},
          {"target_shift", d.scales.target_shift},
          {"target_scale", d.scales.target_scale},
          {"bands", {{"relative", d.relative_bands}, {"shares", bands}}}};
}

[[nodiscard]] auto description_of(json const& j, json const& statistics) -> model_description {
  auto d = model_description{
      .choice = {j.at("model").get<std::string>(), j.at("hidden").get<std::uint64_t>()},
      .look_back = j.at("look_back").get<std::uint64_t>(),
      .kind = target_of(j.at("target").get<std::string>()),
      .horizon = j.at("horizon").get<std::uint64_t>(),
      .scales = {.feature_shift = j.at("feature_shift").get<std::vector<double>>(),
                 .feature_scale = j.at("feature_scale").get<std::vector<double>>(),
                 .target_shift = j.at("target_shift").get<double>(),
                 .target_scale = j.at("target_scale").get<double>()},
      .learned = {j.at("trained_from").get<std::string>(), j.at("trained_until").get<std::string>(),
                  statistics_of(statistics)},
      .relative_bands = j.at("bands").at("relative").get<bool>(),
      .bands = {}};
  for (auto const& b : j.at("bands").at("shares"))
    d.bands.push_back(
        {b.at("share").get<double>(), b.at("low").get<double>(), b.at("high").get<double>(), 0});
  if (d.scales.feature_shift.size() != feature_count ||
      d.scales.feature_scale.size() != feature_count)
    throw usage_error("expected " + std::to_string(feature_count) + " features");
  return d;
}

}  // namespace

auto describe(settings const& s, target_study const& study, target_report const& report)
    -> model_description {
  return {.choice = s.choice(),
          .look_back = s.look_back,
          .kind = study.kind,
          .horizon = s.horizon,
          .scales = study.last->scales,
          .learned = study.learned,
          .relative_bands = report.relative_bands,
          .bands = report.bands};
}

auto to_json(model_description const& d) -> std::string { return json_of(d).dump(2); }

void save_model(fs::path const& folder, forecaster const& model, model_description const& d) {
  // Whoever watches the folder above sees a whole version, or none.
  auto const beside = folder.parent_path() / ("." + folder.filename().string() + ".new");
  fs::remove_all(beside);
  fs::create_directories(beside);
  auto const config = to_json(d);
  model.save(beside / "model.safetensors", {{"config", config}});
  tessera::write_file(beside / "statistics.json", json_of(d.learned.statistics).dump() + '\n');
  tessera::write_file(beside / "config.json", config + '\n');
  fs::remove_all(folder);
  fs::rename(beside, folder);
}

auto load_model(fs::path const& folder) -> described_model {
  auto const config = read_json(folder / "config.json");
  auto const statistics = read_json(folder / "statistics.json");
  auto result = described_model{};
  try {
    result.description = description_of(config, statistics);
  } catch (std::exception const& e) {
    throw usage_error(folder.string() +
                      ": describes no model: " + tessera::shortened(e.what(), 200));
  }
  result.model = make_forecaster(result.description.choice);
  result.model->load(folder / "model.safetensors");
  return result;
}

}  // namespace forecast
