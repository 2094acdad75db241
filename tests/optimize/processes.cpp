// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/optimize/processes.hpp>

#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

using namespace tessera;

namespace {

auto space() -> search_space { return search_space{}.uniform("x", -1, 1).integer("n", 1, 9); }

/// What a child of these tests does, by the words of its command line.
struct child {
  std::string database;
  std::string ticket;
  std::string what;

  [[nodiscard]] auto run() const -> int {
    if (what == "any moment" && ticket == "0.1") (void)::raise(SIGKILL);
    if (what == "any moment" && ticket.ends_with(".1"))
      std::thread{[this] {
        std::this_thread::sleep_for(std::chrono::microseconds{600} * std::stoi(ticket));
        (void)::kill(::getpid(), SIGKILL);
      }}.detach();
    auto search = study(database, space());
    auto const t = search.join(ticket);
    if (what == "abort" && t.number == 1) std::abort();
    if (what == "code" && t.number == 1) {
      std::fprintf(stderr, "the first line\nno prices: %s\n", "p.csv");
      return 3;
    }
    if (what == "silent" && t.number == 1) return 0;
    if (what == "once" && t.attempt == 1 && t.number % 2 == 1) (void)::raise(SIGKILL);
    if (what == "always" && t.number == 1) (void)::raise(SIGKILL);
    if (what == "forever")
      for (;;) ::pause();
    if (what == "slow") std::this_thread::sleep_for(std::chrono::milliseconds{20});
    search.tell(t, number_of(t.point, "x"));
    auto const told = std::to_string(t.number) + '\n';
    auto const file = detail::descriptor{
        ::open((database + ".told").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0666)};
    return ::write(file.number(), told.data(), told.size()) > 0 ? 0 : 1;
  }
};

/// This program again, as one child: the hidden test below.
auto options_of(std::filesystem::path const& database, std::string const& what) -> process_options {
  return {.parallel = 3, .logs = database.parent_path() / "logs", .command = [=](trial const& t) {
            auto const told = database.string() + '\n' + study::ticket_of(t) + '\n' + what;
            auto const self = std::filesystem::read_symlink(own_program()).string();
            return std::vector<std::string>{"/usr/bin/env", "TESSERA_TEST_CHILD=" + told, self,
                                            "a child of these tests"};
          }};
}
auto count(std::vector<trial> const& trials, trial_state state) -> long {
  return std::count_if(trials.begin(), trials.end(),
                       [&](trial const& t) { return t.state == state; });
}
/// No trial has told of its value twice, whoever was killed meanwhile.
auto told_once(std::filesystem::path const& database) -> bool {
  auto file = std::istringstream{test::text_of(database.string() + ".told")};
  auto seen = std::set<int>{};
  for (auto number = 0; file >> number;)
    if (not seen.insert(number).second) return false;
  return not seen.empty();
}
auto values_are_theirs(std::vector<trial> const& trials) -> bool {
  return std::all_of(trials.begin(), trials.end(), [](trial const& t) {
    return t.state != trial_state::complete || t.value == number_of(t.point, "x");
  });
}

}  // namespace

