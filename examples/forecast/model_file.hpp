// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "forecaster.hpp"
#include "report.hpp"

/// A model with all that a forecast needs: a folder with model.safetensors and config.json.
namespace forecast {

/// What a model was made for and from; its file tells it.
struct model_description {
  model_choice choice;
  std::uint64_t look_back = 60;
  target_kind kind = target_kind::range;
  std::uint64_t horizon = 1;
  scaling scales;
  learned_days learned;
  bool relative_bands = false;
  std::vector<band> bands;  ///< what the folds missed by
};

[[nodiscard]] auto describe(settings const& s, target_study const& study,
                            target_report const& report) -> model_description;
[[nodiscard]] auto to_json(model_description const& d) -> std::string;
/// Writes a folder that load_model reads.
void save_model(std::filesystem::path const& folder, forecaster const& model,
                model_description const& d);

struct described_model {
  model_description description;
  std::unique_ptr<forecaster> model;
};
/// Errors  tessera::file_error, tessera::safetensors_error; usage_error for a config.json that is
///         none, of a model that was not compiled, of other parameters than those beside it, or of
///         another target than the folder's
[[nodiscard]] auto load_model(std::filesystem::path const& folder) -> described_model;

}  // namespace forecast
