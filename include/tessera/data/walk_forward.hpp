// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/windows.hpp>

#include <initializer_list>

/// Folds that go forward in time: what is judged always comes after what was learned.
namespace tessera {

/// A training part, and the part after it that judges it.
struct fold {
  recording_part train;
  recording_part held_out;
  friend auto operator==(fold const&, fold const&) -> bool = default;
};

enum class training_growth {
  anchored,  ///< every training part begins with the first row
  sliding    ///< every training part has train_length rows
};

/// Counted in rows. A row is a time at which inputs are known; its target is known `horizon` rows
/// later.
struct walk_forward_settings {
  std::size_t folds = 5;
  training_growth training = training_growth::anchored;
  std::size_t train_length = 1260;  ///< of a sliding training part; the least of an anchored one
  std::size_t validation = 252;     ///< rows of each fold's held-out part
  std::size_t test = 252;           ///< last rows, that are part of no fold
  std::size_t horizon = 1;
  std::size_t gap = 1;  ///< rows left out between training and held-out part; at least the horizon
};

struct walk_forward {
  std::vector<fold> folds;  ///< by time; their held-out parts follow one another
  fold test;                ///< the last rows, and the training part for a final model
};

namespace detail {

/// Rows that all folds need; the largest number where they are more than that.
[[nodiscard]] inline auto rows_needed(walk_forward_settings const& s) -> std::size_t {
  constexpr auto most = ~std::size_t{0};
  auto sum = s.folds > most / s.validation ? most : s.folds * s.validation;
  for (auto const rows : {s.train_length, s.gap, s.horizon - 1, s.test})
    sum = rows > most - sum ? most : sum + rows;
  return sum;
}

inline void check(walk_forward_settings const& s, std::size_t rows) {
  auto const refuse = [](std::string const& what) {
    throw std::invalid_argument("split_forward: expected " + what);
  };
  auto const lengths = {s.folds, s.train_length, s.validation, s.test, s.horizon};
  if (std::ranges::min(lengths) == 0)
    refuse("folds, train_length, validation, test and horizon of at least 1");
  if (s.gap < s.horizon)
    refuse("a gap of at least the horizon, " + std::to_string(s.horizon) + " rows, got " +
           std::to_string(s.gap));
  if (rows_needed(s) > rows)
    refuse("at least " + std::to_string(rows_needed(s)) + " rows for " + std::to_string(s.folds) +
           " folds, got " + std::to_string(rows));
}

}  // namespace detail

/// Parts of rows 0 .. rows - 1, all with a target: the last `test` rows are the test part, and the
/// held-out parts of the folds lie one after another before them. Between a training and its
/// held-out part `gap` rows are left out, so that every training target is known before the first
/// held-out row; the last held-out part ends horizon - 1 rows before the test part, so that no
/// target of a fold reaches over a time that a test target reaches over.
///
/// Errors  std::invalid_argument for a length of 0, a gap shorter than the horizon, and too few
///         rows, with the number that is needed
[[nodiscard]] inline auto split_forward(std::size_t rows, walk_forward_settings const& s)
    -> walk_forward {
  detail::check(s, rows);
  auto const before = [&](std::size_t begin, std::size_t end) {
    auto const last = begin - s.gap;
    auto const first = s.training == training_growth::sliding ? last - s.train_length : 0;
    return fold{.train = {0, first, last}, .held_out = {0, begin, end}};
  };
  auto const test = rows - s.test;
  auto result = walk_forward{.folds = {}, .test = before(test, rows)};
  for (auto left = s.folds; left > 0; --left) {
    auto const begin = test - (s.horizon - 1) - left * s.validation;
    result.folds.push_back(before(begin, begin + s.validation));
  }
  return result;
}

/// The rows that windows of `look_back` rows may read if each is to end in the part: the part, and
/// up to look_back - 1 rows before it. Inputs of those are known by then; a window's target is that
/// of its last row, so no target of another part is read. For held-out parts only: training windows
/// lie within their part.
///
/// Errors  std::invalid_argument for a look-back of 0
[[nodiscard]] inline auto with_history(recording_part part, std::size_t look_back)
    -> recording_part {
  if (look_back == 0)
    throw std::invalid_argument("with_history: expected a look-back of at least 1, got 0");
  part.begin -= std::min(part.begin, look_back - 1);
  return part;
}

}  // namespace tessera
