// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/openai.hpp>

using namespace tessera;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// An exchange without a network: what is answered is kept.
class kept_exchange final : public http_exchange {
 public:
  kept_exchange(std::string method, std::string path, std::string text)
      : request_{std::move(method), std::move(path), {}, {}, std::move(text)} {}
  [[nodiscard]] auto request() const -> http_request const& override { return request_; }
  void answer(http_response response) override {
    if (status == 0) status = response.status, body = std::move(response.body);
  }
  void begin(http_response head) override { type = head.type, answer(std::move(head)); }
  auto write(std::string piece) -> bool override {
    body += piece;
    return listens;
  }
  void end() override { ended = true; }
  [[nodiscard]] auto wanted() const -> bool override { return listens; }

  unsigned status = 0;
  std::string body;
  std::string type;
  bool ended = false;
  bool listens = true;

 private:
  http_request request_;
};

/// Says the words of its script, at once or when the test lets it go on.
class scripted final : public text_service {
 public:
  auto generate(text_request request, piece_function piece, done_function done)
      -> generation_ticket override {
    if (how != admission::accepted) return generation_ticket{how};
    if (request.options.max_tokens == 7) throw std::invalid_argument("max_tokens: not 7");
    if (request.options.max_tokens == 8) throw context_error(20, 23);
    if (request.options.max_tokens == 9) throw context_error::of_text(20, 5000);
    asked.push_back(std::move(request));
    auto flag = std::make_shared<std::atomic<bool>>(false);
    flags.push_back(flag);
    auto const& options = asked.back().options;
    rest.push_back([this, flag, stream = options.stream, n = options.max_tokens, piece, done] {
      auto result = generation_result{.prompt_tokens = 5, .cached_tokens = 3};
      for (auto const* const word : {"Hel", "lo", "\xC3\xA9", ""}) {
        if (*flag) result.reason = finish_reason::cancelled;
        if (*flag || result.generated_tokens == n) break;
        ++result.generated_tokens;
        auto const text = word + std::string(stream > 0 ? std::to_string(stream) : "");
        auto const token = scored_text{text, -0.5F};
        auto const top = std::vector<scored_text>{token, {"x", -INFINITY}};
        piece({text, &token, top});
      }
      if (result.generated_tokens == n) result.reason = finish_reason::length;
      if (not error.empty()) result.reason = finish_reason::failed, result.error = error;
      done(result);
    });
    if (at_once) rest.back()();
    return {admission::accepted, flag};
  }
  [[nodiscard]] auto embeds() const -> bool override { return true; }
  auto embed(embedding_request request, embedding_function done) -> admission override {
    if (how != admission::accepted) return how;
    auto result = embedding_result{.tokens = request.texts.size() * 2};
    for (auto const& text : request.texts)
      result.vectors.push_back({static_cast<float>(text.size()), 1.0F, -2.5F});
    for (auto const& tokens : request.tokens) {
      if (tokens.size() > 4) throw context_error(4, tokens.size());
      if (tokens[0] == 99) throw std::invalid_argument("input: not 99");
      result.vectors.push_back({static_cast<float>(tokens.back()), 1.0F, -2.5F});
    }
    if (not error.empty()) result = {.error = error, .closed = ends};
    embeds_asked = std::move(request);
    if (at_once) done(std::move(result));
    return how;
  }

  admission how = admission::accepted;
  bool at_once = true;
  bool ends = false;  ///< and that is the error
  std::string error;
  std::vector<text_request> asked;
  embedding_request embeds_asked;
  std::vector<std::shared_ptr<std::atomic<bool>>> flags;
  std::vector<std::function<void()>> rest;
};
class silent final : public text_service {
 public:
  auto generate(text_request, piece_function, done_function) -> generation_ticket override {
    return generation_ticket{admission::closed};
  }
  [[nodiscard]] auto generates() const -> bool override { return false; }
};

struct server {
  std::shared_ptr<scripted> service = std::make_shared<scripted>();
  metrics counted;
  router routes;

