// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer.hpp>

#include <algorithm>
#include <array>

namespace tessera {

/// What a GGUF file says of its tokenizer, under keys that begin with "tokenizer.ggml.". The texts
/// are the file's and only read while a tokenizer is made.
struct gguf_vocabulary {
  std::string_view model;                 ///< model: "gpt2", byte pairs over bytes
  std::string_view pre;                   ///< pre: how a text is cut into words
  std::vector<std::string_view> tokens;   ///< tokens, by id
  std::vector<std::int32_t> types;        ///< token_type: 1 normal, 3 control, 4 added by a user;
                                          ///< none: marks of turns that are known are control
  std::vector<std::string_view> merges;   ///< merges: "a b"
  std::optional<std::uint32_t> begin_id;  ///< bos_token_id
  std::optional<std::uint32_t> end_id;    ///< eos_token_id
  std::optional<bool> add_begin = {};     ///< add_bos_token; without it `pre` decides
  bool add_end = false;                   ///< add_eos_token
};

namespace detail {

[[nodiscard]] inline auto is_llama3(std::string_view pre) -> bool {
  return pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3";
}
/// The steps that a file names by `pre`.
/// Errors  text_error for a name that is not known
inline void set_steps_of(std::string_view pre, tokenizer_parts& parts, bpe_options& options) {
  auto const split = [&](split_step step) { parts.pre_tokenizers.emplace_back(std::move(step)); };
  if (pre == "smollm") {
    split(split_digits{.one_by_one = true});
    split(split_gpt2{});
  } else if (pre == "gpt-2") {
    split(split_gpt2{});
  } else if (is_llama3(pre)) {
    split(split_llama3{});
    options.whole_words_first = true;
  } else if (pre == "qwen2") {
    parts.normalizers.emplace_back(normal_form::nfc);
    split(split_qwen2{});
  } else {
    throw text_error("tokenizer.ggml.pre: expected smollm, gpt-2, llama-bpe or qwen2, got " +
                     std::string{pre});
  }
  parts.pre_tokenizers.emplace_back(write_bytes_as_letters{});
}
/// Tokens that end a turn or a text, by their names.
/// Source  llama.cpp, src/llama-vocab.cpp, which takes them as control tokens
inline constexpr auto known_end_tokens = std::to_array<std::string_view>(
    {"<|eot_id|>", "<|im_end|>", "<|end|>", "<|endoftext|>", "<|eom_id|>", "<end_of_turn>"});
/// Tokens that begin a turn.
inline constexpr auto known_beginnings = std::to_array<std::string_view>(
    {"<|im_start|>", "<|start_header_id|>", "<|end_header_id|>", "<|begin_of_text|>"});
[[nodiscard]] inline auto added_tokens_of(gguf_vocabulary const& given)
    -> std::vector<added_token> {
  constexpr auto normal = 1;
  constexpr auto control = 3;
  constexpr auto by_user = 4;
  auto const type_of = [&](std::size_t id) {
    if (not given.types.empty()) return given.types[id];
    auto const is_it = [&](std::string_view name) { return name == given.tokens[id]; };
    return std::ranges::any_of(known_end_tokens, is_it) ||
                   std::ranges::any_of(known_beginnings, is_it)
               ? control
               : normal;
  };
  auto result = std::vector<added_token>{};
  for (auto id = std::size_t{0}; id < given.tokens.size(); ++id)
    if (auto const type = type_of(id); type == control || type == by_user)
      result.push_back({.text = std::string{given.tokens[id]},
                        .id = static_cast<std::uint32_t>(id),
                        .normalized = false,
                        .special = type == control});
  return result;
}
/// Texts of Llama 3 begin with a token, where there is one and nothing else is said; others do not.
/// Source  llama.cpp, src/llama-vocab.cpp
[[nodiscard]] inline auto adds_begin(gguf_vocabulary const& given) -> bool {
  return given.add_begin.value_or(is_llama3(given.pre) && given.begin_id);
}
[[nodiscard]] inline auto places_of(gguf_vocabulary const& given) -> post_processor {
  auto result = post_processor{};
  auto const token = [&](std::optional<std::uint32_t> id, char const* key, bool is_added) {
    auto const name = std::string{"tokenizer.ggml."} + key;
    if (is_added && not id) throw text_error(name + ": is not there, but added");
    if (is_added && *id >= given.tokens.size())
      throw text_error(name + ": expected a token below " + std::to_string(given.tokens.size()) +
                       ", got " + std::to_string(*id));
    return template_piece{template_piece::source::tokens, 0, {id.value_or(0)}};
  };
  auto const begin = token(given.begin_id, "bos_token_id", adds_begin(given));
  auto const end = token(given.end_id, "eos_token_id", given.add_end);
  if (adds_begin(given)) {
    result.single.insert(result.single.begin(), begin);
    result.pair.insert(result.pair.begin(), begin);
  }
  if (given.add_end) {
    result.single.push_back(end);
    result.pair.push_back(end);
  }
  return result;
}

}  // namespace detail

/// The tokenizer that a GGUF file has in it, of byte pairs over bytes.
///
/// Errors  text_error that names the key: a kind that is not known, tokens and types that are not
///         as many, a merge of what is no token, a begin or end that is none:
///         tests/text/tokenizer_gguf.cpp
/// Source  ids are those of Hugging Face's tokenizers with the same steps:
/// tests/text/tokenizer_gguf.cpp
[[nodiscard]] inline auto tokenizer_from(gguf_vocabulary const& given) -> tokenizer {
  if (given.model != "gpt2")
    throw text_error("tokenizer.ggml.model: expected gpt2, got " + std::string{given.model});
  if (not given.types.empty() && given.types.size() != given.tokens.size())
    throw text_error("tokenizer.ggml.token_type: expected " + std::to_string(given.tokens.size()) +
                     " types, one for each token, got " + std::to_string(given.types.size()));
  for (auto const token : given.tokens) detail::expect_utf8(token, "tokenizer.ggml.tokens");
  auto merges = std::vector<detail::bpe_model::merge>{};
  for (auto const merge : given.merges) {
    auto const space = merge.find(' ', 1);
    if (space == std::string_view::npos)
      throw text_error(
          "tokenizer.ggml.merges: expected two tokens and a space between them, got \"" +
          std::string{merge} + '"');
    merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  auto words = detail::vocabulary({given.tokens.begin(), given.tokens.end()});
  auto steps = detail::tokenizer_parts{.words = {},
                                       .model = detail::bpe_model({}, {}, {}),
                                       .added = {},
                                       .normalizers = {},
                                       .pre_tokenizers = {},
                                       .post = detail::places_of(given),
                                       .decoding = detail::decoder({detail::bytes_of_tokens{}})};
  auto options = bpe_options{};
  detail::set_steps_of(given.pre, steps, options);
  steps.model = detail::bpe_over_bytes(words, merges, std::move(options), steps.pre_tokenizers);
  steps.added = detail::added_tokens_of(given);
  steps.words = std::move(words);
  return tokenizer(std::move(steps));
}

}  // namespace tessera
