// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plots.hpp"

namespace forecast {

/// One HTML page with the figures and all pictures inside of it: no network, no script.
///
/// Errors  tessera::file_error for a picture that is not there
[[nodiscard]] auto make_page(settings const& s, std::vector<target_report> const& reports,
                             std::filesystem::path const& plots,
                             std::vector<picture> const& pictures) -> std::string;

}  // namespace forecast
