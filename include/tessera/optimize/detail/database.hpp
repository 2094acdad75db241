// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/json_text.hpp>
#include <tessera/optimize/search_space.hpp>
#include <tessera/train/settings_text.hpp>

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <thread>

#include <sqlite3.h>

namespace tessera::detail {

/// A row of an answer, as long as it is looked at.
///
/// Errors  file_error for a value of another kind than what is asked for: SQLite keeps any in any
///         column
class database_row {
 public:
  database_row(sqlite3_stmt* statement, std::filesystem::path const& path)
      : statement_{statement}, path_{path} {}

  [[nodiscard]] auto whole(int column) const -> std::uint64_t {
    if (type(column) != SQLITE_INTEGER) wrong(column, "a whole number");
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
  }
  /// What is no number is stored as nothing.
  [[nodiscard]] auto number(int column) const -> double {
    if (type(column) == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
    if (type(column) != SQLITE_FLOAT && type(column) != SQLITE_INTEGER) wrong(column, "a number");
    return sqlite3_column_double(statement_, column);
  }
  [[nodiscard]] auto text(int column) const -> std::string {
    auto const* const letters = sqlite3_column_text(statement_, column);
    if (letters == nullptr) return "";
    return {reinterpret_cast<char const*>(letters),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  [[nodiscard]] auto value(int column) const -> search_value {
    if (type(column) == SQLITE_INTEGER)
      return static_cast<std::int64_t>(sqlite3_column_int64(statement_, column));
    if (type(column) == SQLITE_FLOAT) return number(column);
    return text(column);
  }

 private:
  [[nodiscard]] auto type(int column) const -> int {
    return sqlite3_column_type(statement_, column);
  }
  [[noreturn]] void wrong(int column, char const* wanted) const {
    throw file_error(path_, std::string{"is damaged: "} + sqlite3_column_name(statement_, column) +
                                ": expected " + wanted + ", got " +
                                json_text(shortened(text(column))));
  }

  sqlite3_stmt* statement_;
  std::filesystem::path const& path_;
};

/// A file of SQLite with a log before its pages (WAL): many processes of one machine read and write
/// it, each waits for the others, and what was committed outlives its writer and the power.
///
/// State   statements are prepared once; for one thread, and never over a fork
/// Errors  file_error with the path and one sentence
class database {
 public:
  explicit database(std::filesystem::path path) : path_(std::move(path)) {
    sqlite3* opened = nullptr;
    constexpr auto flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (path_.empty()) throw file_error(path_, "expected the path of a file, got none");
    // A relative path could be one of SQLite's own names: ":memory:", "file:...".
    auto const code =
        sqlite3_open_v2(std::filesystem::absolute(path_).c_str(), &opened, flags, nullptr);
    connection_.reset(opened);
    if (code != SQLITE_OK) fail(code);
    (void)sqlite3_extended_result_codes(opened, 1);
    (void)sqlite3_busy_timeout(opened, static_cast<int>(patience.count()));
    run("PRAGMA foreign_keys = ON");
    run("PRAGMA synchronous = FULL");
  }
  /// Nobody waits in the change of this mode, which happens once: so it is tried again.
  void log_ahead() {
    auto const end = std::chrono::steady_clock::now() + patience;
    for (;;) {
      auto const code =
          sqlite3_exec(connection_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
      if (code == SQLITE_OK) return;
      if ((code & 0xFF) != SQLITE_BUSY || std::chrono::steady_clock::now() > end) fail(code);
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
  /// Runs a statement with values for its question marks; the number of rows it changed.
  template <class... T> auto run(char const* sql, T const&... values) -> int {
    rows(sql, [](database_row) {}, values...);
    return sqlite3_changes(connection_.get());
  }
  /// Calls f for every row of the answer. The statement is at rest again afterwards: one that is
  /// not would hold what others write in the log.
  template <class F, class... T> void rows(char const* sql, F const& f, T const&... values) {
    struct at_rest {
      sqlite3_stmt* statement;
      ~at_rest() { (void)sqlite3_reset(statement); }
    };
    auto* const statement = prepared(sql);
    auto const guard = at_rest{statement};
    auto place = 0;
    (bind(statement, ++place, values), ...);
    for (;;) {
      auto const code = sqlite3_step(statement);
      if (code == SQLITE_DONE) return;
      if (code != SQLITE_ROW) fail(code);
      f(database_row{statement, path_});
    }
  }
  template <class... T>
  [[nodiscard]] auto whole(char const* sql, T const&... values) -> std::uint64_t {
    auto result = std::uint64_t{0};
    rows(sql, [&](database_row row) { result = row.whole(0); }, values...);
    return result;
  }
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }

 private:
  static constexpr auto patience = std::chrono::milliseconds{30000};

  struct closes {
    void operator()(sqlite3* c) const { (void)sqlite3_close_v2(c); }
    void operator()(sqlite3_stmt* s) const { (void)sqlite3_finalize(s); }
  };

  [[noreturn]] void fail(int code) const {
    auto const reason = [&]() -> std::string {
      switch (code & 0xFF) {
        case SQLITE_NOTADB:
          return "is no SQLite database";
        case SQLITE_CORRUPT:
          return "is damaged";
        case SQLITE_BUSY:
          return "is locked by another process for more than 30 s";
        case SQLITE_CANTOPEN:
          return "cannot be opened";
        case SQLITE_READONLY:
          return "cannot be written";
        case SQLITE_FULL:
          return "cannot be written: the disk is full";
        default:
          return std::string{"failed: "} + sqlite3_errmsg(connection_.get());
      }
    };
    throw file_error(path_, reason());
  }
  [[nodiscard]] auto prepared(char const* sql) -> sqlite3_stmt* {
    auto& statement = statements_[sql];
    if (statement == nullptr) {
      sqlite3_stmt* made = nullptr;
      auto const code = sqlite3_prepare_v2(connection_.get(), sql, -1, &made, nullptr);
      statement.reset(made);
      if (code != SQLITE_OK) fail(code);
    }
    return statement.get();
  }
  void bind(sqlite3_stmt* statement, int place, double value) const {
    check(sqlite3_bind_double(statement, place, value));
  }
  void bind(sqlite3_stmt* statement, int place, std::uint64_t value) const {
    check(sqlite3_bind_int64(statement, place, static_cast<sqlite3_int64>(value)));
  }
  void bind(sqlite3_stmt* statement, int place, std::int64_t value) const {
    check(sqlite3_bind_int64(statement, place, value));
  }
  void bind(sqlite3_stmt* statement, int place, std::string const& value) const {
    check(sqlite3_bind_text64(statement, place, value.data(), value.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8));
  }
  void bind(sqlite3_stmt* statement, int place, search_value const& value) const {
    std::visit([&](auto const& v) { bind(statement, place, v); }, value);
  }
  void check(int code) const {
    if (code != SQLITE_OK) fail(code);
  }

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, closes> connection_;
  std::map<std::string_view, std::unique_ptr<sqlite3_stmt, closes>> statements_;  // by literals
};

/// What happens between its beginning and `commit` happens together, and alone; without a commit,
/// not at all.
class transaction {
 public:
  explicit transaction(database& d) : database_{&d} { d.run("BEGIN IMMEDIATE"); }
  transaction(transaction const&) = delete;
  auto operator=(transaction const&) -> transaction& = delete;
  ~transaction() {
    if (database_ == nullptr) return;
    try {
      database_->run("ROLLBACK");
    } catch (std::exception const&) {  // NOLINT(bugprone-empty-catch): SQLite has rolled back
    }
  }
  void commit() {
    database_->run("COMMIT");
    database_ = nullptr;
  }

 private:
  database* database_;
};

}  // namespace tessera::detail
