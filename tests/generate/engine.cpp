// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/engine.hpp>

#include <future>

using namespace tessera;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

constexpr auto vocabulary = std::size_t{40};

/// Scores by what a lane has read, all of it. Holds the engine to what a model asks of it.
class reading_model final : public lane_model {
 public:
  explicit reading_model(lane_bounds bounds) : bounds_(bounds), read_(bounds.lanes) {}
  [[nodiscard]] auto bounds() const -> lane_bounds override { return bounds_; }
  void step(std::span<lane_tokens const> parts, std::span<std::span<float const>> scores) override {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    if (throws_a_number) throw 7;
    most_parts = std::max(most_parts.load(), parts.size());
    memory_.assign(parts.size() * vocabulary, 0);
    auto rows = std::size_t{0};
    for (auto i = std::size_t{0}; i < parts.size(); ++i) {
      auto const& part = parts[i];
      auto& read = read_.at(part.lane);
      if (i > 0 && parts[i - 1].lane >= part.lane) throw std::logic_error("lanes do not ascend");
      if (part.tokens.empty()) throw std::logic_error("a part of nothing");
      if (part.seen == 0 || (bounds_.goes_back && part.seen < read.size())) read.resize(part.seen);
      if (read.size() != part.seen) throw std::logic_error("a lane has seen something else");
      rows += part.tokens.size();
      auto fails = false;
      for (auto const token : part.tokens) {
        read.push_back(token);
        fails = fails || (part.seen == 0 && token == breaks_all);
      }
      if (fails) throw std::runtime_error("the model is broken");
      auto hash = std::uint64_t{1};
      for (auto const token : read) hash = (hash ^ (token + 1)) * 0x9E3779B97F4A7C15U;
      auto* const to = memory_.data() + i * vocabulary;
      for (auto v = std::size_t{0}; v < vocabulary; ++v) to[v] = 6 * philox_stream{hash}.uniform(v);
      if (part.seen == 0 && part.tokens.back() == breaks_one) to[3] = NAN;
      scores[i] = {to, vocabulary};
    }
    if (rows > bounds_.rows || rows == 0) throw std::logic_error("rows beyond the bound");
  }

  static constexpr std::uint32_t breaks_all = 38;
  static constexpr std::uint32_t breaks_one = 39;
  std::chrono::milliseconds pause{0};
  std::atomic<bool> throws_a_number = false;
  std::atomic<std::size_t> most_parts = 0;

 private:
  lane_bounds bounds_;
  std::vector<std::vector<std::uint32_t>> read_;
  std::vector<float> memory_;
};

auto texts() {
  auto words = std::vector<std::string>{};
  for (auto i = std::size_t{0}; i < vocabulary; ++i)
    words.emplace_back(1, static_cast<char>('A' + i));
  return std::make_shared<std::vector<std::string> const>(std::move(words));
}

/// A sequence and what came of it.
struct outcome {
  std::vector<std::uint32_t> tokens;
  std::vector<float> log_probabilities;
  std::string text;
  generation_result result;
  std::promise<void> ended;

