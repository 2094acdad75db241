// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/optimize/trial_store.hpp>

using namespace tessera;

namespace {

constexpr auto settings = "parameter.x: uniform(0, 1)\n";

auto claim(trial_store& store, std::uint64_t limit = 100) -> std::optional<trial> {
  return store.claim(limit, [](auto const&, std::uint64_t number) {
    return search_point{{"x", static_cast<double>(number) / 3},
                        {"n", static_cast<std::int64_t>(number)},
                        {"kind", std::string{"a b"}}};
  });
}
void change(std::filesystem::path const& path, char const* sql) {
  auto database = detail::database(path);
  (void)database.run(sql);
}
constexpr auto no_rung = [](std::uint64_t) { return std::optional<std::uint64_t>{}; };

}  // namespace

TEST_CASE("trial_store: every number and every text comes back as it was") {
  auto const folder = test::folder{};
  auto const kept = [&] {
    auto store = trial_store(folder / "s.db", settings);
    (void)claim(store);
    auto const t = claim(store);
    (void)store.report(*t, 3, -0.1, no_rung);
    (void)store.report(*t, 4, std::nan(""), no_rung);
    (void)store.report(*t, 5, -INFINITY, no_rung);
    store.finish(*t, trial_state::complete, 1e-300, {{"r2", 1.0 / 3}}, "as \"it\"\nwas");
    return t->point;
  }();
  auto store = trial_store(folder / "s.db", settings);
  auto const t = store.find(1);
  CHECK(t.point == kept);
  CHECK(t.value == 1e-300);
  CHECK(t.scores == std::map<std::string, double>{{"r2", 1.0 / 3}});
  CHECK(t.reported.at(3) == -0.1);
  CHECK(std::isnan(t.reported.at(4)));
  CHECK(t.reported.at(5) == -INFINITY);
  CHECK(t.message == "as \"it\"\nwas");
  CHECK(t.worker.starts_with("process " + std::to_string(::getpid()) + " on "));
  CHECK(t.ended >= t.began);
  CHECK(t.began > 1.6e9);
}
TEST_CASE("trial_store: what its process left waits, and is claimed again with its point") {
  auto const folder = test::folder{};
  auto first = search_point{};
  {
    auto store = trial_store(folder / "s.db", settings);
    auto const t = claim(store);
    first = t->point;
    (void)store.report(*t, 1, 0.5, no_rung);
    auto other = trial_store(folder / "s.db", settings);
    CHECK(other.trials().at(0).state == trial_state::running);
    CHECK(claim(other)->number == 1);
  }
  auto store = trial_store(folder / "s.db", settings);
  CHECK(store.trials().at(0).state == trial_state::waiting);
  auto const again = claim(store);
  CHECK(again->number == 0);
  CHECK(again->attempt == 2);
  CHECK(again->point == first);
  CHECK(again->reported.empty());
}
TEST_CASE("trial_store: by another name of its file, a trial is still held") {
  auto const folder = test::folder{};
  std::filesystem::create_directories(folder / "real");
  std::filesystem::create_symlink(folder / "real", folder / "folder");
  std::filesystem::create_symlink(folder / "real" / "s.db", folder / "link.db");
  auto first = trial_store(folder / "link.db", settings);  // before there is such a file
  CHECK(claim(first)->number == 0);
  for (auto const* const name : {"real/s.db", "folder/s.db", "link.db"}) {
    INFO(name);
    auto other = trial_store(folder / name, settings);
    CHECK(other.trials().at(0).state == trial_state::running);
    CHECK(claim(other)->number == 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "link.db.running"));
}
TEST_CASE("trial_store: an attempt that was put back has nothing to say any more") {
  auto const folder = test::folder{};
  auto store = trial_store(folder / "s.db", settings);
  auto const old = *claim(store);
  store.finish(old, trial_state::waiting);
  CHECK_THROWS_WITH(store.finish(old, trial_state::complete, 1),
                    "trial 0, attempt 1, is not running");
  auto const now = *claim(store);
  CHECK_THROWS_AS(store.finish(old, trial_state::complete, 1), search_error);
  CHECK_THROWS_AS(store.report(old, 1, 1, no_rung), search_error);
  CHECK_THROWS_AS(store.join(old.number, old.attempt), search_error);
  store.finish(now, trial_state::complete, 2);
  CHECK_THROWS_AS(store.finish(now, trial_state::complete, 3), search_error);
  CHECK(store.find(0).value == 2);
}
TEST_CASE("trial_store: a limit") {
  auto const folder = test::folder{};
  auto store = trial_store(folder / "s.db", settings);
  CHECK(claim(store, 2)->number == 0);
  CHECK(claim(store, 2)->number == 1);
  CHECK_FALSE(claim(store, 2));
  CHECK(claim(store, 3)->number == 2);
  CHECK_THROWS_WITH(store.find(3), "there is no trial 3");
}
TEST_CASE("trial_store: the values of others at a step are those of when they first came there") {
  auto const folder = test::folder{};
  auto store = trial_store(folder / "s.db", settings);
  auto const at_four = [](std::uint64_t) { return std::optional<std::uint64_t>{4}; };
  auto const a = *claim(store);
  auto const b = *claim(store);
  auto const c = *claim(store);
  for (auto const step : {3, 4, 5})
    (void)store.report(a, static_cast<std::uint64_t>(step), step, no_rung);
  for (auto const step : {3, 6, 7})
    (void)store.report(b, static_cast<std::uint64_t>(step), step, no_rung);
  (void)store.report(c, 3, 3, no_rung);
  CHECK(store.report(c, 4, 9, at_four) == std::vector<double>{4, 6});
  auto before = std::uint64_t{0};
  (void)store.report(c, 8, 9, [&](std::uint64_t last) {
    before = last;
    return std::optional<std::uint64_t>{};
  });
  CHECK(before == 4);
}
TEST_CASE("trial_store: a point that cannot be found leaves nothing") {
  auto const folder = test::folder{};
  auto store = trial_store(folder / "s.db", settings);
  CHECK_THROWS_AS(
      store.claim(9, [](auto const&, auto) -> search_point { throw search_error("no"); }),
      search_error);
  CHECK(store.trials().empty());
  CHECK(claim(store)->number == 0);
}
TEST_CASE("trial_store: another search, by its first difference") {
  auto const folder = test::folder{};
  (void)trial_store(folder / "s.db", "parameter.x: uniform(0, 1)\nseed: 1\n");
  CHECK_NOTHROW(trial_store(folder / "s.db", "parameter.x: uniform(0, 1)\nseed: 1\n"));
  CHECK_THROWS_WITH(trial_store(folder / "s.db", "parameter.x: uniform(0, 2)\nseed: 2\n"),
                    Catch::Contains("s.db: has the trials of another search: parameter.x: expected "
                                    "uniform(0, 2), got uniform(0, 1)"));
}
TEST_CASE("trial_store: files that are none, each in one sentence") {
  auto const folder = test::folder{};
  auto const path = folder / "s.db";
  auto const refused = [&](char const* why) {
    auto const before = test::text_of(path);
    CHECK_THROWS_WITH(trial_store(path, settings), path.string() + ": " + why);
    CHECK(test::text_of(path) == before);
    CHECK_FALSE(std::filesystem::exists(folder / "s.db.running"));
    std::filesystem::remove(path);
  };
  write_file(path, "price,volume\n" + std::string(5000, '7'));
  refused("is no SQLite database");
  change(path, "CREATE TABLE notes (text)");
  refused("is a database of another program");
  (void)trial_store(path, settings);
  change(path, "PRAGMA user_version = 2");
  std::filesystem::remove(folder / "s.db.running");
  refused("expected version 1 of the tables, got 2");
  CHECK_THROWS_WITH(trial_store(folder.path(), settings), Catch::Contains("cannot be opened"));
  CHECK_THROWS_WITH(trial_store(folder / "none" / "s.db", settings),
                    Catch::Contains("cannot be opened"));
}
TEST_CASE("trial_store: a file with bytes changed or lost is refused, or whole") {
  auto const folder = test::folder{};
  auto const path = folder / "s.db";
  {
    auto store = trial_store(path, settings);
    for (auto i = 0; i < 20; ++i) {
      auto const t = claim(store);
      for (auto step = std::uint64_t{1}; i % 10 == 0 && step < 6; ++step)
        (void)store.report(*t, step, 1, no_rung);
      store.finish(*t, trial_state::complete, 1, {}, std::string(600, 'm'));
    }
  }
  auto const whole = test::text_of(path);
  REQUIRE(whole.size() > 20'000);
  auto refused = 0;
  for (auto i = std::size_t{0}; i < 40; ++i) {
    auto bytes = whole.substr(0, i % 2 == 0 ? whole.size() : whole.size() * i / 40);
    for (auto j = std::size_t{0}; i % 2 == 0 && j < 300; ++j)
      bytes[(i * 997 + j) % bytes.size()] ^= '\x55';
    write_file(path, bytes);
    try {
      auto store = trial_store(path, settings);
      CHECK(store.trials().size() == 20);
    } catch (file_error const& e) {
      ++refused;
      CHECK(std::string{e.what()}.starts_with(path.string() + ": "));
    }
    for (auto const* const side : {"s.db-wal", "s.db-shm"}) std::filesystem::remove(folder / side);
  }
  CHECK(refused > 25);
}
