// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/models.hpp>

#include <future>

#include "test_models.hpp"

using namespace tessera;
using Catch::Contains;

namespace {

struct shop {
  metrics counted;
  model_table models;

  void publish(std::string const& version, float factor = 1) {
    models.publish(std::make_shared<deployment>("m", version, std::make_shared<test::times>(factor),
                                                deployment_options{}, counted));
  }
  [[nodiscard]] auto chosen(std::string const& user) const -> std::string {
    return models.choose("m", user, {})->version;
  }
};

}  // namespace

TEST_CASE("models: without weights the latest version has all, by its number") {
  auto s = shop{};
  for (auto const* version : {"9", "10", "2"}) s.publish(version);
  CHECK(s.chosen("a") == "10");
  CHECK(s.models.versions("m") == std::vector<std::string>{"2", "9", "10"});
  CHECK(s.models.withdraw("m", "10"));
  CHECK(s.chosen("a") == "9");
  CHECK_FALSE(s.models.withdraw("m", "10"));
  CHECK_THROWS_WITH(s.models.find("m", "10"),
                    Contains("expected one of the versions 2, 9, got 10"));
  CHECK_THROWS_WITH(s.models.find("k", "1"), Contains("no model \"k\""));
  s.models.clear();
  CHECK(s.models.names().empty());
}
TEST_CASE("models: half of 100 000 ids within 1 %, the same id always the same") {
  auto s = shop{};
  s.publish("1");
  s.publish("2");
  s.models.set_weights("m", {{"1", 50}, {"2", 50}});
  auto const count_first = [&](std::string const& prefix) {
    auto n = 0;
    for (auto i = 0; i < 100'000; ++i) n += s.chosen(prefix + std::to_string(i)) == "1" ? 1 : 0;
    return n;
  };
  for (auto const* prefix : {"", "user-", "a very long name of somebody "}) {
    auto const n = count_first(prefix);
    CHECK(n > 49'000);
    CHECK(n < 51'000);
    CHECK(count_first(prefix) == n);
  }
  s.models.set_weights("m", {{"1", 90}, {"2", 10}});
  auto const n = count_first("user-");
  CHECK(n > 89'000);
  CHECK(n < 91'000);
}
TEST_CASE("models: the share of an id is the same in every process") {
  CHECK(sticky_share("") == 0.93676944839044);  // computed by Python's whole numbers
  CHECK(sticky_share("user-1") == 0.2563932327962135);
  CHECK(sticky_share("user-1") != sticky_share("user-2"));
}
TEST_CASE("models: no request is lost while a version is replaced and weights change") {
  auto s = shop{};
  s.publish("1");
  auto stop = std::atomic<bool>{false};
  auto lost = std::atomic<int>{0};
  auto answered = std::atomic<int>{0};
  auto clients = std::vector<std::thread>{};
  for (auto c = 0; c < 3; ++c)
    clients.emplace_back([&] {
      while (not stop) {
        auto done = std::promise<bool>{};
        auto accepted = false;
        for (auto tries = 0; tries < 8 && not accepted; ++tries)
          accepted =
              s.models.choose("m", {}, {})
                  ->submit(
                      {.inputs = {{"x", {1, 2}, std::vector<float>{1, 2}}},
                       .done = [&](inference_result const& r) { done.set_value(r.error.empty()); }},
                      {});
        if (accepted && done.get_future().get())
          ++answered;
        else
          ++lost;
      }
    });
  for (auto round = 0; round < 60; ++round) {
    s.publish(round % 2 == 0 ? "1" : "2");
    s.models.set_weights("m", {{"1", 1}, {"2", 1}});
    if (round % 10 == 9) (void)s.models.withdraw("m", "2");
  }
  while (answered < 100) std::this_thread::yield();
  stop = true;
  for (auto& one : clients) one.join();
  CHECK(lost == 0);
}
TEST_CASE("models: a sequence that is open stays with its version") {
  auto counted = metrics{};
  auto models = model_table{};
  for (auto const* version : {"1", "2"})
    models.publish(std::make_shared<deployment>("m", version, std::make_shared<test::sum_so_far>(),
                                                deployment_options{}, counted));
  models.set_weights("m", {{"1", 1}});
  CHECK(models.choose("m", {}, {"a"})->version == "1");
  (void)models.choose("m", {}, {"a"})->sequences.begin("a");
  models.set_weights("m", {{"2", 1}});
  CHECK(models.choose("m", {}, {"a"})->version == "1");
  CHECK(models.choose("m", {}, {"b"})->version == "2");
}
TEST_CASE(
    "models: a version that is published anew is served, also when nobody holds the one before") {
  auto counted = metrics{};
  auto models = model_table{};
  for (auto i = 0; i < 3; ++i) {
    models.publish(std::make_shared<deployment>("m", "1", std::make_shared<test::sum_so_far>(),
                                                deployment_options{}, counted));
    CHECK_THAT(counted.text(), Contains("nn_model_info{model=\"m\",version=\"1\"} 1"));
  }
  CHECK(models.withdraw("m", "1"));
  CHECK_THAT(counted.text(), Contains("nn_model_info{model=\"m\",version=\"1\"} 0"));
}
TEST_CASE("models: a sequence goes on where its version is published anew, until it ends") {
  auto counted = metrics{};
  auto models = model_table{};
  auto const publish = [&](std::chrono::milliseconds idle = std::chrono::minutes{1}) {
    models.publish(std::make_shared<deployment>(
        "m", "1", std::make_shared<test::sum_so_far>(),
        deployment_options{.sequences = {.idle_timeout = idle}}, counted));
  };
  auto const sum = [&](sequence_request const& sequence, bool named = false) {
    auto done = std::promise<std::int64_t>{};
    auto const to = named ? models.find("m", "1", sequence) : models.choose("m", {}, sequence);
    REQUIRE(to->submit({.inputs = {{"x", {1, 1}, std::vector<std::int64_t>{1}}},
                        .done =
                            [&](inference_result const& r) {
                              done.set_value(
                                  std::get<std::vector<std::int64_t>>(r.outputs.at(0).values)[0]);
                            }},
                       sequence));
    return done.get_future().get();
  };
  publish();
  CHECK(sum({"a", true}) == 1);
  CHECK(sum({"b", true}) == 1);
  auto const old = models.find("m", "1");
  publish();
  CHECK(sum({"a"}) == 2);
  CHECK(sum({"a"}, true) == 3);
  CHECK(models.choose("m", {}, {"c"}) != old);
  CHECK(sum({"b", true}) == 1);  // begins anew, on the new one
  CHECK(models.choose("m", {}, {"b"}) != old);
  CHECK_FALSE(old->sequences.contains("b"));
  CHECK(sum({"a", false, true}) == 4);
  models.sweep();
  CHECK_THROWS_WITH(models.choose("m", {}, {"a"})->submit({}, {"a"}), Contains("not open"));
  CHECK_FALSE(old->submit({.inputs = {}, .done = [](auto const&) {}}, {"x", true}));
  CHECK_THAT(counted.text(), Contains("nn_model_info{model=\"m\",version=\"1\"} 1"));
}
TEST_CASE("models: one that was replaced is closed where its sequences are idle or withdrawn") {
  auto counted = metrics{};
  auto models = model_table{};
  auto const publish = [&](std::chrono::milliseconds idle) {
    auto one = std::make_shared<deployment>("m", "1", std::make_shared<test::sum_so_far>(),
                                            deployment_options{.sequences = {.idle_timeout = idle}},
                                            counted);
    models.publish(one);
    return one;
  };
  auto const is_open = [](deployment& one) {
    return one.submit(
        {.inputs = {{"x", {1, 1}, std::vector<std::int64_t>{1}}}, .done = [](auto const&) {}},
        {"z", true, true});
  };
  auto const idle = publish(std::chrono::milliseconds{50});
  (void)idle->sequences.begin("a");
  auto const next = publish(std::chrono::minutes{1});
  (void)next->sequences.begin("b");
  while (idle->sequences.open() > 0) std::this_thread::yield();
  (void)publish(std::chrono::minutes{1});
  CHECK_FALSE(is_open(*idle));
  CHECK(is_open(*next));
  CHECK(models.withdraw("m", "1"));
  CHECK_FALSE(is_open(*next));
}
