// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/conductor.hpp>
#include <tessera/group/record.hpp>

#include "speaking_model.hpp"

using namespace tessera;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using test::speaking_model;

namespace {

constexpr auto bounds =
    lane_bounds{.lanes = 4, .rows = 512, .context = 6000, .vocabulary = speaking_model::vocabulary};

auto made(speaking_model::script_function script, lane_bounds of = bounds,
          speaking_model::pause_function pause = {}, engine_options options = {})
    -> std::unique_ptr<engine> {
  return std::make_unique<engine>(
      std::make_unique<speaking_model>(of, std::move(script), std::move(pause)), options);
}

/// Keeps what an agent says, for the thread of the test.
struct heard : agent_sink {
  std::mutex mutex;
  std::condition_variable changed;
  std::string texts;
  std::vector<std::size_t> versions;
  std::optional<agent_action> action;
  std::string error;

  auto text(std::string piece) -> bool override {
    auto const lock = std::lock_guard{mutex};
    texts += piece;
    changed.notify_all();
    return true;
  }
  void seen(std::size_t version) override {
    auto const lock = std::lock_guard{mutex};
    versions.push_back(version);
  }
  void finish(agent_action what) override {
    auto const lock = std::lock_guard{mutex};
    action = std::move(what);
    changed.notify_all();
  }
  void fail(std::string why) override {
    auto const lock = std::lock_guard{mutex};
    error = std::move(why);
    changed.notify_all();
  }
  template <class Done> void wait_for(Done const& done) {
    auto lock = std::unique_lock{mutex};
    if (not changed.wait_for(lock, 20s, done)) throw std::runtime_error("an agent says nothing");
  }
  auto ended() -> std::optional<agent_action> {
    wait_for([&] { return action || not error.empty(); });
    return action;
  }
};
auto shown(std::size_t answers) -> group_view {
  auto view = group_view{.version = answers, .may_vote = answers > 0};
  for (auto i = std::size_t{0}; i < answers; ++i)
    view.answers.push_back({"agent" + std::to_string(i + 1), "text " + std::to_string(i + 1), i});
  return view;
}
auto asked(group_view view, group_command_kind kind = group_command_kind::start) -> agent_request {
  return {.kind = kind, .label = "agent1", .task = {"What?"}, .view = std::move(view)};
}
/// What a model says to the last question of a conversation.
auto script(std::string action, std::string target, std::string text) {
  return [=](std::string_view all) -> std::string {
    auto const last = all.substr(all.rfind("user: "));
    if (last.find("What do you do?") != last.npos) return action;
    if (last.find("Whose answer") != last.npos) return target;
    return text;
  };
}

}  // namespace

