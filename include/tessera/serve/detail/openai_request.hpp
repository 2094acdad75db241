// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/json_body.hpp>
#include <tessera/serve/text_service.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

/// What OpenAI's clients ask for, read from their JSON; what is not known here is refused by name.
namespace tessera::detail::inline TESSERA_TARGET {

using nlohmann::json;

/// An error as OpenAI's clients know it.
struct openai_error : std::runtime_error {
  unsigned status;
  std::string param;
  std::string code;
  openai_error(unsigned s, std::string const& message, std::string p = {}, std::string c = {})
      : std::runtime_error(message), status(s), param(std::move(p)), code(std::move(c)) {}
};
[[nodiscard]] inline auto dumped(json const& value) -> std::string {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}
[[nodiscard]] inline auto openai_error_type(unsigned status) -> char const* {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}
[[nodiscard]] inline auto json_of_error(openai_error const& e) -> json {
  auto const or_null = [](std::string const& text) { return text.empty() ? json{} : json(text); };
  return {{"error",
           {{"message", e.what()},
            {"type", openai_error_type(e.status)},
            {"param", or_null(e.param)},
            {"code", or_null(e.code)}}}};
}

/// A prompt beyond the context: clients know it by its code, and look for the limit in the message.
[[nodiscard]] inline auto beyond_context(context_error const& e, std::size_t completion,
                                         std::string const& param) -> openai_error {
  auto const number = [](std::size_t n) { return std::to_string(n); };
  auto const got = e.tokens == 0 ? "more than " + number(e.context) : number(e.tokens);
  auto text = "This model's maximum context length is " + number(e.context) + " tokens";
  if (param == "messages")
    text += ". However, your messages resulted in " + got +
            " tokens. Please reduce the length of the messages.";
  else
    text += ", however you requested " + (e.tokens == 0 ? got : number(e.tokens + completion)) +
            " tokens (" + got + " in your prompt; " + number(completion) +
            " for the completion). Please reduce your prompt; or completion length.";
  return {400, text, param, "context_length_exceeded"};
}

/// Texts, or their tokens in place of them.
struct texts_or_tokens {
  std::vector<std::string> texts = {};
  std::vector<std::vector<std::uint32_t>> tokens = {};
  [[nodiscard]] auto size() const -> std::size_t { return std::max(texts.size(), tokens.size()); }
};

/// The fields of a request, by name and type. A null is a field that is not there.
class openai_fields {
 public:
  explicit openai_fields(json const& body) : body_(body) {
    if (not body.is_object()) throw openai_error(400, "expected a JSON object");
  }
  [[nodiscard]] auto find(char const* name) const -> json const* {
    auto const found = body_.find(name);
    return found == body_.end() || found->is_null() ? nullptr : &*found;
  }
  [[nodiscard]] auto number(char const* name, double low, double high, double otherwise) const
      -> double {
    auto const* const value = find(name);
    if (value == nullptr) return otherwise;
    auto const got = value->is_number() ? value->get<double>() : NAN;
    if (not(got >= low && got <= high))
      refuse(name, "a number of " + json(low).dump() + " to " + json(high).dump(), *value);
    return got;
  }
  [[nodiscard]] auto integer(char const* name, std::int64_t low, std::int64_t high,
                             std::int64_t otherwise) const -> std::int64_t {
    auto const* const value = find(name);
    if (value == nullptr) return otherwise;
    auto const whole = value->is_number_integer() &&
                       (not value->is_number_unsigned() ||
                        value->get<std::uint64_t>() <= static_cast<std::uint64_t>(high));
    if (not whole || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high)
      refuse(name, "a whole number of " + std::to_string(low) + " to " + std::to_string(high),
             *value);
    return value->get<std::int64_t>();
  }
  [[nodiscard]] auto boolean(char const* name) const -> bool {
    auto const* const value = find(name);
    if (value != nullptr && not value->is_boolean()) refuse(name, "true or false", *value);
    return value != nullptr && value->get<bool>();
  }
  [[nodiscard]] auto text(char const* name) const -> std::string {
    auto const* const value = find(name);
    if (value == nullptr) throw openai_error(400, std::string{"expected "} + name, name);
    if (not value->is_string()) refuse(name, "a text", *value);
    return value->get<std::string>();
  }
  /// A text or a list of them.
  [[nodiscard]] auto texts(char const* name, std::size_t most) const -> std::vector<std::string> {
    auto const* const value = find(name);
    if (value == nullptr) return {};
    if (value->is_string()) return {value->get<std::string>()};
    auto result = std::vector<std::string>{};
    auto const fits = value->is_array() && value->size() <= most &&
                      std::ranges::all_of(*value, [](auto const& one) { return one.is_string(); });
    if (not fits) refuse(name, "a text or a list of at most " + std::to_string(most), *value);
    for (auto const& one : *value) result.push_back(one.get<std::string>());
    return result;
  }
  /// A text, its tokens, or a list of either, which is not empty.
  [[nodiscard]] auto texts_or_tokens(char const* name, std::size_t most) const
      -> detail::texts_or_tokens {
    auto const* const value = find(name);
    if (value == nullptr) throw openai_error(400, std::string{"expected "} + name, name);
    auto const list = value->is_array() && not value->empty();
    if (list && value->front().is_array()) {
      if (value->size() > most) refuse(name, "at most " + std::to_string(most) + " lists", *value);
      auto result = detail::texts_or_tokens{};
      for (auto const& one : *value) result.tokens.push_back(tokens(name, one));
      return result;
    }
    if (list && value->front().is_number()) return {.tokens = {tokens(name, *value)}};
    if (value->is_array() && not list) refuse(name, "a text or a token at least", *value);
    return {.texts = texts(name, most)};
  }
  [[noreturn]] static void refuse(std::string const& name, std::string const& expected,
                                  json const& got) {
    throw openai_error(400, name + ": expected " + expected + ", got " + dumped(got).substr(0, 60),
                       name);
  }
  /// Fields that would change the answer and are not known here, unless they ask for nothing.
  void refuse_features(std::initializer_list<char const*> names) const {
    for (auto const* const name : names)
      if (auto const* const value = find(name)) refuse_unless_nothing(name, *value);
  }
  /// The same of all fields but those that are read, and those that change no answer.
  void refuse_all_but(std::initializer_list<std::string_view> known) const {
    constexpr auto harmless = std::to_array<std::string_view>(
        {"metadata", "parallel_tool_calls", "prompt_cache_key", "prompt_cache_retention",
         "safety_identifier", "service_tier", "store", "user"});
    for (auto const& [name, value] : body_.items())
      if (std::ranges::find(known, name) == known.end() &&
          std::ranges::find(harmless, name) == harmless.end())
        refuse_unless_nothing(name, value);
  }

