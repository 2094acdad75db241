// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/number_text.hpp>
#include <tessera/train/settings_text.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

/// What a training tells of its epochs: to files, to a terminal, to callbacks.
namespace tessera {

/// A figure of a validation besides the loss: see scores.hpp.
struct named_score {
  std::string name;
  double value = 0;
  bool more_is_better = false;
};

struct epoch_report {
  std::uint64_t epoch = 0;  ///< counted from 1
  double rate = 0;
  double training_loss = 0;   ///< the batches' mean, while the weights changed
  double monitored_loss = 0;  ///< with frozen weights
  double largest_gradient_norm = 0;
  double seconds = 0;
  bool best = false;
  bool validated = true;  ///< else monitored_loss and scores are NaN
  std::vector<named_score> scores = {};
};

namespace detail {

/// A number of a row; nothing for one that there is not.
[[nodiscard]] inline auto cell_text(double value) -> std::string {
  return std::isnan(value) ? "," : ',' + number_text(value, 9);
}
/// Errors  file_error for what is no number
[[nodiscard]] inline auto number_of_cell(std::filesystem::path const& path, std::string const& cell)
    -> double {
  auto value = std::numeric_limits<double>::quiet_NaN();
  auto const* const end = cell.data() + cell.size();
  if (cell.empty()) return value;  // nothing stands where nothing was measured
  if (std::from_chars(cell.data(), end, value).ptr != end)
    throw file_error(path, "expected a number, got \"" + shortened(cell) + '"');
  return value;
}
/// A row of log.csv up to its last column, which no other run of the same settings has the same.
[[nodiscard]] inline auto row_text(epoch_report const& r) -> std::string {
  auto text = std::to_string(r.epoch);
  for (auto const value : {r.rate, r.training_loss, r.monitored_loss, r.largest_gradient_norm})
    text += cell_text(value);
  for (auto const& score : r.scores) text += cell_text(score.value);
  return text;
}
/// The same numbers as a line of log.jsonl, which has no word for one that is infinite.
[[nodiscard]] inline auto json_of_row(std::string const& header, std::string const& row)
    -> std::string {
  auto text = std::string{};
  auto names = std::istringstream{header};
  auto values = std::istringstream{row};
  auto value = std::string{};
  for (auto name = std::string{};
       std::getline(names, name, ',') && std::getline(values, value, ',');)
    text.append(text.empty() ? "{\"" : ",\"")
        .append(name)
        .append("\":")
        .append(value.empty() || value.ends_with("inf") ? "null" : value);
  return text + "}\n";
}
/// log.jsonl by the text of log.csv.
[[nodiscard]] inline auto json_of_rows(std::string const& text) -> std::string {
  auto rows = std::istringstream{text};
  auto header = std::string{};
  std::getline(rows, header);
  auto lines = std::string{};
  for (auto row = std::string{}; std::getline(rows, row);) lines += json_of_row(header, row);
  return lines;
}
/// FNV-1a over one row after another.
[[nodiscard]] inline auto digest_of(std::uint64_t before, std::string_view row) -> std::uint64_t {
  auto digest = before == 0 ? 0xCBF29CE484222325U : before;
  for (auto const letter : row)
    digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return digest;
}

}  // namespace detail

/// The digest of a training's rows, with this one after those of `before`; 0 before the first. A
/// checkpoint keeps it, so that a resumed training knows its own log.
[[nodiscard]] inline auto log_digest(std::uint64_t before, epoch_report const& r) -> std::uint64_t {
  return detail::digest_of(before, detail::row_text(r));
}

/// Writes log.csv and log.jsonl of a folder, a line for each epoch.
///
/// Errors  file_error where the folder is not writable, and where the rows of a training that is
///         resumed are missing or another's; std::invalid_argument where a score's name ends a cell
class epoch_log {
 public:
  /// A new log; or, with `epochs` finished ones and their digest, the log of a training that is
  /// resumed after them: rows that follow were written after the checkpoint, and are dropped.
  explicit epoch_log(std::filesystem::path folder, std::uint64_t epochs = 0,
                     std::uint64_t digest = 0, std::vector<std::string> const& scores = {})
      : folder_(std::move(folder)), header_(header_with(scores)) {
    auto const rows = rows_of(folder_, epochs, digest, scores);
    write_file(folder_ / "log.csv", rows);
    write_file(folder_ / "log.jsonl", detail::json_of_rows(rows));
  }
  /// The text that such a log.csv begins with. Nothing is written.
  [[nodiscard]] static auto rows_of(std::filesystem::path const& folder, std::uint64_t epochs,
                                    std::uint64_t digest, std::vector<std::string> const& scores)
      -> std::string {
    auto const columns = header_with(scores);
    auto rows = columns + '\n';
    if (epochs == 0) return rows;
    auto const path = folder / "log.csv";
    auto error = std::error_code{};
    auto file = std::istringstream{exists(path, error) ? read_text(path) : ""};
    auto row = std::string{};
    auto found = std::uint64_t{0};
    auto whole = std::getline(file, row) && row == columns;
    for (auto n = std::uint64_t{0}; whole && n < epochs; ++n) {
      whole = static_cast<bool>(std::getline(file, row)) && not file.eof();
      found = detail::digest_of(found, std::string_view{row}.substr(0, row.rfind(',')));
      rows += row + '\n';
    }
    if (not whole || found != digest)
      throw file_error(path, "expected the rows of epochs 1 to " + std::to_string(epochs) +
                                 ", as this training wrote them before its checkpoint");
    return rows;
  }
  /// The folder of both files has another name now.
  void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }
  void add(epoch_report const& r) const {
    auto const row = detail::row_text(r) + ',' + fixed_number_text(r.seconds, 3);
    append_file(folder_ / "log.csv", row + '\n');
    append_file(folder_ / "log.jsonl", detail::json_of_row(header_, row));
  }

