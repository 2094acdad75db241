// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::detail {

struct jinja_token {
  std::string text;
  bool is_literal = false;  ///< a string, or text outside of all tags

  [[nodiscard]] auto operator==(jinja_token const&) const -> bool = default;
};
using jinja_tokens = std::vector<jinja_token>;

/// A template's tokens, the same for templates that differ only in how they are written.
///
/// As transformers sets Jinja up: trim_blocks, lstrip_blocks, and the minus signs of tags. Comments
/// and spaces inside of tags are gone, outputs in a row are one, strings that are added are one,
/// x.role and x.content are x['role'] and x['content'], and what runs only for tools or a message's
/// tool_calls, which are never there, is left out. Each step keeps what the template means where
/// outputs are sums of strings; a caller that compares must compare with such a form.
/// Cost    one pass over the source, memory of its order
/// Errors  nothing where a tag, a string or a block has no end, or an escape is not known
class jinja_reader {
 public:
  [[nodiscard]] static auto tokens_of(std::string_view source) -> std::optional<jinja_tokens> {
    auto reader = jinja_reader{source};
    while (reader.at_ < reader.source_.size())
      if (not reader.read_text_and_tag()) return std::nullopt;
    if (not reader.blocks_.empty()) return std::nullopt;
    return std::move(reader.tokens_);
  }

 private:
  struct block {
    bool never = false;    // its condition is known to be false
    bool dropped = false;  // what is read of it now never runs
  };

  explicit jinja_reader(std::string_view source) {
    for (auto i = std::size_t{0}; i < source.size(); ++i) {
      auto const carriage = source[i] == '\r';
      if (carriage && i + 1 < source.size() && source[i + 1] == '\n') ++i;
      source_ += carriage ? '\n' : source[i];
    }
    if (source_.ends_with('\n')) source_.pop_back();
  }

  [[nodiscard]] static auto is_space(char c) -> bool {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }
  [[nodiscard]] static auto is_word(char c) -> bool {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  [[nodiscard]] auto peek(std::size_t ahead = 0) const -> char {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  // Text up to the next tag, and the tag.
  [[nodiscard]] auto read_text_and_tag() -> bool {
    auto begin = source_.find('{', at_);
    while (begin != std::string::npos &&
           (begin + 1 == source_.size() ||
            std::string_view{"{%#"}.find(source_[begin + 1]) == std::string_view::npos))
      begin = source_.find('{', begin + 1);
    auto text = source_.substr(at_, begin == std::string::npos ? begin : begin - at_);
    if (begin == std::string::npos) {
      at_ = source_.size();
      put_text(std::move(text));
      return true;
    }
    auto const kind = source_[begin + 1];
    at_ = begin + 2;
    auto const sign = peek() == '-' || peek() == '+' ? source_[at_++] : '\0';
    if (sign == '-')
      while (not text.empty() && is_space(text.back())) text.pop_back();
    if (sign == '\0' && kind != '{') strip_indent(text);
    put_text(std::move(text));
    return kind == '#' ? skip_comment() : read_tag(kind);
  }
  void strip_indent(std::string& text) const {
    auto const line = text.rfind('\n') + 1;
    if ((line > 0 || at_line_start_) && text.find_first_not_of(" \t", line) == std::string::npos)
      text.resize(line);
  }

  [[nodiscard]] auto skip_comment() -> bool {
    auto const end = source_.find("#}", at_);
    if (end == std::string::npos) return false;
    auto const sign = end > at_ ? source_[end - 1] : '\0';
    at_ = end + 2;
    leave_tag(sign, true);
    return true;
  }
  void leave_tag(char sign, bool trims) {
    if (sign == '-')
      while (is_space(peek())) ++at_;
    else if (trims && sign != '+' && peek() == '\n')
      ++at_;
    at_line_start_ = source_[at_ - 1] == '\n';
  }

  [[nodiscard]] auto read_tag(char kind) -> bool {
    auto const output = kind == '{';
    auto inside = jinja_tokens{};
    for (;;) {
      while (is_space(peek())) ++at_;
      if (at_ == source_.size()) return false;
      auto const sign = peek() == '-' || (peek() == '+' && not output) ? peek() : '\0';
      auto const skip = std::size_t{sign != '\0'};
      if (peek(skip) == (output ? '}' : '%') && peek(skip + 1) == '}') {
        at_ += skip + 2;
        leave_tag(sign, not output);
        break;
      }
      if (not read_token(inside)) return false;
    }
    if (not output) return put_statement(std::move(inside));
    put_output(std::move(inside));
    return true;
  }
  [[nodiscard]] auto read_token(jinja_tokens& into) -> bool {
    if (peek() == '\'' || peek() == '"') return read_literal(into);
    auto const begin = at_++;
    if (is_word(source_[begin]))
      while (is_word(peek())) ++at_;
    auto word = source_.substr(begin, at_ - begin);
    if ((word == "role" || word == "content") && not into.empty() &&
        into.back() == jinja_token{"."}) {
      into.back() = {"["};
      into.push_back({std::move(word), true});
      word = "]";
    }
    into.push_back({std::move(word)});
    return true;
  }
  [[nodiscard]] auto read_literal(jinja_tokens& into) -> bool {
    constexpr auto escapes = std::string_view{"nrt\\'\""};
    constexpr auto meanings = std::string_view{"\n\r\t\\'\""};
    auto const quote = source_[at_++];
    auto text = std::string{};
    for (; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] != '\\') {
        text += source_[at_];
        continue;
      }
      auto const escape = escapes.find(peek(1));
      if (escape == std::string_view::npos) return false;
      text += meanings[escape];
      ++at_;
    }
    if (at_ == source_.size()) return false;
    ++at_;
    put_literal(into, std::move(text));
    return true;
  }

