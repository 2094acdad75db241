// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/json_parts.hpp>

namespace tessera {

namespace detail {

/// Reads the object of a tokenizer.json; no id in it may be larger than `most`.
class tokenizer_reader {
 public:
  tokenizer_reader(nlohmann::json const& root, std::size_t most) : root_(root), most_(most) {}

  [[nodiscard]] auto read() -> tokenizer_parts {
    auto const model = root_["model"];
    auto normalizers = std::vector<normalizer_step>{};
    auto pre_tokenizers = std::vector<pre_tokenizer_step>{};
    auto post = post_processor{};
    auto decoders = std::vector<decoder_step>{};
    steps("normalizer", "normalizers",
          [&](json_place const& step) { read_normalizer(step, normalizers); });
    steps("pre_tokenizer", "pretokenizers",
          [&](json_place const& step) { read_pre_tokenizer(step, pre_tokenizers); });
    steps("post_processor", "processors",
          [&](json_place const& step) { read_post_processor(step, post); });
    steps("decoder", "decoders", [&](json_place const& step) { read_decoder(step, decoders); });
    auto words = model["vocab"].is_list() ? words_in_order(model) : words_by_id(model);
    auto made = read_model(model, words, pre_tokenizers);
    auto added = read_added(words);
    return {std::move(words),
            std::move(made),
            std::move(added),
            std::move(normalizers),
            std::move(pre_tokenizers),
            std::move(post),
            decoder(std::move(decoders))};
  }

 private:
  void steps(char const* member, char const* list, auto const& make) const {
    if (root_.has(member)) for_each_step(root_[member], list, make);
  }

  [[nodiscard]] auto words_by_id(json_place const& model) const -> vocabulary {
    auto texts = std::vector<std::optional<std::string_view>>{};
    model["vocab"].for_each_member([&](std::string const& token, json_place const& place) {
      auto const id = place.whole(most_);
      if (id >= texts.size()) texts.resize(std::size_t{id} + 1);
      if (texts[id])
        place.fail("its id " + std::to_string(id) + " is that of \"" + std::string{*texts[id]} +
                   "\", too");
      texts[id] = token;
    });
    return vocabulary(texts);
  }
  [[nodiscard]] auto words_in_order(json_place const& model) const -> vocabulary {
    auto texts = std::vector<std::optional<std::string_view>>{};
    model["vocab"].for_each([&](json_place const& pair) {
      if (not pair.is_list() || pair.value().size() != 2) pair.expected("[token, score]");
      texts.emplace_back(json_place(pair.value()[0], pair.path() + "[0]").text());
    });
    return vocabulary(texts);
  }

