// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/words.hpp>

namespace tessera::detail {

using pieces = std::vector<text_piece>;

/// What becomes of what separates: it is a piece, is left out, is one piece with its neighbours of
/// the same kind, or belongs to the piece before or after it.
enum class separator { isolated, removed, contiguous, with_previous, with_next };

/// Collects the pieces of a range, whose separators come in their order.
template <class To> class splitter {
 public:
  splitter(To& to, text_range range, separator behavior)
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

  To* to_;
  text_range range_;
  separator behavior_;
  std::uint32_t begin_;  // of the piece that is open
  std::uint32_t at_;
  bool in_separator_ = false;
};

/// Separators are the code points that `is` says yes to.
void split_by_code_point(std::string_view text, text_range range, separator behavior,
                         auto const& is, auto& to) {
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
template <auto Word> void split_by_words(std::string_view text, text_range range, auto& to) {
  auto const runs = kind_runs(text.substr(range.begin, range.end - range.begin));
  for (auto at = std::uint32_t{0}; at < runs.size();) {
    auto const end = Word(runs, at);
    to.push_back({{range.begin + at, range.begin + end}});
    at = end;
  }
}

}  // namespace tessera::detail
