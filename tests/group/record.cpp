// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/record.hpp>

#include "schedule.hpp"

using namespace tessera;
using Catch::Contains;

namespace {

/// The record of a schedule that has happened.
auto record_of(test::schedule const& went) -> std::string {
  auto text = std::string{};
  auto group = group_recorder("why \"not\"?\n", went.ids, went.options,
                              [&](std::string_view line) { (text += line) += '\n'; });
  for (auto const& event : went.events) (void)group.handle(event);
  return text;
}
auto lines_of(std::string const& text) -> std::vector<std::string> {
  auto result = std::vector<std::string>{};
  auto in = std::istringstream{text};
  for (auto line = std::string{}; std::getline(in, line);) result.push_back(line);
  return result;
}
auto joined(std::vector<std::string> const& lines) -> std::string {
  auto text = std::string{};
  for (auto const& one : lines) (text += one) += '\n';
  return text;
}
/// What is wrong with a record, and where.
auto fault(std::string const& text) -> std::string {
  try {
    (void)replay(read_record(text));
  } catch (record_error const& e) {
    return e.what();
  }
  return {};
}
/// Two agents, of which one answers and both vote.
auto small_record() -> std::vector<std::string> {
  auto written = std::string{};
  auto group = group_recorder("What?", {"ada", "bob"}, {},
                              [&](std::string_view line) { (written += line) += '\n'; });
  using enum group_event_kind;
  for (auto const& event : std::vector<group_event>{
           {.kind = begin},
           {.kind = text, .time = group_time{5}, .agent = 1, .round = 1, .text = "a\xFF"},
           {.kind = answer, .time = group_time{10}, .agent = 1, .round = 1, .text = "a\xFFz"},
           {.kind = seen, .time = group_time{11}, .agent = 0, .round = 1, .view = 1},
           {.kind = seen, .time = group_time{12}, .agent = 1, .round = 2, .view = 1},
           {.kind = vote,
            .time = group_time{13},
            .agent = 0,
            .round = 1,
            .target = "agent2",
            .text = "r"},
           {.kind = vote, .time = group_time{14}, .agent = 1, .round = 2, .target = "agent2"},
           {.kind = presentation, .time = group_time{15}, .agent = 1, .round = 3, .text = "A."},
           {.kind = tick, .time = group_time{99}}})
    (void)group.handle(event);
  return lines_of(written);
}

}  // namespace

