// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/parts.hpp>
#include <tessera/text/tokenizer/word_cache.hpp>

namespace tessera {

struct encode_options {
  bool add_special_tokens = true;  ///< those that the file puts around a text
  std::size_t longest =
      0;  ///< tokens with those that are added; the text's last are left out; 0: all
};

/// Text to the numbers that a language model reads, and back.
///
/// Made by `load_tokenizer` from a file tokenizer.json, or by `tokenizer_from` from what a GGUF
/// file says. Immutable: any number of threads may use one.
///
/// Cost    encode: one pass over the text, some vectors, no memory for each token; decode likewise
/// Errors  text_error for text that is no UTF-8 or has 4 GiB and more: tests/text/tokenizer.cpp
/// Source  ids, offsets and text are those of Hugging Face's tokenizers:
///         tests/reference/tokenizer.py, tests/reference/patterns.py,
///         tests/readers/tokenizer_kinds.py
class tokenizer {
 public:
  explicit tokenizer(detail::tokenizer_parts parts)
      : parts_(std::move(parts)), names_(all_tokens()), special_(names_.size()) {
    using finder = detail::added_token_finder;
    auto as_they_are = std::vector<added_token>{};
    auto changed = std::vector<added_token>{};
    auto texts = std::vector<std::string>{};
    auto changed_texts = std::vector<std::string>{};
    for (auto const special : {true, false})
      for (auto const& token : parts_.added) {
        if (token.special != special) continue;
        (token.normalized ? changed : as_they_are).push_back(token);
        (token.normalized ? changed_texts : texts).push_back(form_of(token));
        special_[token.id] = token.special;
      }
    for (auto const* places : {&parts_.post.single, &parts_.post.pair})
      for (auto const& place : *places)
        for (auto const id : place.ids)
          if (not names_.contains(id))
            throw text_error("post_processor: the id " + std::to_string(id) +
                             " is not in the vocabulary");
    before_ = finder(std::move(as_they_are), texts);
    after_ = finder(std::move(changed), changed_texts);
    if (parts_.decoding.is_only_bytes())
      for (auto id = std::size_t{0}; id < names_.size(); ++id)
        bytes_.push_back(
            detail::bytes_of_letters(names_.text(id)).value_or(std::string{names_.text(id)}));
  }

  [[nodiscard]] auto encode(std::string_view text, encode_options options = {}) const -> encoding {
    auto first = encode_alone(text);
    auto const& post = parts_.post;
    auto const bare = post.single.size() == 1 && post.single[0].type_id == 0;
    if (bare && (options.longest == 0 || first.size() <= options.longest)) {
      first.type_ids.resize(first.size());
      return first;
    }
    auto none = encoding{};
    shorten(first, none, post.single, options);
    return fill_template(post.single, first, none, options.add_special_tokens);
  }
  /// Two texts that a model reads together.
  [[nodiscard]] auto encode_pair(std::string_view a, std::string_view b,
                                 encode_options options = {}) const -> encoding {
    auto first = encode_alone(a);
    auto second = encode_alone(b);
    shorten(first, second, parts_.post.pair, options);
    return fill_template(parts_.post.pair, first, second, options.add_special_tokens);
  }

  /// The text of tokens; ids that there are none of are left out.
  [[nodiscard]] auto decode(std::span<std::uint32_t const> ids, bool skip_special = true) const
      -> std::string {
    if (not parts_.decoding.is_only_bytes())
      return parts_.decoding.text(texts_of(ids, skip_special));
    auto bytes = std::string{};
    for (auto const id : ids) bytes += bytes_of(id, skip_special);
    return detail::repaired_utf8(bytes);
  }

