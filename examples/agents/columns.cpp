// SPDX-License-Identifier: MIT
#include "columns.hpp"

namespace agents {

auto name_of_target(tessera::group_event const& vote, tessera::group_protocol const& group)
    -> std::string {
  for (auto i = std::size_t{0}; i < group.size(); ++i)
    if (group.label(i) == tessera::trimmed(vote.target)) return group.id(i);
  return vote.target;
}

}  // namespace agents

#ifdef AGENTS_HAS_CURSES

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#define NCURSES_NOMACROS
#include <curses.h>
#include <unistd.h>
#include <utf8proc.h>

namespace agents {

using namespace tessera;

namespace {

struct letter {
  std::size_t bytes = 1;
  std::size_t columns = 0;
  bool is_shown = false;
};
[[nodiscard]] auto letter_at(std::string_view text, std::size_t at) -> letter {
  auto value = utf8proc_int32_t{-1};
  auto const bytes = utf8proc_iterate(reinterpret_cast<utf8proc_uint8_t const*>(text.data() + at),
                                      static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  if (bytes < 1) return {};
  auto const is_control = utf8proc_category(value) == UTF8PROC_CATEGORY_CC;
  return {static_cast<std::size_t>(bytes),
          static_cast<std::size_t>(std::max(utf8proc_charwidth(value), 0)), not is_control};
}

/// The lines of a text in `width` columns of a terminal, at spaces where there are some; wide
/// letters take two, and what a terminal would obey is left out. The width is at least 2.
[[nodiscard]] auto wrapped(std::string_view text, std::size_t width) -> std::vector<std::string> {
  auto lines = std::vector<std::string>{};
  auto line = std::string{};
  auto used = std::size_t{0};
  auto space = std::string::npos;  // the last of the line, behind which it may be cut
  auto used_to_space = std::size_t{0};
  auto const end_line = [&] {
    lines.push_back(std::exchange(line, {}));
    used = 0;
    space = std::string::npos;
  };
  for (auto at = std::size_t{0}; at < text.size();) {
    if (text[at] == '\n') {
      end_line();
      ++at;
      continue;
    }
    auto const next = letter_at(text, at);
    if (next.is_shown && used + next.columns > width) {
      if (text[at] != ' ' && space != std::string::npos) {
        auto rest = line.substr(space + 1);
        auto const rest_used = used - used_to_space;
        line.resize(space);
        end_line();
        line = std::move(rest);
        used = rest_used;
      } else {
        end_line();
        if (text[at] == ' ') ++at;  // the line's end stands for it
      }
      continue;
    }
    if (next.is_shown) {
      if (text[at] == ' ') {
        space = line.size();
        used_to_space = used + 1;
      }
      line += text.substr(at, next.bytes);
      used += next.columns;
    }
    at += next.bytes;
  }
  if (not line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace

struct columns::screen {
  using clock = std::chrono::steady_clock;

  /// What an agent has done, and what it writes now.
  struct column {
    std::string done;
    std::string writes;

    void add(std::string const& text) {
      done += (done.empty() ? "" : "\n\n") + text;
      writes.clear();
    }
  };

  screen(SCREEN* opened, std::string asked, std::size_t agents)
      : terminal(opened), question(std::move(asked)), all(agents) {
    (void)set_term(terminal);
    (void)cbreak();
    (void)noecho();
    (void)nodelay(stdscr, TRUE);
    (void)curs_set(0);
  }
  screen(screen const&) = delete;
  screen& operator=(screen const&) = delete;
  ~screen() {
    (void)endwin();
    delscreen(terminal);
  }

  void hear(group_event const& event, group_verdict verdict, group_protocol const& group) {
    using enum group_event_kind;
    if (event.agent >= all.size() || verdict == group_verdict::late) return;
    auto& one = all[event.agent];
    auto const counts =
        std::string{verdict == group_verdict::taken ? "" : "\n(which does not count)"};
    switch (event.kind) {
      case text:
        one.writes += event.text;
        break;
      case seen:
        one.writes.clear();
        break;
      case answer:
        one.add(event.text + counts);
        break;
      case vote:
        one.add("votes for " + name_of_target(event, group) + ": " + event.text + counts);
        break;
      case malformed:
        one.add("does what is no action: " + event.text);
        break;
      case failure:
        one.add("is lost: " + event.text);
        break;
      case timeout:
        one.add("is lost: it took too long");
        break;
      case presentation:
        one.add(event.text);
        break;
      case begin:
      case tick:
        break;
    }
  }

  void put(int row, int left, std::string const& text, attr_t how = A_NORMAL) const {
    (void)attrset(static_cast<int>(how));
    (void)mvaddstr(row, left, text.c_str());
    (void)attrset(A_NORMAL);
  }
  void put_line(int row, int left, int width, std::string const& text, attr_t how) const {
    auto const lines = wrapped(text, static_cast<std::size_t>(std::max(width, 2)));
    if (not lines.empty()) put(row, left, lines.front(), how);
  }

  void draw(group_protocol const& group) {
    (void)getch();  // a size that has changed comes as a key
    auto height = 0;
    auto width = 0;
    getmaxyx(stdscr, height, width);
    (void)erase();
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - begun);
    put_line(0, 0, width - 8, question, A_BOLD);
    put_line(0, width - 7, 7, std::to_string(seconds.count()) + " s", A_NORMAL);
    auto const each = std::max(width / static_cast<int>(all.size()), 4);
    for (auto i = std::size_t{0}; i < all.size(); ++i)
      draw_column(i, static_cast<int>(i) * each, each - 2, height, group);
    put_line(height - 1, 0, width - 1, votes(group), A_BOLD);
    (void)refresh();
    drawn = clock::now();
  }
  void draw_column(std::size_t agent, int left, int width, int height,
                   group_protocol const& group) const {
    auto const& one = all[agent];
    put_line(2, left, width, group.id(agent) + ' ' + std::string{name_of(group.status(agent))},
             A_REVERSE);
    auto const text =
        one.done + (one.done.empty() || one.writes.empty() ? "" : "\n\n") + one.writes;
    auto const lines = wrapped(text, static_cast<std::size_t>(std::max(width, 2)));
    auto const rows = static_cast<std::size_t>(std::max(height - 6, 1));
    auto const first = lines.size() > rows ? lines.size() - rows : 0;  // the end is what is new
    for (auto i = first; i < lines.size(); ++i)
      put(4 + static_cast<int>(i - first), left, lines[i]);
  }
  [[nodiscard]] auto votes(group_protocol const& group) const -> std::string {
    auto result = std::string{"votes:"};
    auto const tally = group.tally();
    for (auto i = std::size_t{0}; i < tally.size(); ++i)
      result += (i == 0 ? " " : ", ") + group.id(i) + ' ' + std::to_string(tally[i]);
    return result;
  }

  SCREEN* terminal;
  std::string question;
  std::vector<column> all;
  clock::time_point begun = clock::now();
  clock::time_point drawn;
};

auto columns::open(std::string const& question, std::size_t agents) -> std::unique_ptr<columns> {
  if (isatty(STDERR_FILENO) == 0 || isatty(STDIN_FILENO) == 0) return nullptr;
  auto const* const kind = std::getenv("TERM");
  if (kind != nullptr && std::string_view{kind} == "dumb") return nullptr;  // ncurses takes it
  (void)std::setlocale(LC_CTYPE, "");
  auto* const terminal = newterm(nullptr, stderr, stdin);
  if (terminal == nullptr) return nullptr;
  return std::unique_ptr<columns>(
      new columns(std::make_unique<screen>(terminal, question, agents)));
}
void columns::show(group_event const& event, group_verdict verdict, group_protocol const& group) {
  screen_->hear(event, verdict, group);
  auto const is_piece =
      event.kind == group_event_kind::text || event.kind == group_event_kind::tick;
  if (is_piece && screen::clock::now() - screen_->drawn < std::chrono::milliseconds{50}) return;
  screen_->draw(group);
}

columns::columns(std::unique_ptr<screen> opened) : screen_(std::move(opened)) {}
columns::~columns() = default;

}  // namespace agents

#else

namespace agents {

struct columns::screen {};
auto columns::open(std::string const&, std::size_t) -> std::unique_ptr<columns> { return nullptr; }
void columns::show(tessera::group_event const&, tessera::group_verdict,
                   tessera::group_protocol const&) {}
columns::~columns() = default;

}  // namespace agents

#endif
