// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "metrics.hpp"

namespace frequency {

/// Draws five plots of a trained filter, PNG and SVG, by gnuplot: the training curve, one frequency
/// over two seconds, all four, the spectra, the errors. Returns the files.
///
/// Errors  std::runtime_error where gnuplot is missing or fails
auto draw_plots(std::filesystem::path const& folder, std::filesystem::path const& log,
                signal const& s, evaluation const& test) -> std::vector<std::filesystem::path>;

}  // namespace frequency
