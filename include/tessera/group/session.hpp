// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/prompt.hpp>
#include <tessera/group/record.hpp>
#include <tessera/io/file.hpp>

#include <charconv>
#include <fstream>
#include <optional>
#include <tuple>
#include <utility>

/// A folder that keeps what a group was asked and what it answered, over several turns.
namespace tessera {

/// How a group stands, as one JSON object: phase, completion in percent, of each agent its status,
/// its answers and its vote, the votes that count, and the winner. The phase of a group that is
/// `interrupted` before its end says so.
[[nodiscard]] inline auto group_status_text(group_protocol const& group, bool interrupted = false)
    -> std::string {
  auto agents = detail::json_line{};
  auto votes = detail::json_line{};
  auto const tally = group.tally();
  auto done = std::size_t{0};
  for (auto i = std::size_t{0}; i < group.size(); ++i) {
    auto one = detail::json_line{};
    one.put("status", name_of(group.status(i))).put("answered", group.answer_of(i).has_value());
    if (auto const vote = group.vote_of(i)) one.put("vote", group.id(*vote));
    agents.raw(group.id(i), one.done());
    if (tally[i] > 0) votes.put(group.id(i), tally[i]);
    done += group.vote_of(i) || not group.alive(i) ? 1 : 0;
  }
  auto const open = done * 90 / group.size();  // the rest is the presentation
  auto line = detail::json_line{};
  auto const phase = interrupted && not group.ended() ? "interrupted" : name_of(group.phase());
  line.put("phase", phase).put("completion", group.ended() ? 100 : open);
  line.raw("agents", agents.done());
  line.raw("votes", votes.done());
  auto const winner = interrupted && not group.ended() ? std::nullopt : group.outcome().winner;
  return line.raw("winner", winner ? json_text(group.id(*winner)) : "null").done();
}

/// One question to a group, in a folder of its own:
///
///     question.txt  record.jsonl  status.json  final/<agent>/answer.txt
///
/// Errors  file_error where a file cannot be written
class session_turn {
 public:
  session_turn(std::filesystem::path folder, std::string_view question)
      : folder_(std::move(folder)), record_(folder_ / "record.jsonl", std::ios::binary) {
    write_file(folder_ / "question.txt", question);
  }
  [[nodiscard]] auto folder() const -> std::filesystem::path const& { return folder_; }

  /// A line of the record, which a reader finds as soon as the call returns.
  void write(std::string_view line) {
    record_ << line << '\n' << std::flush;
    if (not record_) throw file_error(folder_ / "record.jsonl", "cannot be written");
  }
  /// Whole for whoever reads it at any time.
  void write_status(group_protocol const& group) { write_status(group, false); }
  /// The answer and the last status of a group that has ended, or was interrupted.
  void finish(group_protocol const& group) {
    auto const& outcome = group.outcome();
    if (group.ended() && outcome.winner) {
      auto const place = folder_ / "final" / group.id(*outcome.winner);
      detail::make_folder(place);
      write_file(place / "answer.txt", outcome.answer);
    }
    write_status(group, true);
  }

 private:
  void write_status(group_protocol const& group, bool last) {
    write_file(folder_ / "status.json", group_status_text(group, last) + '\n');
  }

  std::filesystem::path folder_;
  std::ofstream record_;
};

/// A session: turn_1, turn_2, ... in one folder, of which some may be gone. The turns that have an
/// answer are what the next question goes on from.
///
/// Errors  file_error where the folder cannot be made or read or is a turn's, or a turn is no
///         UTF-8;
///         std::invalid_argument for a question that is none, and for an agent whose id is no name
///         of a folder: tests/group/session.cpp
class group_session {
 public:
  /// Opens what is there, or begins in a new folder.
  explicit group_session(std::filesystem::path folder) : folder_(std::move(folder)) {
    if (exists(folder_ / "question.txt"))
      throw file_error(folder_, "expected a session, got one of its turns");
    detail::make_folder(folder_);
    count_ = highest_turn();  // NOLINT(cppcoreguidelines-prefer-member-initializer): after it
  }
  /// A new one in `root`, under the first name of session_1, session_2, ... that is free.
  [[nodiscard]] static auto begin(std::filesystem::path const& root) -> group_session {
    detail::make_folder(root);
    for (auto i = std::size_t{1};; ++i) {
      auto const folder = root / ("session_" + std::to_string(i));
      if (make_new(folder)) return group_session(folder);
    }
  }
  [[nodiscard]] auto folder() const -> std::filesystem::path const& { return folder_; }
  /// Turns that were begun.
  [[nodiscard]] auto size() const -> std::size_t { return count_; }

