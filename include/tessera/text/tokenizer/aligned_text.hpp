// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/unicode.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tessera {

/// A part of a text: of its bytes, or of its code points.
struct text_range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend constexpr auto operator==(text_range, text_range) -> bool = default;
};

namespace detail {

/// A part of a text on its way to tokens: still to be split, or an added token already.
struct text_piece {
  static constexpr auto no_token = std::numeric_limits<std::uint32_t>::max();
  text_range range;
  std::uint32_t token = no_token;
};

/// A part of an original text, changed or not, that knows which bytes of the original each of its
/// bytes stands for.
///
/// Cost  nothing is copied before the first change; eight bytes for each byte from then on
class aligned_text {
 public:
  aligned_text() = default;
  explicit aligned_text(std::string_view original, text_range part)
      : original_(original), part_(part) {}

  [[nodiscard]] auto text() const -> std::string_view {
    if (changed_) return own_;
    return original_.substr(part_.begin, part_.end - part_.begin);
  }
  [[nodiscard]] auto size() const -> std::uint32_t {
    return static_cast<std::uint32_t>(text().size());
  }
  /// The bytes of the original that the byte `at` stands for: its whole code point at least.
  [[nodiscard]] auto source(std::uint32_t at) const -> text_range {
    if (changed_) return sources_[at];
    auto begin = part_.begin + at;
    auto end = begin + 1;
    while (begin > part_.begin && continues(original_[begin])) --begin;
    while (end < part_.end && continues(original_[end])) ++end;
    return {begin, end};
  }
  [[nodiscard]] auto source(text_range range) const -> text_range {
    if (range.begin < range.end) return {source(range.begin).begin, source(range.end - 1).end};
    return {part_.begin + range.begin, part_.begin + range.begin};
  }
  [[nodiscard]] auto part() const -> text_range { return part_; }
  void replace(std::string text, std::vector<text_range> sources) {
    own_ = std::move(text);
    sources_ = std::move(sources);
    changed_ = true;
  }

 private:
  std::string_view original_;
  text_range part_;
  bool changed_ = false;
  std::string own_;
  std::vector<text_range> sources_;
};

/// Writes the successor of a text, or of a slice of it, code point by code point.
///
/// A code point takes the place of one of the old text and of `removed` more after it, or is new
/// and then stands for what the byte before stands for.
/// Source  NormalizedString of Hugging Face's tokenizers, whose offsets these are
class text_editor {
 public:
  explicit text_editor(aligned_text const& from) : from_(&from), slice_{0, from.size()} {
    text_.reserve(slice_.end + 8);
    sources_.reserve(slice_.end + 8);
  }

  /// Goes on with a slice of the old text, which may begin anew only behind the last one.
  void begin(text_range slice) {
    slice_ = slice;
    at_ = slice.begin;
  }
  [[nodiscard]] auto at() const -> std::uint32_t { return at_; }
  [[nodiscard]] auto is_done() const -> bool { return at_ >= slice_.end; }
  [[nodiscard]] auto next() const -> code_point { return code_point_at(from_->text(), at_); }
  [[nodiscard]] auto written() const -> std::uint32_t {
    return static_cast<std::uint32_t>(text_.size());
  }

  void put(char32_t c, std::uint32_t removed = 0) {
    auto const source = from_->source(at_);
    for (auto i = std::uint32_t{0}; i <= removed; ++i) skip();
    append(c, source);
  }
  void insert(char32_t c) { append(c, source_before()); }
  void insert(std::string_view text) {
    text_ += text;
    sources_.insert(sources_.end(), text.size(), source_before());
  }
  void skip() {
    if (not is_done()) at_ += next().bytes;
  }
  void move_to(std::uint32_t at) { at_ = at; }
  /// As it is, up to `end`.
  void copy(std::uint32_t end) {
    text_ += from_->text().substr(at_, end - at_);
    for (; at_ < end; ++at_) sources_.push_back(from_->source(at_));
  }
  /// `text` before the slice, whose first code point is at hand.
  void prepend(std::string_view text) {
    auto const first = next();
    for (auto i = std::size_t{0}; i < text.size();) {
      auto const c = code_point_at(text, i);
      i == 0 ? put(c.value) : insert(c.value);
      i += c.bytes;
    }
    insert(first.value);
  }
  void finish(aligned_text& to) { to.replace(std::move(text_), std::move(sources_)); }

 private:
  [[nodiscard]] auto source_before() const -> text_range {
    if (at_ > slice_.begin) return from_->source(at_ - 1);
    auto const begin = slice_.begin < slice_.end ? from_->source(slice_.begin).begin : 0;
    return {begin, begin};
  }
  void append(char32_t c, text_range source) {
    append_code_point(text_, c);
    sources_.resize(text_.size(), source);
  }

  aligned_text const* from_;
  text_range slice_;
  std::uint32_t at_ = 0;
  std::string text_;
  std::vector<text_range> sources_;
};

/// Byte positions as code points; cheap where positions come in nearly rising order.
class code_point_counter {
 public:
  explicit code_point_counter(std::string_view text)
      : text_(text), plain_(text.size() - ascii_words(text, 0) < 8) {
    for (auto i = text.size() - text.size() % 8; plain_ && i < text.size(); ++i)
      plain_ = byte_at(text, i) < 0x80;
  }
  /// How many code points begin before the byte `at`.
  [[nodiscard]] auto before(std::uint32_t at) -> std::uint32_t {
    if (plain_) return at;
    for (; at_ < at; ++at_) count_ += continues(text_[at_]) ? 0 : 1;
    for (; at_ > at; --at_) count_ -= continues(text_[at_ - 1]) ? 0 : 1;
    return count_;
  }
  [[nodiscard]] auto of(text_range bytes) -> text_range {
    auto const begin = before(bytes.begin);
    return {begin, before(bytes.end)};
  }

 private:
  std::string_view text_;
  bool plain_;
  std::uint32_t at_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace detail
}  // namespace tessera