  [[nodiscard]] auto request(std::vector<std::uint32_t> prompt, sampling_options options)
      -> generation_request {
    auto r = generation_request{.prompt = std::move(prompt), .options = std::move(options)};
    r.decoder = std::make_unique<bytes_decoder>(texts());
    r.part = [this](generated_part const& p) {
      if (p.token != nullptr) {
        tokens.push_back(p.token->token);
        log_probabilities.push_back(p.token->log_probability);
      }
      text += p.text;
    };
    r.done = [this](generation_result const& how) {
      result = how;
      ended.set_value();
    };
    return r;
  }
  void wait() {
    if (ended.get_future().wait_for(60s) != std::future_status::ready)
      throw std::runtime_error("a sequence did not end");
  }
};
auto made_engine(lane_bounds bounds, engine_options options = {}, reading_model** model = nullptr,
                 std::chrono::milliseconds pause = {}) -> std::unique_ptr<engine> {
  auto made = std::make_unique<reading_model>(bounds);
  made->pause = pause;
  if (model != nullptr) *model = made.get();
  return std::make_unique<engine>(std::move(made), options);
}
constexpr auto bounds = lane_bounds{.lanes = 3, .rows = 8, .context = 50, .vocabulary = vocabulary};
auto made_prompt(std::size_t size, std::uint64_t seed) {
  auto prompt = std::vector<std::uint32_t>{};
  for (auto i = std::size_t{0}; i < size; ++i) prompt.push_back(philox_stream{seed}.word(i) % 38);
  return prompt;
}
auto run_alone(std::vector<std::uint32_t> prompt, sampling_options options)
    -> std::unique_ptr<outcome> {
  auto result = std::make_unique<outcome>();
  auto const alone = made_engine({1, 1, 50, vocabulary});  // a row at a time
  if (not alone->submit(result->request(std::move(prompt), std::move(options))))
    throw std::runtime_error("not admitted");
  result->wait();
  return result;
}

}  // namespace

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("engine: what a sequence says does not depend on its company") {
  reading_model* model = nullptr;
  auto const shared = made_engine(bounds, {}, &model, 1ms);
  auto together = std::vector<std::unique_ptr<outcome>>{};
  auto alone = std::vector<std::unique_ptr<outcome>>{};
  for (auto i = std::size_t{0}; i < 24; ++i) {
    auto const prompt = made_prompt(1 + i * 7 % 30, i);
    auto const options = sampling_options{.temperature = i % 3 == 0 ? 0.0 : 0.9,
                                          .top_k = i % 2 * 10,
                                          .repetition_penalty = i % 4 == 1 ? 1.2 : 1.0,
                                          .max_tokens = 1 + i * 5 % 17,
                                          .seed = i};
    together.push_back(std::make_unique<outcome>());
    REQUIRE(shared->submit(together.back()->request(prompt, options)));
    alone.push_back(run_alone(prompt, options));
  }
  auto drawn = std::size_t{0};
  for (auto i = std::size_t{0}; i < together.size(); ++i) {
    together[i]->wait();
    CHECK(together[i]->tokens == alone[i]->tokens);
    CHECK(together[i]->log_probabilities == alone[i]->log_probabilities);
    CHECK(together[i]->text == alone[i]->text);
    CHECK(together[i]->tokens.size() == 1 + i * 5 % 17);
    CHECK(together[i]->result.reason == finish_reason::length);
    CHECK(together[i]->result.prompt_tokens == 1 + i * 7 % 30);
    CHECK(together[i]->result.generated_tokens == together[i]->tokens.size());
    CHECK(together[i]->result.queue_seconds <= together[i]->result.first_token_seconds);
    CHECK(together[i]->result.first_token_seconds <= together[i]->result.seconds);
    drawn += together[i]->tokens.size();
  }
  CHECK(model->most_parts == 3);
  auto const counts = shared->counts();
  CHECK(counts.active == 0);
  CHECK(counts.waiting == 0);
  CHECK(counts.held == 0);
  CHECK(counts.generated_tokens == drawn);
  CHECK(counts.steps < drawn);  // shared
}