TEST_CASE("record: every line says what happened") {
  auto const lines = small_record();
  REQUIRE(lines.size() == 10);  // nothing behind the outcome
  CHECK(
      lines[0] ==
      R"({"record":"tessera group 2","question":"What?","agents":["ada","bob"],"max_new_answers":3,)"
      R"("attempts":3,"time_limit":120000,"most_similar":0.7,"by_words":true})");
  CHECK(lines[3] ==
        "{\"time\":10,\"event\":\"answer\",\"agent\":\"bob\",\"round\":1,\"text\":"
        "\"a\xEF\xBF\xBDz\",\"verdict\":\"taken\"}");
  CHECK(lines[6] ==
        R"({"time":13,"event":"vote","agent":"ada","round":1,"target":"agent2","text":"r",)"
        R"("verdict":"taken"})");
  CHECK(lines[9] == R"({"outcome":"votes","winner":"bob","answer":"A.","presented":true})");
  auto const record = read_record(joined(lines));
  CHECK(record.question == "What?");
  CHECK(record.entries.size() == 8);
  CHECK(replay(record).outcome() == record.outcome);
}
TEST_CASE("record: what is replayed ends as it did, and a seed gives one record") {
  for (auto seed = 0U; seed < 300; ++seed) {
    INFO("seed " << seed);
    auto const went = test::random_agents(seed).run();
    auto const text = record_of(went);
    CHECK(text == record_of(test::random_agents(seed).run()));
    auto const record = read_record(text);
    auto live = group_protocol(went.ids, went.options);
    for (auto const& event : went.events) (void)live.handle(event);
    CHECK(replay(record).outcome() == live.outcome());
    REQUIRE(record.outcome);
    CHECK(*record.outcome == live.outcome());
  }
}
TEST_CASE("record: a run that was cut off between two lines is one without an outcome") {
  auto lines = small_record();
  lines.resize(5);
  auto const record = read_record(joined(lines));
  CHECK_FALSE(record.outcome);
  CHECK(replay(record).version() == 1);
}
TEST_CASE("record: the function that answers were compared by has to be given") {
  auto text = std::string{};
  auto const same = [](std::string_view, std::string_view) { return 1.0; };
  auto group = group_recorder(
      "What?", {"ada", "bob"}, {.new_answers = {.similarity = same}},
      [&](std::string_view line) { (text += line) += '\n'; }, false);
  (void)group.handle({.kind = group_event_kind::begin});
  (void)group.handle({.kind = group_event_kind::answer, .round = 1, .text = "one"});
  CHECK(group.handle({.kind = group_event_kind::answer, .agent = 1, .round = 1, .text = "two"})
            .verdict == group_verdict::refused);
  CHECK_THROWS_AS(replay(read_record(text)), std::invalid_argument);
  CHECK(replay(read_record(text), same).version() == 1);
  CHECK_THROWS_WITH(replay(read_record(text), word_overlap),
                    Contains("line 4") && Contains("expected the verdict taken, got refused"));
}
TEST_CASE("record: words of the first version are compared by what is given") {
  auto lines = small_record();
  lines[0].replace(lines[0].find("group 2"), 7, "group 1");
  auto const first = read_record(joined(lines));
  CHECK(not first.by_words);
  CHECK_THROWS_WITH(replay(first), Contains("the function that its answers were compared by"));
  CHECK(replay(first, word_overlap).ended());
}
TEST_CASE("record: damage is refused by its line") {
  auto const good = small_record();
  REQUIRE(fault(joined(good)).empty());
  auto const with = [&](std::size_t line, std::string const& from, std::string const& to) {
    auto lines = good;
    auto const at = lines[line - 1].find(from);
    REQUIRE(at != std::string::npos);
    lines[line - 1].replace(at, from.size(), to);
    return fault(joined(lines));
  };
  CHECK_THAT(fault(""), Contains("line 1") && Contains("got nothing"));
  CHECK_THAT(fault(joined(good).substr(0, 300)), Contains("line 3: expected its end"));
  CHECK_THAT(with(1, "group 2", "group 3"), Contains("line 1") && Contains("got tessera group 3"));
  CHECK_THAT(with(1, R"("ada")", R"("bob")"), Contains("line 1") && Contains("two of bob"));
  CHECK_THAT(with(1, R"(["ada","bob"])", "[1]"), Contains("agents: expected a list of texts"));
  CHECK_THAT(with(1, R"("max_new_answers":3,)", ""), Contains("expected max_new_answers"));
  CHECK_THAT(with(1, R"("by_words":true)", R"("by_words":1)"), Contains("got number"));
  CHECK_THAT(with(4, "answer", "shout"),
             Contains("line 4") && Contains("got shout, which is none"));
  CHECK_THAT(with(4, R"("bob")", R"("eve")"), Contains("line 4: agent: got eve"));
  CHECK_THAT(with(4, "10", "-10"), Contains("line 4: time: expected a whole number"));
  CHECK_THAT(with(4, "10", "1e300"), Contains("line 4: time"));
  CHECK_THAT(with(4, "10", "18446744073709551615"), Contains("line 4: time: expected a time"));
  CHECK_THAT(with(4, "{", "{\"more\":1,"), Contains("line 4: expected no member more"));
  CHECK_THAT(with(4, "{", "["), Contains("line 4: expected a JSON object"));
  CHECK_THAT(with(4, "taken", "late"), Contains("line 4: expected the verdict taken, got late"));
  CHECK_THAT(with(6, R"("view":1)", R"("view":0)"), Contains("line 8: expected the verdict stale"));
  CHECK_THAT(with(7, "agent2", "agent1"), Contains("line 7: expected the verdict refused"));
  CHECK_THAT(with(10, "A.", "B."), Contains("line 10: expected another outcome"));
  CHECK_THAT(with(10, "bob", "ada"), Contains("line 10: expected another outcome"));
  auto lines = good;
  std::swap(lines[8], lines[9]);
  CHECK_THAT(fault(joined(lines)), Contains("line 10: expected nothing behind the outcome"));
  lines = good;
  lines.erase(lines.begin() + 5);
  CHECK_THAT(fault(joined(lines)), Contains("line 7: expected the verdict stale"));
  lines = good;
  lines.pop_back();
  CHECK_THAT(fault(joined(lines)), Contains("line 10: expected the outcome, got none"));
  lines = good;
  lines.erase(lines.begin() + 8);
  CHECK_THAT(fault(joined(lines)), Contains("line 9: expected more events, got the outcome"));
  CHECK_THAT(fault(std::string(100'000, '[') + "\n"), Contains("line 1: expected a JSON object"));
}
TEST_CASE("record: any byte of a record may be another one") {
  auto const good = joined(small_record());
  auto draw = std::mt19937{7};
  auto refused = 0;
  for (auto i = 0; i < 2000; ++i) {
    auto bad = good;
    bad[draw() % bad.size()] = static_cast<char>(draw());
    if (i % 3 == 0) bad.resize(draw() % bad.size());
    refused += fault(bad).empty() ? 0 : 1;
  }
  CHECK(refused > 1000);  // the others have another time, reason or question
}
