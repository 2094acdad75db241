// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/agent.hpp>

#include <future>

using namespace tessera;
using namespace std::chrono_literals;

namespace {

/// Keeps what a round said, for the thread of the test.
struct heard : agent_sink {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> all;

  auto text(std::string piece) -> bool override { return note("text " + piece); }
  void seen(std::size_t version) override { note("seen " + std::to_string(version)); }
  void finish(agent_action action) override { note("finish " + action.text); }
  void fail(std::string why) override { note("fail " + why); }

  auto note(std::string what) -> bool {
    auto const lock = std::lock_guard{mutex};
    all.push_back(std::move(what));
    changed.notify_all();
    return true;
  }
  auto wait_for(std::size_t n) -> std::vector<std::string> {
    auto lock = std::unique_lock{mutex};
    changed.wait_for(lock, 1min, [&] { return all.size() >= n; });
    return all;
  }
};
auto request(std::size_t version) -> agent_request {
  return {.label = "agent1", .task = {"What?"}, .view = {.version = version}};
}

}  // namespace

TEST_CASE("agent: a round is a call of the function, one after another") {
  auto agent = threaded_agent([](agent_round& round) {
    round.seen(round.request().view.version);
    round.text(round.request().task.question);
    round.finish({group_event_kind::answer, {}, "done"});
  });
  for (auto i = std::size_t{0}; i < 3; ++i) {
    auto const sink = std::make_shared<heard>();
    agent.start(request(i), sink);
    CHECK(sink->wait_for(3) ==
          std::vector<std::string>{"seen " + std::to_string(i), "text What?", "finish done"});
  }
}
TEST_CASE("agent: what is thrown, and no action, is a failure; the next round may be none") {
  auto agent = threaded_agent([](agent_round& round) {
    if (round.request().view.version == 0) throw std::runtime_error("no model");
    if (round.request().view.version == 1) throw 1;
  });
  auto const said = [&](std::size_t version) {
    auto const sink = std::make_shared<heard>();
    agent.start(request(version), sink);
    return sink->wait_for(1).at(0);
  };
  CHECK(said(0) == "fail no model");
  CHECK(said(1) == "fail the agent has thrown what is no exception");
  CHECK(said(2) == "fail the agent came to no action");
}
TEST_CASE("agent: a round gets the answers that are new, and hears of its end") {
  auto agent = threaded_agent([](agent_round& round) {
    round.text("begins");
    while (not round.cancelled()) {
      if (auto const view = round.new_view()) round.seen(view->version);
      round.wait_for(1min);
    }
    round.text("nobody hears it");
    round.finish({});
  });
  auto const first = std::make_shared<heard>();
  CHECK_FALSE(agent.inject({.version = 7}));  // no round
  agent.start(request(0), first);
  CHECK(first->wait_for(1).back() == "text begins");
  CHECK(agent.inject({.version = 8}));
  CHECK(first->wait_for(2).back() == "seen 8");
  auto const second = std::make_shared<heard>();
  agent.start(request(0), second);  // ends the first one
  CHECK(first->wait_for(3).back() == "finish ");
  CHECK(second->wait_for(1).back() == "text begins");
  agent.cancel();
  CHECK(second->wait_for(2).back() == "finish ");
}