TEST_CASE("engine_agent: it does one thing, and says its text as it comes") {
  auto const says = [](group_view view, auto script, group_command_kind kind = {}) {
    auto const runs = made(script);
    auto agent = engine_agent(speaking_model::model_of(*runs), {.sampling = {.temperature = 0}});
    auto const sink = std::make_shared<heard>();
    auto const version = view.version;
    agent.start(asked(std::move(view), kind), sink);
    auto const action = sink->ended();
    INFO(sink->error);
    REQUIRE(action);
    CHECK(sink->versions == std::vector{version});
    CHECK(sink->texts == action->text);
    return *action;
  };
  using enum group_event_kind;
  CHECK(says(shown(0), script("vote", "agent1", "forty-two")) ==
        agent_action{answer, {}, "forty-two"});
  CHECK(says(shown(2), script("new_answer", "agent1", "forty-three")) ==
        agent_action{answer, {}, "forty-three"});
  CHECK(says(shown(2), script("vote", "agent2", "it is right")) ==
        agent_action{vote, "agent2", "it is right"});
  CHECK(says(shown(1), script("vote", "agent7", "there is no other")) ==
        agent_action{vote, "agent1", "there is no other"});
  CHECK(says(shown(12), script("vote", "agent1", "the first of two that begin so")).target ==
        "agent1");
  CHECK(says(shown(12), script("vote", "agent12", "the longer one")).target == "agent12");
  auto full = shown(2);
  full.may_answer = false;
  CHECK(says(full, script("new_answer", "agent2", "nothing left")).kind == vote);
  CHECK(says(shown(2), script("", "", "finally"), group_command_kind::present) ==
        agent_action{presentation, {}, "finally"});
}
TEST_CASE("engine_agent: whatever the model says is an action that may be") {
  // A model that says nothing, one of blanks, one that knows no action and no agent.
  for (auto const* text : {"", "   \n", "agent99"}) {
    auto const runs = made([=](std::string_view) { return std::string{text}; });
    auto agent = engine_agent(speaking_model::model_of(*runs),
                              {.sampling = {.temperature = 0, .max_tokens = 9}});
    for (auto answers = std::size_t{0}; answers < 4; ++answers) {
      auto const sink = std::make_shared<heard>();
      agent.start(asked(shown(answers)), sink);
      auto const action = sink->ended();
      REQUIRE(action);
      CHECK_FALSE(trimmed(action->text).empty());
      if (action->kind != group_event_kind::vote) continue;
      CHECK(std::stoul(action->target.substr(5)) <= answers);
    }
  }
}
TEST_CASE("engine_agent: what was refused is followed by a vote") {
  auto conversations = std::vector<std::string>{};
  auto const runs = made([&](std::string_view all) {
    conversations.emplace_back(all);
    return script("new_answer", "agent2", "text 1")(all);
  });
  auto agent = engine_agent(speaking_model::model_of(*runs), {.sampling = {.temperature = 0}});
  auto const sink = std::make_shared<heard>();
  auto again = asked(shown(2), group_command_kind::retry);
  again.wrong = "expected a new answer, got an exact copy";
  agent.start(again, sink);
  REQUIRE(sink->ended());
  CHECK(sink->action->kind == group_event_kind::vote);
  CHECK(sink->action->target == "agent2");
  CHECK_THAT(conversations.front(), Contains("Whose answer do you vote for?"));
}
TEST_CASE("engine_agent: new answers begin what it was at again, with them") {
  auto const runs = made(
      [](std::string_view all) -> std::string {
        if (all.find("<agent2>") == all.npos) return std::string(5000, 'x');
        return script("vote", "agent2", "newer")(all);
      },
      bounds, [&] { std::this_thread::sleep_for(100us); });
  auto agent = engine_agent(speaking_model::model_of(*runs),
                            {.sampling = {.temperature = 0, .max_tokens = 4000}});
  auto const sink = std::make_shared<heard>();
  agent.start(asked(shown(0)), sink);
  sink->wait_for([&] { return sink->texts.size() > 3; });
  CHECK(agent.inject(shown(2)));
  REQUIRE(sink->ended());
  CHECK(*sink->action == agent_action{group_event_kind::vote, "agent2", "newer"});
  CHECK(sink->versions == std::vector<std::size_t>{0, 2});
  CHECK_THAT(sink->texts, Catch::Matchers::StartsWith("xxx") && Catch::Matchers::EndsWith("newer"));
  CHECK(agent.inject(shown(3)));  // the round has ended: nothing is said
  CHECK(sink->versions.size() == 2);
}
TEST_CASE("engine_agent: a round that is over, and an agent that is gone, say no more") {
  auto const runs = made([](std::string_view) { return std::string(5000, 'x'); }, bounds,
                         [] { std::this_thread::sleep_for(100us); });
  auto const first = std::make_shared<heard>();
  auto const second = std::make_shared<heard>();
  {
    auto agent = engine_agent(speaking_model::model_of(*runs),
                              {.sampling = {.temperature = 0, .max_tokens = 4000}});
    agent.start(asked(shown(0)), first);
    first->wait_for([&] { return not first->texts.empty(); });
    agent.cancel();
    agent.start(asked(shown(0)), second);
    second->wait_for([&] { return not second->texts.empty(); });
  }
  while (runs->counts().active > 0) std::this_thread::yield();
  CHECK_FALSE(first->action);
  CHECK_FALSE(second->action);
  CHECK((first->error + second->error).empty());
}
TEST_CASE("engine_agent: what cannot be run is a failure of the agent alone") {
  auto const why = [](engine& runs, std::string question) {
    auto agent = engine_agent(speaking_model::model_of(runs), {.sampling = {.temperature = 0}});
    auto const sink = std::make_shared<heard>();
    auto request = asked(shown(2));
    request.task.question = std::move(question);
    agent.start(request, sink);
    CHECK_FALSE(sink->ended());
    return sink->error;
  };
  auto small = bounds;
  small.context = 1200;
  auto const runs = made(script("vote", "agent2", "fine"), small);
  CHECK_THROWS_WITH(why(*runs, std::string(1200, 'x')), Contains("at most 1200 tokens, got"));
  runs->close();
  CHECK_THROWS_WITH(why(*runs, "What?"), Contains("takes no more requests"));
  auto const fails =
      made([](std::string_view) -> std::string { throw std::runtime_error("broken"); });
  CHECK(why(*fails, "What?") == "broken");
  auto no_end = speaking_model::model_of(*fails);
  no_end.end_tokens.clear();
  CHECK_THROWS_WITH(engine_agent(no_end), Contains("a token that ends"));
  CHECK_THROWS_WITH(engine_agent({}), Contains("expected an engine"));
  CHECK_THROWS_WITH(engine_agent(speaking_model::model_of(*fails), {.sampling = {.top_p = 2}}),
                    Contains("top_p"));
}
TEST_CASE("engine_agent: the oldest turns leave a conversation that is too long") {
  auto small = bounds;
  small.context = 1200;
  auto conversations = std::vector<std::string>{};
  auto mutex = std::mutex{};
  auto const runs = made(
      [&](std::string_view conversation) {
        auto const lock = std::lock_guard{mutex};
        conversations.emplace_back(conversation);
        return std::string{"Yes."};
      },
      small);
  auto one = engine_agent(speaking_model::model_of(*runs), {.sampling = {.max_tokens = 100}});
  auto request = asked(shown(0));
  for (auto i = 0; i < 9; ++i)
    request.task.earlier.push_back(
        {"question " + std::to_string(i), std::string(200, 'a') + std::to_string(i)});
  auto const sink = std::make_shared<heard>();
  one.start(std::move(request), sink);
  REQUIRE(sink->ended());
  REQUIRE(not conversations.empty());
  auto const& said = conversations.back();
  CHECK(said.size() <= 1100);
  CHECK(said.find("question 4") == std::string::npos);
  CHECK(said.find("question 7") != std::string::npos);
  CHECK(said.find("question 8") != std::string::npos);
  CHECK(said.starts_with("system: "));
  CHECK(said.find("What?") != std::string::npos);
}
TEST_CASE("engine_agent: groups of a model that babbles end by votes, beside any other agent") {
  auto const runs = made({});
  for (auto seed = std::uint64_t{0}; seed < 6; ++seed) {
    auto text = std::string{};
    auto group = group_recorder("What?", {"a", "b", "c", "other"}, {},
                                [&](std::string_view line) { (text += line) += '\n'; });
    auto all = std::vector<std::shared_ptr<group_agent>>{};
    for (auto i = std::uint64_t{0}; i < 3; ++i)
      all.push_back(std::make_shared<engine_agent>(
          speaking_model::model_of(*runs),
          engine_agent_options{.sampling = {.max_tokens = 30, .seed = seed * 10 + i}}));
    all.push_back(std::make_shared<threaded_agent>([](agent_round& round) {
      round.seen(round.request().view.version);
      if (round.request().view.answers.empty())
        round.finish({group_event_kind::answer, {}, "another thread's"});
      else
        round.finish({group_event_kind::vote, round.request().view.answers.back().agent, "new"});
    }));
    REQUIRE(conduct(group, {"What?"}, all, {.tick = 2ms}));
    CHECK(group.group().outcome().cause == group_cause::votes);
    for (auto i = std::size_t{0}; i < 4; ++i)
      CHECK(group.group().status(i) == agent_status::completed);
    CHECK(replay(read_record(text)).outcome() == group.group().outcome());
  }
}
