// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

namespace detail {

[[nodiscard]] constexpr auto is_ascii_space(char letter) -> bool {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}
/// ASCII's letters and digits, and whatever is beyond ASCII.
[[nodiscard]] constexpr auto is_word_letter(char letter) -> bool {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || static_cast<unsigned char>(letter) >= 0x80;
}
[[nodiscard]] constexpr auto lower(char letter) -> char {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The different words of a text, sorted; without regard to ASCII's case.
[[nodiscard]] inline auto words_of(std::string_view text) -> std::vector<std::string> {
  auto words = std::vector<std::string>{};
  auto inside = false;
  for (auto const letter : text) {
    auto const part = is_word_letter(letter);
    if (part && not inside) words.emplace_back();
    if (part) words.back() += lower(letter);
    inside = part;
  }
  std::ranges::sort(words);
  auto const [first, last] = std::ranges::unique(words);
  words.erase(first, last);
  return words;
}

}  // namespace detail

/// A text without white space at its ends.
[[nodiscard]] constexpr auto trimmed(std::string_view text) -> std::string_view {
  while (not text.empty() && detail::is_ascii_space(text.front())) text.remove_prefix(1);
  while (not text.empty() && detail::is_ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The words that two texts share, by all their words: |A ∩ B| / |A ∪ B|; 1 where neither has any.
///
/// Cost    n log n in the words of both
/// Source  Jaccard, Étude comparative de la distribution florale, 1901
[[nodiscard]] inline auto word_overlap(std::string_view a, std::string_view b) -> double {
  auto const x = detail::words_of(a);
  auto const y = detail::words_of(b);
  if (x.empty() && y.empty()) return 1;
  auto both = std::vector<std::string>{};
  std::ranges::set_intersection(x, y, std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(x.size() + y.size() - both.size());
}

/// How much that is new an answer needs. An exact copy is never new.
struct novelty {
  static constexpr auto balanced = 0.7;
  static constexpr auto strict = 0.5;
  static constexpr auto lenient = 1.0;  ///< any other text is new

  double most_similar = balanced;  ///< an answer that is more similar to another one is refused
  /// Words in common; or, where a model for sentences is there, the cosine of their embeddings.
  std::function<double(std::string_view, std::string_view)> similarity = word_overlap;
};

}  // namespace tessera
