// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/conductor.hpp>
#include <tessera/group/record.hpp>

using namespace tessera;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

using agents = std::vector<std::shared_ptr<group_agent>>;
using enum group_event_kind;

/// An agent whose rounds are this function.
auto working(threaded_agent::work work) -> std::shared_ptr<group_agent> {
  return std::make_shared<threaded_agent>(std::move(work));
}
/// Answers first, then votes for the first answer it is shown; presents what it is asked.
auto sensible(std::string answer, std::chrono::milliseconds pause = 0ms) {
  return working([answer = std::move(answer), pause, given = false](agent_round& round) mutable {
    auto const& asked = round.request();
    auto view = asked.view;
    round.seen(view.version);
    for (auto i = 0; i < 3; ++i) {
      round.text("word ");
      round.wait_for(pause);
      if (round.cancelled()) return;
      if (auto more = round.new_view()) {
        view = *more;
        round.seen(view.version);
      }
    }
    if (asked.kind == group_command_kind::present)
      return round.finish({presentation, {}, "Finally: " + answer});
    if (not std::exchange(given, true)) return round.finish({group_event_kind::answer, {}, answer});
    round.finish({vote, view.answers.front().agent, "first"});
  });
}
/// Never says a word, and has no thread.
struct hanging : group_agent {
  std::atomic<int> cancelled = 0;
  void start(agent_request, std::shared_ptr<agent_sink>) override {}
  auto inject(group_view const&) -> bool override { return true; }
  void cancel() override { ++cancelled; }
};
/// Cannot even begin.
struct dead : group_agent {
  void start(agent_request, std::shared_ptr<agent_sink>) override {
    throw std::runtime_error("nobody at home");
  }
  void cancel() override {}
};

struct run {
  group_protocol group;
  std::vector<group_event> events = {};
  std::vector<group_verdict> verdicts = {};

  explicit run(std::vector<std::string> const& ids, group_options options = {})
      : group(ids, std::move(options)) {}
  auto with(agents const& all, conductor_options options = {}) -> bool {
    options.observe = [&](group_event const& event, group_verdict verdict, group_protocol const&) {
      events.push_back(event);
      verdicts.push_back(verdict);
    };
    options.tick = 5ms;
    return conduct(group, {"What?"}, all, options);
  }
  [[nodiscard]] auto why(std::size_t agent) const -> std::string {
    for (auto const& one : events)
      if (one.kind == failure && one.agent == agent) return one.text;
    return {};
  }
};

}  // namespace

