// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/aligned_text.hpp>
#include <tessera/text/tokenizer/vocabulary.hpp>

#include <queue>

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
/// Cost    a word that is a token which its merges build is one look-up; others take n^2 steps up
/// to
///         64 symbols and n log n above
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
  struct symbol {
    std::uint32_t id;
    std::uint32_t length;
  };
  static constexpr auto few = std::size_t{64};

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
    merges_.insert(a, b, std::uint64_t{rank} << 32U | expect_token(words, joined, what));
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

  void merge_word(std::string_view word, std::uint32_t begin, std::vector<token_span>& to) const {
    if (options_.letters_are_bytes && word.size() <= few) {
      merge_few_bytes(word, begin, to);
      return;
    }
    auto symbols = std::vector<symbol>{};
    symbols.reserve(word.size());
    if (options_.letters_are_bytes)
      for (auto const c : word) symbols.push_back({bytes_[static_cast<unsigned char>(c)], 1});
    else
      symbols_of(word, symbols);
    if (symbols.size() > few) {
      merge_many(symbols);
      append(symbols, begin, to);
      return;
    }
    auto few_symbols = std::array<symbol, few>{};
    std::ranges::copy(symbols, few_symbols.begin());
    append({few_symbols.data(), merge_few(few_symbols, symbols.size())}, begin, to);
  }
  void merge_few_bytes(std::string_view word, std::uint32_t begin,
                       std::vector<token_span>& to) const {
    auto symbols = std::array<symbol, few>{};
    for (auto i = std::size_t{0}; i < word.size(); ++i) symbols[i] = {bytes_[byte_at(word, i)], 1};
    append({symbols.data(), merge_few(symbols, word.size())}, begin, to);
  }
  static void append(std::span<symbol const> symbols, std::uint32_t begin,
                     std::vector<token_span>& to) {
    for (auto const& s : symbols) {
      if (s.length == 0) continue;
      to.push_back({s.id, {begin, begin + s.length}});
      begin += s.length;
    }
  }
  /// The first symbols of a word by code points, with unknown ones and bytes in their place.
  void symbols_of(std::string_view word, std::vector<symbol>& to) const {
    auto pending = symbol{no_id, 0};
    auto const put_pending = [&] {
      if (pending.length > 0) to.push_back(pending);
      pending = {no_id, 0};
    };
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
        put_pending();
        to.push_back({id, bytes});
      } else if (not put_bytes(letter, to) && unknown_ != no_id) {
        if (not options_.fuse_unknown) put_pending();
        pending = {unknown_, pending.length + bytes};
      }
    }
    put_pending();
  }
  [[nodiscard]] auto put_bytes(std::string_view letter, std::vector<symbol>& to) const -> bool {
    if (not options_.byte_fallback) return false;
    for (auto const c : letter)
      if (bytes_[static_cast<unsigned char>(c)] == no_id) return false;
    for (auto const c : letter) to.push_back({bytes_[static_cast<unsigned char>(c)], 1});
    return true;
  }

  /// The rank of the merge of two neighbours and what it gives; the largest number where none is.
  [[nodiscard]] auto merge_of(symbol a, symbol b) const -> std::uint64_t {
    return merges_.find(a.id, b.id);
  }
  /// How many symbols are left.
  [[nodiscard]] auto merge_few(std::array<symbol, few>& s, std::size_t n) const -> std::size_t {
    auto merges = std::array<std::uint64_t, few>{};
    for (auto i = std::size_t{0}; i + 1 < n; ++i) merges[i] = merge_of(s[i], s[i + 1]);
    while (n > 1) {
      auto best = std::size_t{0};
      for (auto i = std::size_t{1}; i + 1 < n; ++i)
        if (merges[i] < merges[best]) best = i;
      if (merges[best] == pair_table::none) break;
      s[best] = {static_cast<std::uint32_t>(merges[best]), s[best].length + s[best + 1].length};
      for (auto i = best + 1; i + 1 < n; ++i) {
        s[i] = s[i + 1];
        merges[i] = merges[i + 1];
      }
      --n;
      if (best > 0) merges[best - 1] = merge_of(s[best - 1], s[best]);
      if (best + 1 < n) merges[best] = merge_of(s[best], s[best + 1]);
    }
    return n;
  }
  /// Symbols that were joined to one before them have no length afterwards.
  void merge_many(std::vector<symbol>& s) const {
    struct candidate {
      std::uint64_t joins;
      std::uint32_t at;
      std::uint32_t length;  // of both: another one where a neighbour has grown
      auto operator>(candidate const& b) const -> bool {
        return std::pair{joins >> 32U, at} > std::pair{b.joins >> 32U, b.at};
      }
    };
    auto const n = static_cast<std::uint32_t>(s.size());
    auto next = std::vector<std::uint32_t>(n);
    auto before = std::vector<std::uint32_t>(n);
    auto queue = std::priority_queue<candidate, std::vector<candidate>, std::greater<>>{};
    auto const offer = [&](std::uint32_t a, std::uint32_t b) {
      auto const joins = merge_of(s[a], s[b]);
      if (joins != pair_table::none) queue.push({joins, a, s[a].length + s[b].length});
    };
    for (auto i = std::uint32_t{0}; i < n; ++i) {
      next[i] = i + 1;
      before[i] = i - 1;
      if (i > 0) offer(i - 1, i);
    }
    for (; not queue.empty();) {
      auto const best = queue.top();
      queue.pop();
      auto const a = best.at;
      auto const b = next[a];
      if (s[a].length == 0 || b == n || s[a].length + s[b].length != best.length) continue;
      s[a] = {static_cast<std::uint32_t>(best.joins), best.length};
      s[b].length = 0;
      next[a] = next[b];
      if (next[a] < n) {
        before[next[a]] = a;
        offer(a, next[a]);
      }
      if (before[a] < n) offer(before[a], a);
    }
  }

  bpe_options options_;
  pair_table merges_;
  std::uint32_t unknown_ = no_id;
  std::array<std::uint32_t, 256> bytes_{};
  string_list symbols_;
  string_index symbol_index_;
  string_index whole_words_;
};

}  // namespace detail
}  // namespace tessera
