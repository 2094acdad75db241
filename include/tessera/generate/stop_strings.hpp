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
/// Cost    a few comparisons for each byte and string, whatever the pieces; a number for each byte
///         of the strings
/// Errors  std::invalid_argument for an empty string
class stop_strings {
 public:
  stop_strings() = default;
  explicit stop_strings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (auto const& s : strings_)
      if (s.empty()) throw std::invalid_argument("stop_strings: expected texts, got an empty one");
    std::ranges::sort(strings_, std::greater<>{}, &std::string::size);
    for (auto const& s : strings_) {
      borders_.push_back(borders_of(s));
      begun_.push_back(0);
    }
  }
  /// The string that ended the text.
  [[nodiscard]] auto found() const -> std::string const& { return found_; }
  [[nodiscard]] auto stopped() const -> bool { return not found_.empty(); }

  /// What may be given away of the text so far, after one more piece of it.
  [[nodiscard]] auto append(std::string_view piece) -> std::string {
    if (stopped()) return {};
    if (strings_.empty()) return std::string{piece};
    auto const first = held_.size();
    held_ += piece;
    for (auto at = first; at < held_.size(); ++at)
      for (auto i = std::size_t{0}; i < strings_.size(); ++i) {
        begun_[i] = longer(strings_[i], borders_[i], begun_[i], held_[at]);
        if (begun_[i] < strings_[i].size()) continue;
        found_ = strings_[i];
        auto given = std::string{before(at + 1 - found_.size())};
        held_.clear();
        given_ = 0;
        return given;
      }
    auto given = std::string{before(held_.size() - std::ranges::max(begun_))};
    given_ += given.size();
    if (2 * given_ >= held_.size()) {  // seldom enough to cost nothing, however much is held
      held_.erase(0, given_);
      given_ = 0;
    }
    return given;
  }
  /// What was held back of a text that has ended otherwise.
  [[nodiscard]] auto finish() -> std::string {
    std::ranges::fill(begun_, 0);
    return std::exchange(held_, {}).substr(std::exchange(given_, 0));
  }

 private:
  /// Of each beginning of a string, how long the longest is that it also ends with, but itself.
  using borders = std::vector<std::size_t>;

  /// How much of `s` a text ends with, after `next`; it ended with `n` bytes of it before.
  [[nodiscard]] static auto longer(std::string_view s, borders const& of, std::size_t n, char next)
      -> std::size_t {
    while (n > 0 && s[n] != next) n = of[n - 1];
    return s[n] == next ? n + 1 : 0;
  }
  [[nodiscard]] static auto borders_of(std::string_view s) -> borders {
    auto result = borders(s.size());
    for (auto i = std::size_t{1}; i < s.size(); ++i)
      result[i] = longer(s, result, result[i - 1], s[i]);
    return result;
  }
  /// What may be given away before `end`: no code point in part.
  [[nodiscard]] auto before(std::size_t end) const -> std::string_view {
    auto const inside = [&](std::size_t at) {
      return at < held_.size() && (static_cast<unsigned char>(held_[at]) & 0xC0) == 0x80;
    };
    while (end > given_ && inside(end)) --end;
    return std::string_view{held_}.substr(given_, end - given_);
  }
  std::vector<std::string> strings_;  // the longest first
  std::vector<borders> borders_;      // of each
  std::vector<std::size_t> begun_;    // how much of each the text ends with
  std::string held_;
  std::size_t given_ = 0;  // bytes at the beginning of held_ that were given away
  std::string found_;
};

}  // namespace tessera