  [[nodiscard]] auto id_of(std::string_view token) const -> std::optional<std::uint32_t> {
    auto const id = names_.find(token);
    return id == detail::no_id ? std::nullopt : std::optional{id};
  }
  /// As the file writes it.
  [[nodiscard]] auto token(std::uint32_t id) const -> std::optional<std::string_view> {
    return names_.contains(id) ? std::optional{names_.text(id)} : std::nullopt;
  }
  [[nodiscard]] auto is_special(std::uint32_t id) const -> bool {
    return id < special_.size() && special_[id];
  }
  /// The bytes that every token stands for, by id, special ones for none: what texts are spelt by.
  ///
  /// Errors  text_error where tokens stand for something else than bytes
  [[nodiscard]] auto token_bytes() const -> std::vector<std::string> {
    if (not parts_.decoding.is_only_bytes())
      throw text_error("token_bytes: expected a tokenizer over bytes");
    auto result = std::vector<std::string>{};
    for (auto id = std::uint32_t{0}; id < vocabulary_size(); ++id)
      result.emplace_back(bytes_of(id, true));
    return result;
  }
  /// One more than the largest id.
  [[nodiscard]] auto vocabulary_size() const -> std::size_t { return names_.size(); }

 private:
  friend class decode_stream;

  [[nodiscard]] auto all_tokens() const -> detail::vocabulary {
    auto texts = std::vector<std::optional<std::string_view>>(parts_.words.size());
    for (auto id = std::size_t{0}; id < texts.size(); ++id)
      if (parts_.words.contains(id)) texts[id] = parts_.words.text(id);
    for (auto const& token : parts_.added) {
      if (token.id >= texts.size()) texts.resize(std::size_t{token.id} + 1);
      auto& text = texts[token.id];
      if (text.value_or(token.text) != token.text)
        throw text_error("added token " + json_text(token.text) + ": its id " +
                         std::to_string(token.id) + " is that of " + json_text(text.value_or("")));
      text = token.text;
    }
    return detail::vocabulary(texts);
  }
  /// An added token as it stands in a text that was changed.
  [[nodiscard]] auto form_of(added_token const& token) const -> std::string {
    detail::expect_utf8(token.text, "added token");
    if (not token.normalized) return token.text;
    auto form = detail::aligned_text(token.text, whole(token.text));
    normalize(form);
    return std::string{form.text()};
  }
  [[nodiscard]] static auto of_text(std::string_view text, text_range range) -> std::string_view {
    return text.substr(range.begin, range.end - range.begin);
  }
  [[nodiscard]] static auto whole(std::string_view text) -> text_range {
    return {0, static_cast<std::uint32_t>(text.size())};
  }
  void normalize(detail::aligned_text& text) const {
    for (auto const& step : parts_.normalizers)
      std::visit([&](auto const& s) { detail::apply(s, text); }, step);
  }

  /// The tokens of one text, without any around them.
  [[nodiscard]] auto encode_alone(std::string_view text) const -> encoding {
    if (text.size() >= detail::no_id)
      throw text_error("encode: expected less than 4 GiB of text, got " +
                       std::to_string(text.size()) + " bytes");
    detail::expect_utf8(text, "encode");
    auto work = workspace(text);
    before_.split(text, work.outer);
    for (auto const& piece : work.outer) {
      if (piece.token != detail::text_piece::no_token)
        put(piece.token, piece.range, [&] { return of_text(text, piece.range); }, work);
      else
        encode_part(text, piece.range, work);
    }
    return std::move(work.result);
  }
  struct workspace {
    explicit workspace(std::string_view text) : count(text), known(text.size()) {
      auto const tokens = text.size() / 4 + 8;  // about as many
      result.ids.reserve(tokens);
      result.offsets.reserve(tokens);
    }

    detail::code_point_counter count;
    detail::word_cache known;
    detail::pieces outer;
    detail::pieces inner;
    detail::pieces words;
    std::vector<detail::token_span> found;
    encoding result;
  };
  void encode_part(std::string_view text, text_range range, workspace& work) const {
    auto part = detail::aligned_text(text, range);
    normalize(part);
    work.inner.clear();
    after_.split(part.text(), work.inner);
    auto const steps = std::span{parts_.pre_tokenizers};
    auto const cuts = [](auto const& step) {
      return std::holds_alternative<detail::split_step>(step);
    };
    for (auto at = steps.begin();;) {
      auto const end = std::find_if_not(at, steps.end(), cuts);
      if (end == steps.end()) {
        auto words = word_blocks{this, &part, &work};
        detail::cut({at, end}, part.text(), work.inner, words);
        words.finish();
        return;
      }
      detail::cut({at, end}, part.text(), work.inner, work.words);
      work.inner.swap(work.words);
      work.words.clear();
      std::visit(
          [&](auto const& step) {
            if constexpr (requires { detail::apply(step, part, work.inner); })
              detail::apply(step, part, work.inner);
          },
          *end);
      at = std::next(end);
    }
  }
  /// Has words encoded many at a time.
  struct word_blocks {
    static constexpr auto most = std::size_t{256};
    tokenizer const* owner;
    detail::aligned_text const* part;
    workspace* work;

