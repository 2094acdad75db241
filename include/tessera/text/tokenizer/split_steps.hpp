// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/pieces.hpp>
#include <tessera/text/tokenizer/regex.hpp>

#include <variant>

/// Steps that cut a text into pieces and leave its bytes as they are.
namespace tessera::detail {

/// Whitespace, without it.
struct split_whitespace {
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_code_point(text, range, separator::removed, is_space, to);
  }
};
/// \w+|[^\w\s]+
struct split_word_boundaries {
  void operator()(std::string_view text, text_range range, auto& to) const {
    auto const class_at = [&](std::uint32_t at) {
      auto const c = code_point_at(text, at).value;
      return is_space(c) ? 0 : is_word(c) ? 1 : 2;
    };
    for (auto at = range.begin; at < range.end;) {
      auto const begin = at;
      auto const first = class_at(at);
      while (at < range.end && class_at(at) == first) at += code_point_at(text, at).bytes;
      if (first != 0) to.push_back({{begin, at}});
    }
  }
};
struct split_digits {
  bool one_by_one = false;
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_code_point(
        text, range, one_by_one ? separator::isolated : separator::contiguous,
        [](char32_t c) { return split_kind_of(c) == kind::number; }, to);
  }
};
struct split_punctuation {
  separator behavior = separator::isolated;
  [[nodiscard]] static auto is(char32_t c) -> bool {
    return c < 128 ? split_kind_of(c) == kind::other && c > 0x20 && c < 0x7F : is_punctuation(c);
  }
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_code_point(text, range, behavior, is, to);
  }
};
/// At whitespace, which is left out, and at punctuation.
struct split_bert {
  enum class part : std::uint8_t { word, space, punctuation };
  [[nodiscard]] static auto part_of(char32_t c) -> part {
    return is_space(c) ? part::space : split_punctuation::is(c) ? part::punctuation : part::word;
  }
  void operator()(std::string_view text, text_range range, auto& to) const {
    auto begin = range.begin;
    auto const put_word = [&](std::uint32_t end) {
      if (begin < end) to.push_back({{begin, end}});
    };
    for (auto at = range.begin; at < range.end;) {
      auto const c = code_point_at(text, at);
      auto const which = part_of(c.value);
      auto const end = at + c.bytes;
      if (which != part::word) {
        put_word(at);
        if (which == part::punctuation) to.push_back({{at, end}});
        begin = end;
      }
      at = end;
    }
    put_word(range.end);
  }
};
struct split_code_point {
  char32_t delimiter = 0;
  separator behavior = separator::removed;
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_code_point(text, range, behavior, [&](char32_t c) { return c == delimiter; }, to);
  }
};
struct split_gpt2 {
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_words<gpt2_word>(text, range, to);
  }
};
struct split_llama3 {
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_words<llama3_word<3>>(text, range, to);
  }
};
struct split_qwen2 {
  void operator()(std::string_view text, text_range range, auto& to) const {
    split_by_words<llama3_word<1>>(text, range, to);
  }
};
/// Separators are the matches of a pattern or, inverted, what lies between them.
struct split_pattern {
  regex pattern;
  separator behavior = separator::isolated;
  bool inverted = false;
  void operator()(std::string_view text, text_range range, auto& to) const {
    auto split = splitter(to, range, behavior);
    auto last = range.begin;
    auto const part = text.substr(range.begin, range.end - range.begin);
    auto const put = [&](std::uint32_t begin, std::uint32_t end, bool matches) {
      if (begin == end && not matches) return;
      matches != inverted ? split.separate(begin, end) : split.between(begin);
    };
    pattern.for_each_match(part, [&](std::uint32_t begin, std::uint32_t end) {
      put(last, range.begin + begin, false);
      put(range.begin + begin, range.begin + end, true);
      last = range.begin + end;
    });
    put(last, range.end, false);
    split.finish();
  }
};

using split_step = std::variant<split_whitespace, split_word_boundaries, split_digits,
                                split_punctuation, split_bert, split_code_point, split_gpt2,
                                split_llama3, split_qwen2, split_pattern>;

}  // namespace tessera::detail
