// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/in_step.hpp>
#include <tessera/group/record.hpp>

#include <random>

#include "speaking_model.hpp"

using namespace tessera;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using test::speaking_model;

namespace {

constexpr auto bounds = lane_bounds{.lanes = 3,
                                    .rows = 512,
                                    .context = 6000,
                                    .vocabulary = speaking_model::vocabulary,
                                    .goes_back = true};

auto made(speaking_model::pause_function pause = {}) -> std::unique_ptr<engine> {
  return std::make_unique<engine>(std::make_unique<speaking_model>(
      bounds, speaking_model::script_function{}, std::move(pause)));
}
/// Four agents of three lanes.
auto agents_of(engine& runs, std::uint64_t seed, std::size_t most = 24) {
  auto all = std::vector<std::shared_ptr<group_agent>>{};
  for (auto i = std::uint64_t{0}; i < 4; ++i)
    all.push_back(std::make_shared<engine_agent>(
        speaking_model::model_of(runs),
        engine_agent_options{.character = "You are number " + std::to_string(i),
                             .sampling = {.max_tokens = most, .seed = seed * 100 + i},
                             .reason_tokens = 8}));
  return all;
}
auto record_of(engine& runs, std::uint64_t seed, conductor_options const& options = {})
    -> std::string {
  auto text = std::string{};
  auto group = group_recorder("What?", {"d", "b", "a", "c"}, {},
                              [&](std::string_view line) { (text += line) += '\n'; });
  if (not conduct_in_step(runs, group, {"What?"}, agents_of(runs, seed), options))
    throw std::runtime_error("interrupted");
  return text;
}
auto count(group_record const& record, group_event_kind kind) {
  return std::ranges::count_if(record.entries,
                               [&](auto const& one) { return one.event.kind == kind; });
}
/// Threads that take the cores from others, now and then.
class busy {
 public:
  busy() {
    for (auto i = 0; i < 3; ++i)
      threads_.emplace_back([this] {
        for (auto n = 0U; not over_; ++n)
          if (n % 50'000 == 0) std::this_thread::sleep_for(200us);
      });
  }
  busy(busy const&) = delete;
  auto operator=(busy const&) -> busy& = delete;
  ~busy() {
    over_ = true;
    for (auto& one : threads_) one.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("in_step: agents of one setting do not repeat each other") {
  auto const run = [] {
    auto const runs = made();
    auto all = std::vector<std::shared_ptr<group_agent>>{};
    for (auto i = 0; i < 3; ++i)
      all.push_back(std::make_shared<engine_agent>(speaking_model::model_of(*runs)));
    auto text = std::string{};
    auto group = group_recorder("What?", {"a", "b", "c"}, {},
                                [&](std::string_view line) { (text += line) += '\n'; });
    CHECK(conduct_in_step(*runs, group, {"What?"}, std::move(all)));
    return text;
  };
  auto const text = run();
  auto first = std::map<std::size_t, std::string>{};
  for (auto const& one : read_record(text).entries)
    if (one.event.kind == group_event_kind::text)
      first.try_emplace(one.event.agent, one.event.text);
  REQUIRE(first.size() == 3);
  CHECK((first[0] != first[1] && first[1] != first[2] && first[0] != first[2]));
  CHECK(run() == text);
}
TEST_CASE("in_step: the same seeds give the same record, byte for byte, however long steps take") {
  auto const expected = record_of(*made(), 1);
  auto const record = read_record(expected);
  CHECK(count(record, group_event_kind::answer) >= 2);
  CHECK(count(record, group_event_kind::vote) >= 4);
  CHECK(count(record, group_event_kind::text) > 50);
  CHECK(count(record, group_event_kind::tick) == 0);
  REQUIRE(record.outcome);
  CHECK(record.outcome->cause == group_cause::votes);
  CHECK(replay(record).outcome() == record.outcome);
  CHECK(record_of(*made(), 2) != expected);

  auto const others = busy{};
  for (auto i = 0U; i < 12; ++i) {
    auto draw = std::minstd_rand{i + 1};  // delays by another seed each time
    auto const runs = made([&] {
      if (draw() % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds{draw() % 300});
    });
    CHECK(record_of(*runs, 1) == expected);
    CHECK(record_of(*runs, 1) == expected);  // and of an engine that has run before
  }
}
TEST_CASE("in_step: a step is a millisecond") {
  auto const runs = made();
  auto const record = read_record(record_of(*runs, 3));
  auto last = group_time{0};
  for (auto const& one : record.entries) {
    CHECK(one.event.time >= last);
    last = one.event.time;
  }
  CHECK(last.count() == static_cast<group_time::rep>(runs->counts().steps));
}
TEST_CASE("in_step: the time limit is one of the wall clock, and ends it by a tick") {
  auto const runs = made([] { std::this_thread::sleep_for(500us); });
  auto text = std::string{};
  auto group = group_recorder("What?", {"a", "b", "c", "d"}, {.time_limit = 60ms},
                              [&](std::string_view line) { (text += line) += '\n'; });
  REQUIRE(conduct_in_step(*runs, group, {"What?"}, agents_of(*runs, 1, 5000), {.tick = 5ms}));
  CHECK(group.group().outcome().cause == group_cause::time_limit);
  auto const record = read_record(text);
  CHECK(record.entries.back().event.kind == group_event_kind::tick);
  CHECK(record.entries.back().event.time == 60ms);
  CHECK(count(record, group_event_kind::tick) == 1);
  CHECK(replay(record).outcome() == record.outcome);
  while (runs->counts().active + runs->counts().waiting > 0) std::this_thread::yield();
}
TEST_CASE("in_step: agents whose rounds take too many steps are lost, the same ones each time") {
  auto const lost = [] {
    auto const runs = made();
    return record_of(*runs, 1, {.round_timeout = 40ms});
  };
  auto const first = lost();
  CHECK(count(read_record(first), group_event_kind::timeout) > 0);
  CHECK(lost() == first);
}
TEST_CASE("in_step: how the group stands is looked at while nothing happens") {
  auto const runs = made([] { std::this_thread::sleep_for(200us); });
  auto looks = 0;
  auto text = record_of(*runs, 1, {.tick = 1ms, .look = [&](group_protocol const& group) {
                                     ++looks;
                                     CHECK(group.size() == 4);
                                   }});
  CHECK(looks > 3);
  CHECK(text == record_of(*made(), 1));
}
TEST_CASE("in_step: it can be interrupted, and what observes may fail") {
  auto const runs = made([] { std::this_thread::sleep_for(200us); });
  auto group = group_protocol({"a", "b", "c", "d"}, {});
  auto observed = std::atomic<int>{0};
  CHECK_FALSE(conduct_in_step(*runs, group, {"What?"}, agents_of(*runs, 1, 5000),
                              {.tick = 2ms,
                               .observe = [&](auto const&...) { ++observed; },
                               .interrupted = [&] { return observed > 10; }}));
  CHECK_FALSE(group.ended());
  auto const heard = observed.load();
  while (runs->counts().active + runs->counts().waiting > 0) std::this_thread::yield();
  CHECK(observed == heard);

  auto const fails = [](auto const&...) -> bool { throw std::runtime_error("no space left"); };
  auto second = group_protocol({"a", "b", "c", "d"}, {});
  CHECK_THROWS_WITH(conduct_in_step(*runs, second, {"What?"}, agents_of(*runs, 1),
                                    {.observe = [&](auto const&...) { (void)fails(); }}),
                    Contains("no space left"));
  auto third = group_protocol({"a", "b", "c", "d"}, {});
  CHECK_THROWS_WITH(conduct_in_step(*runs, third, {"What?"}, agents_of(*runs, 1, 5000),
                                    {.tick = 1ms, .interrupted = [&] { return fails(); }}),
                    Contains("no space left"));
}
TEST_CASE("in_step: an engine that ends takes the agents with it, and nobody waits for ever") {
  auto const runs = made([] { std::this_thread::sleep_for(200us); });
  auto group = group_protocol({"a", "b", "c", "d"}, {});
  auto closes = std::thread{};
  REQUIRE(conduct_in_step(*runs, group, {"What?"}, agents_of(*runs, 1),
                          {.observe = [&](auto const&...) {
                            if (not closes.joinable()) closes = std::thread{[&] { runs->close(); }};
                          }}));
  closes.join();
  CHECK(group.outcome().cause != group_cause::votes);
  auto next = group_protocol({"a", "b", "c", "d"}, {});
  CHECK_THROWS_WITH(conduct_in_step(*runs, next, {"What?"}, agents_of(*runs, 1)),
                    Contains("the engine has ended"));
  CHECK_THROWS_WITH(conduct_in_step(*runs, next, {"What?"}, {}), Contains("4 agents, got 0"));
}