TEST_CASE("engine: what a lane has seen is not read again") {
  auto kept = bounds;
  kept.goes_back = true;
  auto const one = made_engine(kept);
  auto const options = sampling_options{.temperature = 0.9, .max_tokens = 4, .seed = 3};
  auto const run = [&](std::vector<std::uint32_t> const& prompt) {
    auto got = std::make_unique<outcome>();
    REQUIRE(one->submit(got->request(prompt, options)));
    got->wait();
    auto const alone = run_alone(prompt, options);
    CHECK(got->tokens == alone->tokens);
    CHECK(got->log_probabilities == alone->log_probabilities);
    CHECK(got->result.prompt_tokens == prompt.size());
    return got;
  };
  auto chat = made_prompt(10, 1);
  auto const first = run(chat);
  CHECK(first->result.cached_tokens == 0);
  CHECK(run(chat)->result.cached_tokens == 9);  // the last one's scores are wanted
  // Its next turn, with others in between. The last token that was drawn was never read.
  CHECK(run(made_prompt(20, 2))->result.cached_tokens == 0);
  CHECK(run(made_prompt(20, 3))->result.cached_tokens == 0);
  chat.insert(chat.end(), first->tokens.begin(), first->tokens.end());
  chat.push_back(7);
  CHECK(run(chat)->result.cached_tokens == 13);
  // One that is new takes the place of the least.
  CHECK(run({chat[0], 5})->result.cached_tokens == 1);
  CHECK(run(made_prompt(20, 2))->result.cached_tokens == 19);
  auto const read = one->counts().prompt_tokens;
  CHECK(read == 10 + 1 + 20 + 20 + 2 + 1 + 1);
}
TEST_CASE("engine: nothing is kept of a step that failed") {
  auto kept = bounds;
  kept.goes_back = true;
  auto const one = made_engine(kept);
  auto const broken = std::vector<std::uint32_t>{1, reading_model::breaks_all, 3};
  for (auto i = 0; i < 2; ++i) {
    auto got = outcome{};
    REQUIRE(one->submit(got.request(broken, {.max_tokens = 2})));
    got.wait();
    CHECK(got.result.reason == finish_reason::failed);
    CHECK(got.result.cached_tokens == 0);
  }
}

