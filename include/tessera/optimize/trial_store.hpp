// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/detail/database.hpp>
#include <tessera/optimize/trial.hpp>
#include <tessera/optimize/trial_locks.hpp>
#include <tessera/train/settings_text.hpp>

#include <array>
#include <chrono>
#include <functional>

namespace tessera {

/// The trials of a search in a file of SQLite, with the settings that they were made by; any number
/// of processes at once. A trial that is running belongs to whoever holds its lock, and to one
/// attempt: what an attempt says that was put back meanwhile is refused.
///
/// State   <path>, <path>-wal and <path>-shm of SQLite, <path>.running: see trial_locks.hpp; of a
///         symbolic link, beside the file that it names.
///         An object is for one thread, and never used on both sides of a fork
/// Errors  file_error for a file that is damaged, of another program, another version or another
///         search, of which the first difference is named; search_error for a trial that is not
///         the caller's
class trial_store {
 public:
  trial_store(std::filesystem::path const& path, std::string const& settings)
      : database_(path),
        // One lock for all names of the file, as SQLite itself has it.
        locks_(std::filesystem::canonical(checked_file()).string() + ".running") {
    database_.log_ahead();
    auto together = detail::transaction(database_);
    if (is_empty()) make(settings);
    auto stored = std::string{};
    database_.rows("SELECT settings FROM search", [&](auto row) { stored = row.text(0); });
    auto const difference = settings_difference(settings, stored);
    if (not difference.empty())
      throw file_error(path, "has the trials of another search: " + difference);
    together.commit();
  }

  /// All trials by their numbers. What others hold no longer is waiting.
  [[nodiscard]] auto trials() -> std::vector<trial> {
    auto together = detail::transaction(database_);
    wait_for_others();
    auto result = load();
    together.commit();
    return result;
  }
  /// Takes the first trial below `limit` that waits or is not there yet, whose point
  /// `propose(trials, number)` decides; nothing where there is none.
  [[nodiscard]] auto claim(
      std::uint64_t limit,
      std::function<search_point(std::vector<trial> const&, std::uint64_t)> const& propose)
      -> std::optional<trial> {
    auto together = detail::transaction(database_);
    wait_for_others();
    auto const all_trials = load();
    auto number = static_cast<std::uint64_t>(all_trials.size());
    for (auto const& one : all_trials)
      if (one.state == trial_state::waiting) number = std::min(number, one.number);
    if (number >= limit) return std::nullopt;
    if (number == all_trials.size())
      insert(number, propose(all_trials, number));
    else
      again(number);
    locks_.hold(number);
    auto result = load(number);
    together.commit();
    return result;
  }
  /// Takes part in a trial that another process has claimed, and waits for this one.
  [[nodiscard]] auto join(std::uint64_t number, std::uint64_t attempt) -> trial {
    auto together = detail::transaction(database_);
    check_mine(number, attempt);
    (void)database_.run("UPDATE trial SET worker = ? WHERE number = ?", worker(), number);
    locks_.hold(number);
    auto result = load(number);
    together.commit();
    return result;
  }
  /// Keeps the value at a step. The last step before it, and what others reported when they first
  /// came to step `rung(before)`, where that gives one.
  template <class Rung>
  [[nodiscard]] auto report(trial const& t, std::uint64_t step, double value, Rung const& rung)
      -> std::optional<std::vector<double>> {
    auto together = detail::transaction(database_);
    check_mine(t.number, t.attempt);
    auto const before =
        database_.whole("SELECT coalesce(max(step), 0) FROM report WHERE trial = ?", t.number);
    (void)database_.run("INSERT OR REPLACE INTO report VALUES (?, ?, ?)", t.number, step, value);
    auto result = std::optional<std::vector<double>>{};
    if (auto const steps = rung(before)) {
      result.emplace();
      database_.rows(
          "SELECT value, min(step) FROM report WHERE step >= ? AND trial <> ? GROUP BY trial",
          [&](auto row) { result->push_back(row.number(0)); }, *steps, t.number);
    }
    together.commit();
    return result;
  }
  /// The end of a trial; `waiting` puts it back.
  void finish(trial const& t, trial_state state, double value = not_a_number,
              std::map<std::string, double> const& scores = {}, std::string const& message = {}) {
    auto together = detail::transaction(database_);
    check_mine(t.number, t.attempt);
    (void)database_.run(
        "UPDATE trial SET state = ?, value = ?, ended = ?, message = ? WHERE number = ?",
        text_of(state), value, state == trial_state::waiting ? 0 : seconds_now(), message,
        t.number);
    for (auto const& [name, score] : scores)
      (void)database_.run("INSERT INTO score VALUES (?, ?, ?)", t.number, name, score);
    together.commit();
    locks_.release(t.number);
  }
  /// This process has nothing to do with the trial any more.
  void release(std::uint64_t number) { locks_.release(number); }
  [[nodiscard]] auto find(std::uint64_t number) -> trial {
    auto together = detail::transaction(database_);
    auto result = load(number);
    together.commit();
    return result;
  }
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return database_.path(); }

 private:
  static constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();
  static constexpr auto application = std::uint64_t{0x54535352};  // of no other program
  static constexpr auto version = std::uint64_t{1};

