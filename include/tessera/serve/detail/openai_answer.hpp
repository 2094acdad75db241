// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/serve/detail/openai_request.hpp>

#include <algorithm>
#include <chrono>

/// Answers to OpenAI's clients as JSON.
namespace tessera::detail::inline TESSERA_TARGET {

/// What all parts of one answer begin with.
struct openai_head {
  std::string id;
  std::int64_t created = 0;
  std::string model;
  bool chat = false;

  [[nodiscard]] auto begun(bool chunk) const -> json {
    auto const* const object = not chat ? "text_completion"
                               : chunk  ? "chat.completion.chunk"
                                        : "chat.completion";
    return {{"id", id}, {"object", object}, {"created", created}, {"model", model}};
  }
};
[[nodiscard]] inline auto seconds_of_now() -> std::int64_t {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A token of a completion: bytes that are no text as OpenAI writes them, bytes:\\xe2\\x80.
[[nodiscard]] inline auto name_of_token(std::string const& text) -> std::string {
  if (fault_of_utf8(text).empty()) return text;
  static constexpr auto digits = std::string_view{"0123456789abcdef"};
  auto result = std::string{"bytes:"};
  for (auto const c : text) {
    auto const b = static_cast<unsigned char>(c);
    result += {'\\', 'x', digits[b >> 4U], digits[b & 15U]};
  }
  return result;
}
/// A token for clients; a probability of 0 as OpenAI writes it.
[[nodiscard]] inline auto json_of_token(scored_text const& token) -> json {
  auto bytes = json::array();
  for (auto const b : token.text) bytes.push_back(static_cast<unsigned char>(b));
  return {{"token", token.text},
          {"logprob", std::max(-9999.0F, token.log_probability)},
          {"bytes", std::move(bytes)}};
}
/// A token in chat; its neighbours with it.
[[nodiscard]] inline auto json_of_choice_token(tessera::text_piece const& piece) -> json {
  auto result = json_of_token(*piece.token);
  result["top_logprobs"] = json::array();
  for (auto const& one : piece.top) result["top_logprobs"].push_back(json_of_token(one));
  return result;
}
/// Tokens of a completion, in OpenAI's older form of lists beside each other.
struct completion_logprobs {
  json tokens = json::array();
  json values = json::array();
  json tops = json::array();
  json offsets = json::array();

  /// Characters of the tokens before: bytes that go on with one do not count.
  std::size_t offset = 0;

  void add(tessera::text_piece const& piece) {
    tokens.push_back(name_of_token(piece.token->text));
    values.push_back(std::max(-9999.0F, piece.token->log_probability));
    auto top = json::object();
    for (auto const& one : piece.top)  // of two with one name the likelier, which comes first
      top.emplace(name_of_token(one.text), std::max(-9999.0F, one.log_probability));
    tops.push_back(std::move(top));
    offsets.push_back(offset);
    offset += static_cast<std::size_t>(std::ranges::count_if(piece.token->text, [](char b) {
      return (static_cast<unsigned char>(b) & 0xC0U) != 0x80U;
    }));
  }
  [[nodiscard]] auto take() -> json {
    auto result = json{{"tokens", std::move(tokens)},
                       {"token_logprobs", std::move(values)},
                       {"top_logprobs", std::move(tops)},
                       {"text_offset", std::move(offsets)}};
    *this = {.offset = offset};
    return result;
  }
};

/// One choice in the making: what all of it is, or what is new since it was last taken.
struct openai_choice {
  std::string text;
  json content = json::array();  ///< tokens, in chat
  completion_logprobs lists;     ///< of a completion
  bool begun = false;
  json reason = nullptr;

  void add(tessera::text_piece const& piece, bool chat, bool logprobs) {
    if (logprobs && piece.token != nullptr) {
      if (chat)
        content.push_back(json_of_choice_token(piece));
      else
        lists.add(piece);
    }
    text += piece.text;
  }
  [[nodiscard]] auto logprobs_of(bool chat, bool wanted) -> json {
    if (not wanted) return nullptr;
    if (not chat) return lists.take();
    return {{"content", std::exchange(content, json::array())}, {"refusal", nullptr}};
  }
  /// All that was collected.
  [[nodiscard]] auto whole(std::size_t index, bool chat, bool logprobs) -> json {
    auto result = json{
        {"index", index}, {"finish_reason", reason}, {"logprobs", logprobs_of(chat, logprobs)}};
    if (chat)
      result["message"] = {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}};
    else
      result["text"] = text;
    return result;
  }
  /// What has come since the last one.
  [[nodiscard]] auto chunk(std::size_t index, bool chat, bool logprobs) -> json {
    auto const carries = logprobs && (chat ? not content.empty() : not lists.tokens.empty());
    auto result =
        json{{"index", index}, {"finish_reason", reason}, {"logprobs", logprobs_of(chat, carries)}};
    if (not chat) {
      result["text"] = std::exchange(text, {});
      return result;
    }
    auto delta = json::object();
    if (not begun) delta["role"] = "assistant";
    if (not begun || not text.empty()) delta["content"] = std::exchange(text, {});
    begun = true;
    result["delta"] = std::move(delta);
    return result;
  }
};

[[nodiscard]] inline auto name_of(finish_reason reason) -> char const* {
  return reason == finish_reason::length ? "length" : "stop";
}
/// Tokens of an answer; of the prompt's, those that a lane had read before.
struct openai_usage {
  std::size_t prompt = 0;
  std::size_t cached = 0;
  std::size_t generated = 0;

  [[nodiscard]] auto whole() const -> json {
    return {{"prompt_tokens", prompt},
            {"completion_tokens", generated},
            {"total_tokens", prompt + generated},
            {"prompt_tokens_details", {{"cached_tokens", cached}}}};
  }
};
/// The bytes of numbers, little-endian.
[[nodiscard]] inline auto base64_of(std::vector<float> const& numbers) -> std::string {
  static constexpr auto* digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto bytes = std::vector<std::uint32_t>{};
  for (auto const x : numbers)
    for (auto shift = 0U; shift < 32; shift += 8)
      bytes.push_back(std::bit_cast<std::uint32_t>(x) >> shift & 0xFFU);
  auto text = std::string{};
  for (auto i = std::size_t{0}; i < bytes.size(); i += 3) {
    auto const n = std::min<std::size_t>(3, bytes.size() - i);
    auto const three =
        bytes[i] << 16U | (n > 1 ? bytes[i + 1] << 8U : 0U) | (n > 2 ? bytes[i + 2] : 0U);
    for (auto k = 0U; k < 4; ++k) text += k <= n ? digits[three >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

}  // namespace tessera::detail::inline TESSERA_TARGET