  server() {
    add_openai(routes, {.models = {{"small", service}, {"silent", std::make_shared<silent>()}},
                        .counted = &counted});
  }
  auto ask(std::string method, std::string path, std::string body = "") const {
    auto exchange = std::make_shared<kept_exchange>(std::move(method), std::move(path), body);
    routes(exchange);
    return exchange;
  }
  auto post(std::string const& path, json const& body) const {
    return ask("POST", "/v1/" + path, body.dump());
  }
};
auto chat(json const& more = json::object()) -> json {
  auto body = json{
      {"model", "small"},
      {"messages",
       {{{"role", "system"}, {"content", "be short"}}, {{"role", "user"}, {"content", "hi"}}}}};
  body.update(more);
  return body;
}
/// The events of a stream; the last of a whole one is [DONE].
auto events_of(std::string text) -> std::vector<std::string> {
  auto result = std::vector<std::string>{};
  for (auto end = std::size_t{0}; (end = text.find("\n\n")) != std::string::npos;) {
    REQUIRE(text.starts_with("data: "));
    result.push_back(text.substr(6, end - 6));
    text.erase(0, end + 2);
  }
  CHECK(text.empty());
  return result;
}

}  // namespace

TEST_CASE("openai: models") {
  auto const s = server{};
  auto const list = json::parse(s.ask("GET", "/v1/models")->body);
  CHECK(list["object"] == "list");
  REQUIRE(list["data"].size() == 2);
  CHECK(list["data"][1]["id"] == "small");
  CHECK(json::parse(s.ask("GET", "/v1/models/small")->body) == list["data"][1]);
  auto named = router{};
  add_openai(named, {.models = {{"org/small", s.service}}});
  for (auto const* path : {"/v1/models/org/small", "/v1/models/org%2Fsmall"}) {
    auto const exchange = std::make_shared<kept_exchange>("GET", path, "");
    named(exchange);
    CHECK(json::parse(exchange->body)["id"] == "org/small");
  }
  auto const none = s.ask("GET", "/v1/models/large");
  CHECK(none->status == 404);
  CHECK(json::parse(none->body)["error"]["code"] == "model_not_found");
}
TEST_CASE("openai: a conversation") {
  auto const s = server{};
  auto const got = s.post("chat/completions", chat({{"temperature", 0.5},
                                                    {"seed", -3},
                                                    {"stop", "END"},
                                                    {"max_completion_tokens", 11},
                                                    {"logit_bias", {{"12", -100}}},
                                                    {"top_k", 4},
                                                    {"tools", json::array()}}));
  REQUIRE(got->status == 200);
  auto const answer = json::parse(got->body);
  CHECK(answer["object"] == "chat.completion");
  CHECK(answer["model"] == "small");
  REQUIRE(answer["choices"].size() == 1);
  CHECK(answer["choices"][0]["message"]["role"] == "assistant");
  CHECK(answer["choices"][0]["message"]["content"] == "Hello\xC3\xA9");
  CHECK(answer["choices"][0]["finish_reason"] == "stop");
  CHECK(answer["choices"][0]["logprobs"].is_null());
  CHECK(answer["usage"] == json{{"prompt_tokens", 5},
                                {"completion_tokens", 4},
                                {"total_tokens", 9},
                                {"prompt_tokens_details", {{"cached_tokens", 3}}}});
  auto const& asked = s.service->asked.at(0);
  REQUIRE(asked.messages.size() == 2);
  CHECK(asked.messages[0].role == "system");
  CHECK(asked.messages[1].content == "hi");
  CHECK(asked.options.temperature == 0.5);
  CHECK(asked.options.seed == static_cast<std::uint64_t>(-3));
  CHECK(asked.options.stop == std::vector<std::string>{"END"});
  CHECK(asked.options.max_tokens == 11);
  CHECK(not asked.to_the_end);
  CHECK(asked.options.top_k == 4);
  CHECK(asked.options.logit_bias.at(0) == std::pair{12U, -100.0F});
  auto const parts = s.post(
      "chat/completions",
      chat({{"messages",
             {{{"role", "user"},
               {"content",
                {{{"type", "text"}, {"text", "a"}}, {{"type", "text"}, {"text", "b"}}}}}}}}));
  CHECK(parts->status == 200);
  CHECK(s.service->asked.at(1).messages[0].content == "ab");
  CHECK(s.service->asked.at(1).to_the_end);
}
TEST_CASE("openai: choices, their log-probabilities, and the prompt counted once") {
  auto const s = server{};
  auto const got =
      s.post("chat/completions",
             chat({{"n", 2}, {"max_tokens", 2}, {"logprobs", true}, {"top_logprobs", 2}}));
  auto const answer = json::parse(got->body);
  REQUIRE(answer["choices"].size() == 2);
  CHECK(answer["choices"][1]["index"] == 1);
  CHECK(answer["choices"][1]["message"]["content"] == "Hel1lo1");
  CHECK(answer["choices"][1]["finish_reason"] == "length");
  auto const tokens = answer["choices"][0]["logprobs"]["content"];
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0]["token"] == "Hel");
  CHECK(tokens[0]["bytes"] == json{72, 101, 108});
  CHECK(tokens[0]["logprob"] == -0.5);
  CHECK(tokens[0]["top_logprobs"][1]["logprob"] == -9999.0);
  CHECK(answer["usage"]["prompt_tokens"] == 5);
  CHECK(answer["usage"]["completion_tokens"] == 4);
  CHECK(s.service->asked[0].options.seed == s.service->asked[1].options.seed);
  CHECK(s.service->asked[1].options.stream == 1);
}
TEST_CASE("openai: a stream") {
  auto const s = server{};
  auto const got = s.post("chat/completions",
                          chat({{"stream", true}, {"stream_options", {{"include_usage", true}}}}));
  CHECK(got->status == 200);
  CHECK(got->type == "text/event-stream");
  CHECK(got->ended);
  auto const events = events_of(got->body);
  REQUIRE(events.size() == 6);  // three pieces, the end, usage, [DONE]
  CHECK(events.back() == "[DONE]");
  auto text = std::string{};
  for (auto i = std::size_t{0}; i < 4; ++i) {
    auto const event = json::parse(events[i]);
    CHECK(event["object"] == "chat.completion.chunk");
    auto const& choice = event["choices"][0];
    CHECK(choice["delta"].contains("role") == (i == 0));
    text += choice["delta"].value("content", "");
    CHECK(choice["finish_reason"] == (i == 3 ? json("stop") : json(nullptr)));
    CHECK(event["usage"].is_null());
  }
  CHECK(text == "Hello\xC3\xA9");
  auto const usage = json::parse(events[4]);
  CHECK(usage["choices"].empty());
  CHECK(usage["usage"]["total_tokens"] == 9);
}
TEST_CASE("openai: offsets of tokens count characters, of which one may be several tokens") {
  auto lists = detail::completion_logprobs{};
  for (auto const* const text : {"\xC3\xA9t\xC3\xA9", "\xF0\x9F", "\x98\x80", "!"}) {
    auto const token = scored_text{text, -1};
    lists.add({.text = "", .token = &token});
  }
  auto const taken = lists.take();
  CHECK(taken["text_offset"] == json{0, 3, 4, 4});
  CHECK(taken["tokens"] == json{"\xC3\xA9t\xC3\xA9", "bytes:\\xf0\\x9f", "bytes:\\x98\\x80", "!"});
  auto const after = scored_text{"?", -1};
  lists.add({.text = "", .token = &after});
  CHECK(lists.take()["text_offset"] == json{5});
  auto const parts = std::vector<scored_text>{{"\xE2\x80", -1}, {"\xE2\x81", -2}, {"a", -3}};
  lists.add({.text = "", .token = parts.data(), .top = parts});
  CHECK(lists.take()["top_logprobs"][0] ==
        json{{"bytes:\\xe2\\x80", -1.0F}, {"bytes:\\xe2\\x81", -2.0F}, {"a", -3.0F}});
  auto const alike = std::vector<scored_text>{{"a", -1}, {"a", -3}};
  lists.add({.text = "", .token = alike.data(), .top = alike});
  CHECK(lists.take()["top_logprobs"][0] == json{{"a", -1.0F}});
}
TEST_CASE("openai: completions of several prompts") {
  auto const s = server{};
  auto const got = s.post("completions", {{"model", "small"},
                                          {"prompt", {"a", "b"}},
                                          {"n", 2},
                                          {"logprobs", 1},
                                          {"max_tokens", 3},
                                          {"suffix", ""}});
  auto const answer = json::parse(got->body);
  CHECK(answer["object"] == "text_completion");
  REQUIRE(answer["choices"].size() == 4);
  CHECK(answer["choices"][2]["text"] == "Hello\xC3\xA9");
  CHECK(s.service->asked[2].prompt == "b");
  CHECK(answer["usage"]["prompt_tokens"] == 10);
  auto const logprobs = answer["choices"][0]["logprobs"];
  CHECK(logprobs["tokens"] == json{"Hel", "lo", "\xC3\xA9"});
  CHECK(logprobs["text_offset"] == json{0, 3, 5});
  CHECK(logprobs["top_logprobs"][0]["Hel"] == -0.5);
  auto const streamed =
      s.post("completions", {{"model", "small"}, {"prompt", "a"}, {"stream", true}});
  auto const events = events_of(streamed->body);
  CHECK(json::parse(events[0])["choices"][0]["text"] == "Hel");
  CHECK(events.back() == "[DONE]");
}
TEST_CASE("openai: a prompt and an input may be lists of tokens") {
  auto const s = server{};
  auto const ask = [&](json const& prompt) {
    return s.post("completions", {{"model", "small"}, {"prompt", prompt}})->status;
  };
  using tokens = std::vector<std::uint32_t>;
  CHECK(ask(json::parse("[1, 2]")) == 200);
  CHECK(s.service->asked.at(0).tokens == tokens{1, 2});
  CHECK(ask(json::parse("[[3], [4, 4294967295]]")) == 200);
  CHECK(s.service->asked.at(1).tokens == tokens{3});
  CHECK(s.service->asked.at(2).tokens == tokens{4, 4294967295U});
  CHECK(s.service->asked.at(2).prompt.empty());
  for (auto const* const wrong :
       {"[]", "[[]]", "[1, \"a\"]", "[\"a\", 1]", "[[1], 2]", "[[1], \"a\"]", "[-1]",
        "[4294967296]", "[1.5]", "[[[1]]]", "{}", "7", "true"}) {
    INFO(wrong);
    CHECK(ask(json::parse(wrong)) == 400);
    CHECK(s.post("embeddings", {{"model", "small"}, {"input", json::parse(wrong)}})->status == 400);
  }
  auto const embed = [&](char const* input) {
    return s.post("embeddings", {{"model", "small"}, {"input", json::parse(input)}});
  };
  auto const both = json::parse(embed("[[1, 2], [3, 5]]")->body);
  REQUIRE(both["data"].size() == 2);
  CHECK(both["data"][1]["embedding"][0] == 5);
  CHECK(s.service->embeds_asked.texts.empty());
  CHECK(embed("[99]")->status == 400);
}
TEST_CASE("openai: embeddings in numbers and in base64") {
  auto const s = server{};
  auto const plain =
      json::parse(s.post("embeddings", {{"model", "small"}, {"input", {"abc", ""}}})->body);
  REQUIRE(plain["data"].size() == 2);
  CHECK(plain["data"][0]["embedding"] == json{3.0, 1.0, -2.5});
  CHECK(plain["data"][1]["index"] == 1);
  CHECK(plain["usage"]["total_tokens"] == 4);
  auto const packed = json::parse(
      s.post("embeddings", {{"model", "small"}, {"input", "abc"}, {"encoding_format", "base64"}})
          ->body);
  CHECK(packed["data"][0]["embedding"] == "AABAQAAAgD8AACDA");  // struct.pack("<3f", 3, 1, -2.5)
  CHECK(s.post("embeddings", {{"model", "silent"}, {"input", "a"}})->status == 400);
  CHECK(s.post("embeddings", {{"model", "small"}})->status == 400);
  CHECK(s.post("embeddings", {{"model", "small"}, {"input", "a"}, {"dimensions", 2}})->status ==
        400);
  s.service->how = admission::full;
  CHECK(s.post("embeddings", {{"model", "small"}, {"input", "a"}})->status == 429);
}

