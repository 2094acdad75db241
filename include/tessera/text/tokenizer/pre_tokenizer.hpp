// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/split_steps.hpp>
#include <tessera/text/tokenizer/vocabulary.hpp>

/// What cuts a text into the words that a model takes, one step after another.
namespace tessera::detail {

/// A space before every piece that begins with none.
struct prefix_space {};
/// Bytes become letters, for a vocabulary that does not know them all.
struct write_bytes_as_letters {};
/// Spaces become a letter, which also begins the text (`first`) or every piece (`always`).
struct spaces_as_letter {
  enum class prefix { first, always, never };
  std::string letter;
  prefix before = prefix::always;
};

using pre_tokenizer_step =
    std::variant<split_step, prefix_space, write_bytes_as_letters, spaces_as_letter>;

/// Takes pieces of a text through steps that all cut it, each through all of them before the next
/// one, so that only what comes out has to be kept: it is put into `To`. Tokens are let through.
template <class To> class cutter {
 public:
  cutter(std::span<pre_tokenizer_step const> steps, std::string_view text, To& to)
      : steps_(steps), text_(text), to_(&to) {}

  void push_back(text_piece const& piece) {
    if (done_ == steps_.size() || piece.token != text_piece::no_token) {
      to_->push_back(piece);
      return;
    }
    auto const& step = std::get<split_step>(steps_[done_++]);
    std::visit([&](auto const& split) { split(text_, piece.range, *this); }, step);
    --done_;
  }

 private:
  std::span<pre_tokenizer_step const> steps_;
  std::string_view text_;
  To* to_;
  std::size_t done_ = 0;  // steps that the piece at hand has gone through
};

/// Pieces by steps that all cut them.
void cut(std::span<pre_tokenizer_step const> steps, std::string_view text, pieces const& from,
         auto& to) {
  auto through = cutter(steps, text, to);
  for (auto const& piece : from) through.push_back(piece);
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
inline void apply(prefix_space, aligned_text& text, pieces& of) {
  auto const needs = [&](text_piece const& piece) {
    return piece.token == text_piece::no_token && text.text()[piece.range.begin] != ' ';
  };
  if (std::ranges::none_of(of, needs)) return;
  rewrite(text, of, [&](text_editor& editor, text_piece const& piece) {
    if (needs(piece)) editor.prepend(" ");
    editor.copy(piece.range.end);
  });
}
inline void apply(write_bytes_as_letters, aligned_text& text, pieces& of) {
  auto const old = text.text();
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
inline void apply(spaces_as_letter const& step, aligned_text& text, pieces& of) {
  auto const old = text.text();
  auto const letter = code_point_at(step.letter, 0);
  rewrite(text, of, [&](text_editor& editor, text_piece const& piece) {
    auto const first = old.substr(piece.range.begin, piece.range.end - piece.range.begin);
    auto const begins = first[0] == ' ' || first.starts_with(step.letter);
    auto const wanted = step.before == spaces_as_letter::prefix::always ||
                        (step.before == spaces_as_letter::prefix::first &&
                         text.source(piece.range.begin).begin == 0);
    if (wanted && not begins) editor.prepend(step.letter);
    while (not editor.is_done()) {
      auto const rest = old.substr(editor.at(), piece.range.end - editor.at());
      auto const space = std::min(rest.find(' '), rest.size());
      editor.copy(editor.at() + static_cast<std::uint32_t>(space));
      if (not editor.is_done()) editor.put(letter.value);
    }
  });
}

}  // namespace tessera::detail