  [[nodiscard]] auto read_model(json_place const& model, vocabulary const& words,
                                std::vector<pre_tokenizer_step>& steps) const
      -> tokenizer_parts::model_type {
    auto const type = model.has("type") || not model.has("merges") ? model.type() : "BPE";
    if (type == "BPE") return read_bpe(model, words, steps);
    if (type == "WordPiece")
      return word_piece_model(words,
                              {.unknown = model.text("unk_token", "[UNK]"),
                               .continuing_prefix = model.text("continuing_subword_prefix", "##"),
                               .longest_word = model.has("max_input_chars_per_word")
                                                   ? model["max_input_chars_per_word"].whole()
                                                   : 100});
    if (type == "Unigram") return read_unigram(model, words);
    model.fail("the model " + type + " is not known");
  }
  [[nodiscard]] auto read_bpe(json_place const& model, vocabulary const& words,
                              std::vector<pre_tokenizer_step>& steps) const -> bpe_model {
    if (model.has("dropout") && model["dropout"].number() > 0)
      model["dropout"].fail("merges left out at random are for training");
    auto options = bpe_options{.unknown = model.text("unk_token", ""),
                               .continuing_prefix = model.text("continuing_subword_prefix", ""),
                               .end_of_word = model.text("end_of_word_suffix", ""),
                               .fuse_unknown = model.flag("fuse_unk", false),
                               .byte_fallback = model.flag("byte_fallback", false),
                               .whole_words_first = model.flag("ignore_merges", false)};
    auto merges = std::vector<bpe_model::merge>{};
    model["merges"].for_each([&](json_place const& merge) { merges.push_back(merge_of(merge)); });
    return bpe_over_bytes(words, merges, std::move(options), steps);
  }
  /// ["a", "b"] or "a b".
  [[nodiscard]] static auto merge_of(json_place const& merge) -> bpe_model::merge {
    if (merge.is_text()) {
      auto const text = std::string_view{merge.text()};
      auto const space = text.find(' ');
      if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
        merge.expected("two tokens and one space between them");
      return {text.substr(0, space), text.substr(space + 1)};
    }
    if (not merge.is_list() || merge.value().size() != 2) merge.expected("two tokens");
    return {json_place(merge.value()[0], merge.path() + "[0]").text(),
            json_place(merge.value()[1], merge.path() + "[1]").text()};
  }
  [[nodiscard]] static auto read_unigram(json_place const& model, vocabulary const& words)
      -> unigram_model {
    auto scores = std::vector<double>{};
    model["vocab"].for_each([&](json_place const& pair) {
      scores.push_back(json_place(pair.value()[1], pair.path() + "[1]").number());
    });
    auto unknown = no_id;
    if (model.has("unk_id")) {
      if (words.size() == 0) model["vocab"].expected("the unknown token at least");
      unknown = model["unk_id"].whole(words.size() - 1);
    }
    return {words, std::move(scores), unknown, model.flag("byte_fallback", false)};
  }

  [[nodiscard]] auto read_added(vocabulary const& words) const -> std::vector<added_token> {
    auto result = std::vector<added_token>{};
    if (not root_.has("added_tokens")) return result;
    root_["added_tokens"].for_each([&](json_place const& place) {
      auto token = added_token{.text = place["content"].text(),
                               .id = place["id"].whole(most_),
                               .single_word = place.flag("single_word", false),
                               .left_strip = place.flag("lstrip", false),
                               .right_strip = place.flag("rstrip", false),
                               .special = place.flag("special", false)};
      token.normalized = place.flag("normalized", not token.special);
      if (token.text.size() > longest_added_token)
        place["content"].fail("expected at most " + std::to_string(longest_added_token) +
                              " bytes, got " + std::to_string(token.text.size()));
      auto const known = words.find(token.text);
      if (known != no_id && known != token.id)
        place["id"].fail(json_text(token.text) + " has the id " + std::to_string(token.id) +
                         " here and " + std::to_string(known) + " in the vocabulary");
      if (not token.text.empty()) result.push_back(std::move(token));
    });
    return result;
  }
  // A search may take as many steps for each byte of a text.
  static constexpr auto longest_added_token = std::size_t{4096};

  json_place root_;
  std::size_t most_;
};

}  // namespace detail

/// The tokenizer that the text of a tokenizer.json describes. Truncation and padding in it are a
/// program's settings (`encode_options`) and are not applied.
///
/// Errors  text_error that names the place, for what is missing, of another type, out of range, or
///         of a kind that is not known: tests/text/tokenizer_file.cpp
[[nodiscard]] inline auto tokenizer_of(std::string_view json) -> tokenizer {
  auto root = nlohmann::json{};
  if (is_too_deep(json))
    throw text_error("expected JSON of at most " + std::to_string(most_json_levels) + " levels");
  try {
    root = nlohmann::json::parse(json);
  } catch (nlohmann::json::exception const& e) {
    throw text_error("expected JSON: " + valid_utf8(e.what()));
  }
  if (not root.is_object()) throw text_error("expected an object with a model");
  return tokenizer(detail::tokenizer_reader(root, json.size()).read());
}

/// Errors  file_error for a file that cannot be read; text_error with its path
[[nodiscard]] inline auto load_tokenizer(std::filesystem::path const& path) -> tokenizer {
  auto file = detail::input_file(path);
  auto const bytes = file.read(file.size());
  try {
    return tokenizer_of({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  } catch (text_error const& e) {
    throw text_error(path.string() + ": " + e.what());
  }
}

}  // namespace tessera
