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

/// Strings by their bytes, from the first one on. What follows the same bytes lies together.
///
/// Cost  13 bytes for each beginning of a string
class byte_trie {
 public:
  using entry = std::pair<std::string_view, std::uint32_t>;

  byte_trie() = default;
  /// Strings that are not empty and their values, of equal ones the smallest.
  explicit byte_trie(std::vector<entry> strings) {
    std::ranges::sort(strings);
    nodes_.push_back({});
    bytes_.push_back(0);
    // The strings through each node: from one number on, how many, and how long the beginning is.
    struct bunch {
      std::size_t begin, end, depth;
    };
    auto bunches = std::vector<bunch>{{0, strings.size(), 0}};
    for (auto node = std::size_t{0}; node < bunches.size(); ++node) {
      auto [begin, end, depth] = bunches[node];
      for (; begin < end && strings[begin].first.size() == depth; ++begin)
        nodes_[node].value = std::min(nodes_[node].value, strings[begin].second);
      nodes_[node].children = static_cast<std::uint32_t>(nodes_.size());
      while (begin < end) {
        auto const byte = byte_at(strings[begin].first, depth);
        auto const first = begin;
        while (begin < end && byte_at(strings[begin].first, depth) == byte) ++begin;
        bunches.push_back({first, begin, depth + 1});
        nodes_.push_back({});
        bytes_.push_back(byte);
        if (node == 0) first_[byte] = static_cast<std::uint32_t>(nodes_.size() - 1);
      }
      nodes_[node].count = static_cast<std::uint32_t>(nodes_.size()) - nodes_[node].children;
    }
  }
  [[nodiscard]] auto may_begin(char c) const -> bool {
    return first_[static_cast<unsigned char>(c)] != 0;
  }
  /// Calls found(length, value) for each string that the text begins with, the shorter first.
  void for_each_prefix(std::string_view text, auto const& found) const {
    if (text.empty()) return;
    auto node = first_[byte_at(text, 0)];
    for (auto i = std::size_t{1}; node != 0; ++i) {
      if (nodes_[node].value != no_id) found(static_cast<std::uint32_t>(i), nodes_[node].value);
      if (i == text.size()) return;
      node = child(nodes_[node], byte_at(text, i));
    }
  }

 private:
  struct node_type {
    std::uint32_t children = 0;  // the number of the first one
    std::uint32_t count = 0;
    std::uint32_t value = no_id;
  };
  /// Its number, or 0.
  [[nodiscard]] auto child(node_type const& of, unsigned char byte) const -> std::uint32_t {
    auto const* const bytes = bytes_.data() + of.children;
    if (of.count > 8) {
      auto const* const at = std::memchr(bytes, byte, of.count);
      return at == nullptr
                 ? 0
                 : of.children +
                       static_cast<std::uint32_t>(static_cast<unsigned char const*>(at) - bytes);
    }
    for (auto i = std::uint32_t{0}; i < of.count; ++i)
      if (bytes[i] == byte) return of.children + i;
    return 0;
  }

  std::vector<node_type> nodes_;
  std::vector<unsigned char> bytes_;  // by which each is reached
  std::array<std::uint32_t, 256> first_{};
};

/// Finds added tokens in a text, the leftmost and of these the longest.
class added_token_finder {
 public:
  added_token_finder() = default;
  /// `texts` are the tokens' as they stand in what is searched.
  added_token_finder(std::vector<added_token> tokens, std::vector<std::string> const& texts)
      : tokens_(std::move(tokens)) {
    auto strings = std::vector<byte_trie::entry>{};
    for (auto i = std::size_t{0}; i < texts.size(); ++i)
      if (not texts[i].empty()) strings.emplace_back(texts[i], static_cast<std::uint32_t>(i));
    trie_ = byte_trie(std::move(strings));
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
      if (range.begin >= range.end) continue;  // blanks that the one before has taken
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
