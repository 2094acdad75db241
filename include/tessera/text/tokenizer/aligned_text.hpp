// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/unicode.hpp>

#include <algorithm>
#include <functional>
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
/// Cost  nothing is copied before the first change; a byte and the stretches of what was changed
/// from
///       then on. Places that are asked for one after another are found in one step
class aligned_text {
 public:
  /// Bytes from `begin` to where the next stretch begins. Each stands for its own byte of the
  /// original, the first one for `source.begin`, and so for that byte's code point; or, where
  /// `source` has an end, all of them stand for all of it.
  struct stretch {
    static constexpr auto each = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t begin;
    text_range source;
  };

  explicit aligned_text(std::string_view original, text_range part)
      : original_(original), part_(part), stretches_{{0, {part.begin, stretch::each}}} {}

  [[nodiscard]] auto text() const -> std::string_view {
    if (changed_) return own_;
    return original_.substr(part_.begin, part_.end - part_.begin);
  }
  [[nodiscard]] auto size() const -> std::uint32_t {
    return static_cast<std::uint32_t>(text().size());
  }
  /// What the byte `at` and those after it stand for.
  [[nodiscard]] auto stretch_at(std::uint32_t at) const -> stretch {
    auto const& s = stretches_[number_of(at)];
    if (s.source.end != stretch::each) return {at, s.source};
    return {at, {s.source.begin + at - s.begin, stretch::each}};
  }
  /// Where the stretch that has the byte `at` ends.
  [[nodiscard]] auto stretch_end(std::uint32_t at) const -> std::uint32_t {
    auto const next = number_of(at) + 1;
    return next < stretches_.size() ? stretches_[next].begin : size();
  }
  /// The bytes of the original that the byte `at` stands for: its whole code point at least.
  [[nodiscard]] auto source(std::uint32_t at) const -> text_range {
    auto range = stretch_at(at).source;
    if (range.end != stretch::each) return range;
    range.end = range.begin + 1;
    while (range.begin > part_.begin && continues(original_[range.begin])) --range.begin;
    while (range.end < part_.end && continues(original_[range.end])) ++range.end;
    return range;
  }
  [[nodiscard]] auto source(text_range range) const -> text_range {
    if (range.begin < range.end) return {source(range.begin).begin, source(range.end - 1).end};
    return {part_.begin + range.begin, part_.begin + range.begin};
  }
  [[nodiscard]] auto part() const -> text_range { return part_; }
  void replace(std::string text, std::vector<stretch> stretches) {
    own_ = std::move(text);
    stretches_ = std::move(stretches);
    near_ = 0;
    changed_ = true;
  }

 private:
  [[nodiscard]] auto number_of(std::uint32_t at) const -> std::size_t {
    while (stretches_[near_].begin > at) --near_;
    while (near_ + 1 < stretches_.size() && stretches_[near_ + 1].begin <= at) ++near_;
    return near_;
  }

  std::string_view original_;
  text_range part_;
  bool changed_ = false;
  std::string own_;
  std::vector<stretch> stretches_;  // the first one begins at 0
  mutable std::size_t near_ = 0;    // the stretch that was asked for last
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
    auto const before = written();
    append_code_point(text_, c);
    auto const bytes = written() - before;
    if (removed == 0 && bytes == next().bytes)
      stand_for({before, from_->stretch_at(at_).source});
    else
      stand_for({before, from_->source(at_)});
    for (auto i = std::uint32_t{0}; i <= removed; ++i) skip();
  }
  void insert(char32_t c) {
    stand_for({written(), source_before()});
    append_code_point(text_, c);
  }
  void insert(std::string_view text) {
    if (not text.empty()) stand_for({written(), source_before()});
    text_ += text;
  }
  void skip() {
    if (not is_done()) at_ += next().bytes;
  }
  void move_to(std::uint32_t at) { at_ = at; }
  /// As it is, up to `end`.
  void copy(std::uint32_t end) { copy(end, std::identity{}); }
  /// Byte for byte, up to `end`, which changes no byte but such that are ASCII and stay so.
  void copy(std::uint32_t end, auto const& changed) {
    for (auto at = at_; at < end; at = std::min(end, from_->stretch_end(at)))
      stand_for({written() + at - at_, from_->stretch_at(at).source});
    auto const old = from_->text().substr(at_, end - at_);
    auto const before = text_.size();
    text_.resize(before + old.size());
    std::ranges::transform(old, text_.begin() + static_cast<std::ptrdiff_t>(before), changed);
    at_ = end;
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
  void finish(aligned_text& to) {
    if (stretches_.empty()) stretches_.push_back({0, {0, 0}});
    to.replace(std::move(text_), std::move(stretches_));
  }

 private:
  [[nodiscard]] auto source_before() const -> text_range {
    if (at_ > slice_.begin) return from_->source(at_ - 1);
    auto const begin = slice_.begin < slice_.end ? from_->source(slice_.begin).begin : 0;
    return {begin, begin};
  }
  /// What is written from here on, unless it is what the last stretch says anyway.
  void stand_for(aligned_text::stretch next) {
    if (not stretches_.empty()) {
      auto const& last = stretches_.back();
      auto const begin = last.source.end == aligned_text::stretch::each
                             ? last.source.begin + next.begin - last.begin
                             : last.source.begin;
      if (next.source == text_range{begin, last.source.end}) return;
    }
    stretches_.push_back(next);
  }

  aligned_text const* from_;
  text_range slice_;
  std::uint32_t at_ = 0;
  std::string text_;
  std::vector<aligned_text::stretch> stretches_;
};

/// Byte positions as code points; cheap where positions come in nearly rising order.
class code_point_counter {
 public:
  explicit code_point_counter(std::string_view text)
      : text_(text), plain_(ascii_bytes(text, 0) == text.size()) {}
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
