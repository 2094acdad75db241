// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report.hpp"

namespace forecast {

struct picture {
  std::string name;   ///< of the files, <name>.png and <name>.svg
  std::string title;  ///< what it shows, as a sentence
};

/// Draws a study into a folder, by gnuplot, from tables that stay beside the pictures: for each
/// target the forecasts with their bands, the calibration of those, where the attention looked, the
/// folds in time and the losses; the equity where there is a strategy.
///
/// Errors  std::runtime_error where gnuplot is missing or fails; tessera::file_error
[[nodiscard]] auto draw_plots(std::filesystem::path const& folder,
                              std::vector<target_study> const& studies,
                              std::vector<target_report> const& reports) -> std::vector<picture>;

}  // namespace forecast
