// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/aligned_text.hpp>
#include <tessera/text/tokenizer/bpe_merges.hpp>

namespace tessera {

/// How a model of byte pairs takes words apart besides its merges.
struct bpe_options {
  std::string unknown;             ///< token for what has none; nothing: it is left out
  std::string continuing_prefix;   ///< before every code point of a word but the first
  std::string end_of_word;         ///< after the last one
  bool fuse_unknown = false;       ///< neighbours that have no token are one unknown
  bool byte_fallback = false;      ///< what has no token is taken by its bytes, "<0x0A>"
  bool whole_words_first = false;  ///< a word that is a token is not built by merges
  bool letters_are_bytes = false;  ///< words come as bytes, the vocabulary writes `byte_letters`
};

namespace detail {

/// A token and the part of a text that it stands for.
struct token_span {
  std::uint32_t id;
  text_range range;
};

/// The token of a byte, "<0x0A>", in a vocabulary that is not made of bytes.
[[nodiscard]] inline auto byte_token(std::size_t byte) -> std::string {
  constexpr auto digits = std::string_view{"0123456789ABCDEF"};
  return {'<', '0', 'x', digits[byte >> 4U], digits[byte & 15U], '>'};
}

/// Byte pair encoding: the code points, or bytes, of a word are joined by the merge of the lowest
/// rank, the leftmost first, until there is none.
///
/// Cost    a word that is a token which its merges build is one look-up
/// Source  Sennrich, Haddow, Birch: Neural Machine Translation of Rare Words with Subword Units
class bpe_model {
 public:
  using merge = std::pair<std::string_view, std::string_view>;

  /// Errors  text_error where a merge, or the unknown token, is not in the vocabulary
  bpe_model(vocabulary const& words, std::vector<merge> const& merges, bpe_options options)
      : options_(std::move(options)), merges_(merges.size()) {
    for (auto rank = std::size_t{0}; rank < merges.size(); ++rank)
      add_merge(words, merges[rank], rank);
    if (not options_.unknown.empty()) unknown_ = expect_token(words, options_.unknown, "unk_token");
    for (auto b = std::size_t{0}; b < 256; ++b) {
      auto letter = std::string{};
      append_code_point(letter, byte_letters[b]);
      bytes_[b] = words.find(options_.letters_are_bytes ? letter : byte_token(b));
    }
    find_whole_words(words);
    find_joints(words, merges);
  }

  /// Calls part(range) for parts of a long word that have the tokens of the whole: no merge joins
  /// what is before a cut to what is behind it.
  void for_each_part(std::string_view text, text_range word, auto const& part) const {
    auto begin = word.begin;
    auto before = char32_t{0};
    for (auto at = begin; can_cut_ && word.end - word.begin > bpe_merges::few && at < word.end;) {
      auto const c = code_point_at(text, at);
      if (at > begin && not joints_.has(before, c.value) &&
          symbol_index_.find(symbols_, text.substr(at, c.bytes)) != no_id) {
        part(text_range{begin, at});
        begin = at;
      }
      before = c.value;
      at += c.bytes;
    }
    part(text_range{begin, word.end});
  }
  /// Appends the tokens of the word that is the part `range` of `text`.
  void tokenize(std::string_view text, text_range range, std::vector<token_span>& to) const {
    auto const word = text.substr(range.begin, range.end - range.begin);
    if (auto const whole = whole_words_.find(symbols_, word); whole != no_id) {
      to.push_back({whole, range});
      return;
    }
    merge_word(word, range.begin, to);
  }

 private:
  /// Letters without a token that follow each other: one unknown token, or one for each.
  class unknown_run {
   public:
    unknown_run(std::vector<symbol>& to, std::uint32_t id, bool fused)
        : to_(&to), id_(id), fused_(fused) {}

    void add(std::uint32_t length) {
      if (id_ == no_id) return;
      if (not fused_) finish();
      length_ += length;
    }
    void finish() {
      if (length_ > 0) to_->push_back({id_, length_});
      length_ = 0;
    }

