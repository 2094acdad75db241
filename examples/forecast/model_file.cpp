// SPDX-License-Identifier: MIT
#include "model_file.hpp"

#include <tessera/io/file.hpp>
#include <tessera/io/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

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

[[nodiscard]] auto whole_of(json const& j, char const* name) -> std::uint64_t {
  auto const& value = j.at(name);
  if (not value.is_number_unsigned())
    throw usage_error(std::string{name} + ": expected a whole number of at least 0, got " +
                      tessera::shortened(value.dump()));
  return value.get<std::uint64_t>();
}

/// Errors  usage_error for what no training makes
void check(model_description const& d) {
  auto limits = settings{};
  limits.look_back = d.look_back;
  limits.horizon = d.horizon;
  tessera::check_ranges(limits);
  auto const expect = [](bool holds, std::string const& what) {
    if (not holds) throw usage_error("expected " + what);
  };
  auto const& s = d.scales;
  auto const is_finite = [](double x) { return std::isfinite(x); };
  auto const is_scale = [](double x) { return x > 0 && std::isfinite(x); };
  expect(s.feature_shift.size() == feature_count && s.feature_scale.size() == feature_count,
         std::to_string(feature_count) + " features");
  expect(is_finite(s.target_shift) && std::ranges::all_of(s.feature_shift, is_finite),
         "finite shifts");
  expect(is_scale(s.target_scale) && std::ranges::all_of(s.feature_scale, is_scale),
         "finite scales above 0");
  for (auto const& b : d.bands)
    expect(is_finite(b.low) && is_finite(b.high) && b.low <= b.high,
           "bands from a finite low to a high of at least that");
}

[[nodiscard]] auto description_of(json const& j, json const& statistics) -> model_description {
  if (j.at("features") != json(feature_names))
    throw usage_error("features: expected " + json(feature_names).dump() + ", got " +
                      tessera::shortened(j.at("features").dump()));
  auto d = model_description{
      .choice = {j.at("model").get<std::string>(), whole_of(j, "hidden")},
      .look_back = whole_of(j, "look_back"),
      .kind = target_of(j.at("target").get<std::string>()),
      .horizon = whole_of(j, "horizon"),
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
  check(d);
  return d;
}

/// The parameters' file has the description, too. What else config.json has is the server's.
///
/// Errors  usage_error, which names the first difference
void compare_with_parameters(json const& config, fs::path const& file,
                             std::map<std::string, std::string> const& metadata) {
  auto const found = metadata.find("config");
  auto const kept = json::parse(found == metadata.end() ? "" : found->second, nullptr, false);
  if (not kept.is_object()) throw usage_error(file.filename().string() + ": has no config");
  for (auto const& [name, value] : kept.items())
    if (auto const got = config.find(name); got == config.end() || *got != value)
      throw usage_error(name + ": expected " + tessera::shortened(value.dump()) + ", as " +
                        file.filename().string() + " has it, got " +
                        (got == config.end() ? "none" : tessera::shortened(got->dump())));
}

/// A folder by the name of a target is of that target: <target>/<version>.
void check_place(fs::path const& folder, target_kind kind) {
  auto const place = folder.parent_path().filename().string();
  for (auto const other : {target_kind::range, target_kind::value_return, target_kind::direction})
    if (other != kind && name_of(other) == place)
      throw usage_error("target: expected " + place + ", as the folder says, got " + name_of(kind));
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
  auto const file = folder / "model.safetensors";
  auto const metadata = tessera::safetensors::read(file).metadata();
  auto result = described_model{};
  try {
    compare_with_parameters(config, file, metadata);
    result.description = description_of(config, statistics);
    check_place(folder, result.description.kind);
  } catch (std::exception const& e) {
    throw usage_error(folder.string() +
                      ": describes no model: " + tessera::shortened(e.what(), 200));
  }
  result.model = make_forecaster(result.description.choice);
  result.model->load(file);
  return result;
}

}  // namespace forecast
