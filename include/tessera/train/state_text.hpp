// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/described.hpp>

#include <charconv>
#include <stdexcept>
#include <string>

/// What callbacks remember, as words of a line: every number exactly.
namespace tessera::detail {

/// The values one after another, as words without a blank.
template <class... T> [[nodiscard]] auto state_text(T const&... values) -> std::string {
  auto text = std::string{};
  auto const add = [&](auto const& value) {
    if (not text.empty()) text += ' ';
    if constexpr (is_text<std::remove_cvref_t<decltype(value)>>)
      text += value;
    else
      text += described(value);
  };
  (add(values), ...);
  return text;
}

/// Reads them again, in their order.
///
/// Errors  std::invalid_argument for a word that is no such value, for one too few or too many
class state_words {
 public:
  explicit state_words(std::string text) : rest_(std::move(text)) {}
  template <class... T> void read(T&... values) { (read_one(values), ...); }
  [[nodiscard]] auto is_empty() const -> bool { return rest_.empty(); }
  void end() const {
    if (not rest_.empty()) fail(rest_);
  }

 private:
  [[noreturn]] static void fail(std::string const& word) {
    throw std::invalid_argument("a callback's state has \"" + word.substr(0, 60) +
                                "\" where it should not");
  }
  template <class T> void read_one(T& value) {
    auto const word = rest_.substr(0, rest_.find(' '));
    rest_.erase(0, word.size() + 1);
    if constexpr (std::is_same_v<T, std::string>) {
      if (word.empty()) fail(word);
      value = word;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (word != "true" && word != "false") fail(word);
      value = word == "true";
    } else {
      auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc{} || end != word.data() + word.size()) fail(word);
    }
  }

  std::string rest_;
};

}  // namespace tessera::detail
