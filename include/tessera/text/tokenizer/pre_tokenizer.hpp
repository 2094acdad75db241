// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/regex.hpp>
#include <tessera/text/tokenizer/vocabulary.hpp>
#include <tessera/text/tokenizer/words.hpp>

#include <variant>

/// What cuts a text into the words that a model takes, one step after another.
namespace tessera::detail {

using pieces = std::vector<text_piece>;

/// What becomes of what separates: it is a piece, is left out, is one piece with its neighbours of
/// the same kind, or belongs to the piece before or after it.
enum class separator { isolated, removed, contiguous, with_previous, with_next };

/// Collects the pieces of a range, whose separators come in their order.
class splitter {
 public:
  splitter(pieces& to, text_range range, separator behavior)
      : to_(&to), range_(range), behavior_(behavior), begin_(range.begin), at_(range.begin) {}

  void separate(std::uint32_t begin, std::uint32_t end) {
    switch (behavior_) {
      case separator::isolated:
        put(begin);
        put(end);
        break;
      case separator::removed:
        put(begin);
        begin_ = end;
        break;
      case separator::contiguous:
        if (not in_separator_) put(begin);
        in_separator_ = true;
        break;
      case separator::with_previous:
        put(end);
        break;
      case separator::with_next:
        put(begin);
        break;
    }
    at_ = end;
  }
  /// What begins here separates nothing: a piece of its own, but for a separator that joins it.
  void between(std::uint32_t begin) {
    if (behavior_ == separator::contiguous ? in_separator_
                                           : behavior_ != separator::with_next || at_ != begin)
      put(begin);
    in_separator_ = false;
  }
  void finish() {
    if (behavior_ == separator::contiguous && at_ < range_.end) between(at_);
    put(range_.end);
  }
  /// Where the last separator has ended.
  [[nodiscard]] auto at() const -> std::uint32_t { return at_; }

 private:
  void put(std::uint32_t end) {
    if (begin_ < end) to_->push_back({{begin_, end}});
    begin_ = end;
  }

