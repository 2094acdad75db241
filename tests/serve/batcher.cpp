// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/room_for_threads.hpp>
#include <tessera/serve/batcher.hpp>

#include <future>

#include "test_models.hpp"

using namespace tessera;
using namespace std::chrono_literals;

namespace {

/// Answers as they come, in their order.
struct answers {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<inference_result> all;

  auto receive() {
    return [this](inference_result result) {
      auto const lock = std::lock_guard{mutex};
      all.push_back(std::move(result));
      changed.notify_all();
    };
  }
  auto wait_for(std::size_t n) -> bool {
    auto lock = std::unique_lock{mutex};
    return changed.wait_for(lock, 1min, [&] { return all.size() >= n; });
  }
};
/// The rows of every batch.
struct seen_batches {
  std::mutex mutex;
  std::vector<std::size_t> rows;
  auto note() {
    return [this](std::size_t n) {
      auto const lock = std::lock_guard{mutex};
      rows.push_back(n);
    };
  }
};
auto rows_of_ones(std::size_t rows) -> std::vector<served_tensor> {
  return {{"x", {static_cast<std::int64_t>(rows), 2}, std::vector<float>(2 * rows, 1)}};
}
auto number(std::int64_t value) -> std::vector<served_tensor> {
  return {{"x", {1, 1}, std::vector<std::int64_t>{value}}};
}
/// Has no runner, or one that throws what is no exception.
class broken final : public served_model {
 public:
  explicit broken(bool has_runner) : has_runner_(has_runner) {}
  [[nodiscard]] auto inputs() const -> std::vector<tensor_spec> const& override { return none_; }
  [[nodiscard]] auto outputs() const -> std::vector<tensor_spec> const& override { return none_; }
  [[nodiscard]] auto most_rows() const -> std::size_t override { return 8; }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<model_runner> override {
    if (not has_runner_) throw std::runtime_error("no memory for a runner");
    return std::make_unique<runner>();
  }

 private:
  struct runner final : model_runner {
    void run(std::span<inference_step>) override { throw 7; }
  };
  bool has_runner_;
  std::vector<tensor_spec> none_;
};
auto sum_of(inference_result const& result) -> std::int64_t {
  return std::get<std::vector<std::int64_t>>(result.outputs.at(0).values).at(0);
}

}  // namespace

