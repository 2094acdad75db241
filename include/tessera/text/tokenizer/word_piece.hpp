// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/bpe.hpp>

namespace tessera {

struct word_piece_options {
  std::string unknown = "[UNK]";         ///< a word that cannot be taken apart
  std::string continuing_prefix = "##";  ///< of tokens that go on with a word
  std::size_t longest_word = 100;        ///< code points; a longer one is unknown
};

namespace detail {

/// WordPiece: the longest token that a word begins with, then the longest that goes on with it.
///
/// Cost    a look-up for each length that is tried, at most the longest token's
/// Source  Devlin et al.: BERT
class word_piece_model {
 public:
  /// Errors  text_error where the unknown token is not in the vocabulary
  word_piece_model(vocabulary const& words, word_piece_options options)
      : options_(std::move(options)), unknown_(words.find(options_.unknown)) {
    if (unknown_ == no_id)
      throw text_error("unk_token: " + json_text(options_.unknown) + " is not in the vocabulary");
    auto begins = [&](std::size_t id) {
      return words.text(id).starts_with(options_.continuing_prefix);
    };
    first_index_ = string_index(words.size());
    next_index_ = string_index(words.size());
    for (auto id = std::size_t{0}; id < words.size(); ++id) {
      first_.push_back(words.text(id));
      next_.push_back(begins(id) ? words.text(id).substr(options_.continuing_prefix.size())
                                 : std::string_view{});
    }
    for (auto id = std::uint32_t{0}; id < words.size(); ++id) {
      if (not words.contains(id)) continue;
      longest_token_ = std::max(longest_token_, words.text(id).size());
      first_index_.insert(first_, id);
      if (begins(id)) next_index_.insert(next_, id);
    }
  }

  void tokenize(std::string_view text, text_range range, std::vector<token_span>& to) const {
    auto const word = text.substr(range.begin, range.end - range.begin);
    auto const before = to.size();
    auto ok = not is_too_long(word);
    for (auto at = range.begin; ok && at < range.end;) {
      auto const token = longest(text, {at, range.end}, at == range.begin);
      ok = token.id != no_id;
      to.push_back(token);
      at = token.range.end;
    }
    if (ok) return;
    to.resize(before);
    to.push_back({unknown_, range});
  }

 private:
  [[nodiscard]] auto is_too_long(std::string_view word) const -> bool {
    if (word.size() <= options_.longest_word) return false;
    auto count = std::size_t{0};
    for (auto const c : word) count += continues(c) ? 0 : 1;
    return count > options_.longest_word;
  }
  [[nodiscard]] auto longest(std::string_view text, text_range range, bool first) const
      -> token_span {
    if (range.end - range.begin > longest_token_) {
      range.end = range.begin + static_cast<std::uint32_t>(longest_token_);
      while (range.end > range.begin && continues(text[range.end])) --range.end;
    }
    while (range.begin < range.end) {
      auto const part = text.substr(range.begin, range.end - range.begin);
      auto const id = first ? first_index_.find(first_, part) : next_index_.find(next_, part);
      if (id != no_id) return {id, range};
      range.end -= code_point_before(text, range.end).bytes;
    }
    return {no_id, range};
  }

  word_piece_options options_;
  std::uint32_t unknown_;
  std::size_t longest_token_ = 0;
  string_list first_;
  string_list next_;  // without their prefix
  string_index first_index_;
  string_index next_index_;
};

}  // namespace detail
}  // namespace tessera
