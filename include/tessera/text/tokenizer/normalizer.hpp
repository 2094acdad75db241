// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/normal_form.hpp>
#include <tessera/text/tokenizer/pre_tokenizer.hpp>

/// What changes a text before it is cut into words, one step after another.
namespace tessera::detail {

struct lower_case {};
struct strip_accents {};
/// Without the whitespace at its ends.
struct strip_ends {
  bool left = true;
  bool right = true;
};
struct prepend_text {
  std::string text;
};
struct replace_text {
  std::string pattern;
  std::string with;
};
struct replace_pattern {
  regex pattern;
  std::string with;
};
/// What BERT does to a text: without control characters, spaces around ideographs, decomposed
/// without accents, lower case.
struct bert_normalizer {
  bool clean = true;
  bool space_ideographs = true;
  bool without_accents = true;
  bool lower = true;
};

using normalizer_step =
    std::variant<normal_form, lower_case, strip_accents, strip_ends, prepend_text, replace_text,
                 replace_pattern, bert_normalizer, write_bytes_as_letters>;

/// Writes a text anew, one code point after another: edit(editor, code_point) puts or skips it.
/// For ASCII ascii(byte) is put instead.
void rewrite_code_points(aligned_text& text, auto const& ascii, auto const& edit) {
  auto editor = text_editor(text);
  while (not editor.is_done())
    if (auto const plain = ascii_bytes(text.text(), editor.at()); plain > 0)
      editor.copy(editor.at() + static_cast<std::uint32_t>(plain), ascii);
    else
      edit(editor, editor.next().value);
  editor.finish(text);
}
/// Where the first code point from `at` on begins that `is` says yes to; the text's end without
/// one.
[[nodiscard]] inline auto find_code_point(std::string_view text, std::size_t at, auto const& is)
    -> std::size_t {
  constexpr auto block = std::size_t{64};  // is searched for one only where there is one
  while (at < text.size()) {
    auto const end = at + ascii_bytes(text.substr(0, at + block), at);
    auto found = false;
    for (auto i = at; i < end; ++i) found |= is(char32_t{byte_at(text, i) & 0x7FU});
    while (found && not is(char32_t{byte_at(text, at)})) ++at;
    if (found) return at;
    at = end;
    if (at == text.size() || byte_at(text, at) < 0x80) continue;
    auto const c = code_point_at(text, at);
    if (is(c.value)) return at;
    at += c.bytes;
  }
  return at;
}
[[nodiscard]] inline auto any_code_point(std::string_view text, auto const& is) -> bool {
  return find_code_point(text, 0, is) < text.size();
}
void remove_code_points(aligned_text& text, auto const& is) {
  if (not any_code_point(text.text(), is)) return;
  auto editor = text_editor(text);
  while (not editor.is_done()) {
    editor.copy(static_cast<std::uint32_t>(find_code_point(text.text(), editor.at(), is)));
    editor.skip();
  }
  editor.finish(text);
}

inline void apply(normal_form form, aligned_text& text) { normalization(form).apply(text); }

inline void apply(lower_case, aligned_text& text) {
  auto const lower = [](char32_t c) -> char32_t {
    if (c < 128) return c >= 'A' && c <= 'Z' ? c | 0x20U : c;
    return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  };
  if (not any_code_point(text.text(), [&](char32_t c) { return c == 0x130 || lower(c) != c; }))
    return;
  auto const ascii = [&](char c) {
    return static_cast<char>(lower(static_cast<unsigned char>(c) & 0x7FU));
  };
  rewrite_code_points(text, ascii, [&](text_editor& editor, char32_t c) {
    if (c != 0x130) {
      editor.put(lower(c));
      return;
    }
    editor.put('i');  // the only one that becomes two
    editor.insert(0x307);
  });
}
inline void apply(strip_accents, aligned_text& text) { remove_code_points(text, is_mark); }

inline void apply(strip_ends step, aligned_text& text) {
  auto const view = text.text();
  auto begin = std::size_t{0};
  auto end = view.size();
  while (step.left && begin < end && is_space(code_point_at(view, begin).value))
    begin += code_point_at(view, begin).bytes;
  while (step.right && end > begin && is_space(code_point_before(view, end).value))
    end -= code_point_before(view, end).bytes;
  if (begin == 0 && end == view.size()) return;
  auto editor = text_editor(text);
  editor.begin({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  editor.copy(static_cast<std::uint32_t>(end));
  editor.finish(text);
}
inline void apply(prepend_text const& step, aligned_text& text) {
  if (text.size() == 0 || step.text.empty()) return;
  auto editor = text_editor(text);
  editor.prepend(step.text);
  editor.copy(text.size());
  editor.finish(text);
}

/// Each range that matches(put) puts becomes `with`, which stands for the last byte of the range.
void replace_ranges(aligned_text& text, std::string_view with, auto const& matches) {
  auto editor = text_editor(text);
  auto changed = false;
  matches([&](std::uint32_t begin, std::uint32_t end) {
    changed = true;
    editor.copy(begin);
    editor.move_to(end);
    editor.insert(with);
  });
  if (not changed) return;
  editor.copy(text.size());
  editor.finish(text);
}
inline void apply(replace_text const& step, aligned_text& text) {
  replace_ranges(text, step.with, [&](auto const& put) {
    auto const view = text.text();
    if (step.pattern.empty()) return;
    for (auto at = view.find(step.pattern); at != std::string_view::npos;
         at = view.find(step.pattern, at + step.pattern.size()))
      put(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + step.pattern.size()));
  });
}
inline void apply(replace_pattern const& step, aligned_text& text) {
  replace_ranges(text, step.with,
                 [&](auto const& put) { step.pattern.for_each_match(text.text(), put); });
}

[[nodiscard]] constexpr auto is_ideograph(char32_t c) -> bool {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}
inline void apply(bert_normalizer const& step, aligned_text& text) {
  auto const is_control = [](char32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return false;
    if (c < 128) return c < 0x20 || c == 0x7F;
    auto const of = category(c);
    return c == 0xFFFD || of == UTF8PROC_CATEGORY_CC || of == UTF8PROC_CATEGORY_CF ||
           of == UTF8PROC_CATEGORY_CO;
  };
  if (step.clean) {
    remove_code_points(text, is_control);
    if (any_code_point(text.text(), [](char32_t c) { return c != ' ' && is_space(c); })) {
      auto const ascii = [](char c) { return c >= '\t' && c <= '\r' ? ' ' : c; };
      rewrite_code_points(
          text, ascii, [](text_editor& editor, char32_t c) { editor.put(is_space(c) ? U' ' : c); });
    }
  }
  if (step.space_ideographs && any_code_point(text.text(), is_ideograph))
    rewrite_code_points(text, std::identity{}, [](text_editor& editor, char32_t c) {
      if (not is_ideograph(c)) {
        editor.put(c);
        return;
      }
      editor.put(' ');
      editor.insert(c);
      editor.insert(' ');
    });
  if (step.without_accents) {
    apply(normal_form::nfd, text);
    remove_code_points(
        text, [](char32_t c) { return c >= 0x300 && category(c) == UTF8PROC_CATEGORY_MN; });
  }
  if (step.lower) apply(lower_case{}, text);
}
inline void apply(write_bytes_as_letters step, aligned_text& text) {
  auto whole = pieces{{{0, text.size()}}};
  apply(step, text, whole);
}

}  // namespace tessera::detail
