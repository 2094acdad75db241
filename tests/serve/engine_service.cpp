// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/engine_service.hpp>

using namespace tessera;

namespace {

/// Says the token after the last one.
class counting final : public lane_model {
 public:
  [[nodiscard]] auto bounds() const -> lane_bounds override { return {2, 4, 20, 26}; }
  void step(std::span<lane_tokens const> parts, std::span<std::span<float const>> scores) override {
    memory_.assign(parts.size() * 26, 0);
    for (auto i = std::size_t{0}; i < parts.size(); ++i) {
      memory_[i * 26 + (parts[i].tokens.back() + 1) % 26] = 10;
      scores[i] = {memory_.data() + i * 26, 26};
    }
  }

 private:
  std::vector<float> memory_;
};
auto letter(std::uint32_t token) { return std::string(1, static_cast<char>('a' + token)); }
auto made_service(std::shared_ptr<engine> const& runs, bool chats) {
  auto vocabulary = std::vector<std::string>{};
  for (auto i = std::uint32_t{0}; i < 26; ++i) vocabulary.push_back(letter(i));
  auto const shared = std::make_shared<std::vector<std::string> const>(std::move(vocabulary));
  auto texts = engine_texts{};
  texts.encode = [](std::string const& text) {
    auto tokens = std::vector<std::uint32_t>{};
    for (auto const c : text) tokens.push_back(static_cast<std::uint32_t>(c - 'a'));
    return tokens;
  };
  if (chats)
    texts.encode_chat = [encode = texts.encode](std::vector<chat_message> const& messages) {
      return encode(messages.back().content);
    };
  texts.make_decoder = [shared] { return std::make_unique<bytes_decoder>(shared); };
  texts.text_of = letter;
  texts.end_tokens = {25};
  return std::make_unique<engine_service>(runs, std::move(texts));
}
struct outcome {
  std::string text;
  std::string tokens;
  std::string tops;
  generation_result result;
};
auto asked(text_request request, bool chats = true) -> outcome {
  auto const runs = std::make_shared<engine>(std::make_unique<counting>());
  auto const service = made_service(runs, chats);
  auto got = outcome{};
  auto const ticket = service->generate(
      std::move(request),
      [&](text_piece const& piece) {
        got.text += piece.text;
        if (piece.token != nullptr) got.tokens += piece.token->text;
        if (not piece.top.empty()) got.tops += piece.top.front().text;
      },
      [&](generation_result const& result) { got.result = result; });
  if (not ticket) throw std::runtime_error("not admitted");
  runs->close();
  return got;
}

}  // namespace

TEST_CASE("engine_service: texts in, pieces of text out") {
  auto const got =
      asked({.prompt = "ab",
             .options = {.temperature = 0, .max_tokens = 5, .stop = {"f"}, .logprobs = 1}});
  CHECK(got.text == "cde");
  CHECK(got.tokens == "cdef");
  CHECK(got.tops == "cdef");
  CHECK(got.result.reason == finish_reason::stop);
  CHECK(got.result.prompt_tokens == 2);
}
TEST_CASE("engine_service: a conversation, to the token that ends it or the end of the context") {
  auto const ended = asked({.messages = {{"user", "w"}}, .options = {.temperature = 0}});
  CHECK(ended.text == "xy");
  CHECK(ended.result.reason == finish_reason::stop);
  auto const whole = asked({.messages = {{"user", "a"}},
                            .options = {.temperature = 0, .max_tokens = 2},
                            .to_the_end = true});
  CHECK(whole.text.size() == 20);
  CHECK(whole.result.reason == finish_reason::length);
  CHECK_THROWS_WITH(asked({.messages = {{"user", "a"}}}, false),
                    "messages: this model takes prompts alone");
}
TEST_CASE("engine_service: tokens stand in place of a prompt, and the context holds both") {
  auto const got =
      asked({.prompt = "zz", .tokens = {0, 1}, .options = {.temperature = 0, .max_tokens = 3}});
  CHECK(got.text == "cde");
  auto const beyond = [](text_request request) {
    try {
      (void)asked(std::move(request));
    } catch (context_error const& e) {
      CHECK(e.context == 20);
      return e.tokens;
    }
    return std::size_t{1};
  };
  CHECK(beyond({.tokens = std::vector<std::uint32_t>(21, 1)}) == 21);
  CHECK(beyond({.messages = {{"user", std::string(22, 'a')}}}) == 22);
  CHECK(beyond({.prompt = std::string(20'000, 'a')}) == 0);
  CHECK_THROWS_WITH(asked({.tokens = {26}}), "prompt: expected tokens below 26, got 26");
}
TEST_CASE("engine_service: a prompt of the longest tokens fits, however long they are") {
  auto const runs = std::make_shared<engine>(std::make_unique<counting>());
  auto texts = engine_texts{};
  texts.encode = [](std::string const& text) {
    return std::vector<std::uint32_t>(text.size() / 81, 1);
  };
  texts.make_decoder = [] {
    return std::make_unique<bytes_decoder>(
        std::make_shared<std::vector<std::string> const>(26, "a"));
  };
  texts.text_of = [](std::uint32_t token) { return std::string(token == 1 ? 81 : 1, 'x'); };
  auto service = engine_service(runs, std::move(texts));
  auto const admitted = [&](std::size_t bytes) {
    return static_cast<bool>(service.generate(
        {.prompt = std::string(bytes, 'x')}, [](auto const&) {}, [](auto const&) {}));
  };
  CHECK(admitted(19 * 81));
  CHECK_THROWS_AS(admitted(20 * 81 + 1), context_error);
}
TEST_CASE("engine_service: a request that nobody wants any more ends") {
  auto const got = asked({.prompt = "a", .options = {}, .wanted = [] { return false; }});
  CHECK(got.result.reason == finish_reason::cancelled);
  CHECK(got.text.empty());
}
