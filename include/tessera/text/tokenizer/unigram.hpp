// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/added_tokens.hpp>
#include <tessera/text/tokenizer/bpe.hpp>

namespace tessera::detail {

/// A unigram language model: the tokens whose scores have the largest sum, by Viterbi's algorithm.
///
/// Cost    for each code point as many steps as the longest token has bytes; 16 bytes for each byte
/// Source  Kudo: Subword Regularization; ties and unknown code points as in Hugging Face's
/// tokenizers
class unigram_model {
 public:
  /// `scores` by id; `unknown` is an id, or no_id.
  unigram_model(vocabulary const& words, std::vector<double> scores, std::uint32_t unknown,
                bool byte_fallback)
      : scores_(std::move(scores)), unknown_(unknown) {
    auto strings = std::vector<byte_trie::entry>{};
    for (auto id = std::uint32_t{0}; id < words.size(); ++id)
      if (not words.text(id).empty()) strings.emplace_back(words.text(id), id);
    trie_ = byte_trie(std::move(strings));
    auto least = std::numeric_limits<double>::infinity();
    for (auto const score : scores_) least = std::min(least, score);
    unknown_score_ = least - 10;
    bytes_.fill(no_id);
    for (auto b = std::size_t{0}; byte_fallback && b < 256; ++b)
      bytes_[b] = words.find(byte_token(b));
  }

  /// Errors  text_error for a code point that is no token where there is no unknown token
  void tokenize(std::string_view text, text_range range, std::vector<token_span>& to) const {
    auto const word = text.substr(range.begin, range.end - range.begin);
    auto small = std::array<path_end, 64>{};
    auto large = std::vector<path_end>(word.size() < small.size() ? 0 : word.size() + 1);
    auto const ends = large.empty() ? std::span{small}.first(word.size() + 1) : std::span{large};
    find_best_ends(word, ends);
    auto const begin = to.size();
    for (auto end = static_cast<std::uint32_t>(word.size()); end > 0;) {
      auto const& best = ends[end];
      auto const joins = best.id == unknown_ && to.size() > begin && to.back().id == unknown_;
      if (joins)
        to.back().range.begin = range.begin + best.begin;
      else
        to.push_back({best.id, {range.begin + best.begin, range.begin + end}});
      end = best.begin;
    }
    std::reverse(to.begin() + static_cast<std::ptrdiff_t>(begin), to.end());
    if (unknown_ != no_id) replace_unknown(text, begin, to);
  }

 private:
  struct path_end {
    double score = 0;
    std::uint32_t id = 0;
    std::uint32_t begin = no_id;
  };
  /// For each end of a token, the last token of the best path to it.
  void find_best_ends(std::string_view word, std::span<path_end> ends) const {
    for (auto at = std::uint32_t{0}; at < word.size();) {
      auto const bytes = code_point_at(word, at).bytes;
      auto is_known = false;
      auto const offer = [&](std::uint32_t length, std::uint32_t id, double own) {
        auto const score = ends[at].score + own;
        auto& end = ends[at + length];
        if (end.begin == no_id || score > end.score) end = {score, id, at};
      };
      trie_.for_each_prefix(word.substr(at), [&](std::uint32_t length, std::uint32_t id) {
        offer(length, id, scores_[id]);
        is_known = is_known || length == bytes;
      });
      if (not is_known) {
        if (unknown_ == no_id)
          throw text_error(json_text(word.substr(at, bytes)) +
                           " is not in the vocabulary, which has no unknown token");
        offer(bytes, unknown_, unknown_score_);
      }
      at += bytes;
    }
  }
  /// Unknown parts by the token of that text, or by bytes, where the vocabulary has them.
  void replace_unknown(std::string_view text, std::size_t begin,
                       std::vector<token_span>& tokens) const {
    auto const is_unknown = [&](token_span const& t) { return t.id == unknown_; };
    auto const first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    if (std::none_of(first, tokens.end(), is_unknown)) return;
    auto const found = std::vector<token_span>(first, tokens.end());
    tokens.resize(begin);
    for (auto const& t : found) {
      auto const part = text.substr(t.range.begin, t.range.end - t.range.begin);
      auto const has_bytes = std::ranges::all_of(
          part, [&](char c) { return bytes_[static_cast<unsigned char>(c)] != no_id; });
      auto known = no_id;
      if (is_unknown(t))
        trie_.for_each_prefix(part, [&](std::uint32_t length, std::uint32_t id) {
          if (length == part.size()) known = id;
        });
      if (known != no_id || not is_unknown(t) || not has_bytes) {
        tokens.push_back({known != no_id ? known : t.id, t.range});
        continue;
      }
      for (auto const c : part) tokens.push_back({bytes_[static_cast<unsigned char>(c)], t.range});
    }
  }

  std::vector<double> scores_;
  std::uint32_t unknown_;
  double unknown_score_ = 0;
  byte_trie trie_;
  std::array<std::uint32_t, 256> bytes_{};
};

}  // namespace tessera::detail