   private:
    std::vector<symbol>* to_;
    std::uint32_t id_;
    bool fused_;
    std::uint32_t length_ = 0;
  };

  [[nodiscard]] static auto expect_token(vocabulary const& words, std::string_view text,
                                         std::string const& what) -> std::uint32_t {
    auto const id = words.find(text);
    if (id == no_id) throw text_error(what + ": " + json_text(text) + " is not in the vocabulary");
    return id;
  }
  void add_merge(vocabulary const& words, merge const& pair, std::size_t rank) {
    auto const what = "merge " + std::to_string(rank);
    auto const a = expect_token(words, pair.first, what);
    auto const b = expect_token(words, pair.second, what);
    auto joined = std::string{pair.first};
    joined += pair.second.substr(std::min(options_.continuing_prefix.size(), pair.second.size()));
    merges_.insert(a, b, rank, expect_token(words, joined, what));
  }
  /// The tokens by what words are made of, and those among them that a word alone gives.
  void find_whole_words(vocabulary const& words) {
    auto const prefix_or_end =
        not options_.continuing_prefix.empty() || not options_.end_of_word.empty();
    auto known = std::vector<bool>(words.size());
    auto const put = [&](std::size_t id, std::string_view bytes) {
      known[id] = words.contains(id) && not bytes.empty();
      symbols_.push_back(known[id] ? bytes : std::string_view{});
    };
    for (auto id = std::size_t{0}; id < words.size(); ++id) {
      if (options_.letters_are_bytes)
        put(id, bytes_of_letters(words.text(id)).value_or(std::string{}));
      else
        put(id, words.text(id));
    }
    symbol_index_ = string_index(symbols_.size());
    for (auto id = std::uint32_t{0}; id < known.size(); ++id)
      if (known[id]) symbol_index_.insert(symbols_, id);
    auto whole = string_index(symbols_.size());
    auto found = std::vector<token_span>{};
    for (auto id = std::uint32_t{0}; id < known.size(); ++id) {
      if (not known[id]) continue;
      auto is_whole = options_.whole_words_first;
      if (not is_whole && not prefix_or_end && symbols_[id].size() <= longest_checked) {
        found.clear();
        merge_word(symbols_[id], 0, found);
        is_whole = found.size() == 1 && found[0].id == id;
      }
      if (is_whole) whole.insert(symbols_, id);
    }
    whole_words_ = std::move(whole);
  }
  static constexpr auto longest_checked = std::size_t{256};

