// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/regex.hpp>
#include <tessera/text/tokenizer/vocabulary.hpp>

#include <variant>

/// What makes text of tokens, one step after another.
namespace tessera::detail {

struct bytes_of_tokens {};  ///< letters are bytes, which are UTF-8 together
struct bytes_by_name {};    ///< "<0x0A>" is a byte
struct join_tokens {};      ///< all are one
struct word_pieces_joined {
  std::string prefix = "##";
  bool cleanup = true;  ///< no space before punctuation and English contractions
};
struct letter_as_space {
  std::string letter;
  bool drop_in_first = true;  ///< the letters of the first token are left out
};
struct end_of_word_as_space {
  std::string suffix = "</w>";
};
struct replace_in_tokens {
  std::string text;
  std::string with;
};
struct replace_matches_in_tokens {
  regex pattern;
  std::string with;
};
/// Up to `start` times `letter` at the begin, and `stop` times at the end.
struct strip_letter {
  std::string letter;
  std::size_t start = 0;
  std::size_t stop = 0;
};

using decoder_step =
    std::variant<bytes_of_tokens, bytes_by_name, join_tokens, word_pieces_joined, letter_as_space,
                 end_of_word_as_space, replace_in_tokens, replace_matches_in_tokens, strip_letter>;
using token_texts = std::vector<std::string>;

/// Which tokens are decoded: those that a text begins with, those that it ends with.
struct decoded_part {
  bool first = true;
  bool last = true;
};

inline void replace_all(std::string& text, std::string_view what, std::string_view with) {
  if (what.empty() || text.find(what) == std::string::npos) return;
  auto result = std::string{};
  auto at = std::size_t{0};
  for (auto found = text.find(what); found != std::string::npos; found = text.find(what, at)) {
    result.append(text, at, found - at).append(with);
    at = found + what.size();
  }
  text = result.append(text, at);
}

inline void decode(bytes_of_tokens, token_texts& tokens, decoded_part) {
  auto bytes = std::string{};
  for (auto const& token : tokens) bytes += bytes_of_letters(token).value_or(token);
  tokens.assign(1, repaired_utf8(bytes));
}
inline void decode(bytes_by_name, token_texts& tokens, decoded_part) {
  auto const digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  auto result = token_texts{};
  auto bytes = std::string{};
  auto const put_bytes = [&] {
    auto at = std::size_t{0};
    while (at < bytes.size() && utf8_piece_at(bytes, at).is_letter)
      at += utf8_piece_at(bytes, at).bytes;
    if (at == bytes.size() && at > 0) result.push_back(bytes);
    for (auto i = at; at < bytes.size() && i < at + bytes.size(); ++i)
      result.emplace_back("\xEF\xBF\xBD");
    bytes.clear();
  };
  for (auto& token : tokens) {
    auto const named = token.size() == 6 && token.starts_with("<0x") && token[5] == '>' &&
                       digit(token[3]) >= 0 && digit(token[4]) >= 0;
    if (named) {
      bytes += static_cast<char>(digit(token[3]) * 16 + digit(token[4]));
      continue;
    }
    put_bytes();
    result.push_back(std::move(token));
  }
  put_bytes();
  tokens = std::move(result);
}
inline void decode(join_tokens, token_texts& tokens, decoded_part) {
  auto all = std::string{};
  for (auto const& token : tokens) all += token;
  tokens.assign(1, all);
}
inline void decode(word_pieces_joined const& step, token_texts& tokens, decoded_part part) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> shorter{
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" do not", " don't"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  for (auto i = std::size_t{0}; i < tokens.size(); ++i) {
    auto& token = tokens[i];
    if (i > 0 || not part.first)
      token = token.starts_with(step.prefix) ? token.substr(step.prefix.size())
                                             : std::string{' '}.append(token);
    if (step.cleanup)
      for (auto const& [what, with] : shorter) replace_all(token, what, with);
  }
}
inline void decode(letter_as_space const& step, token_texts& tokens, decoded_part part) {
  for (auto i = std::size_t{0}; i < tokens.size(); ++i)
    replace_all(tokens[i], step.letter, i == 0 && part.first && step.drop_in_first ? "" : " ");
}
inline void decode(end_of_word_as_space const& step, token_texts& tokens, decoded_part part) {
  for (auto i = std::size_t{0}; i < tokens.size(); ++i)
    replace_all(tokens[i], step.suffix, part.last && i + 1 == tokens.size() ? "" : " ");
}
inline void decode(replace_in_tokens const& step, token_texts& tokens, decoded_part) {
  for (auto& token : tokens) replace_all(token, step.text, step.with);
}
inline void decode(replace_matches_in_tokens const& step, token_texts& tokens, decoded_part) {
  for (auto& token : tokens) {
    auto result = std::string{};
    auto at = std::size_t{0};
    step.pattern.for_each_match(token, [&](std::uint32_t begin, std::uint32_t end) {
      result.append(token, at, begin - at).append(step.with);
      at = end;
    });
    token = result.append(token, at);
  }
}
inline void decode(strip_letter const& step, token_texts& tokens, decoded_part) {
  for (auto& token : tokens) {
    auto view = std::string_view{token};
    for (auto i = std::size_t{0}; i < step.start && view.starts_with(step.letter); ++i)
      view.remove_prefix(step.letter.size());
    for (auto i = std::size_t{0}; i < step.stop && view.ends_with(step.letter); ++i)
      view.remove_suffix(step.letter.size());
    token = std::string{view};
  }
}

/// The steps of a tokenizer's decoder.
class decoder {
 public:
  decoder() = default;
  explicit decoder(std::vector<decoder_step> steps)
      : steps_(std::move(steps)),
        only_bytes_(steps_.size() == 1 && std::holds_alternative<bytes_of_tokens>(steps_[0])) {
    auto joined = false;
    for (auto const& step : steps_) {
      auto const* const strip = std::get_if<strip_letter>(&step);
      if (joined && strip != nullptr && strip->stop == 0)
        strips_begin_ = true;
      else if (joined || (strip == nullptr && std::holds_alternative<end_of_word_as_space>(step)))
        needs_all_ = true;
      joined = joined || std::holds_alternative<join_tokens>(step);
    }
  }
  [[nodiscard]] auto is_only_bytes() const -> bool { return only_bytes_; }
  /// What a token gives may depend on those after it, however far.
  [[nodiscard]] auto needs_all() const -> bool { return needs_all_; }

  [[nodiscard]] auto text(token_texts tokens, decoded_part part = {}) const -> std::string {
    if (steps_.empty()) return joined_by_spaces(tokens, part);
    for (auto const& step : steps_) {
      // What was joined is only a part of the text: its begin is not the text's.
      if (strips_begin_ && not part.first && std::holds_alternative<strip_letter>(step) &&
          tokens.size() == 1)
        continue;
      std::visit([&](auto const& s) { decode(s, tokens, part); }, step);
    }
    decode(join_tokens{}, tokens, part);
    return tokens[0];
  }

 private:
  [[nodiscard]] static auto joined_by_spaces(token_texts const& tokens, decoded_part part)
      -> std::string {
    auto result = std::string{};
    for (auto i = std::size_t{0}; i < tokens.size(); ++i)
      result.append(i == 0 && part.first ? "" : " ").append(tokens[i]);
    return result;
  }

  std::vector<decoder_step> steps_;
  bool only_bytes_ = false;
  bool strips_begin_ = false;
  bool needs_all_ = false;
};

}  // namespace tessera::detail