TEST_CASE("a child of these tests", "[.]") {
  auto const* const told = std::getenv("TESSERA_TEST_CHILD");
  REQUIRE(told != nullptr);
  auto words = std::istringstream{told};
  auto it = child{};
  std::getline(words, it.database);
  std::getline(words, it.ticket);
  std::getline(words, it.what);
  std::_Exit(it.run());
}
TEST_CASE("processes: every trial once, in processes of their own") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", space());
  auto seen = std::set<std::uint64_t>{};
  auto options = options_of(folder / "s.db", "");
  options.ended = [&](trial const& t) { CHECK(seen.insert(t.number).second); };
  CHECK(run_trials(search, 9, options));
  auto const found = search.trials();
  REQUIRE(found.size() == 9);
  CHECK(seen.size() == 9);
  CHECK(count(found, trial_state::complete) == 9);
  CHECK(values_are_theirs(found));
  auto workers = std::set<std::string>{};
  for (auto const& t : found) workers.insert(t.worker);
  CHECK(workers.size() == 9);
  CHECK(run_trials(search, 9, options));  // and nothing more
  CHECK(seen.size() == 9);
}
TEST_CASE("processes: what ends without a value is a failed trial, and says why") {
  auto const folder = test::folder{};
  auto const message_of = [&](std::string const& what) {
    auto search = study(folder / (what + ".db"), space());
    CHECK(run_trials(search, 3, options_of(folder / (what + ".db"), what)));
    auto const found = search.trials();
    CHECK(count(found, trial_state::complete) == 2);
    CHECK(found.at(1).state == trial_state::failed);
    return found[1].message;
  };
  CHECK(message_of("abort").starts_with("killed by signal 6 (Aborted)"));
  CHECK(message_of("code") == "ended with code 3: no prices: p.csv");
  CHECK(message_of("silent") == "it ended without a value");
  CHECK(message_of("always") == "killed by signal 9 (Killed)");
}
TEST_CASE("processes: a program that is none") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", space());
  auto const options = process_options{.logs = folder / "logs", .command = [](trial const&) {
                                         return std::vector<std::string>{"/no/such/program"};
                                       }};
  CHECK(run_trials(search, 1, options));
  CHECK(search.trials().at(0).message == "ended with code 127: its program cannot be started");
}
TEST_CASE("processes: a child that is killed from outside runs again, with its point") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", space());
  CHECK(run_trials(search, 6, options_of(folder / "s.db", "once")));
  auto const found = search.trials();
  CHECK(count(found, trial_state::complete) == 6);
  CHECK(values_are_theirs(found));
  for (auto const& t : found) CHECK(t.attempt == 1 + t.number % 2);
}
TEST_CASE("processes: children killed at any moment: each trial once") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", space());
  CHECK(run_trials(search, 24, options_of(folder / "s.db", "any moment")));
  auto const found = search.trials();
  CHECK(count(found, trial_state::complete) == 24);
  CHECK(values_are_theirs(found));
  CHECK(told_once(folder / "s.db"));
  CHECK(found[0].attempt == 2);
}
TEST_CASE("processes: an interrupt ends children and puts their trials back") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", space());
  auto late = std::thread{[&] {
    auto mine = study(folder / "s.db", space());
    while (count(mine.trials(), trial_state::running) < 3)
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    (void)::kill(::getpid(), SIGINT);
  }};
  CHECK_FALSE(run_trials(search, 5, options_of(folder / "s.db", "forever")));
  late.join();
  auto const found = search.trials();
  CHECK(found.size() == 3);
  CHECK(count(found, trial_state::waiting) == 3);
  CHECK(run_trials(search, 5, options_of(folder / "s.db", "")));
  CHECK(count(search.trials(), trial_state::complete) == 5);
}
TEST_CASE("processes: an error here ends the children, and others run their trials again") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", space());
  auto options = options_of(folder / "s.db", "code");
  options.ended = [](trial const& t) {
    if (t.state == trial_state::failed) throw search_error("no more");
  };
  CHECK_THROWS_WITH(run_trials(search, 8, options), "no more");
  CHECK(count(search.trials(), trial_state::running) == 0);
  CHECK(run_trials(search, 8, options_of(folder / "s.db", "")));
  CHECK(count(search.trials(), trial_state::complete) == 7);
  CHECK_THROWS_WITH(run_trials(search, 9, {.parallel = 0}), "expected at least one process, got 0");
}
TEST_CASE("processes: two parents share a search, and take over from each other") {
  auto const folder = test::folder{};
  auto const database = folder / "s.db";
  auto const other = ::fork();
  if (other == 0) {
    auto search = study(database, space());
    (void)run_trials(search, 1000, options_of(database, "forever"));
    std::_Exit(1);
  }
  REQUIRE(other > 0);
  auto search = study(database, space());
  while (count(search.trials(), trial_state::running) < 3)
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  auto late = std::thread{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    (void)::kill(other, SIGKILL);
  }};
  CHECK(run_trials(search, 6, options_of(database, "")));
  late.join();
  auto status = 0;
  REQUIRE(::waitpid(other, &status, 0) == other);
  auto const found = search.trials();
  CHECK(found.size() == 6);
  CHECK(count(found, trial_state::complete) == 6);
  CHECK(std::count_if(found.begin(), found.end(), [](trial const& t) { return t.attempt == 2; }) ==
        3);
}
TEST_CASE("processes: the parent killed at any moment, and then resumed: each trial once") {
  auto const folder = test::folder{};
  auto const database = folder / "s.db";
  auto killed = 0;
  for (auto round = 0; round < 10; ++round) {
    auto const parent = ::fork();
    if (parent == 0) {
      auto search = study(database, space());
      auto const done = run_trials(search, 30, options_of(database, "slow"));
      std::_Exit(done ? 0 : 1);
    }
    REQUIRE(parent > 0);
    std::this_thread::sleep_for(std::chrono::milliseconds{20 + 15 * round});
    (void)::kill(parent, SIGKILL);
    auto status = 0;
    REQUIRE(::waitpid(parent, &status, 0) == parent);
    killed += WIFSIGNALED(status) ? 1 : 0;
  }
  CHECK(killed > 3);
  auto search = study(database, space());
  CHECK(run_trials(search, 30, options_of(database, "")));
  auto const found = search.trials();
  REQUIRE(found.size() == 30);
  CHECK(count(found, trial_state::complete) == 30);
  CHECK(told_once(database));
  CHECK(values_are_theirs(found));
}