 private:
  static void refuse_unless_nothing(std::string const& name, json const& value) {
    auto const asks = value.is_object() && name == "web_search_options";  // by being there
    auto const nothing = (value.empty() && not asks) || value == json("") || value == json(false) ||
                         value == json("none") || value == json({{"type", "text"}}) ||
                         value == json::array({"text"});
    if (not nothing)
      throw openai_error(400, name.substr(0, 100) + " is not supported by this server",
                         name.substr(0, 100), "unsupported_parameter");
  }
  [[nodiscard]] static auto tokens(char const* name, json const& list)
      -> std::vector<std::uint32_t> {
    auto const fits = [](json const& one) {
      return one.is_number_unsigned() &&
             one.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
    };
    if (not list.is_array() || list.empty() || not std::ranges::all_of(list, fits))
      refuse(name, "lists of tokens, which are whole numbers", list);
    return list.get<std::vector<std::uint32_t>>();
  }

  json const& body_;
};

/// A request for texts: `prompts` or one conversation, `choices` of each.
struct openai_text_request {
  std::string model;
  bool chat = false;
  std::vector<text_request> requests;  ///< one for each choice, in their order
  bool stream = false;
  bool stream_usage = false;
  bool logprobs = false;
  std::size_t completion_tokens = 0;  ///< that were asked for
};

[[nodiscard]] inline auto content_of(json const& message, std::string const& where) -> std::string {
  auto const content = message.find("content");
  if (content == message.end() || content->is_null()) {
    if (message["role"] == "assistant") return {};
    openai_fields::refuse(where + ".content", "a text or a list of text parts", nullptr);
  }
  if (content->is_string()) return content->get<std::string>();
  if (not content->is_array())
    openai_fields::refuse(where + ".content", "a text or a list of text parts", *content);
  auto text = std::string{};
  for (auto const& part : *content) {
    auto const is_text = part.is_object() && part.value("type", json{}) == json("text") &&
                         part.contains("text") && part["text"].is_string();
    if (not is_text) openai_fields::refuse(where + ".content", "parts of type text alone", part);
    text += part["text"].get<std::string>();
  }
  return text;
}
[[nodiscard]] inline auto messages_of(openai_fields const& fields) -> std::vector<chat_message> {
  auto const* const list = fields.find("messages");
  if (list == nullptr) throw openai_error(400, "expected messages", "messages");
  if (not list->is_array() || list->empty())
    openai_fields::refuse("messages", "a list of one message at least", *list);
  auto result = std::vector<chat_message>{};
  for (auto const& one : *list) {
    auto const where = "messages[" + std::to_string(result.size()) + "]";
    if (not one.is_object()) openai_fields::refuse(where, "an object", one);
    auto const known = {"system", "developer", "user", "assistant"};
    auto const role = one.value("role", json{});
    if (not role.is_string() || std::ranges::find(known, role.get<std::string>()) == known.end())
      openai_fields::refuse(where + ".role", "system, developer, user or assistant", role);
    openai_fields(one).refuse_features({"tool_calls", "function_call", "audio"});
    auto const name = role.get<std::string>();
    result.push_back({name == "developer" ? "system" : name, content_of(one, where)});
  }
  return result;
}
inline void read_bias(openai_fields const& fields, sampling_options& to) {
  auto const* const bias = fields.find("logit_bias");
  if (bias == nullptr) return;
  if (not bias->is_object()) openai_fields::refuse("logit_bias", "an object", *bias);
  for (auto const& [key, value] : bias->items()) {
    auto const digits = not key.empty() && key.size() < 10 &&
                        key.find_first_not_of("0123456789") == std::string::npos;
    if (not digits) openai_fields::refuse("logit_bias", "the numbers of tokens", json(key));
    auto const by = value.is_number() ? value.get<double>() : NAN;
    if (not(by >= -100 && by <= 100))
      openai_fields::refuse("logit_bias." + key, "a number of -100 to 100", value);
    to.logit_bias.emplace_back(static_cast<std::uint32_t>(std::stoul(key)), static_cast<float>(by));
  }
}
/// With vLLM's top_k, min_p and repetition_penalty.
[[nodiscard]] inline auto sampling_of(openai_fields const& fields) -> sampling_options {
  auto o = sampling_options{};
  o.temperature = fields.number("temperature", 0, 2, 1);
  o.top_p = fields.number("top_p", 0, 1, 1);
  o.top_k = static_cast<std::size_t>(
      std::max(std::int64_t{0},
               fields.integer("top_k", -1, 1'000'000'000, static_cast<std::int64_t>(o.top_k))));
  if (o.top_p == 0) o.temperature = 0, o.top_p = 1;  // the likeliest, and the first of equals
  o.min_p = fields.number("min_p", 0, 1, 0);
  o.repetition_penalty = fields.number("repetition_penalty", 0.01, 100, 1);
  o.presence_penalty = fields.number("presence_penalty", -2, 2, 0);
  o.frequency_penalty = fields.number("frequency_penalty", -2, 2, 0);
  read_bias(fields, o);
  o.stop = fields.texts("stop", 4);
  for (auto const& text : o.stop)
    if (text.empty()) openai_fields::refuse("stop", "texts that are not empty", json(text));
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  auto const seed = fields.integer("seed", std::numeric_limits<std::int64_t>::min(), most,
                                   static_cast<std::int64_t>(std::random_device{}()));
  o.seed = static_cast<std::uint64_t>(seed);
  return o;
}

[[nodiscard]] inline auto read_text_request(json const& body, bool chat, std::int64_t most_choices)
    -> openai_text_request {
  auto const fields = openai_fields(body);
  auto result = openai_text_request{.model = fields.text("model"), .chat = chat, .requests = {}};
  fields.refuse_all_but({"model",
                         "messages",
                         "prompt",
                         "stream",
                         "stream_options",
                         "temperature",
                         "top_p",
                         "top_k",
                         "min_p",
                         "repetition_penalty",
                         "presence_penalty",
                         "frequency_penalty",
                         "logit_bias",
                         "stop",
                         "seed",
                         "n",
                         "best_of",
                         "max_tokens",
                         "max_completion_tokens",
                         "logprobs",
                         "top_logprobs"});
  result.stream = fields.boolean("stream");
  if (auto const* const about = fields.find("stream_options"))
    result.stream_usage = openai_fields(*about).boolean("include_usage");
  auto one = text_request{};
  one.options = sampling_of(fields);
  auto const n = fields.integer("n", 1, most_choices, 1);
  if (fields.integer("best_of", 1, most_choices, n) != n)
    throw openai_error(400, "best_of is not supported by this server but as n", "best_of",
                       "unsupported_parameter");
  constexpr auto most_tokens = std::int64_t{1} << 31;
  auto const* const limit = chat && fields.find("max_completion_tokens") != nullptr
                                ? "max_completion_tokens"
                                : "max_tokens";
  one.to_the_end = chat && fields.find(limit) == nullptr;
  one.options.max_tokens = static_cast<std::size_t>(fields.integer(limit, 1, most_tokens, 16));
  result.completion_tokens = one.options.max_tokens;
  auto prompts = texts_or_tokens{.texts = {""}};
  if (chat) {
    one.messages = messages_of(fields);
    result.logprobs = fields.boolean("logprobs");
    auto const top = fields.integer("top_logprobs", 0, 20, 0);
    if (top > 0 && not result.logprobs)
      throw openai_error(400, "top_logprobs: expected logprobs to be true", "top_logprobs");
    one.options.logprobs = static_cast<std::size_t>(top);
  } else {
    result.logprobs = fields.find("logprobs") != nullptr;
    one.options.logprobs = static_cast<std::size_t>(fields.integer("logprobs", 0, 20, 0));
    prompts = fields.texts_or_tokens("prompt", static_cast<std::size_t>(most_choices));
    if (prompts.size() * static_cast<std::size_t>(n) > static_cast<std::size_t>(most_choices))
      throw openai_error(
          400, "prompt: expected 1 to " + std::to_string(most_choices) + " answers of all prompts",
          "prompt");
  }
  for (auto i = std::size_t{0}; i < prompts.size(); ++i)
    for (auto k = std::int64_t{0}; k < n; ++k) {
      auto& request = result.requests.emplace_back(one);
      if (prompts.tokens.empty())
        request.prompt = prompts.texts[i];
      else
        request.tokens = prompts.tokens[i];
      request.options.stream = static_cast<std::uint64_t>(k);
    }
  return result;
}

}  // namespace tessera::detail::inline TESSERA_TARGET
