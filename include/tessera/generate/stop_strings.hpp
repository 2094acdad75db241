// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Ends a text where one of some strings is in it, and holds back what may begin one: nothing of
/// such a string is ever given away.
///
/// The string that is complete first ends the text, of several the longest: the same one however
/// the text is cut into pieces. No code point is given away in part.
/// Cost    for each byte a comparison with the end of each string
/// Errors  std::invalid_argument for an empty string
class stop_strings {
 public:
  stop_strings() = default;
  explicit stop_strings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (auto const& s : strings_)
      if (s.empty()) throw std::invalid_argument("stop_strings: expected texts, got an empty one");
    std::ranges::sort(strings_, std::greater<>{}, &std::string::size);
  }
  /// The string that ended the text.
  [[nodiscard]] auto found() const -> std::string const& { return found_; }
  [[nodiscard]] auto stopped() const -> bool { return not found_.empty(); }

  /// What may be given away of the text so far, after one more piece of it.
  [[nodiscard]] auto append(std::string_view piece) -> std::string {
    if (stopped()) return {};
    if (strings_.empty()) return std::string{piece};
    auto const first = held_.size() + 1;
    held_ += piece;
    for (auto end = first; end <= held_.size(); ++end) {
      auto const so_far = std::string_view{held_}.substr(0, end);
      for (auto const& s : strings_)
        if (so_far.ends_with(s)) {
          found_ = s;
          auto before = std::string{so_far.substr(0, whole(so_far.size() - s.size()))};
          held_.clear();
          return before;
        }
    }
    auto const cut = whole(held_.size() - begun());
    auto given = held_.substr(0, cut);
    held_.erase(0, cut);
    return given;
  }
  /// What was held back of a text that has ended otherwise.
  [[nodiscard]] auto finish() -> std::string { return std::exchange(held_, {}); }

 private:
  /// The most bytes at the end that a string begins with.
  [[nodiscard]] auto begun() const -> std::size_t {
    auto most = std::size_t{0};
    for (auto const& s : strings_)
      for (auto n = std::min(s.size() - 1, held_.size()); n > most; --n)
        if (std::string_view{held_}.ends_with(std::string_view{s}.substr(0, n))) most = n;
    return most;
  }
  /// The nearest place before `at` that is inside of no code point.
  [[nodiscard]] auto whole(std::size_t at) const -> std::size_t {
    while (at > 0 && at < held_.size() && (static_cast<unsigned char>(held_[at]) & 0xC0) == 0x80)
      --at;
    return at;
  }

  std::vector<std::string> strings_;  // the longest first
  std::string held_;
  std::string found_;
};

}  // namespace tessera