  static void put_literal(jinja_tokens& into, std::string text) {
    auto const n = into.size();
    if (n >= 2 && into[n - 1] == jinja_token{"+"} && into[n - 2].is_literal) {
      into.pop_back();
      into.back().text += text;
    } else {
      into.push_back({std::move(text), true});
    }
  }
  void put_text(std::string text) {
    if (not text.empty()) put_output({{std::move(text), true}});
  }
  void put_output(jinja_tokens inside) {
    if (is_dropped()) return;
    auto const joins = not tokens_.empty() && tokens_.back() == jinja_token{"}}"};
    if (joins) tokens_.pop_back();
    tokens_.push_back({joins ? "+" : "{{"});
    for (auto& token : inside)
      if (token.is_literal)
        put_literal(tokens_, std::move(token.text));
      else
        tokens_.push_back(std::move(token));
    tokens_.push_back({"}}"});
  }

  [[nodiscard]] auto is_dropped() const -> bool { return dropped_ > 0; }
  [[nodiscard]] static auto never_runs(jinja_tokens const& inside) -> bool {
    auto words = std::string{};
    for (auto const& token : inside) words += (token.is_literal ? "'" : " ") + token.text;
    return words == " if tools" || words == " if message . tool_calls" ||
           words == " for tool_call in message . tool_calls";
  }
  // Nothing is put for a block that never runs but what its "else" holds.
  [[nodiscard]] auto put_statement(jinja_tokens inside) -> bool {
    if (inside.empty() || inside[0].is_literal) return false;
    auto const word = inside[0].text;
    auto const ends = word == "endif" || word == "endfor";
    if ((ends || word == "else" || word == "elif") && blocks_.empty()) return false;
    auto hidden = false;
    if (word == "if" || word == "for") {
      hidden = never_runs(inside);
      blocks_.push_back({hidden, hidden});
      dropped_ += std::size_t{hidden};
    } else if (ends) {
      hidden = blocks_.back().never;
      dropped_ -= std::size_t{blocks_.back().dropped};
      blocks_.pop_back();
    } else if (word == "else" && blocks_.back().never) {
      hidden = true;
      dropped_ -= std::size_t{std::exchange(blocks_.back().dropped, false)};
    } else if (word == "elif" && blocks_.back().never) {
      return false;
    }
    if (hidden || is_dropped()) return true;
    tokens_.push_back({"{%"});
    std::ranges::move(inside, std::back_inserter(tokens_));
    tokens_.push_back({"%}"});
    return true;
  }

  std::string source_;
  std::size_t at_ = 0;
  bool at_line_start_ = true;
  jinja_tokens tokens_;
  std::vector<block> blocks_;
  std::size_t dropped_ = 0;  // blocks that are
};

}  // namespace tessera::detail
