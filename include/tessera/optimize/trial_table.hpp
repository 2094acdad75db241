// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/number_text.hpp>
#include <tessera/optimize/trial.hpp>

namespace tessera {

namespace detail {

[[nodiscard]] inline auto short_number(double value) -> std::string {
  return number_text(value, 5);
}
[[nodiscard]] inline auto short_value(search_value const& value) -> std::string {
  auto const* const number = std::get_if<double>(&value);
  return number == nullptr ? tessera::text_of(value) : short_number(*number);
}
/// Rows with their columns below each other, numbers to the right.
[[nodiscard]] inline auto aligned(std::vector<std::vector<std::string>> const& rows)
    -> std::string {
  auto widths = std::vector<std::size_t>(rows.front().size());
  for (auto const& row : rows)
    for (auto i = std::size_t{0}; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  auto text = std::string{};
  for (auto const& row : rows) {
    for (auto i = std::size_t{0}; i < row.size(); ++i)
      text += std::string(widths[i] - row[i].size() + (i == 0 ? 0 : 2), ' ') + row[i];
    text += '\n';
  }
  return text;
}
/// A cell of CSV as RFC 4180 has it.
[[nodiscard]] inline auto csv_cell(std::string const& text) -> std::string {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  auto quoted = std::string{'"'};
  for (auto const letter : text)
    quoted += letter == '"' ? std::string{"\"\""} : std::string{letter};
  return quoted + '"';
}
[[nodiscard]] inline auto csv_number(double value) -> std::string {
  return std::isnan(value) ? "" : described(value);
}

}  // namespace detail

/// "50 trials: 38 complete, 10 pruned, 2 failed"
[[nodiscard]] inline auto trial_counts(std::vector<trial> const& trials) -> std::string {
  auto counts = std::array<std::size_t, detail::trial_states.size()>{};
  for (auto const& one : trials) ++counts.at(static_cast<std::size_t>(one.state));
  auto text = std::to_string(trials.size()) + (trials.size() == 1 ? " trial" : " trials");
  auto first = true;
  for (auto const state : {trial_state::complete, trial_state::pruned, trial_state::failed,
                           trial_state::running, trial_state::waiting}) {
    auto const n = counts.at(static_cast<std::size_t>(state));
    if (n == 0) continue;
    text += (first ? ": " : ", ") + std::to_string(n) + ' ' + text_of(state);
    first = false;
  }
  return text;
}

/// The best complete trials as a table for people: numbers are cut to five digits.
[[nodiscard]] inline auto trial_table(search_space const& space, std::vector<trial> const& trials,
                                      search_direction direction, std::size_t most = 10)
    -> std::string {
  auto rows = std::vector<std::vector<std::string>>{{"trial", "value"}};
  for (auto const& p : space.parameters()) rows[0].push_back(p.name);
  rows[0].emplace_back("seconds");
  for (auto const& one : best_trials(trials, direction)) {
    if (rows.size() > most) break;
    auto row = std::vector{std::to_string(one.number), detail::short_number(one.value)};
    for (auto const& p : space.parameters())
      row.push_back(detail::short_value(one.point.at(p.name)));
    row.push_back(fixed_number_text(one.ended - one.began, 1));
    rows.push_back(std::move(row));
  }
  return detail::aligned(rows);
}

/// All trials as CSV (RFC 4180), numbers exactly: what pictures are made of. The best value so far
/// stands beside each value; `last` is the value of the last step that was reported.
[[nodiscard]] inline auto trials_csv(search_space const& space, std::vector<trial> const& trials,
                                     search_direction direction) -> std::string {
  auto names = std::map<std::string, bool>{};
  for (auto const& one : trials)
    for (auto const& [name, ignored] : one.scores) names[name] = true;
  auto text = std::string{"trial,state,attempt,value,best,steps,last,seconds"};
  for (auto const& p : space.parameters()) text += ',' + p.name;
  for (auto const& [name, ignored] : names) text += ',' + detail::csv_cell(name);
  text += ",worker,message\n";
  auto best = std::numeric_limits<double>::quiet_NaN();
  for (auto const& one : trials) {
    if (is_better(one.value, best, direction)) best = one.value;
    auto const last = one.reported.empty() ? std::pair<std::uint64_t const, double>{0, one.value}
                                           : *one.reported.rbegin();
    text +=
        std::to_string(one.number) + ',' + text_of(one.state) + ',' + std::to_string(one.attempt);
    for (auto const number : {one.value, best}) text += ',' + detail::csv_number(number);
    text += ',' + std::to_string(last.first) + ',' + detail::csv_number(last.second) + ',' +
            (one.is_finished() ? fixed_number_text(one.ended - one.began, 3) : "");
    for (auto const& p : space.parameters()) text += ',' + text_of(one.point.at(p.name));
    for (auto const& [name, ignored] : names) {
      auto const found = one.scores.find(name);
      text += ',' + (found == one.scores.end() ? "" : detail::csv_number(found->second));
    }
    text += ',' + detail::csv_cell(one.worker) + ',' + detail::csv_cell(one.message) + '\n';
  }
  return text;
}

}  // namespace tessera
