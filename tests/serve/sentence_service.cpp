// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/sentence_service.hpp>

#include <future>

using namespace tessera;

namespace {

/// Two numbers for a sentence: its tokens, and the last one. It waits where a token says so.
class counting final : public sentence_model {
 public:
  [[nodiscard]] auto width() const -> std::size_t override { return 2; }
  [[nodiscard]] auto context() const -> std::size_t override { return 4; }
  [[nodiscard]] auto vocabulary() const -> std::size_t override { return 200; }
  void embed(std::span<std::uint32_t const> tokens, std::span<float> to) override {
    ++computed;
    if (tokens[0] == waits) {
      begun.set_value();
      go_on.get_future().wait();
    }
    if (tokens[0] == breaks) throw std::runtime_error("the model is broken");
    to[0] = static_cast<float>(tokens.size());
    to[1] = static_cast<float>(tokens.back());
  }

  static constexpr std::uint32_t waits = 'w';
  static constexpr std::uint32_t breaks = 'b';
  std::atomic<int> computed = 0;
  std::promise<void> begun;
  std::promise<void> go_on;
};

struct served {
  std::shared_ptr<counting> model = std::make_shared<counting>();
  sentence_service service{
      model,
      [](std::string const& text) { return std::vector<std::uint32_t>(text.begin(), text.end()); },
      2};

  auto ask(embedding_request request) -> std::future<embedding_result> {
    auto result = std::make_shared<std::promise<embedding_result>>();
    how = service.embed(std::move(request),
                        [result](embedding_result got) { result->set_value(std::move(got)); });
    return result->get_future();
  }
  /// The model waits for `model->go_on`.
  auto ask_long(std::function<bool()> wanted = {}) -> std::future<embedding_result> {
    auto result = ask({.texts = {"w", "x"}, .wanted = std::move(wanted)});
    model->begun.get_future().wait();
    return result;
  }
  admission how = admission::accepted;
};

}  // namespace

TEST_CASE("sentence_service: a vector for each text, or for each list of tokens") {
  auto s = served{};
  auto const got = s.ask({.texts = {"abc", "d"}}).get();
  CHECK(got.vectors == std::vector<std::vector<float>>{{3, 'c'}, {1, 'd'}});
  CHECK(got.tokens == 4);
  auto const same = s.ask({.texts = {"zzz"}, .tokens = {{'a', 'b', 'c'}, {'d'}}}).get();
  CHECK(same.vectors == got.vectors);
  CHECK(s.ask({}).get().vectors.empty());
  CHECK((s.service.embeds() && not s.service.generates()));
}
TEST_CASE("sentence_service: what nobody waits for is not computed, and holds no place") {
  auto s = served{};
  auto stays = std::atomic<bool>{true};
  auto long_one = s.ask_long([&] { return stays.load(); });
  auto const leaves = [&] { return stays.load(); };
  auto left = s.ask({.texts = {"abc", "abc"}, .wanted = leaves});
  auto waits = s.ask({.texts = {"abc"}});
  CHECK(s.how == admission::accepted);
  CHECK(s.service.embed({.texts = {"a"}}, {}) == admission::full);
  stays = false;
  s.model->go_on.set_value();
  CHECK(left.get().error == "nobody waits for it any more");
  CHECK(long_one.get().error == "nobody waits for it any more");
  CHECK(waits.get().vectors.size() == 1);
  CHECK(s.model->computed == 2);  // of the long one its first text, and "abc"
}
TEST_CASE("sentence_service: one that waits in vain goes while another is computed") {
  auto s = served{};
  auto long_one = s.ask_long();
  auto left = s.ask({.texts = {"abc"}, .wanted = [] { return false; }});
  auto broken =
      s.ask({.texts = {"abc"}, .wanted = []() -> bool { throw std::runtime_error("?"); }});
  CHECK(s.service.embed({.texts = {"a"}}, {}) == admission::full);
  s.model->go_on.set_value();
  CHECK(left.get().error == "nobody waits for it any more");
  CHECK(broken.get().error == "?");
  CHECK(long_one.get().vectors.size() == 2);
  CHECK(s.model->computed == 2);
}
TEST_CASE("sentence_service: what cannot be is refused, what fails is told, and others go on") {
  auto s = served{};
  CHECK_THROWS_AS(s.ask({.tokens = {{1, 2, 3, 4, 5}}}), context_error);
  CHECK_THROWS_WITH(s.ask({.tokens = {{200}}}), "input: expected tokens below 200, got 200");
  CHECK_THROWS_WITH(s.ask({.tokens = {{}}}), "input: expected a token at least, got none");
  CHECK(s.ask({.texts = {"b"}}).get().error == "the model is broken");
  CHECK(s.service.embed({.texts = {"c"}}, [](auto const&) { throw 7; }) == admission::accepted);
  CHECK(s.ask({.texts = {"c"}}).get().vectors.size() == 1);
  auto late = std::future<embedding_result>{};
  {
    auto ends = served{};
    auto const model = ends.model;
    auto first = ends.ask_long();
    late = ends.ask({.texts = {"c"}});
    model->go_on.set_value();
  }
  auto const last = late.get();
  CHECK((last.error == "the server ends" || last.vectors.size() == 1));
  CHECK(last.closed == last.vectors.empty());
}