    void push_back(detail::text_piece const& word) const {
      work->words.push_back(word);
      if (work->words.size() == most) finish();
    }
    void finish() const {
      owner->encode_words(*part, *work);
      work->words.clear();
    }
  };
  void encode_words(detail::aligned_text const& part, workspace& work) const {
    auto const text = part.text();
    auto const put_found = [&] {
      for (auto const& token : work.found)
        put(token.id, part.source(token.range), [&] { return names_.text(token.id); }, work);
      work.found.clear();
    };
    auto const find = [&](auto const& model, text_range word) {
      work.known.put_tokens(text, word, work.found,
                            [&](auto& to) { model.tokenize(text, word, to); });
    };
    std::visit(
        [&](auto const& model) {
          for (auto const& [range, token] : work.words) {
            if (token != detail::text_piece::no_token) {
              put_found();
              put(token, part.source(range), [&] { return of_text(text, range); }, work);
            } else if constexpr (requires { model.for_each_part(text, range, [](auto) {}); }) {
              model.for_each_part(text, range, [&](text_range word) { find(model, word); });
            } else {
              find(model, range);
            }
          }
        },
        parts_.model);
    put_found();
  }
  void put(std::uint32_t id, text_range source, auto const& token, workspace& work) const {
    auto const& post = parts_.post;
    auto range = work.count.of(source);
    if (post.trims_spaces) {
      auto const first = work.result.ids.empty() || range.begin == 0;
      range = trimmed(range, detail::spaces_of_token(token()), first && post.keeps_first_space);
    }
    work.result.ids.push_back(id);
    work.result.offsets.push_back(range);
  }

  /// Cuts the longer text until all fits.
  static void shorten(encoding& first, encoding& second,
                      std::vector<detail::template_piece> const& places, encode_options options) {
    if (options.longest == 0) return;
    auto added = std::size_t{0};
    for (auto const& place : places) added += options.add_special_tokens ? place.ids.size() : 0;
    if (added > options.longest)
      throw text_error("encode: at most " + std::to_string(options.longest) +
                       " tokens are asked for, " + std::to_string(added) +
                       " are added to any text");
    auto const room = options.longest - added;
    auto const cut = [](encoding& text, std::size_t size) {
      text.ids.resize(std::min(size, text.size()));
      text.offsets.resize(text.size());
    };
    auto const shorter = std::min(first.size(), second.size());
    if (first.size() + second.size() <= room) return;
    auto const least = std::min(shorter, room / 2);
    if (first.size() <= second.size()) {
      cut(first, least);
      cut(second, room - first.size());
    } else {
      cut(second, least);
      cut(first, room - second.size());
    }
  }

  [[nodiscard]] auto texts_of(std::span<std::uint32_t const> ids, bool skip_special) const
      -> detail::token_texts {
    auto texts = detail::token_texts{};
    for (auto const id : ids)
      if (names_.contains(id) && not(skip_special && special_[id]))
        texts.emplace_back(names_.text(id));
    return texts;
  }
  [[nodiscard]] auto bytes_of(std::uint32_t id, bool skip_special) const -> std::string_view {
    if (not names_.contains(id) || (skip_special && special_[id])) return {};
    return bytes_[id];
  }

  detail::tokenizer_parts parts_;
  detail::vocabulary names_;  ///< of the model and added ones
  std::vector<bool> special_;
  detail::string_list bytes_;  ///< of each token, where decoding is only these
  detail::added_token_finder before_;
  detail::added_token_finder after_;
};

}  // namespace tessera
