// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/deployment.hpp>

#include <future>

#include "test_models.hpp"

using namespace tessera;
using Catch::Contains;

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