  /// The neighbours that a merge may join. There is no cutting where a word counts as a whole, or
  /// where a merge is of a token that stands for other text than its own.
  void find_joints(vocabulary const& words, std::vector<merge> const& merges) {
    auto const has_bytes =
        options_.byte_fallback && std::ranges::find(bytes_, no_id) == bytes_.end();
    can_cut_ = not options_.whole_words_first && not options_.letters_are_bytes &&
               options_.continuing_prefix.empty() && options_.end_of_word.empty() &&
               (unknown_ != no_id || has_bytes);
    joints_ = pair_table(can_cut_ ? merges.size() : 0);
    auto const is_other = [&](std::string_view token) {
      auto const id = words.find(token);
      return id == unknown_ || std::ranges::find(bytes_, id) != bytes_.end();
    };
    for (auto const& [a, b] : merges) {
      can_cut_ = can_cut_ && not a.empty() && not b.empty() && not is_other(a) && not is_other(b);
      if (not can_cut_) return;
      joints_.insert(code_point_before(a, a.size()).value, code_point_at(b, 0).value, 0);
    }
  }
  void merge_word(std::string_view word, std::uint32_t begin, std::vector<token_span>& to) const {
    if (options_.letters_are_bytes) {
      merge_bytes(word, begin, to);
      return;
    }
    auto symbols = std::vector<symbol>{};
    symbols.reserve(word.size());
    symbols_of(word, symbols);
    append(std::span{symbols}.first(merges_.apply(symbols)), begin, to);
  }
  void merge_bytes(std::string_view word, std::uint32_t begin, std::vector<token_span>& to) const {
    auto small = std::array<symbol, bpe_merges::few>{};
    auto large = std::vector<symbol>(word.size() > small.size() ? word.size() : 0);
    auto const symbols = large.empty() ? std::span{small}.first(word.size()) : std::span{large};
    auto lacks = false;
    for (auto i = std::size_t{0}; i < word.size(); ++i) {
      symbols[i] = {bytes_[byte_at(word, i)], 1};
      lacks |= symbols[i].id == no_id;
    }
    if (lacks)
      merge_letters(word, begin, to);
    else
      append(symbols.first(merges_.apply(symbols)), begin, to);
  }
  /// A word of bytes some of which have no token, through the letters of which the vocabulary has
  /// it: where such a letter is left out, its place is that of the next one.
  void merge_letters(std::string_view word, std::uint32_t begin,
                     std::vector<token_span>& to) const {
    auto symbols = std::vector<symbol>{};
    auto places = std::vector<std::uint32_t>{};  // of bytes, for each byte of the letters
    auto unknown = unknown_run(symbols, unknown_, options_.fuse_unknown);
    for (auto i = std::uint32_t{0}; i < word.size(); ++i) {
      auto const byte = byte_at(word, i);
      auto const length = byte_letters[byte] < 0x80 ? 1U : 2U;
      places.insert(places.end(), length, begin + i);
      if (bytes_[byte] == no_id) {
        unknown.add(length);
        continue;
      }
      unknown.finish();
      symbols.push_back({bytes_[byte], length});
    }
    unknown.finish();
    auto const first = to.size();
    append(std::span{symbols}.first(merges_.apply(symbols)), 0, to);
    for (auto& token : std::span{to}.subspan(first))
      token.range = {places[token.range.begin], places[token.range.end - 1] + 1};
  }
  static void append(std::span<symbol const> symbols, std::uint32_t begin,
                     std::vector<token_span>& to) {
    for (auto const& s : symbols) {
      to.push_back({s.id, {begin, begin + s.length}});
      begin += s.length;
    }
  }
  /// The first symbols of a word by code points, with unknown ones and bytes in their place.
  void symbols_of(std::string_view word, std::vector<symbol>& to) const {
    auto unknown = unknown_run(to, unknown_, options_.fuse_unknown);
    auto affixed = std::string{};
    for (auto at = std::uint32_t{0}; at < word.size();) {
      auto const bytes = code_point_at(word, at).bytes;
      auto letter = word.substr(at, bytes);
      auto const first = at == 0;
      at += bytes;
      auto const last = at == word.size();
      if ((not first && not options_.continuing_prefix.empty()) ||
          (last && not options_.end_of_word.empty())) {
        affixed = first ? std::string{} : options_.continuing_prefix;
        affixed += letter;
        if (last) affixed += options_.end_of_word;
        letter = affixed;
      }
      if (auto const id = symbol_index_.find(symbols_, letter); id != no_id) {
        unknown.finish();
        to.push_back({id, bytes});
      } else if (not put_bytes(letter, to)) {
        unknown.add(bytes);
      }
    }
    unknown.finish();
  }
  [[nodiscard]] auto put_bytes(std::string_view letter, std::vector<symbol>& to) const -> bool {
    if (not options_.byte_fallback) return false;
    for (auto const c : letter)
      if (bytes_[static_cast<unsigned char>(c)] == no_id) return false;
    for (auto const c : letter) to.push_back({bytes_[static_cast<unsigned char>(c)], 1});
    return true;
  }

  bpe_options options_;
  bpe_merges merges_;
  std::uint32_t unknown_ = no_id;
  std::array<std::uint32_t, 256> bytes_{};
  string_list symbols_;
  string_index symbol_index_;
  string_index whole_words_;
  bool can_cut_ = false;
  pair_table joints_;  // of code points
};

}  // namespace detail
}  // namespace tessera
