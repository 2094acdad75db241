// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/deployment.hpp>

#include <future>

#include "test_models.hpp"

using namespace tessera;
using Catch::Contains;
using namespace std::chrono_literals;

namespace {

auto ones() -> std::vector<served_tensor> { return {{"x", {1, 2}, std::vector<float>{1, 1}}}; }
auto one() -> std::vector<served_tensor> { return {{"x", {1, 1}, std::vector<std::int64_t>{1}}}; }

}  // namespace

TEST_CASE("deployment: a full queue is 429, and the sequence that could not begin is not open") {
  auto counted = metrics{};
  auto const at = std::make_shared<test::gate>();
  at->set(false);
  auto model = deployment("m", "1", std::make_shared<test::sum_so_far>(at), {.batch = {.queue = 1}},
                          counted);
  auto const begin = [&](std::string const& id) {
    return model.submit({.inputs = one(), .done = [](auto const&) {}}, {id, true, false});
  };
  CHECK(begin("a"));
  at->await_one();
  CHECK(begin("b"));
  CHECK_THROWS_WITH(begin("c"), Contains("too many requests wait"));
  CHECK(model.sequences.contains("b"));
  CHECK_FALSE(model.sequences.contains("c"));
  at->set(true);
}
TEST_CASE("deployment: more sequences than may be open are 429") {
  auto counted = metrics{};
  auto model = deployment("m", "1", std::make_shared<test::sum_so_far>(),
                          {.sequences = {.most = 1}}, counted);
  auto const begin = [&](std::string const& id) {
    return model.submit({.inputs = one(), .done = [](auto const&) {}}, {id, true, false});
  };
  CHECK(begin("a"));
  CHECK_THROWS_WITH(begin("b"), Contains("too many sequences"));
}
TEST_CASE("deployment: one that is closed answers what it took, and takes nothing") {
  auto counted = metrics{};
  auto model = deployment("m", "1", std::make_shared<test::times>(2.0F), {}, counted);
  auto done = std::promise<void>{};
  CHECK(model.submit({.inputs = ones(), .done = [&](auto const&) { done.set_value(); }}, {}));
  model.close();
  CHECK(done.get_future().wait_for(std::chrono::seconds{0}) == std::future_status::ready);
  CHECK_FALSE(model.submit({.inputs = ones(), .done = [](auto const&) {}}, {}));
  CHECK_THAT(counted.text(), Contains(R"(nn_model_info{model="m",version="1"} 0)"));
  CHECK_THAT(counted.text(),
             Contains(R"(nn_inference_duration_seconds_count{model="m",version="1"} 1)"));
}
TEST_CASE("deployment: it is counted how long requests wait, how long they take, and batches") {
  auto counted = metrics{};
  auto const at = std::make_shared<test::gate>();
  at->set(false);
  auto model = deployment("m", "1", std::make_shared<test::times>(2.0F, at), {}, counted);
  auto const ask = [&] { CHECK(model.submit({.inputs = ones(), .done = [](auto const&) {}}, {})); };
  ask();
  at->await_one();  // it is at work, the others wait
  ask();
  ask();
  std::this_thread::sleep_for(20ms);
  at->set(true);
  model.close();
  auto const found = [&](std::string const& name) -> histogram& {
    return counted.histogram_of(name, "Made before.", {{"model", "m"}, {"version", "1"}});
  };
  auto const& waited = found("nn_inference_queue_duration_seconds");
  auto const& took = found("nn_inference_duration_seconds");
  auto const& rows = found("nn_inference_batch_size");
  CHECK(waited.cumulative().back() == 3);
  CHECK(waited.sum() >= 2 * 0.02);
  CHECK(took.cumulative().back() == 3);
  CHECK(took.sum() >= waited.sum() + 0.02);
  CHECK(rows.cumulative().back() == 2);
  CHECK(rows.sum() == 3);
}
TEST_CASE("deployment: several rows of a sequence at a time are refused, and begin none") {
  auto counted = metrics{};
  auto model = deployment("m", "1", std::make_shared<test::sum_so_far>(), {}, counted);
  auto const rows = [](std::size_t n) {
    auto values = std::vector<std::int64_t>(n, 1);
    return inference_job{.inputs = {{"x", {static_cast<std::int64_t>(n), 1}, std::move(values)}},
                         .rows = n,
                         .done = [](auto const&) {}};
  };
  CHECK_THROWS_WITH(model.submit(rows(2), {"a", true, false}),
                    "m: expected 1 row of a sequence at a time, got 2");
  CHECK_FALSE(model.sequences.contains("a"));
  CHECK(model.submit(rows(1), {"a", true, false}));
}
