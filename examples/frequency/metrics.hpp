// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <iosfwd>
#include <vector>

#include "filter.hpp"
#include "signal.hpp"

/// How well a filter answers, with frozen weights.
namespace frequency {

/// Sums over answers and targets, from which every figure comes.
struct moments {
  double n = 0, squared_error = 0, absolute_error = 0;
  double y = 0, t = 0, yy = 0, tt = 0, yt = 0;

  void add(double answer, double target);
  [[nodiscard]] auto mse() const -> double { return squared_error / n; }
  [[nodiscard]] auto mae() const -> double { return absolute_error / n; }
  /// Pearson's correlation; 0 where one of the two does not change.
  [[nodiscard]] auto r() const -> double;
};

/// Figures of one signal: all positions of all windows, or all samples where stateful.
struct evaluation {
  std::array<moments, frequencies.size()> per_frequency;
  moments total;
  /// Answers by time: of a sample that several windows hold, the one with the most history.
  std::array<std::vector<double>, frequencies.size()> answers;
};

/// What ends an evaluation where an interrupt_guard was asked to.
struct interrupted {};

/// Errors  interrupted
[[nodiscard]] auto evaluate(filter& f, signal const& s) -> evaluation;

struct report {
  evaluation test;
  evaluation train;
  std::size_t parameters = 0;
};
void print_table(std::ostream& to, report const& r);
/// {"test": {...}, "train": {...}, "ratio": ..., "parameters": ...}
[[nodiscard]] auto to_json(report const& r) -> std::string;

}  // namespace frequency
