// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The versions of a model in its folder of a repository, <version>/config.json, and which of them
/// is served: traffic.json, {"weights": {"2": 1}, "history": ["1", "2"]}; without it the latest.
namespace forecast {

/// By their numbers.
[[nodiscard]] auto versions_in(std::filesystem::path const& folder) -> std::vector<std::string>;

/// Errors  usage_error for a folder without versions, or a traffic.json that is none
[[nodiscard]] auto served_version(std::filesystem::path const& folder) -> std::string;

/// What was served before, as the history has it; nothing where that is the first.
[[nodiscard]] auto version_before(std::filesystem::path const& folder) -> std::string;

/// A number that no version has.
[[nodiscard]] auto next_version(std::filesystem::path const& folder) -> std::string;

/// All requests go to `version` from now on; a server that watches the folder follows. Going back
/// to the version before shortens the history, all else makes it longer.
///
/// Errors  usage_error for a version that is not there; tessera::file_error
void serve_version(std::filesystem::path const& folder, std::string const& version);

}  // namespace forecast