// -- errors ---------------------------------------------------------------------------------------
TEST_CASE("openai: what is wrong is named") {
  auto const s = server{};
  auto const wrong = [&](json const& more, char const* param) {
    auto const got = s.post("chat/completions", chat(more));
    INFO(more.dump() << " -> " << got->body);
    CHECK(got->status == 400);
    auto const error = json::parse(got->body)["error"];
    CHECK(error["param"] == param);
    CHECK(error["type"] == "invalid_request_error");
    CHECK_THAT(error["message"].get<std::string>(), Contains(param));
  };
  wrong({{"temperature", 3}}, "temperature");
  wrong({{"temperature", "hot"}}, "temperature");
  wrong({{"top_p", -0.1}}, "top_p");
  wrong({{"n", 0}}, "n");
  wrong({{"n", 17}}, "n");
  wrong({{"n", 1.5}}, "n");
  wrong({{"max_tokens", -1}}, "max_tokens");
  wrong({{"max_completion_tokens", 18446744073709551615U}}, "max_completion_tokens");
  wrong({{"presence_penalty", 2.5}}, "presence_penalty");
  wrong({{"stop", {"a", 1}}}, "stop");
  wrong({{"stop", {"1", "2", "3", "4", "5"}}}, "stop");
  wrong({{"stop", ""}}, "stop");
  wrong({{"logit_bias", {{"x", 1}}}}, "logit_bias");
  wrong({{"logit_bias", json::array()}}, "logit_bias");
  wrong({{"logit_bias", {{"504", 101}}}}, "logit_bias.504");
  wrong({{"logit_bias", {{"504", "x"}}}}, "logit_bias.504");
  wrong({{"logprobs", 3}}, "logprobs");
  wrong({{"top_logprobs", 3}}, "top_logprobs");
  wrong({{"stream", "yes"}}, "stream");
  wrong({{"messages", json::array()}}, "messages");
  wrong({{"messages", nullptr}}, "messages");
  wrong({{"messages", {1}}}, "messages[0]");
  wrong({{"messages", {{{"role", "tool"}, {"content", ""}}}}}, "messages[0].role");
  wrong({{"messages", {{{"role", "user"}, {"content", 1}}}}}, "messages[0].content");
  wrong({{"messages", {{{"role", "user"}, {"content", {{{"type", "image_url"}}}}}}}},
        "messages[0].content");
  wrong({{"tools", {{{"type", "function"}}}}}, "tools");
  wrong({{"tool_choice", "auto"}}, "tool_choice");
  wrong({{"response_format", {{"type", "json_object"}}}}, "response_format");
  wrong({{"grammar", "root ::= \"a\""}}, "grammar");
  wrong({{"guided_choice", {"a", "b"}}}, "guided_choice");
  wrong({{"ignore_eos", true}}, "ignore_eos");
  wrong({{"modalities", {"text", "audio"}}}, "modalities");
  wrong({{"web_search_options", json::object()}}, "web_search_options");
  wrong({{"messages", {{{"role", "user"}}}}}, "messages[0].content");
  wrong({{"messages", {{{"role", "system"}, {"content", nullptr}}}}}, "messages[0].content");
  wrong({{"model", 5}}, "model");
  CHECK(s.service->asked.empty());
  CHECK(s.post("chat/completions", chat({{"response_format", {{"type", "text"}}}}))->status == 200);
  for (auto const& nothing :
       {json{{"tools", json::array()}}, json{{"grammar", nullptr}}, json{{"ignore_eos", false}},
        json{{"modalities", json::array({"text"})}}, json{{"user", "ada"}}, json{{"store", true}}})
    CHECK(s.post("chat/completions", chat(nothing))->status == 200);
  CHECK(s.post("chat/completions", chat({{"model", "large"}}))->status == 404);
  CHECK(s.post("chat/completions", chat({{"model", "silent"}}))->status == 400);
  CHECK(s.post("completions", {{"model", "small"}})->status == 400);
  CHECK(s.post("completions", {{"model", "small"}, {"prompt", "a"}, {"echo", true}})->status ==
        400);
  CHECK(s.post("completions", {{"model", "small"}, {"prompt", "a"}, {"max_tokens", 7}})->status ==
        400);
  for (auto const* const body : {"", "{", "[]", "7", "\"\xFF\"", "{\"model\": 1e999}"})
    CHECK(s.ask("POST", "/v1/chat/completions", body)->status == 400);
  CHECK(json::parse(openai_error_body(404, "there is no \xFF"))["error"]["type"] ==
        "invalid_request_error");
}
TEST_CASE("openai: a prompt beyond the context is told as OpenAI tells it") {
  auto const s = server{};
  auto const says = [&](char const* path, json const& body, char const* param,
                        char const* message) {
    auto const got = s.post(path, body);
    CHECK(got->status == 400);
    CHECK(json::parse(got->body)["error"] == json{{"message", message},
                                                  {"type", "invalid_request_error"},
                                                  {"param", param},
                                                  {"code", "context_length_exceeded"}});
  };
  says("chat/completions", chat({{"max_tokens", 8}}), "messages",
       "This model's maximum context length is 20 tokens. However, your messages resulted in 23 "
       "tokens. Please reduce the length of the messages.");
  says("chat/completions", chat({{"max_tokens", 9}}), "messages",
       "This model's maximum context length is 20 tokens. However, your messages resulted in more "
       "than 20 tokens. Please reduce the length of the messages.");
  says("completions", {{"model", "small"}, {"prompt", "a"}, {"max_tokens", 8}}, "prompt",
       "This model's maximum context length is 20 tokens, however you requested 31 tokens (23 in "
       "your prompt; 8 for the completion). Please reduce your prompt; or completion length.");
  says("embeddings", {{"model", "small"}, {"input", {1, 2, 3, 4, 5}}}, "input",
       "This model's maximum context length is 4 tokens, however you requested 5 tokens (5 in your "
       "prompt; 0 for the completion). Please reduce your prompt; or completion length.");
}
TEST_CASE("openai: a full queue, an end and a failure have their status") {
  auto const s = server{};
  s.service->how = admission::full;
  CHECK(s.post("chat/completions", chat())->status == 429);
  CHECK(json::parse(s.post("chat/completions", chat({{"stream", true}}))->body)["error"]["type"] ==
        "rate_limit_error");
  s.service->how = admission::closed;
  CHECK(s.post("chat/completions", chat())->status == 503);
  s.service->how = admission::accepted;
  s.service->error = "the model is broken";
  auto const failed = s.post("chat/completions", chat());
  CHECK(failed->status == 500);
  CHECK(json::parse(failed->body)["error"]["message"] == "the model is broken");
  auto const embeds = [&] { return s.post("embeddings", {{"model", "small"}, {"input", "a"}}); };
  CHECK(embeds()->status == 500);
  s.service->ends = true;
  CHECK(embeds()->status == 503);
  auto const streamed = s.post("chat/completions", chat({{"stream", true}}));
  CHECK(streamed->status == 200);
  CHECK(streamed->ended);
  auto const events = events_of(streamed->body);
  CHECK(json::parse(events.back())["error"]["type"] == "server_error");
}
TEST_CASE("openai: a choice that is refused cancels the others") {
  auto const s = server{};
  s.service->at_once = false;
  auto const got = s.post("chat/completions", chat({{"n", 2}}));
  CHECK(got->status == 0);
  s.service->error = "broken";
  s.service->rest[0]();
  CHECK(got->status == 500);
  CHECK(*s.service->flags[1]);
}
TEST_CASE("openai: a client that leaves frees what it took") {
  auto const s = server{};
  s.service->at_once = false;
  auto const got = s.post("chat/completions", chat({{"n", 2}, {"stream", true}}));
  CHECK(s.service->asked[0].wanted());
  s.service->rest[0]();  // begins the stream
  got->listens = false;
  CHECK(not s.service->asked[1].wanted());
  s.service->rest[1]();
  CHECK(*s.service->flags[1]);
  CHECK(not got->ended);
  auto const vectors = s.post("embeddings", {{"model", "small"}, {"input", "a"}});
  CHECK(s.service->embeds_asked.wanted());
  vectors->listens = false;
  CHECK(not s.service->embeds_asked.wanted());
}
TEST_CASE("openai: what is counted") {
  auto s = server{};
  (void)s.post("chat/completions", chat());
  auto const text = s.counted.text();
  CHECK_THAT(text, Contains("generation_prompt_tokens_total{model=\"small\"} 5"));
  CHECK_THAT(text, Contains("generation_tokens_total{model=\"small\"} 4"));
  CHECK_THAT(text, Contains("generation_sequences_total{model=\"small\",reason=\"stop\"} 1"));
  CHECK_THAT(text, Contains("generation_time_to_first_token_seconds_count{model=\"small\"} 1"));
  CHECK_THAT(text, Contains("generation_time_per_token_seconds_count{model=\"small\"} 1"));
  CHECK_THAT(text, Contains("generation_queue_seconds_count{model=\"small\"} 1"));
  detail::openai_metrics(&s.counted, "small")
      .end({.reason = finish_reason::cancelled, .prompt_tokens = 7, .had_lane = false});
  auto const after = s.counted.text();
  CHECK_THAT(after, Contains("generation_prompt_tokens_total{model=\"small\"} 5"));
  CHECK_THAT(after, Contains("generation_sequences_total{model=\"small\",reason=\"cancelled\"} 1"));
  CHECK_THAT(after, Contains("generation_queue_seconds_count{model=\"small\"} 1"));
  detail::openai_metrics(&s.counted, "timed")
      .end({.generated_tokens = 5,
            .queue_seconds = 0.25,
            .first_token_seconds = 0.5,
            .seconds = 4.5});
  auto const timed = s.counted.text();
  CHECK_THAT(timed, Contains("generation_queue_seconds_sum{model=\"timed\"} 0.25"));
  CHECK_THAT(timed, Contains("generation_time_to_first_token_seconds_sum{model=\"timed\"} 0.5"));
  CHECK_THAT(timed, Contains("generation_time_per_token_seconds_sum{model=\"timed\"} 1\n"));
}
TEST_CASE("openai: how tokens are drawn is as it was asked") {
  auto const s = server{};
  auto const asked = [&](json const& more) {
    CHECK(s.post("chat/completions", chat(more))->status == 200);
    return s.service->asked.back().options;
  };
  auto const o = asked({{"top_p", 0.25},
                        {"min_p", 0.125},
                        {"repetition_penalty", 1.5},
                        {"presence_penalty", -0.5},
                        {"frequency_penalty", 0.75}});
  CHECK(o.top_p == Approx(0.25));
  CHECK(o.min_p == Approx(0.125));
  CHECK(o.repetition_penalty == Approx(1.5));
  CHECK(o.presence_penalty == Approx(-0.5));
  CHECK(o.frequency_penalty == Approx(0.75));
  CHECK(asked({{"top_p", 0}, {"temperature", 1.5}}).temperature == 0);
}