TEST_CASE("conductor: agents answer, are told of each other's answers, vote, and one presents") {
  auto it = run({"ada", "bob", "cyd"});
  REQUIRE(it.with({sensible("the first"), sensible("another one"), sensible("yet a third")}));
  auto const& outcome = it.group.outcome();
  CHECK(outcome.cause == group_cause::votes);
  REQUIRE(outcome.winner);
  CHECK(outcome.presented);
  CHECK_THAT(outcome.answer, Contains("Finally: "));
  CHECK(it.group.version() == 3);
  CHECK(it.group.tally()[0] == 3);  // agent1 is shown first
}
TEST_CASE("conductor: a slow agent is waited for") {
  auto it = run({"quick", "slow"});
  REQUIRE(it.with({sensible("the first"), sensible("another one", 30ms)}));
  CHECK(it.group.outcome().cause == group_cause::votes);
  CHECK(it.group.version() == 2);
}
TEST_CASE("conductor: agents that are dead, throw, hang or never stop do not stop the others") {
  auto const hangs = std::make_shared<hanging>();
  auto it = run({"good", "dead", "throws", "hangs", "streams", "also good"});
  REQUIRE(it.with({sensible("the first"), std::make_shared<dead>(),
                   working([](agent_round&) { throw std::runtime_error("out of memory"); }), hangs,
                   working([](agent_round& round) {
                     while (round.text("and so on ")) std::this_thread::sleep_for(1ms);
                   }),
                   sensible("another one")},
                  {.round_timeout = 300ms}));
  CHECK(it.group.outcome().cause == group_cause::votes);
  CHECK(it.group.outcome().presented);
  CHECK(it.why(1) == "nobody at home");
  CHECK(it.why(2) == "out of memory");
  CHECK(it.group.status(1) == agent_status::error);
  CHECK(it.group.status(2) == agent_status::error);
  CHECK(it.group.status(3) == agent_status::timeout);
  CHECK(it.group.status(4) == agent_status::timeout);
  CHECK(it.group.status(0) == agent_status::completed);
  CHECK(hangs->cancelled == 1);
}
TEST_CASE("conductor: who writes too much is lost") {
  auto it = run({"good", "streams"});
  REQUIRE(it.with({sensible("the first", 20ms), working([](agent_round& round) {
                     while (round.text("and so on ")) {
                     }
                   })},
                  {.most_text = 10'000}));
  CHECK(it.group.status(1) == agent_status::error);
  CHECK(it.why(1) == "the agent wrote too much");
  CHECK(it.group.outcome().cause == group_cause::alone);
}
TEST_CASE("conductor: the time limit ends it with the best answer so far") {
  auto const hangs = std::make_shared<hanging>();
  auto it = run({"good", "hangs"}, {.time_limit = 150ms});
  REQUIRE(it.with({sensible("the first"), hangs}));
  CHECK(it.group.outcome() == group_outcome{group_cause::time_limit, 0, "the first", false});
  CHECK(hangs->cancelled == 1);

  auto none = run({"a", "b"}, {.time_limit = 50ms});
  REQUIRE(none.with({std::make_shared<hanging>(), std::make_shared<hanging>()}));
  CHECK_FALSE(none.group.outcome().winner);
}
TEST_CASE("conductor: when all are lost there is no answer") {
  auto it = run({"a", "b"});
  REQUIRE(it.with({std::make_shared<dead>(), std::make_shared<dead>()}));
  CHECK(it.group.outcome() == group_outcome{group_cause::nobody_left, std::nullopt, "", false});
}
TEST_CASE("conductor: an agent that takes no new answers begins its round again with them") {
  struct restarting : group_agent {
    std::atomic<int> rounds = 0;
    std::atomic<int> cancelled = 0;
    void start(agent_request request, std::shared_ptr<agent_sink> sink) override {
      ++rounds;
      if (request.kind == group_command_kind::present) return sink->fail("shy");
      if (request.view.answers.empty()) return;  // waits for others
      sink->seen(request.view.version);
      sink->finish({vote, request.view.answers.front().agent, "there is no other"});
    }
    void cancel() override { ++cancelled; }
  };
  auto const shy = std::make_shared<restarting>();
  auto it = run({"good", "shy"});
  REQUIRE(it.with({sensible("the first"), shy}));
  CHECK(it.group.outcome().winner == 0);
  CHECK(shy->rounds == 2);
  CHECK(shy->cancelled == 1);
}
TEST_CASE("conductor: a failure that comes too late ends no later round") {
  struct scripted : group_agent {
    explicit scripted(std::function<void(int, agent_request const&, agent_sink&)> of)
        : script(std::move(of)) {}
    void start(agent_request request, std::shared_ptr<agent_sink> sink) override {
      last = sink;
      script(++starts, request, *sink);
    }
    void cancel() override { ++cancelled; }

    std::function<void(int, agent_request const&, agent_sink&)> script;
    std::shared_ptr<agent_sink> last = {};
    int starts = 0;
    int cancelled = 0;
  };
  auto const go_on = [](agent_request const& asked, agent_sink& sink) {
    sink.seen(asked.view.version);
    if (asked.kind == group_command_kind::present)
      sink.finish({presentation, {}, "finally"});
    else
      sink.finish({vote, asked.view.answers.front().agent, "first"});
  };
  // Its answer waits to be heard when that of the other begins its round again, which fails.
  auto const slow =
      std::make_shared<scripted>([&](int start, agent_request const& asked, agent_sink& sink) {
        if (start == 2) throw std::runtime_error("not now");
        if (start > 2) go_on(asked, sink);
      });
  auto const fast =
      std::make_shared<scripted>([&](int start, agent_request const& asked, agent_sink& sink) {
        if (start > 1) return go_on(asked, sink);
        sink.finish({answer, {}, "one and two"});
        slow->last->finish({answer, {}, "something else"});
      });
  auto it = run({"slow", "fast"});
  REQUIRE(it.with({slow, fast}));
  CHECK(it.why(0) == "not now");
  CHECK(slow->starts > 2);
  CHECK(slow->cancelled == 0);
  CHECK(it.group.alive(0));
  CHECK(it.group.outcome().cause == group_cause::votes);
}
TEST_CASE("conductor: a wrong action is told, and the round begins again") {
  auto told = std::string{};
  auto it = run({"clumsy"});
  auto refused = std::vector<group_event_kind>{};
  REQUIRE(it.with({working([&](agent_round& round) {
    auto const& asked = round.request();
    if (asked.kind == group_command_kind::start) return round.finish({vote, "agent1", "me"});
    told = asked.wrong;
    round.finish({group_event_kind::answer, {}, "four"});
  })}));
  for (auto i = std::size_t{0}; i < it.events.size(); ++i)
    if (it.verdicts[i] == group_verdict::refused) refused.push_back(it.events[i].kind);
  CHECK(refused == std::vector{vote});
  CHECK_THAT(told, Contains("no answers to vote for yet"));
  CHECK(it.group.outcome() == group_outcome{group_cause::alone, 0, "four", false});
}
TEST_CASE("conductor: it can be interrupted, and what it wrote down can be replayed") {
  auto text = std::string{};
  auto group = group_recorder("What?", {"good", "hangs"}, {},
                              [&](std::string_view line) { (text += line) += '\n'; });
  auto const hangs = std::make_shared<hanging>();
  CHECK_FALSE(conduct(group, {"What?"}, {sensible("the first"), hangs},
                      {.tick = 5ms, .interrupted = [&] { return group.group().version() > 0; }}));
  CHECK(hangs->cancelled == 1);
  auto const again = replay(read_record(text));
  CHECK_FALSE(again.ended());
  CHECK(again.answer_of(0) == "the first");
}
TEST_CASE("conductor: many groups, whatever the threads do, end by their rules") {
  for (auto i = 0; i < 40; ++i) {
    auto text = std::string{};
    auto group = group_recorder("What?", {"a", "b", "c"}, {.time_limit = 20s},
                                [&](std::string_view line) { (text += line) += '\n'; });
    auto const pause = std::chrono::milliseconds{i % 3};
    REQUIRE(conduct(group, {"What?"},
                    {sensible("the first", pause), sensible("another one"),
                     i % 4 == 0 ? std::make_shared<dead>() : sensible("yet a third", pause)},
                    {.tick = 2ms}));
    CHECK(group.group().outcome().cause == group_cause::votes);
    CHECK(replay(read_record(text)).outcome() == group.group().outcome());
  }
}
TEST_CASE("conductor: every agent of the group is needed") {
  auto group = group_protocol({"a", "b"}, {});
  CHECK_THROWS_WITH(conduct(group, {"What?"}, {std::make_shared<dead>()}),
                    Contains("expected 2 agents, got 1"));
}
