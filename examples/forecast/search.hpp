// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "settings.hpp"

/// A search for the model and the way to train it, by the folds; the last days are not looked at.
namespace forecast {

struct search_settings {
  std::uint64_t trials = 50;
  std::uint64_t parallel = 0;
  std::string method = "tpe";
  std::string halving = "on";

  static void visit(auto const& f, auto& s) {
    f("trials", s.trials, "points to try", {1, 100'000});
    f("parallel", s.parallel, "processes at a time, 0 for all cores; changes no result of a trial",
      {.high = 1024, .changes_result = false});
    f("method", s.method, "random, or tpe: where good trials are dense");
    f("halving", s.halving, "on: after a fold, only the best go on; off");
  }
};

/// The settings that a search chooses.
[[nodiscard]] auto searched_settings() -> std::vector<std::string>;
/// Errors  usage_error where a file says of one of them what its default is not
void refuse_searched(settings const& s);

/// Runs trials, or goes on with those of the folder: the model and its width, look-back, rate,
/// dropout and decay, or the penalty of ridge, judged by the squared error over that of HAR, mean
/// of the folds of the first target. Prints the best; writes search.csv, importance.csv and their
/// pictures, and best.yaml for `train --config`. Every trial has a value of each; those that its
/// model does not have do nothing, and the table has them. Returns 130 after an interrupt.
///
/// Errors  usage_error for settings that are none or cut trainings off; price_error;
///         tessera::search_error, tessera::file_error
[[nodiscard]] auto search(settings const& s, search_settings const& how,
                          std::filesystem::path const& folder) -> int;

/// One trial of a search, in the process that it was given to.
[[nodiscard]] auto run_trial(std::filesystem::path const& folder, std::string const& ticket) -> int;

}  // namespace forecast