  static constexpr auto header =
      "epoch,rate,training_loss,monitored_loss,largest_gradient_norm,seconds";

 private:
  /// Scores stand before the seconds, the last column.
  [[nodiscard]] static auto header_with(std::vector<std::string> const& scores) -> std::string {
    auto const all_columns = std::string_view{header};
    auto const last = all_columns.rfind(',');
    auto text = std::string{all_columns.substr(0, last)};
    for (auto const& score : scores) {
      if (score.find_first_of(",\"\\\r\n") != std::string::npos)
        throw std::invalid_argument(
            "epoch_log: expected names of scores without a comma, a quote or a line's end, got " +
            score);
      text += ',' + score;
    }
    return text + std::string{all_columns.substr(last)};
  }

  std::filesystem::path folder_;
  std::string header_;
};

/// The epochs that a folder's log.csv tells of; scores by their names alone.
///
/// Errors  file_error where there is none, and for a row without its end
[[nodiscard]] inline auto read_epoch_log(std::filesystem::path const& folder)
    -> std::vector<epoch_report> {
  constexpr auto leading = std::size_t{5};  // columns before the scores
  auto const cells_of = [](std::string const& row) {
    auto cells = std::vector<std::string>{};
    auto rest = std::istringstream{row};
    for (auto cell = std::string{}; std::getline(rest, cell, ',');) cells.push_back(cell);
    return cells;
  };
  auto const path = folder / "log.csv";
  auto rows = std::istringstream{read_text(path)};
  auto row = std::string{};
  std::getline(rows, row);
  auto const names = cells_of(row);
  auto result = std::vector<epoch_report>{};
  while (std::getline(rows, row)) {
    auto const cells = cells_of(row);
    if (cells.size() != names.size() || cells.size() <= leading)
      throw file_error(path, "has a row without its end");
    auto const number = [&](std::size_t i) { return detail::number_of_cell(path, cells[i]); };
    auto& r = result.emplace_back(epoch_report{.epoch = static_cast<std::uint64_t>(number(0)),
                                               .rate = number(1),
                                               .training_loss = number(2),
                                               .monitored_loss = number(3),
                                               .largest_gradient_norm = number(4),
                                               .seconds = number(cells.size() - 1)});
    for (auto i = leading; i + 1 < cells.size(); ++i) r.scores.push_back({names[i], number(i)});
  }
  return result;
}

}  // namespace tessera
