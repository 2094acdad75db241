// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/group/session.hpp>

using namespace tessera;
using Catch::Contains;

namespace {

/// A turn of two agents, of which the second one answers `answer`, if anything.
void take_turn(group_session& session, std::string const& question, std::string const& answer) {
  auto const ids = std::vector<std::string>{"ada", "bob"};
  auto turn = session.begin_turn(question, ids);
  auto group = group_recorder(question, ids, {}, [&](std::string_view line) { turn.write(line); });
  (void)group.handle({.kind = group_event_kind::begin});
  if (not answer.empty())
    (void)group.handle({.kind = group_event_kind::answer, .agent = 1, .round = 1, .text = answer});
  turn.write_status(group.group());
  for (auto agent = std::size_t{0}; agent < 2; ++agent)
    (void)group.handle(
        {.kind = group_event_kind::failure, .agent = agent, .round = group.group().round(agent)});
  turn.finish(group.group());
}

}  // namespace

TEST_CASE("session: a turn has its question, its record, its status and its answer") {
  auto const folder = test::folder();
  auto session = group_session(folder.path() / "mine");
  take_turn(session, "What is it?", "A cat\n");
  auto const turn = folder.path() / "mine" / "turn_1";
  CHECK(read_text(turn / "question.txt") == "What is it?");
  CHECK(read_text(turn / "final" / "bob" / "answer.txt") == "A cat");
  auto const record = read_record(read_text(turn / "record.jsonl"));
  CHECK(record.question == "What is it?");
  CHECK(replay(record).outcome().answer == "A cat");
  auto const status = nlohmann::json::parse(read_text(turn / "status.json"));
  CHECK(status["phase"] == "ended");
  CHECK(status["winner"] == "bob");
}
TEST_CASE("session: a status says how a group stands") {
  auto group = group_protocol({"ada", "bob", "cyd"}, {});
  auto const status = [&] { return nlohmann::json::parse(group_status_text(group)); };
  auto const happens = [&](std::size_t agent, group_event_kind kind, std::string target = {}) {
    (void)group.handle({.kind = kind,
                        .agent = agent,
                        .round = group.round(agent),
                        .view = group.version(),
                        .target = std::move(target),
                        .text = "some text"});
  };
  CHECK(status()["phase"] == "idle");
  happens(0, group_event_kind::begin);
  happens(2, group_event_kind::text);
  CHECK(status()["agents"]["cyd"]["status"] == "streaming");
  happens(0, group_event_kind::answer);
  CHECK(status()["agents"]["bob"]["status"] == "restarting");
  for (auto i = 0U; i < 3; ++i) happens(i, group_event_kind::seen);
  happens(1, group_event_kind::vote, "agent1");
  happens(2, group_event_kind::timeout);
  CHECK(group_status_text(group) ==
        R"({"phase":"answering","completion":60,"agents":{)"
        R"("ada":{"status":"waiting","answered":true},)"
        R"("bob":{"status":"voted","answered":false,"vote":"ada"},)"
        R"("cyd":{"status":"timeout","answered":false}},"votes":{"ada":1},"winner":null})");
  happens(0, group_event_kind::vote, "agent1");
  CHECK(status()["phase"] == "presenting");
  CHECK(nlohmann::json::parse(group_status_text(group, true))["phase"] == "interrupted");
  CHECK(status()["completion"] == 90);
  CHECK(status()["winner"] == "ada");
  happens(0, group_event_kind::presentation);
  CHECK(status()["completion"] == 100);
  CHECK(nlohmann::json::parse(group_status_text(group, true))["phase"] == "ended");
  CHECK(status()["agents"]["bob"]["status"] == "completed");
}
TEST_CASE("session: the next turn goes on from those that have an answer") {
  auto const folder = test::folder();
  {
    auto session = group_session::begin(folder.path());
    CHECK(session.folder() == folder.path() / "session_1");
    CHECK(session.task("What is it?").earlier.empty());
    take_turn(session, "What is it?", "A cat");
    take_turn(session, "Nobody knows?", "");
  }
  auto session = group_session(folder.path() / "session_1");
  CHECK(session.size() == 2);
  take_turn(session, "Of which color?", "Black");
  CHECK(session.task("Why?").earlier ==
        std::vector<group_turn>{{"What is it?", "A cat"}, {"Of which color?", "Black"}});
  CHECK(exists(folder.path() / "session_1" / "turn_3" / "record.jsonl"));
}
TEST_CASE("session: behind a turn that is gone the order stays") {
  auto const folder = test::folder();
  {
    auto session = group_session(folder.path());
    for (auto const* const question : {"One?", "Two?", "Three?"})
      take_turn(session, question, "Yes");
  }
  std::filesystem::remove_all(folder / "turn_2");
  for (auto const* const other : {"turn_07", "turn_x", "turn_", "turn_9x", "turn_9999999"})
    std::filesystem::create_directory(folder / other);
  auto session = group_session(folder.path());
  CHECK(session.size() == 3);
  CHECK(session.last_turn().first == "Three?");
  take_turn(session, "Four?", "No");
  CHECK(exists(folder / "turn_4" / "record.jsonl"));
  CHECK(group_session(folder.path()).turns() ==
        std::vector<group_turn>{{"One?", "Yes"}, {"Three?", "Yes"}, {"Four?", "No"}});
}
TEST_CASE("session: sessions are listed") {
  auto const folder = test::folder();
  CHECK(list_sessions(folder.path() / "none").empty());
  for (auto i = 0; i < 10; ++i) {
    auto session = group_session::begin(folder.path());
    if (i == 4) continue;  // no turn
    take_turn(session, "Question " + std::to_string(i), i == 5 ? "" : "Answer");
  }
  auto const all = list_sessions(folder.path());
  REQUIRE(all.size() == 9);
  CHECK(all[0].last_question == "Question 0");
  CHECK(all[0].last_answer == "Answer");
  CHECK(all[4].turns == 1);
  CHECK(all[4].last_question == "Question 5");
  CHECK_FALSE(all[4].last_answer);  // of a turn that was cut off
  CHECK(all[8].folder.filename() == "session_10");
  CHECK(std::ranges::all_of(all, [](auto const& one) { return one.damage.empty(); }));
  std::filesystem::remove(all[1].folder / "turn_1" / "question.txt");
  auto const left = list_sessions(folder.path());
  REQUIRE(left.size() == 9);
  CHECK_THAT(left[1].damage, Contains("question.txt"));
  CHECK(left[1].turns == 1);
  CHECK(left[2].last_question == "Question 2");
}
TEST_CASE("session: a turn is no session") {
  auto const folder = test::folder();
  auto session = group_session(folder.path());
  take_turn(session, "What is it?", "A cat");
  CHECK_THROWS_WITH(group_session(folder.path() / "turn_1"),
                    Contains("turn_1: expected a session, got one of its turns"));
  CHECK_FALSE(exists(folder.path() / "turn_1" / "turn_1"));
}
TEST_CASE("session: a turn that is interrupted has a status that says so, and no answer") {
  auto const folder = test::folder();
  auto session = group_session(folder.path());
  auto turn = session.begin_turn("What is it?", {"ada", "bob"});
  auto group = group_protocol({"ada", "bob"}, {});
  (void)group.handle({.kind = group_event_kind::begin});
  turn.write_status(group);
  auto const phase = [&] {
    return nlohmann::json::parse(read_text(turn.folder() / "status.json"))["phase"];
  };
  CHECK(phase() == "answering");
  turn.finish(group);
  CHECK(phase() == "interrupted");
  CHECK(session.turns().empty());

  auto presents = session.begin_turn("What is it?", {"ada", "bob"});
  (void)group.handle({.kind = group_event_kind::answer, .agent = 1, .round = 1, .text = "It."});
  for (auto agent = std::size_t{0}; agent < 2; ++agent) {
    auto const round = group.round(agent);
    (void)group.handle({.kind = group_event_kind::seen, .agent = agent, .round = round, .view = 1});
    (void)group.handle({.kind = group_event_kind::vote,
                        .agent = agent,
                        .round = round,
                        .target = group.label(1),
                        .text = "so"});
  }
  REQUIRE(group.outcome().winner);
  REQUIRE(not group.ended());
  presents.finish(group);
  auto const last = nlohmann::json::parse(read_text(presents.folder() / "status.json"));
  CHECK(last["phase"] == "interrupted");
  CHECK(last["winner"].is_null());
  CHECK(session.turns().empty());
}
TEST_CASE("session: what is no UTF-8 is refused, and damage where it is found") {
  auto const folder = test::folder();
  auto session = group_session(folder.path() / "session_1");
  CHECK_THROWS_WITH(session.begin_turn("caf\xE9", {"a"}),
                    "question: expected UTF-8, byte 3 is none");
  CHECK(session.size() == 0);
  take_turn(session, "What is it?", "A cat");
  write_file(session.folder() / "turn_1" / "question.txt", "caf\xE9");
  CHECK_THROWS_WITH(session.turns(), Contains("question.txt: expected UTF-8, byte 3 is none"));
  CHECK_THAT(list_sessions(folder.path()).at(0).damage, Contains("expected UTF-8"));
}
TEST_CASE("session: an agent whose id is no folder's name is refused before anything is written") {
  auto const folder = test::folder();
  auto session = group_session(folder.path());
  for (auto const* id : {"", "..", ".x", "a/b", "a b", "\xC3\xA9"})
    CHECK_THROWS_WITH(session.begin_turn("?", {"fine", id}), Contains("expected ids of letters"));
  CHECK(std::filesystem::is_empty(folder.path()));
  auto turn = session.begin_turn("?", {"fine"});
  std::filesystem::remove_all(turn.folder());
  CHECK_THROWS_AS(turn.write_status(group_protocol({"fine"}, {})), file_error);
}