  [[nodiscard]] static auto seconds_now() -> double {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }
  [[nodiscard]] static auto worker() -> std::string {
    auto host = std::array<char, 256>{};
    (void)::gethostname(host.data(), host.size() - 1);
    return "process " + std::to_string(::getpid()) + " on " + host.data();
  }
  [[nodiscard]] auto is_empty() -> bool {
    return database_.whole("SELECT count(*) FROM sqlite_master") == 0;
  }
  [[noreturn]] void damaged(std::string const& how) const {
    throw file_error(path(), "is damaged: " + how);
  }
  /// Before anything is written: the file may be another's.
  [[nodiscard]] auto checked_file() -> std::filesystem::path const& {
    auto found = std::string{};
    database_.rows("PRAGMA quick_check(1)", [&](auto row) { found = row.text(0); });
    if (found != "ok") damaged(shortened(found));
    if (is_empty()) return path();
    if (database_.whole("PRAGMA application_id") != application)
      throw file_error(path(), "is a database of another program");
    auto const got = database_.whole("PRAGMA user_version");
    if (got != version)
      throw file_error(path(), "expected version " + std::to_string(version) +
                                   " of the tables, got " + std::to_string(got));
    return path();
  }
  void make(std::string const& settings) {
    for (auto const* const sql :
         {"PRAGMA application_id = 1414746962", "PRAGMA user_version = 1",
          "CREATE TABLE search (settings TEXT NOT NULL)",
          "CREATE TABLE trial (number INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, state TEXT "
          "NOT "
          "NULL CHECK (state IN ('waiting', 'running', 'complete', 'pruned', 'failed')), value "
          "REAL, began REAL NOT NULL, ended REAL NOT NULL, worker TEXT NOT NULL, message TEXT NOT "
          "NULL)",
          "CREATE TABLE parameter (trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL, "
          "value NOT NULL, PRIMARY KEY (trial, name)) WITHOUT ROWID",
          "CREATE TABLE score (trial INTEGER NOT NULL REFERENCES trial, name TEXT NOT NULL, value "
          "REAL, PRIMARY KEY (trial, name)) WITHOUT ROWID",
          "CREATE TABLE report (trial INTEGER NOT NULL REFERENCES trial, step INTEGER NOT NULL, "
          "value REAL, PRIMARY KEY (trial, step)) WITHOUT ROWID"})
      (void)database_.run(sql);
    (void)database_.run("INSERT INTO search VALUES (?)", settings);
  }
  /// Trials whose processes ended before they did wait for another attempt.
  void wait_for_others() {
    auto lost = std::vector<std::uint64_t>{};
    database_.rows("SELECT number FROM trial WHERE state = 'running'", [&](auto row) {
      if (not locks_.is_held(row.whole(0))) lost.push_back(row.whole(0));
    });
    for (auto const number : lost)
      (void)database_.run(
          "UPDATE trial SET state = 'waiting', message = 'its process ended' WHERE number = ?",
          number);
  }
  void check_mine(std::uint64_t number, std::uint64_t attempt) {
    auto const mine = database_.whole(
        "SELECT count(*) FROM trial WHERE number = ? AND attempt = ? AND state = 'running'", number,
        attempt);
    if (mine != 1)
      throw search_error("trial " + std::to_string(number) + ", attempt " +
                         std::to_string(attempt) + ", is not running");
  }
  void insert(std::uint64_t number, search_point const& point) {
    (void)database_.run("INSERT INTO trial VALUES (?, 1, 'running', NULL, ?, 0, ?, '')", number,
                        seconds_now(), worker());
    for (auto const& [name, value] : point)
      (void)database_.run("INSERT INTO parameter VALUES (?, ?, ?)", number, name, value);
  }
  /// The same point anew: what the attempt before reported is not this one's.
  void again(std::uint64_t number) {
    (void)database_.run(
        "UPDATE trial SET state = 'running', attempt = attempt + 1, began = ?, worker = ?, message "
        "= '' WHERE number = ?",
        seconds_now(), worker(), number);
    (void)database_.run("DELETE FROM report WHERE trial = ?", number);
  }
  [[nodiscard]] auto load() -> std::vector<trial> {
    auto result = std::vector<trial>{};
    database_.rows(
        "SELECT number, attempt, state, value, began, ended, worker, message FROM trial ORDER BY "
        "number",
        [&](auto row) {
          auto const states = detail::trial_states;
          auto const state = std::find(states.begin(), states.end(), row.text(2));
          if (row.whole(0) != result.size() || state == states.end())
            damaged("expected trial " + std::to_string(result.size()) + ", got trial " +
                    std::to_string(row.whole(0)) + ", " + shortened(row.text(2)));
          result.push_back({.number = row.whole(0),
                            .attempt = row.whole(1),
                            .state = static_cast<trial_state>(state - states.begin()),
                            .value = row.number(3),
                            .began = row.number(4),
                            .ended = row.number(5),
                            .worker = row.text(6),
                            .message = row.text(7)});
        });
    auto const of = [&](auto row) -> trial& {
      if (row.whole(0) >= result.size()) damaged("a row of trial " + std::to_string(row.whole(0)));
      return result[static_cast<std::size_t>(row.whole(0))];
    };
    database_.rows("SELECT trial, name, value FROM parameter",
                   [&](auto row) { of(row).point[row.text(1)] = row.value(2); });
    database_.rows("SELECT trial, name, value FROM score",
                   [&](auto row) { of(row).scores[row.text(1)] = row.number(2); });
    database_.rows("SELECT trial, step, value FROM report",
                   [&](auto row) { of(row).reported[row.whole(1)] = row.number(2); });
    return result;
  }
  [[nodiscard]] auto load(std::uint64_t number) -> trial {
    auto const all_trials = load();
    if (number >= all_trials.size())
      throw search_error("there is no trial " + std::to_string(number));
    return all_trials[static_cast<std::size_t>(number)];
  }

  detail::database database_;
  trial_locks locks_;
};

}  // namespace tessera