  /// The questions that have an answer, in their order.
  [[nodiscard]] auto turns() const -> std::vector<group_turn> {
    auto result = std::vector<group_turn>{};
    for (auto i = std::size_t{1}; i <= count_; ++i)
      if (auto const answer = answer_of(i))
        result.push_back({read_utf8(turn_folder(i) / "question.txt"), read_utf8(*answer)});
    return result;
  }
  /// The last question, and the answer where it has one.
  [[nodiscard]] auto last_turn() const -> std::pair<std::string, std::optional<std::string>> {
    if (count_ == 0) return {};
    auto const answer = answer_of(count_);
    return {read_utf8(turn_folder(count_) / "question.txt"),
            answer ? std::optional{read_utf8(*answer)} : std::nullopt};
  }
  /// The next question, and what was said before it.
  [[nodiscard]] auto task(std::string question) const -> group_task {
    return {std::move(question), turns()};
  }
  [[nodiscard]] auto begin_turn(std::string_view question, std::vector<std::string> const& agents)
      -> session_turn {
    for (auto const& id : agents) check_name(id);
    if (auto const fault = fault_of_utf8(question); not fault.empty())
      throw std::invalid_argument("question: " + fault);
    ++count_;
    while (not make_new(turn_folder(count_))) ++count_;  // another process may have been faster
    return {turn_folder(count_), question};
  }
  /// Whether an agent's id can be the name of a folder.
  ///
  /// Errors  std::invalid_argument where it cannot
  static void check_name(std::string const& id) {
    auto const fine = [](char one) {
      return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
             (one >= '0' && one <= '9') || one == '_' || one == '-' || one == '.';
    };
    if (id.empty() || id.size() > 100 || id.front() == '.' || not std::ranges::all_of(id, fine))
      throw std::invalid_argument(
          "session: expected ids of letters, digits, '_', '-' and '.', 100 at most, got " + id);
  }

 private:
  [[nodiscard]] static auto read_utf8(std::filesystem::path const& path) -> std::string {
    auto text = read_text(path);
    if (auto const fault = fault_of_utf8(text); not fault.empty()) throw file_error(path, fault);
    return text;
  }
  static auto make_new(std::filesystem::path const& folder) -> bool {
    auto error = std::error_code{};
    auto const made = create_directory(folder, error);
    if (error) throw file_error(folder, "cannot be made: " + error.message());
    return made;
  }
  [[nodiscard]] auto turn_folder(std::size_t number) const -> std::filesystem::path {
    return folder_ / ("turn_" + std::to_string(number));
  }
  [[nodiscard]] auto highest_turn() const -> std::size_t {
    constexpr auto begin = std::string_view{"turn_"};
    constexpr auto most_digits = std::size_t{6};
    auto highest = std::size_t{0};
    auto error = std::error_code{};
    for (auto one = std::filesystem::directory_iterator(folder_, error);
         not error && one != std::filesystem::directory_iterator(); one.increment(error)) {
      auto const name = one->path().filename().string();
      if (not name.starts_with(begin) || name.size() > begin.size() + most_digits) continue;
      auto number = std::size_t{0};
      (void)std::from_chars(name.data() + begin.size(), name.data() + name.size(), number);
      if (turn_folder(number).filename() == name) highest = std::max(highest, number);
    }
    if (error) throw file_error(folder_, "cannot be read: " + error.message());
    return highest;
  }
  /// The file of a turn's answer, where it has one.
  [[nodiscard]] auto answer_of(std::size_t number) const -> std::optional<std::filesystem::path> {
    auto error = std::error_code{};
    for (auto const& one :
         std::filesystem::directory_iterator(turn_folder(number) / "final", error))
      if (auto file = one.path() / "answer.txt"; exists(file, error)) return file;
    return std::nullopt;
  }

  std::filesystem::path folder_;
  std::size_t count_ = 0;
};

/// A session as a list shows it.
struct session_entry {
  std::filesystem::path folder;
  std::size_t turns = 0;  ///< that were begun
  std::string last_question;
  std::optional<std::string> last_answer;  ///< to it; nothing where nobody answered
  std::string damage;                      ///< why its turns cannot be read; empty where they can
};

/// The sessions below `root`, by name.
[[nodiscard]] inline auto list_sessions(std::filesystem::path const& root)
    -> std::vector<session_entry> {
  auto folders = std::vector<std::filesystem::path>{};
  auto error = std::error_code{};
  for (auto const& one : std::filesystem::directory_iterator(root, error))
    if (is_directory(one.path() / "turn_1", error)) folders.push_back(one.path());
  auto const shorter_first = [](auto const& a, auto const& b) {  // session_10 is behind session_9
    return std::pair{a.native().size(), a} < std::pair{b.native().size(), b};
  };
  std::ranges::sort(folders, shorter_first);
  auto result = std::vector<session_entry>{};
  for (auto const& folder : folders) {
    auto const session = group_session(folder);
    auto entry = session_entry{.folder = folder,
                               .turns = session.size(),
                               .last_question = {},
                               .last_answer = {},
                               .damage = {}};
    try {
      (void)session.turns();
      std::tie(entry.last_question, entry.last_answer) = session.last_turn();
    } catch (file_error const& e) {
      entry.damage = e.what();
    }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace tessera
