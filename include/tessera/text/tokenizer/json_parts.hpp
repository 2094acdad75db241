// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer.hpp>
#include <tessera/text/tokenizer/json_place.hpp>

/// The parts of a tokenizer by the objects that a tokenizer.json has for them.
namespace tessera::detail {

inline void read_normalizer(json_place const& step, std::vector<normalizer_step>& to) {
  auto const type = step.type();
  if (type == "NFC") {
    to.emplace_back(normal_form::nfc);
  } else if (type == "NFD") {
    to.emplace_back(normal_form::nfd);
  } else if (type == "NFKC") {
    to.emplace_back(normal_form::nfkc);
  } else if (type == "NFKD") {
    to.emplace_back(normal_form::nfkd);
  } else if (type == "Lowercase") {
    to.emplace_back(lower_case{});
  } else if (type == "StripAccents") {
    to.emplace_back(strip_accents{});
  } else if (type == "Strip") {
    to.emplace_back(strip_ends{step.flag("strip_left", true), step.flag("strip_right", true)});
  } else if (type == "Prepend") {
    to.emplace_back(prepend_text{step["prepend"].text()});
  } else if (type == "Replace") {
    auto const pattern = step["pattern"];
    if (pattern.has("Regex"))
      to.emplace_back(replace_pattern{regex(pattern["Regex"].text()), step["content"].text()});
    else
      to.emplace_back(replace_text{pattern["String"].text(), step["content"].text()});
  } else if (type == "BertNormalizer") {
    auto const lower = step.flag("lowercase", true);
    to.emplace_back(bert_normalizer{step.flag("clean_text", true),
                                    step.flag("handle_chinese_chars", true),
                                    step.flag("strip_accents", lower), lower});
  } else if (type == "ByteLevel") {
    to.emplace_back(write_bytes_as_letters{});
  } else {
    step.fail("the normalizer " + type + " is not known");
  }
}

[[nodiscard]] inline auto separator_of(json_place const& step, separator otherwise) -> separator {
  if (not step.has("behavior")) return otherwise;
  auto const& name = step["behavior"].text();
  if (name == "Isolated") return separator::isolated;
  if (name == "Removed") return separator::removed;
  if (name == "Contiguous") return separator::contiguous;
  if (name == "MergedWithPrevious") return separator::with_previous;
  if (name == "MergedWithNext") return separator::with_next;
  step["behavior"].fail("the behavior " + name + " is not known");
}
/// Well-known patterns have a step of their own, which gives the same and is faster.
[[nodiscard]] inline auto split_step_of(json_place const& step) -> split_step {
  auto const pattern = pattern_of(step["pattern"]);
  auto const behavior = separator_of(step, separator::isolated);
  auto const inverted = step.flag("invert", false);
  auto const words_alone =
      inverted ? behavior == separator::removed : behavior == separator::isolated;
  if (words_alone && pattern == gpt2_pattern) return split_gpt2{};
  if (words_alone && pattern == llama3_pattern) return split_llama3{};
  if (words_alone && pattern == qwen2_pattern) return split_qwen2{};
  return split_pattern{regex(pattern), behavior, inverted};
}
[[nodiscard]] inline auto metaspace_of(json_place const& step) -> spaces_as_letter {
  using prefix = spaces_as_letter::prefix;
  auto result = spaces_as_letter{.letter = step.letter("replacement", "\xE2\x96\x81")};
  auto const scheme = step.text("prepend_scheme", "always");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    step["prepend_scheme"].expected("always, first or never");
  result.before = scheme == "first"                                              ? prefix::first
                  : scheme == "never" || not step.flag("add_prefix_space", true) ? prefix::never
                                                                                 : prefix::always;
  return result;
}
inline void read_pre_tokenizer(json_place const& step, std::vector<pre_tokenizer_step>& to) {
  auto const type = step.type();
  if (type == "ByteLevel") {
    if (step.flag("add_prefix_space", true)) to.emplace_back(prefix_space{});
    if (step.flag("use_regex", true)) to.emplace_back(split_step{split_gpt2{}});
    to.emplace_back(write_bytes_as_letters{});
  } else if (type == "Split") {
    to.emplace_back(split_step_of(step));
  } else if (type == "Digits") {
    to.emplace_back(split_step{split_digits{step.flag("individual_digits", false)}});
  } else if (type == "BertPreTokenizer") {
    to.emplace_back(split_step{split_bert{}});
  } else if (type == "Whitespace") {
    to.emplace_back(split_step{split_word_boundaries{}});
  } else if (type == "WhitespaceSplit") {
    to.emplace_back(split_step{split_whitespace{}});
  } else if (type == "Punctuation") {
    to.emplace_back(split_step{split_punctuation{separator_of(step, separator::isolated)}});
  } else if (type == "CharDelimiterSplit") {
    auto const delimiter = step.letter("delimiter", "");
    to.emplace_back(split_step{split_code_point{code_point_at(delimiter, 0).value}});
  } else if (type == "Metaspace") {
    auto const spaces = metaspace_of(step);
    to.emplace_back(spaces);
    if (step.flag("split", true))
      to.emplace_back(split_step{
          split_code_point{code_point_at(spaces.letter, 0).value, separator::with_next}});
  } else {
    step.fail("the pre-tokenizer " + type + " is not known");
  }
}

[[nodiscard]] inline auto token_with_id(json_place const& pair) -> std::vector<std::uint32_t> {
  if (not pair.is_list() || pair.value().size() != 2) pair.expected("[token, id]");
  return {json_place(pair.value()[1], pair.path() + "[1]").whole()};
}
[[nodiscard]] inline auto template_of(json_place const& list, json_place const& step)
    -> std::vector<template_piece> {
  auto result = std::vector<template_piece>{};
  list.for_each([&](json_place const& piece) {
    using source = template_piece::source;
    if (piece.has("SpecialToken")) {
      auto const token = piece["SpecialToken"];
      auto ids = std::vector<std::uint32_t>{};
      step["special_tokens"][token["id"].text().c_str()]["ids"].for_each(
          [&](json_place const& id) { ids.push_back(id.whole()); });
      result.push_back({source::tokens, token["type_id"].whole(), std::move(ids)});
    } else {
      auto const text = piece["Sequence"];
      auto const& name = text["id"].text();
      if (name != "A" && name != "B") text["id"].expected(R"("A" or "B")");
      result.push_back({name == "A" ? source::first : source::second, text["type_id"].whole(), {}});
    }
  });
  return result;
}
/// [cls] A [sep], and B after it with `between` more [sep].
inline void around(post_processor& to, std::vector<std::uint32_t> const& cls,
                   std::vector<std::uint32_t> const& sep, bool roberta) {
  using source = template_piece::source;
  auto const type = roberta ? 0U : 1U;
  to.single = {{source::tokens, 0, cls}, {source::first, 0, {}}, {source::tokens, 0, sep}};
  to.pair = to.single;
  if (roberta) to.pair.push_back({source::tokens, 0, sep});
  to.pair.push_back({source::second, type, {}});
  to.pair.push_back({source::tokens, type, sep});
}
inline void read_post_processor(json_place const& step, post_processor& to) {
  auto const type = step.type();
  auto const trim = [&](bool trims, bool keeps) {
    if (trims && to.trims_spaces) step.fail("spaces were trimmed by a step before");
    to.trims_spaces = to.trims_spaces || trims;
    to.keeps_first_space = to.keeps_first_space || (trims && keeps);
  };
  if (type == "TemplateProcessing") {
    to.single = template_of(step["single"], step);
    to.pair = template_of(step["pair"], step);
  } else if (type == "ByteLevel") {
    trim(step.flag("trim_offsets", true), step.flag("add_prefix_space", true));
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    auto const roberta = type == "RobertaProcessing";
    if (roberta) trim(step.flag("trim_offsets", true), step.flag("add_prefix_space", true));
    around(to, token_with_id(step["cls"]), token_with_id(step["sep"]), roberta);
  } else {
    step.fail("the post-processor " + type + " is not known");
  }
}

inline void read_decoder(json_place const& step, std::vector<decoder_step>& to) {
  auto const type = step.type();
  if (type == "ByteLevel") {
    to.emplace_back(bytes_of_tokens{});
  } else if (type == "ByteFallback") {
    to.emplace_back(bytes_by_name{});
  } else if (type == "Fuse") {
    to.emplace_back(join_tokens{});
  } else if (type == "WordPiece") {
    to.emplace_back(word_pieces_joined{step.text("prefix", "##"), step.flag("cleanup", true)});
  } else if (type == "Metaspace") {
    auto const space = metaspace_of(step);
    to.emplace_back(letter_as_space{space.letter, space.before != spaces_as_letter::prefix::never});
  } else if (type == "BPEDecoder") {
    to.emplace_back(end_of_word_as_space{step.text("suffix", "</w>")});
  } else if (type == "Replace") {
    auto const pattern = step["pattern"];
    if (pattern.has("Regex"))
      to.emplace_back(
          replace_matches_in_tokens{regex(pattern["Regex"].text()), step["content"].text()});
    else
      to.emplace_back(replace_in_tokens{pattern["String"].text(), step["content"].text()});
  } else if (type == "Strip") {
    to.emplace_back(
        strip_letter{step.letter("content", " "), step["start"].whole(), step["stop"].whole()});
  } else {
    step.fail("the decoder " + type + " is not known");
  }
}

}  // namespace tessera::detail