TEST_CASE("batcher: without a delay, what waits while a batch runs is the next one") {
  auto const at = std::make_shared<test::gate>();
  auto got = answers{};
  auto seen = seen_batches{};
  auto batches = batcher(std::make_shared<test::times>(2.0F, at), {}, seen.note());
  at->set(false);
  auto const submit = [&](std::size_t rows) {
    return batches.submit({.inputs = rows_of_ones(rows), .rows = rows, .done = got.receive()});
  };
  REQUIRE(submit(1) == submission::accepted);
  at->await_one();
  for (auto const rows : {2, 3, 3, 1})
    REQUIRE(submit(static_cast<std::size_t>(rows)) == submission::accepted);
  at->set(true);
  REQUIRE(got.wait_for(5));
  CHECK(seen.rows == std::vector<std::size_t>{1, 8, 1});
}
TEST_CASE("batcher: with a delay, the oldest waits for others, but no longer") {
  auto got = answers{};
  auto seen = seen_batches{};
  auto batches = batcher(std::make_shared<test::times>(2.0F),
                         {.preferred_batch_size = {3}, .max_queue_delay = 10min}, seen.note());
  for (auto i = 0; i < 3; ++i)
    REQUIRE(batches.submit({.inputs = rows_of_ones(1), .done = got.receive()}) ==
            submission::accepted);
  REQUIRE(got.wait_for(3));  // the preferred size
  REQUIRE(batches.submit({.inputs = rows_of_ones(8), .rows = 8, .done = got.receive()}) ==
          submission::accepted);
  REQUIRE(got.wait_for(4));  // the largest
  CHECK(seen.rows == std::vector<std::size_t>{3, 8});
  auto short_delay = batcher(std::make_shared<test::times>(2.0F), {.max_queue_delay = 20ms});
  REQUIRE(short_delay.submit({.inputs = rows_of_ones(1), .done = got.receive()}) ==
          submission::accepted);
  REQUIRE(got.wait_for(5));
  CHECK(got.all.back().queue_seconds >= 0.02);
}
TEST_CASE("batcher: a queue has an end, and a closed one takes nothing and leaves nobody waiting") {
  auto const at = std::make_shared<test::gate>();
  auto got = answers{};
  auto batches = batcher(std::make_shared<test::times>(2.0F, at), {.queue = 2});
  at->set(false);
  auto const submit = [&] {
    return batches.submit({.inputs = rows_of_ones(1), .done = got.receive()});
  };
  REQUIRE(submit() == submission::accepted);
  at->await_one();
  CHECK(submit() == submission::accepted);
  CHECK(submit() == submission::accepted);
  CHECK(submit() == submission::full);
  auto closing = std::async(std::launch::async, [&] { batches.close(); });
  at->set(true);
  closing.get();
  CHECK(got.all.size() == 3);
  CHECK(submit() == submission::closed);
}
TEST_CASE("batcher: requests of a sequence run one at a time and in order, others beside them") {
  auto const at = std::make_shared<test::gate>();
  auto got = answers{};
  auto other = answers{};
  auto seen = seen_batches{};
  auto const runners = GENERATE(1, 3);
  auto batches = batcher(std::make_shared<test::sum_so_far>(at),
                         {.runners = static_cast<std::size_t>(runners)}, seen.note());
  auto const sequence = std::make_shared<sequence_state>();
  auto const another = std::make_shared<sequence_state>();
  sequence->bytes.resize(8);
  another->bytes.resize(8);
  for (auto i = 1; i <= 12; ++i) {
    REQUIRE(batches.submit({.inputs = number(i), .sequence = sequence, .done = got.receive()}) ==
            submission::accepted);
    REQUIRE(batches.submit({.inputs = number(-i), .sequence = another, .done = other.receive()}) ==
            submission::accepted);
  }
  REQUIRE(got.wait_for(12));
  REQUIRE(other.wait_for(12));
  for (auto i = std::int64_t{1}; i <= 12; ++i) {
    CHECK(sum_of(got.all[static_cast<std::size_t>(i - 1)]) == i * (i + 1) / 2);
    CHECK(sum_of(other.all[static_cast<std::size_t>(i - 1)]) == -i * (i + 1) / 2);
  }
  for (auto const rows : seen.rows) CHECK(rows <= 2);
}
TEST_CASE("batcher: each runner has a batch of its own at work") {
  auto const at = std::make_shared<test::gate>();
  auto got = answers{};
  auto batches = batcher(std::make_shared<test::times>(2.0F, at), {.runners = 2});
  at->set(false);
  for (auto const running : {1, 2}) {
    REQUIRE(batches.submit({.inputs = rows_of_ones(1), .done = got.receive()}) ==
            submission::accepted);
    CHECK(at->await(running));
  }
  at->set(true);
  CHECK(got.wait_for(2));
}
TEST_CASE("batcher: what nobody waits for is not run, and breaks its sequence") {
  auto got = answers{};
  auto batches = batcher(std::make_shared<test::sum_so_far>(), {});
  auto const sequence = std::make_shared<sequence_state>();
  sequence->bytes.resize(8);
  for (auto const wanted : {true, false, true})
    REQUIRE(batches.submit({.inputs = number(1),
                            .sequence = sequence,
                            .done = got.receive(),
                            .wanted = [wanted] { return wanted; }}) == submission::accepted);
  REQUIRE(got.wait_for(3));
  CHECK(sum_of(got.all[0]) == 1);
  CHECK_THAT(got.all[1].error, Catch::Contains("nobody waits"));
  CHECK_THAT(got.all[2].error, Catch::Contains("lost a request"));
  CHECK_FALSE(got.all[0].refused);
  CHECK(got.all[2].refused);
}
TEST_CASE("batcher: what a model throws is the error of that request, not of its batch") {
  auto const at = std::make_shared<test::gate>();
  auto got = answers{};
  auto batches = batcher(std::make_shared<test::times>(2.0F, at), {});
  auto bad = rows_of_ones(1);
  bad[0].values = std::vector<float>{13, 13};
  at->set(false);
  auto const submit = [&](std::vector<served_tensor> inputs) {
    return batches.submit({.inputs = std::move(inputs), .done = got.receive()});
  };
  REQUIRE(submit(rows_of_ones(1)) == submission::accepted);
  at->await_one();
  REQUIRE(submit(rows_of_ones(1)) == submission::accepted);
  REQUIRE(submit(bad) == submission::accepted);
  REQUIRE(submit(rows_of_ones(1)) == submission::accepted);
  at->set(true);
  REQUIRE(got.wait_for(4));
  CHECK(got.all[1].error.empty());
  CHECK(got.all[2].error == "no thirteens");
  CHECK_FALSE(got.all[2].refused);
  CHECK(got.all[3].error.empty());
}
TEST_CASE("batcher: a request larger than the preferred size runs, and the next one too") {
  auto got = answers{};
  auto seen = seen_batches{};
  auto batches = batcher(std::make_shared<test::times>(2.0F),
                         {.preferred_batch_size = {4}, .max_queue_delay = 10min}, seen.note());
  for (auto const n : {std::size_t{1}, std::size_t{2}}) {
    REQUIRE(batches.submit({.inputs = rows_of_ones(5), .rows = 5, .done = got.receive()}) ==
            submission::accepted);
    REQUIRE(got.wait_for(n));
  }
  CHECK(seen.rows == std::vector<std::size_t>{5, 5});
}
TEST_CASE("batcher: a request larger than a batch is refused, and blocks nobody") {
  auto got = answers{};
  auto batches = batcher(std::make_shared<test::times>(2.0F), {.most_rows = 6});
  CHECK_THROWS_WITH(batches.submit({.inputs = rows_of_ones(7), .rows = 7, .done = got.receive()}),
                    Catch::Contains("at most 6 rows, got 7"));
  REQUIRE(batches.submit({.inputs = rows_of_ones(6), .rows = 6, .done = got.receive()}) ==
          submission::accepted);
  REQUIRE(got.wait_for(1));
}
TEST_CASE("batcher: a runner or a thread that cannot be made is an exception") {
  CHECK_THROWS_WITH(batcher(std::make_shared<broken>(false), {.runners = 2}),
                    "no memory for a runner");
  auto const model = std::make_shared<test::times>(2.0F);
  auto const room = test::room_for_one_thread{};
  CHECK_NOTHROW(batcher(model, {}));
  CHECK_THROWS_WITH(batcher(model, {.runners = 3}),
                    Catch::Contains("batcher: thread 2 of 3 cannot be made: "));
}
TEST_CASE("batcher: whatever is thrown is an error, or lost, and others go on") {
  auto got = answers{};
  auto fails = batcher(std::make_shared<broken>(true), {});
  REQUIRE(fails.submit({.inputs = {}, .done = got.receive()}) == submission::accepted);
  REQUIRE(got.wait_for(1));
  CHECK(got.all[0].error == "the model has thrown what is no exception");
  auto batches = batcher(std::make_shared<test::sum_so_far>(), {}, [](std::size_t) { throw 7; });
  auto const sequence = std::make_shared<sequence_state>();
  sequence->bytes.resize(8);
  REQUIRE(batches.submit({.inputs = number(1),
                          .sequence = sequence,
                          .done = got.receive(),
                          .wanted = []() -> bool { throw std::runtime_error("who knows"); }}) ==
          submission::accepted);
  REQUIRE(got.wait_for(2));
  CHECK(got.all[1].error == "who knows");
  CHECK((got.all[1].refused && sequence->broken));
  sequence->broken = false;
  REQUIRE(batches.submit({.inputs = number(0), .sequence = sequence, .done = [](auto const&) {
                            throw 7;
                          }}) == submission::accepted);
  REQUIRE(batches.submit({.inputs = number(3), .sequence = sequence, .done = got.receive()}) ==
          submission::accepted);
  REQUIRE(got.wait_for(3));
  CHECK(sum_of(got.all[2]) == 3);
}