  pieces* to_;
  text_range range_;
  separator behavior_;
  std::uint32_t begin_;  // of the piece that is open
  std::uint32_t at_;
  bool in_separator_ = false;
};

/// Separators are the code points that `is` says yes to.
void split_by_code_point(std::string_view text, text_range range, separator behavior,
                         auto const& is, pieces& to) {
  auto split = splitter(to, range, behavior);
  for (auto at = range.begin; at < range.end;) {
    auto const c = code_point_at(text, at);
    if (is(c.value)) {
      if (split.at() < at) split.between(split.at());
      split.separate(at, at + c.bytes);
    }
    at += c.bytes;
  }
  split.finish();
}

/// Words by a function that gives the end of each; they follow each other without a gap.
template <auto Word> void split_by_words(std::string_view text, text_range range, pieces& to) {
  auto const runs = kind_runs(text.substr(range.begin, range.end - range.begin));
  for (auto at = std::uint32_t{0}; at < runs.size();) {
    auto const end = Word(runs, at);
    to.push_back({{range.begin + at, range.begin + end}});
    at = end;
  }
}

/// Whitespace, without it.
struct split_whitespace {
  void operator()(std::string_view text, text_range range, pieces& to) const {
    split_by_code_point(text, range, separator::removed, is_space, to);
  }
};
/// \w+|[^\w\s]+
struct split_word_boundaries {
  void operator()(std::string_view text, text_range range, pieces& to) const {
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
  void operator()(std::string_view text, text_range range, pieces& to) const {
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
  void operator()(std::string_view text, text_range range, pieces& to) const {
    split_by_code_point(text, range, behavior, is, to);
  }
};
/// At whitespace, which is left out, and at punctuation.
struct split_bert {
  void operator()(std::string_view text, text_range range, pieces& to) const {
    auto split = splitter(to, range, separator::removed);
    for (auto at = range.begin; at < range.end;) {
      auto const c = code_point_at(text, at);
      auto const end = at + c.bytes;
      if (is_space(c.value)) split.separate(at, end);
      if (split_punctuation::is(c.value)) {
        split.separate(at, end);
        to.push_back({{at, end}});
      }
      at = end;
    }
    split.finish();
  }
};
struct split_code_point {
  char32_t delimiter = 0;
  void operator()(std::string_view text, text_range range, pieces& to) const {
    split_by_code_point(
        text, range, separator::removed, [&](char32_t c) { return c == delimiter; }, to);
  }
};
struct split_gpt2 {
  void operator()(std::string_view text, text_range range, pieces& to) const {
    split_by_words<gpt2_word>(text, range, to);
  }
};
struct split_llama3 {
  void operator()(std::string_view text, text_range range, pieces& to) const {
    split_by_words<llama3_word<3>>(text, range, to);
  }
};
struct split_qwen2 {
  void operator()(std::string_view text, text_range range, pieces& to) const {
    split_by_words<llama3_word<1>>(text, range, to);
  }
};
/// Separators are the matches of a pattern or, inverted, what lies between them.
struct split_pattern {
  regex pattern;
  separator behavior = separator::isolated;
  bool inverted = false;
  void operator()(std::string_view text, text_range range, pieces& to) const {
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

/// A space before every piece that begins with none.
struct prefix_space {};
/// Bytes become letters, for a vocabulary that does not know them all.
struct write_bytes_as_letters {};
/// Spaces become a letter, which also begins the text (`first`) or every piece (`always`).
struct spaces_as_letter {
  enum class prefix { first, always, never };
  std::string letter;
  prefix before = prefix::always;
  bool split = true;
};

using pre_tokenizer_step =
    std::variant<split_step, prefix_space, write_bytes_as_letters, spaces_as_letter>;

/// Splits the pieces that are no tokens yet.
inline void apply(split_step const& step, aligned_text const& text, pieces& of, pieces& work) {
  work.clear();
  std::visit(
      [&](auto const& split) {
        for (auto const& piece : of)
          if (piece.token != text_piece::no_token)
            work.push_back(piece);
          else
            split(text.text(), piece.range, work);
      },
      step);
  of.swap(work);
}
/// Writes the text anew: edit(editor, piece) for each piece that is no token yet.
void rewrite(aligned_text& text, pieces& of, auto const& edit) {
  auto editor = text_editor(text);
  for (auto& piece : of) {
    auto const begin = editor.written();
    editor.begin(piece.range);
    if (piece.token == text_piece::no_token)
      edit(editor, piece);
    else
      editor.copy(piece.range.end);
    piece.range = {begin, editor.written()};
  }
  editor.finish(text);
}
inline void apply(prefix_space, aligned_text& text, pieces& of, pieces&) {
  auto const needs = [&](text_piece const& piece) {
    return piece.token == text_piece::no_token && text.text()[piece.range.begin] != ' ';
  };
  if (std::ranges::none_of(of, needs)) return;
  rewrite(text, of, [&](text_editor& editor, text_piece const& piece) {
    if (needs(piece)) editor.prepend(" ");
    editor.copy(piece.range.end);
  });
}
inline void apply(write_bytes_as_letters, aligned_text& text, pieces& of, pieces&) {
  auto const old = std::string{text.text()};
  rewrite(text, of, [&](text_editor& editor, text_piece const& piece) {
    for (auto at = piece.range.begin; at < piece.range.end;) {
      auto const bytes = code_point_at(old, at).bytes;
      for (auto i = std::uint32_t{0}; i < bytes; ++i) {
        auto const letter = byte_letters[byte_at(old, at + i)];
        i == 0 ? editor.put(letter) : editor.insert(letter);
      }
      at += bytes;
    }
  });
}
inline void apply(spaces_as_letter const& step, aligned_text& text, pieces& of, pieces& work) {
  auto const old = std::string{text.text()};
  auto const letter = code_point_at(step.letter, 0);
  rewrite(text, of, [&](text_editor& editor, text_piece const& piece) {
    auto const first = old.substr(piece.range.begin, piece.range.end - piece.range.begin);
    auto const begins = first[0] == ' ' || first.starts_with(step.letter);
    auto const wanted = step.before == spaces_as_letter::prefix::always ||
                        (step.before == spaces_as_letter::prefix::first &&
                         text.source(piece.range.begin).begin == 0);
    if (wanted && not begins) editor.prepend(step.letter);
    while (not editor.is_done())
      editor.next().value == ' ' ? editor.put(letter.value) : editor.put(editor.next().value);
  });
  if (not step.split) return;
  work.clear();
  for (auto const& piece : of)
    if (piece.token != text_piece::no_token)
      work.push_back(piece);
    else
      split_by_code_point(
          text.text(), piece.range, separator::with_next,
          [&](char32_t c) { return c == letter.value; }, work);
  of.swap(work);
}

}  // namespace tessera::detail
