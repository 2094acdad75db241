// SPDX-License-Identifier: MIT
#include "versions.hpp"

#include <tessera/io/file.hpp>
#include <tessera/program/settings.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace forecast {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tessera::usage_error;

[[nodiscard]] auto number_of(std::string const& version) -> std::uint64_t {
  auto const digits = not version.empty() && version.size() < 19 &&
                      std::ranges::all_of(version, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::stoull(version) : 0;
}

/// Versions that were served one after another, the one of today last.
[[nodiscard]] auto history_of(fs::path const& folder) -> std::vector<std::string> {
  auto const path = folder / "traffic.json";
  if (not fs::exists(path)) {
    auto const all = versions_in(folder);
    if (all.empty()) throw usage_error(folder.string() + ": has no version of a model");
    return {all.back()};
  }
  auto const text = tessera::read_text(path);
  try {
    auto history = json::parse(text).at("history").get<std::vector<std::string>>();
    if (history.empty()) throw usage_error("expected a history");
    return history;
  } catch (std::exception const& e) {
    throw usage_error(path.string() + ": " + tessera::shortened(e.what(), 200));
  }
}

}  // namespace

auto versions_in(fs::path const& folder) -> std::vector<std::string> {
  auto versions = std::vector<std::string>{};
  auto error = std::error_code{};
  for (auto const& entry : fs::directory_iterator{folder, error})
    if (number_of(entry.path().filename().string()) > 0 &&
        fs::exists(entry.path() / "config.json", error))
      versions.push_back(entry.path().filename().string());
  std::ranges::sort(versions, {}, number_of);
  return versions;
}

auto served_version(fs::path const& folder) -> std::string { return history_of(folder).back(); }

auto version_before(fs::path const& folder) -> std::string {
  auto const history = history_of(folder);
  return history.size() < 2 ? "" : history[history.size() - 2];
}

auto next_version(fs::path const& folder) -> std::string {
  auto const all = versions_in(folder);
  return std::to_string(all.empty() ? 1 : number_of(all.back()) + 1);
}

void serve_version(fs::path const& folder, std::string const& version) {
  auto history = history_of(folder);
  auto const all = versions_in(folder);
  if (std::ranges::find(all, version) == all.end())
    throw usage_error(folder.string() + ": has no version " + tessera::shortened(version));
  if (history.size() > 1 && history[history.size() - 2] == version)
    history.pop_back();
  else if (history.back() != version)
    history.push_back(version);
  tessera::write_file(folder / "traffic.json",
                      json{{"weights", {{version, 1}}}, {"history", history}}.dump(2) + '\n');
}

}  // namespace forecast