// -- ends -----------------------------------------------------------------------------------------
TEST_CASE("engine: ends at a token, a stop string, the context") {
  auto const free = run_alone({1, 2}, {.temperature = 0, .max_tokens = 20});
  REQUIRE(free->tokens.size() == 20);
  auto const one = made_engine(bounds);

  auto by_token = outcome{};
  auto request = by_token.request({1, 2}, {.temperature = 0, .max_tokens = 20});
  request.end_tokens = {free->tokens[6]};
  auto const first = static_cast<std::size_t>(std::ranges::find(free->tokens, free->tokens[6]) -
                                              free->tokens.begin());
  REQUIRE(one->submit(std::move(request)));
  by_token.wait();
  CHECK(by_token.result.reason == finish_reason::stop);
  CHECK(by_token.tokens.size() == first);
  CHECK(by_token.text == free->text.substr(0, first));
  CHECK(by_token.result.generated_tokens == first + 1);

  auto const stop = free->text.substr(7, 3);
  auto by_text = outcome{};
  REQUIRE(one->submit(
      by_text.request({1, 2}, {.temperature = 0, .max_tokens = 20, .stop = {stop, "never"}})));
  by_text.wait();
  CHECK(by_text.result.reason == finish_reason::stop);
  CHECK(by_text.result.stop_string == stop);
  CHECK(by_text.text == free->text.substr(0, free->text.find(stop)));

  auto by_context = outcome{};
  REQUIRE(one->submit(by_context.request(made_prompt(44, 1), {.max_tokens = 500})));
  by_context.wait();
  CHECK(by_context.result.reason == finish_reason::length);
  CHECK(by_context.tokens.size() == 7);
}
TEST_CASE("engine: what was held back comes with the last token") {
  auto const free = run_alone({5}, {.temperature = 0, .max_tokens = 6});
  auto held = outcome{};
  auto const one = made_engine(bounds);
  REQUIRE(one->submit(held.request(
      {5}, {.temperature = 0, .max_tokens = 6, .stop = {free->text.substr(4) + "??"}})));
  held.wait();
  CHECK(held.text == free->text);
}
TEST_CASE("engine: a constraint leaves nothing but its texts") {
  auto const one = made_engine(bounds);
  auto const index = std::make_shared<token_index const>(*texts());
  auto seen = std::vector<std::string>{};
  for (auto seed = std::uint64_t{0}; seed < 20; ++seed) {
    auto vote = outcome{};
    auto request = vote.request({7, 8}, {.seed = seed});
    request.constraint = std::make_unique<choice_constraint>(
        index, std::vector<std::string>{"AB", "ABC", "CA"}, std::uint32_t{30});
    request.end_tokens = {30};
    REQUIRE(one->submit(std::move(request)));
    vote.wait();
    CHECK(vote.result.reason == finish_reason::stop);
    seen.push_back(vote.text);
  }
  for (auto const& text : seen) CHECK((text == "AB" || text == "ABC" || text == "CA"));
  CHECK(std::ranges::count(seen, seen.front()) < 20);
}
TEST_CASE("engine: a request that is cancelled leaves its lane, or the queue") {
  auto const one = made_engine({1, 4, 5000, vocabulary}, {.queue = 2}, nullptr, 2ms);
  auto runs = outcome{};
  auto waits = outcome{};
  auto next = outcome{};
  auto const first = one->submit(runs.request({1}, {.max_tokens = 4000}));
  REQUIRE(first);
  while (one->counts().active == 0) std::this_thread::yield();
  auto const second = one->submit(waits.request({1}, {.max_tokens = 4000}));
  REQUIRE(one->submit(next.request({1}, {.max_tokens = 2})));
  CHECK(one->counts().waiting == 2);
  auto refused = outcome{};
  CHECK(one->submit(refused.request({1}, {})).admitted() == admission::full);
  second.cancel();
  auto last = outcome{};
  CHECK(one->submit(last.request({1}, {.max_tokens = 2})).admitted() == admission::accepted);
  waits.wait();
  CHECK(waits.result.reason == finish_reason::cancelled);
  CHECK(waits.tokens.empty());
  CHECK(not waits.result.had_lane);
  first.cancel();
  runs.wait();
  CHECK(runs.result.reason == finish_reason::cancelled);
  CHECK(runs.tokens.size() < 4000);
  CHECK(runs.result.had_lane);
  next.wait();
  last.wait();
  CHECK(next.tokens.size() == 2);
  CHECK(one->counts().active == 0);
}
TEST_CASE("engine: how long a request waits is told, from its submission to its lane") {
  auto const one = made_engine({1, 4, 50, vocabulary}, {}, nullptr, 5ms);
  auto first = outcome{};
  auto second = outcome{};
  auto const begin = std::chrono::steady_clock::now();
  REQUIRE(one->submit(first.request({1}, {.max_tokens = 4})));
  REQUIRE(one->submit(second.request({1}, {.max_tokens = 1})));
  auto const apart =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  second.wait();
  CHECK(first.result.seconds >= 4 * 0.005);
  CHECK(second.result.queue_seconds >= first.result.seconds - apart - 1e-6);
  for (auto const* each : {&first, &second})  // a step lies between
    CHECK(each->result.first_token_seconds >= each->result.queue_seconds + 0.005);
}
TEST_CASE("engine: who comes during a step waits for a free lane, beside the queue") {
  auto const any = made_engine(bounds, {.queue = std::numeric_limits<std::size_t>::max()});
  auto taken = outcome{};
  CHECK(any->submit(taken.request({1}, {.max_tokens = 1})));
  taken.wait();
  auto const one = made_engine({3, 4, 500, vocabulary}, {.queue = 1}, nullptr, 50ms);
  auto runs = outcome{};
  REQUIRE(one->submit(runs.request({1}, {.max_tokens = 40})));
  while (one->counts().active == 0) std::this_thread::yield();
  auto others = std::vector<std::unique_ptr<outcome>>{};
  for (auto i = 0; i < 3; ++i) {  // two lanes, and the queue
    others.push_back(std::make_unique<outcome>());
    CHECK(one->submit(others.back()->request({1}, {.max_tokens = 100})));
  }
  auto refused = outcome{};
  CHECK(one->submit(refused.request({1}, {})).admitted() == admission::full);
  for (auto const& each : others) each->wait();
  runs.wait();
}
TEST_CASE("engine: what lanes have kept is forgotten on demand") {
  auto const one = made_engine({2, 8, 500, vocabulary, true});
  auto const cached = [&] {
    auto runs = outcome{};
    REQUIRE(one->submit(runs.request({1, 2, 3, 4, 5, 6}, {.max_tokens = 2})));
    runs.wait();
    return runs.result.cached_tokens;
  };
  CHECK(cached() == 0);
  CHECK(cached() == 5);
  auto done = std::promise<void>{};
  REQUIRE(one->between_steps([&] {
    one->forget();
    done.set_value();
  }));
  done.get_future().wait();
  CHECK(cached() == 0);
}
TEST_CASE("engine: what was to be called between steps is called, or was not taken") {
  for (auto i = 0; i < 300; ++i) {
    auto const one = made_engine(bounds);
    auto called = std::atomic<int>{0};
    auto taken = 0;
    auto caller = std::thread{[&] {
      while (one->between_steps([&] { ++called; })) ++taken;
    }};
    one->close();
    caller.join();
    CHECK(called == taken);
  }
}
TEST_CASE("engine: all that has not ended may be cancelled, and nothing more is taken") {
  auto const one = made_engine({1, 4, 100'000, vocabulary}, {}, nullptr, 1ms);
  auto runs = outcome{};
  auto waits = outcome{};
  auto late = outcome{};
  REQUIRE(one->submit(runs.request({1}, {.max_tokens = 90'000})));
  REQUIRE(one->submit(waits.request({1}, {.max_tokens = 90'000})));
  one->cancel();
  CHECK(one->submit(late.request({1}, {})).admitted() == admission::closed);
  runs.wait();
  waits.wait();
  CHECK(runs.result.reason == finish_reason::cancelled);
  CHECK(waits.result.reason == finish_reason::cancelled);
}
TEST_CASE("engine: closes when all has ended, is destroyed at once") {
  auto finishes = outcome{};
  auto late = outcome{};
  {
    auto const one = made_engine(bounds, {}, nullptr, 1ms);
    REQUIRE(one->submit(finishes.request({1}, {.max_tokens = 9})));
    one->close();
    CHECK(finishes.tokens.size() == 9);
    CHECK(one->submit(late.request({1}, {})).admitted() == admission::closed);
  }
  auto outcomes = std::vector<std::unique_ptr<outcome>>{};
  {
    auto const one = made_engine({2, 4, 100'000, vocabulary}, {}, nullptr, 1ms);
    for (auto i = 0; i < 4; ++i) {
      outcomes.push_back(std::make_unique<outcome>());
      REQUIRE(one->submit(outcomes.back()->request({1}, {.max_tokens = 90'000})));
    }
  }
  for (auto const& each : outcomes) {
    each->wait();
    CHECK(each->result.reason == finish_reason::cancelled);
  }
}

// -- errors ---------------------------------------------------------------------------------------
TEST_CASE("engine: a failure is its sequence's, or its step's, and others go on") {
  auto* model = static_cast<reading_model*>(nullptr);
  auto const one = made_engine(bounds, {}, &model);
  auto not_numbers = outcome{};
  auto thrown = outcome{};
  auto broken = outcome{};
  auto fine = outcome{};
  REQUIRE(one->submit(not_numbers.request({reading_model::breaks_one}, {})));
  not_numbers.wait();
  CHECK(not_numbers.result.reason == finish_reason::failed);
  CHECK_THAT(not_numbers.result.error, Contains("no numbers"));
  auto request = thrown.request({1}, {});
  request.part = [](generated_part const&) { throw std::runtime_error("nobody reads this"); };
  REQUIRE(one->submit(std::move(request)));
  thrown.wait();
  CHECK(thrown.result.error == "nobody reads this");
  auto asks = outcome{};
  auto asked = asks.request({1}, {.max_tokens = 40});
  asked.wanted = [&] { return asks.tokens.empty() ? true : throw 7; };
  REQUIRE(one->submit(std::move(asked)));
  asks.wait();
  CHECK(asks.result.reason == finish_reason::failed);
  CHECK(asks.result.error == "the request has thrown what is no exception");
  REQUIRE(one->submit(broken.request({reading_model::breaks_all}, {})));
  broken.wait();
  CHECK(broken.result.error == "the model is broken");
  auto no_exception = outcome{};
  model->throws_a_number = true;
  REQUIRE(one->submit(no_exception.request({1}, {})));
  no_exception.wait();
  CHECK(no_exception.result.error == "the model has thrown what is no exception");
  model->throws_a_number = false;
  REQUIRE(one->submit(fine.request({1}, {.max_tokens = 5})));
  fine.wait();
  CHECK(fine.result.reason == finish_reason::length);
}
TEST_CASE("engine: who is asked or told may ask the engine") {
  auto const one = made_engine({1, 4, 5000, vocabulary});
  auto asks = outcome{};
  auto request = asks.request({1}, {.max_tokens = 4000});
  auto most_active = std::size_t{0};
  request.wanted = [&] {
    most_active = std::max(most_active, one->counts().active);
    return asks.tokens.size() < 5;
  };
  auto later = outcome{};
  auto submitted = false;
  auto const done = std::exchange(request.done, {});
  request.done = [&](generation_result const& how) {
    submitted = static_cast<bool>(one->submit(later.request({1}, {.max_tokens = 2})));
    done(how);
  };
  REQUIRE(one->submit(std::move(request)));
  asks.wait();
  CHECK(submitted);
  later.wait();
  CHECK(asks.result.reason == finish_reason::cancelled);
  CHECK(asks.tokens.size() == 5);
  CHECK(most_active == 1);
}
TEST_CASE("engine: what nobody can be told of by its request is told once") {
  auto told = std::vector<std::string>{};
  auto const warn = [&](std::string const& what) { told.push_back(what); };
  auto one = made_engine(bounds, {.warn = warn});
  auto fine = outcome{};
  CHECK(one->between_steps([] { throw std::runtime_error("not now"); }));
  auto throws = outcome{};
  auto request = throws.request({1}, {.max_tokens = 2});
  request.done = [](generation_result const&) { throw 7; };
  REQUIRE(one->submit(std::move(request)));
  REQUIRE(one->submit(fine.request({1}, {.max_tokens = 30})));
  fine.wait();
  one.reset();
  CHECK(told == std::vector<std::string>{"what was called between steps has thrown not now"});
}
TEST_CASE("engine: refuses what cannot be run") {
  auto const one = made_engine(bounds);
  auto refused = outcome{};
  auto const says = [&](generation_request request, char const* what) {
    CHECK_THROWS_WITH(one->submit(std::move(request)), Contains(what));
  };
  says(refused.request({}, {}), "prompt: expected a token at least");
  says(refused.request({40}, {.repetition_penalty = 2}), "below 40, got 40");
  says(refused.request({40}, {}), "below 40, got 40");
  says(refused.request(made_prompt(51, 1), {}), "at most 50 tokens, got 51");
  CHECK_THROWS_AS(one->submit(refused.request(made_prompt(51, 1), {})), context_error);
  says(refused.request({1}, {.max_tokens = 0}), "max_tokens");
  says(refused.request({1}, {.top_p = 2}), "top_p");
  auto request = refused.request({1}, {});
  request.end_tokens = {99};
  says(std::move(request), "end_tokens: expected tokens below 40, got 99");
  CHECK_THROWS_WITH(made_engine({4, 3, 10, vocabulary}), Contains("a row each"));
}
