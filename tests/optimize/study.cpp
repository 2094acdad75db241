// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/optimize/study.hpp>
#include <tessera/optimize/tpe.hpp>

#include <set>
#include <sstream>

#include <sys/wait.h>

using namespace tessera;

namespace {

auto small_space() -> search_space {
  return search_space{}.uniform("x", -1, 1).choice("kind", {"plain", "odd"});
}

}  // namespace

TEST_CASE("study: what is told is there again when the file is opened anew") {
  auto const folder = test::folder{};
  {
    auto search = study(folder / "s.db", small_space(), {.seed = 3});
    for (auto i = 0; i < 4; ++i) {
      auto const t = search.ask(4);
      REQUIRE(t);
      CHECK(t->number == static_cast<std::uint64_t>(i));
      CHECK_FALSE(search.report(*t, 1, 0.5 + i));
      if (i == 1)
        search.fail(*t, "no luck");
      else if (i == 2)
        search.prune(*t);
      else if (i == 3)
        search.tell(*t, std::nan(""));
      else
        search.tell(*t, 0.25, {{"r2", 0.5}});
    }
    CHECK_FALSE(search.ask(4));
  }
  auto search = study(folder / "s.db", small_space(), {.seed = 3});
  auto const found = search.trials();
  REQUIRE(found.size() == 4);
  CHECK(found[0].state == trial_state::complete);
  CHECK(found[0].value == 0.25);
  CHECK(found[0].scores.at("r2") == 0.5);
  CHECK(found[0].reported.at(1) == 0.5);
  CHECK(found[1].message == "no luck");
  CHECK(found[2].state == trial_state::pruned);
  CHECK(found[3].state == trial_state::failed);
  CHECK(found[3].message == "the value is nan");
  auto random = draws(3, 2);
  auto const expected = random_search{}.propose({search.space(), found}, random);
  CHECK(found[2].point == expected);
  CHECK(search.ask(5)->number == 4);
}
TEST_CASE("study: a path is that of a file, whatever SQLite makes of it") {
  auto const folder = test::folder{};
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (auto const* const path : {":memory:", "file:s.db"}) {
    {
      study(path, small_space()).tell(*study(path, small_space()).ask(1), 1);
    }
    CHECK(std::filesystem::exists(folder / path));
    CHECK(study(path, small_space()).trials().size() == 1);
  }
  std::filesystem::current_path(before);
  CHECK_THROWS_WITH(study("", small_space()),
                    Catch::Matchers::Contains("expected the path of a file, got none"));
}
TEST_CASE("study: another search is refused, by its first difference") {
  auto const folder = test::folder{};
  auto const path = folder / "s.db";
  (void)study(path, small_space(), {.seed = 3, .method = tpe{}, .settings = "epochs: 5\n"});
  auto const refused = [&](search_space space, study_options options, char const* why) {
    CHECK_THROWS_WITH(study(path, std::move(space), std::move(options)),
                      path.string() + ": has the trials of another search: " + why);
  };
  auto const same = study_options{.seed = 3, .method = tpe{}, .settings = "epochs: 5\n"};
  CHECK_NOTHROW(study(path, small_space(), same));
  refused(search_space{}.uniform("x", -1, 2).choice("kind", {"plain", "odd"}), same,
          "parameter.x: expected uniform(-1, 2), got uniform(-1, 1)");
  refused(search_space{}.uniform("x", -1, 1).choice("kind", {"plain"}), same,
          "parameter.kind: expected choice(plain), got choice(plain, odd)");
  refused(search_space{}.uniform("x", -1, 1), same,
          "parameter.kind: expected none, got choice(plain, odd)");
  refused(small_space(), {.seed = 4, .method = tpe{}, .settings = "epochs: 5\n"},
          "seed: expected 4, got 3");
  refused(small_space(), {.seed = 3, .settings = "epochs: 5\n"},
          "method: expected random_search(), got tpe(10, 24, 1)");
  refused(small_space(), {.seed = 3, .method = tpe{}, .settings = "epochs: 6\n"},
          "setting.epochs: expected 6, got 5");
  refused(small_space(),
          {.seed = 3, .method = tpe{}, .stopping = successive_halving{}, .settings = "epochs: 5"},
          "stopping: expected successive_halving(1, 4), got none");
  refused(small_space(),
          {.direction = search_direction::maximize,
           .seed = 3,
           .method = tpe{},
           .settings = "epochs: 5"},
          "direction: expected maximize, got minimize");
  CHECK_THROWS_WITH(study(folder / "none.db", search_space{}),
                    "expected a parameter to search, got none");
}
TEST_CASE("study: a search that is stopped and resumed proposes what one that goes through does") {
  auto const folder = test::folder{};
  auto const value = [](trial const& t) {
    return number_of(t.point, "x") + (choice_of(t.point, "kind") == "odd" ? 1 : 0);
  };
  auto const options = study_options{.seed = 8, .method = tpe{.startup = 4}};
  auto through = study(folder / "a.db", small_space(), options);
  while (auto const t = through.ask(16)) through.tell(*t, value(*t));
  for (auto limit = std::uint64_t{3}; limit < 19; limit += 3) {
    auto resumed = study(folder / "b.db", small_space(), options);
    while (auto const t = resumed.ask(std::min<std::uint64_t>(limit, 16)))
      resumed.tell(*t, value(*t));
    (void)resumed.ask(std::min<std::uint64_t>(limit + 1, 16));  // and is lost with this object
  }
  auto const a = through.trials();
  auto const b = study(folder / "b.db", small_space(), options).trials();
  REQUIRE(b.size() == 16);
  for (auto i = std::size_t{0}; i < 16; ++i) {
    CHECK(a[i].point == b[i].point);
    CHECK(a[i].value == b[i].value);
  }
}
TEST_CASE("study: four processes, 25 trials each: every number once, none lost") {
  auto const folder = test::folder{};
  auto children = std::vector<pid_t>{};
  for (auto i = 0; i < 4; ++i) {
    children.push_back(::fork());
    REQUIRE(children.back() >= 0);
    if (children.back() > 0) continue;
    auto search = study(folder / "s.db", small_space(), {.method = tpe{}});
    auto numbers = std::string{};
    for (auto n = 0; n < 25; ++n) {
      auto const t = search.ask(1000);
      search.tell(*t, number_of(t->point, "x"));
      numbers += std::to_string(t->number) + '\n';
    }
    write_file(folder / ("numbers." + std::to_string(i)), numbers);
    ::_exit(0);
  }
  for (auto const child : children) {
    auto status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  auto search = study(folder / "s.db", small_space(), {.method = tpe{}});
  auto const found = search.trials();
  REQUIRE(found.size() == 100);
  for (auto const& t : found) {
    CHECK(t.state == trial_state::complete);
    CHECK(t.attempt == 1);
    CHECK(t.value == number_of(t.point, "x"));
  }
  auto numbers = std::set<int>{};
  for (auto i = 0; i < 4; ++i) {
    auto file = std::istringstream{test::text_of(folder / ("numbers." + std::to_string(i)))};
    for (auto number = 0; file >> number;) CHECK(numbers.insert(number).second);
  }
  CHECK(numbers.size() == 100);
}
TEST_CASE("study: a trial belongs to all who joined it, until the last of them is gone") {
  auto const folder = test::folder{};
  auto third = study(folder / "s.db", small_space());
  auto ticket = std::string{};
  {
    auto worker = study(folder / "s.db", small_space());
    {
      auto parent = study(folder / "s.db", small_space());
      auto const t = parent.ask(1);
      ticket = study::ticket_of(*t);
      CHECK(ticket == "0.1");
      CHECK(worker.join(ticket).point == t->point);
    }
    CHECK(third.trials().at(0).state == trial_state::running);
    CHECK_FALSE(third.ask(1));
  }
  CHECK(third.trials().at(0).state == trial_state::waiting);
  CHECK_THROWS_WITH(third.join(ticket), "trial 0, attempt 1, is not running");
  CHECK(third.ask(1)->attempt == 2);
  for (auto const* const odd : {"", "0", "0.", ".1", "0.1x", "x"})
    CHECK_THROWS_WITH(third.join(odd),
                      "expected a trial and its attempt as 12.1, got " + std::string{odd});
}
TEST_CASE("study: reports may stop a trial, by the values of others") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", small_space(),
                      {.direction = search_direction::maximize,
                       .stopping = successive_halving{.least = 2, .reduction = 2}});
  auto const a = *search.ask(9);
  auto const b = *search.ask(9);
  CHECK_FALSE(search.report(a, 1, 0.1));
  CHECK_FALSE(search.report(a, 2, 0.9));
  CHECK_FALSE(search.report(b, 1, 0));  // not yet
  CHECK(search.report(b, 2, 0.8));
  CHECK_FALSE(search.report(b, 3, 0.8));  // was asked once
  CHECK_FALSE(search.report(a, 4, 0.7));
  CHECK(search.report(b, 4, 0.6));
  CHECK_THROWS_WITH(search.report(a, 0, 1), "a step is counted from 1, got 0");
}
TEST_CASE("study: a method of a user's own") {
  struct middle {
    double where = 0.5;
    [[nodiscard]] auto propose(search_so_far const& search, draws&) const -> search_point {
      auto coordinates = std::vector<double>{};
      for (auto const& p : search.space.parameters())
        coordinates.push_back(p.low + where * (p.high - p.low));
      return search.space.point(coordinates);
    }
  };
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", small_space(), {.method = middle{.where = 0.75}});
  CHECK(number_of(search.ask(1)->point, "x") == 0.5);
  CHECK_THROWS_WITH(study(folder / "s.db", small_space(), {.method = middle{}}),
                    Catch::Contains("method: expected middle(0.5), got middle(0.75)"));
}
TEST_CASE("study: a method's point that is none of the space leaves nothing") {
  struct careless {
    [[nodiscard]] auto propose(search_so_far const& search, draws&) const -> search_point {
      return {{"x", 2.0 - static_cast<double>(search.trials.size()) / 2},
              {"kind", std::string{"odd"}}};
    }
  };
  auto const folder = test::folder{};
  {
    auto search = study(folder / "s.db", small_space(), {.method = careless{}});
    CHECK_THROWS_WITH(search.ask(1), "x: expected a value of uniform(-1, 1), got 2");
    CHECK(search.trials().empty());
  }
  auto search = study(folder / "s.db", small_space(), {.method = careless{}});
  CHECK_THROWS_AS(search.ask(1), search_error);
  CHECK(search.trials().empty());
}
TEST_CASE("study: a text where the file has numbers") {
  auto const folder = test::folder{};
  auto const damaged = [&](char const* sql, std::string const& what) {
    auto search = study(folder / "s.db", small_space());
    search.tell(*search.ask(1), 1);
    auto database = detail::database(folder / "s.db");
    (void)database.run(sql);
    CHECK_THROWS_WITH(search.trials(), (folder / "s.db").string() + ": is damaged: " + what);
    std::filesystem::remove(folder / "s.db");
  };
  damaged("UPDATE trial SET value = 'best'", "value: expected a number, got \"best\"");
  damaged("UPDATE trial SET attempt = 1.5", "attempt: expected a whole number, got \"1.5\"");
}
TEST_CASE("study: a parameter that was changed in the file") {
  auto const folder = test::folder{};
  {
    auto search = study(folder / "s.db", small_space());
    search.tell(*search.ask(1), 1);
    auto database = detail::database(folder / "s.db");
    (void)database.run("UPDATE parameter SET value = 7.5 WHERE name = 'x'");
  }
  auto search = study(folder / "s.db", small_space());
  auto const why = (folder / "s.db").string() +
                   ": is damaged: trial 0: x: expected a value of uniform(-1, 1), got 7.5";
  CHECK_THROWS_WITH(search.trials(), why);
  CHECK_THROWS_WITH(search.ask(2), why);
}
