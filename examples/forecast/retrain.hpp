// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "model_file.hpp"
#include "significance.hpp"

/// The life of a served model: trained on new rows, promoted where it is better, rolled back.
namespace forecast {

/// A candidate beside the version that is served, on days that neither has learned from.
struct candidate {
  std::string before, version;  ///< the one that is served, and the new one
  std::string begin, end;       ///< of the days that judge
  double mse_before = 0, mse = 0;
  diebold_mariano_result test;  ///< of the new one against the other
  bool promoted = false;
};

/// What a new version has to be: of a smaller squared error, or that with p < 0.05, too.
enum class promotion { better, significant };

/// Trains on all days but the last `validation_days` of the prices, as settings.yaml of `folder`
/// says, and promotes the model where its squared error on those days is below that of the served
/// one. Its bands are what it missed by on those days. A model that is not promoted is not kept.
///
/// Errors  usage_error for a target that is not served, and where the served model has learned from
///         a day that is to judge; those of study and model_file
[[nodiscard]] auto retrain(std::filesystem::path const& folder, target_kind kind,
                           std::string const& data, promotion when = promotion::better)
    -> candidate;

/// The version before the one that is served is served again; its number.
///
/// Errors  usage_error where there is none
auto roll_back(std::filesystem::path const& folder, target_kind kind) -> std::string;

}  // namespace forecast
