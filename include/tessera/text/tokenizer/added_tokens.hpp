// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/pre_tokenizer.hpp>

namespace tessera {

/// A token that is found in the text itself, before a model sees it.
struct added_token {
  std::string text;
  std::uint32_t id = 0;
  bool single_word = false;  ///< not inside of a word
  bool left_strip = false;   ///< takes the whitespace before it, too
  bool right_strip = false;
  bool normalized = true;  ///< found after the text was changed
  bool special = false;    ///< left out of decoded text on request
};

namespace detail {

/// Strings by their bytes, from the first one on.
class byte_trie {
 public:
  byte_trie() = default;
  /// `bytes` in all strings together.
  explicit byte_trie(std::size_t bytes) : children_(bytes), values_(1, no_id) {}

  /// Of equal strings the first one counts.
  void insert(std::string_view text, std::uint32_t value) {
    auto node = std::uint32_t{0};
    for (auto const c : text) {
      auto const byte = static_cast<unsigned char>(c);
      auto next = children_.find(node, byte);
      if (next == pair_table::none) {
        next = values_.size();
        children_.insert(node, byte, next);
        values_.push_back(no_id);
      }
      node = static_cast<std::uint32_t>(next);
    }
    if (not text.empty()) first_[byte_at(text, 0)] = true;
    if (values_[node] == no_id) values_[node] = value;
  }
  [[nodiscard]] auto may_begin(char c) const -> bool {
    return first_[static_cast<unsigned char>(c)];
  }
  /// Calls found(length, value) for each string that the text begins with, the shorter first.
  void for_each_prefix(std::string_view text, auto const& found) const {
    auto node = std::uint64_t{0};
    for (auto i = std::size_t{0}; i < text.size(); ++i) {
      node = children_.find(static_cast<std::uint32_t>(node), byte_at(text, i));
      if (node == pair_table::none) return;
      if (values_[node] != no_id) found(static_cast<std::uint32_t>(i + 1), values_[node]);
    }
  }

 private:
  pair_table children_;
  std::vector<std::uint32_t> values_;
  std::array<bool, 256> first_{};
};

/// Finds added tokens in a text, the leftmost and of these the longest.
class added_token_finder {
 public:
  added_token_finder() = default;
  /// `texts` are the tokens' as they stand in what is searched.
  added_token_finder(std::vector<added_token> tokens, std::vector<std::string> const& texts)
      : tokens_(std::move(tokens)) {
    auto bytes = std::size_t{0};
    for (auto const& text : texts) bytes += text.size();
    trie_ = byte_trie(bytes);
    for (auto i = std::size_t{0}; i < texts.size(); ++i)
      if (not texts[i].empty()) trie_.insert(texts[i], static_cast<std::uint32_t>(i));
  }

  /// The tokens in the text and what lies between them.
  void split(std::string_view text, pieces& to) const {
    auto const size = static_cast<std::uint32_t>(text.size());
    auto begin = std::uint32_t{0};  // of what is no token
    for (auto at = std::uint32_t{0}; at < size && not tokens_.empty();) {
      auto length = std::uint32_t{0};
      auto which = no_id;
      if (trie_.may_begin(text[at]))
        trie_.for_each_prefix(text.substr(at), [&](std::uint32_t n, std::uint32_t token) {
          length = n;
          which = token;
        });
      if (which == no_id) {
        ++at;
        continue;
      }
      auto const match = text_range{at, at + length};
      at = match.end;
      auto const& token = tokens_[which];
      if (token.single_word && not stands_alone(text, match)) continue;
      auto const range = stripped(text, match, token, begin);
      if (begin < range.begin) to.push_back({{begin, range.begin}});
      to.push_back({range, token.id});
      begin = range.end;
    }
    if (begin < size) to.push_back({{begin, size}});
  }

 private:
  [[nodiscard]] static auto stands_alone(std::string_view text, text_range match) -> bool {
    auto const before = match.begin > 0 && is_word(code_point_before(text, match.begin).value);
    auto const after = match.end < text.size() && is_word(code_point_at(text, match.end).value);
    return not before && not after;
  }
  [[nodiscard]] static auto stripped(std::string_view text, text_range match,
                                     added_token const& token, std::uint32_t least) -> text_range {
    while (token.left_strip && match.begin > 0) {
      auto const c = code_point_before(text, match.begin);
      if (not is_space(c.value)) break;
      match.begin -= c.bytes;
    }
    if (token.left_strip) match.begin = std::max(match.begin, least);
    while (token.right_strip && match.end < text.size()) {
      auto const c = code_point_at(text, match.end);
      if (not is_space(c.value)) break;
      match.end += c.bytes;
    }
    return match;
  }

  std::vector<added_token> tokens_;
  byte_trie trie_;
};

}  // namespace detail
}  // namespace tessera
