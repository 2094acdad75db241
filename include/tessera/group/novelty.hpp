// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
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

[[nodiscard]] constexpr auto is_digit_at(std::string_view text, std::size_t at) -> bool {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}
[[nodiscard]] constexpr auto is_behind_word(std::string_view text, std::size_t at) -> bool {
  return at > 0 && is_word_letter(text[at - 1]);
}
/// What tells "-1" from "1" and "C++" from "C", and is no hyphen, dash, bullet, heading or
/// mark of a quotation.
[[nodiscard]] constexpr auto is_sign(std::string_view text, std::size_t at) -> bool {
  if (text[at] == '-') return is_digit_at(text, at + 1) && not is_behind_word(text, at);
  if (text[at] == '#') return is_behind_word(text, at);
  auto const begins_line = at == 0 || text[at - 1] == '\n';
  if (begins_line && at + 1 < text.size() && is_ascii_space(text[at + 1])) return false;
  return std::string_view{"+^%$<>"}.find(text[at]) != std::string_view::npos;
}
/// "3.5" is one word; "1,2" are two, as "1, 2".
[[nodiscard]] constexpr auto is_in_number(std::string_view text, std::size_t at) -> bool {
  return text[at] == '.' && at > 0 && is_digit_at(text, at - 1) && is_digit_at(text, at + 1);
}
/// The different words of a text and its signs, sorted; without regard to ASCII's case.
[[nodiscard]] inline auto words_of(std::string_view text) -> std::vector<std::string> {
  auto words = std::vector<std::string>{};
  auto inside = false;
  for (auto at = std::size_t{0}; at < text.size(); ++at) {
    auto const letter = text[at];
    auto const part = is_word_letter(letter) || is_in_number(text, at);
    if (is_sign(text, at)) words.emplace_back(1, letter);
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
/// Signs are words, too ("-1" is another answer than "1"), and the order of words does not count.
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

/// The cosine of the vectors that a function has for two texts, each of which it is asked for once;
/// 0 where one is all zeros. Copies share what they know, and are for one thread at a time.
///
/// Cost    the vectors of all texts are kept
/// Errors  std::invalid_argument for vectors of two lengths
class vector_similarity {
 public:
  using vector_function = std::function<std::vector<float>(std::string_view)>;

  explicit vector_similarity(vector_function vector_of)
      : vector_of_(std::move(vector_of)), known_(std::make_shared<vectors>()) {}
  [[nodiscard]] auto operator()(std::string_view a, std::string_view b) const -> double {
    auto const& x = known(a);
    auto const& y = known(b);
    if (x.size() != y.size())
      throw std::invalid_argument("vector_similarity: expected vectors of one length, got " +
                                  std::to_string(x.size()) + " and " + std::to_string(y.size()));
    auto const lengths = inner(x, x) * inner(y, y);
    return lengths > 0 ? inner(x, y) / std::sqrt(lengths) : 0;
  }

 private:
  using vectors = std::map<std::string, std::vector<float>, std::less<>>;

  [[nodiscard]] auto known(std::string_view text) const -> std::vector<float> const& {
    auto found = known_->find(text);
    if (found == known_->end()) found = known_->emplace(text, vector_of_(text)).first;
    return found->second;
  }
  [[nodiscard]] static auto inner(std::vector<float> const& a, std::vector<float> const& b)
      -> double {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>{},
                              [](double x, double y) { return x * y; });
  }

  vector_function vector_of_;
  std::shared_ptr<vectors> known_;
};

/// How much that is new an answer needs. An exact copy is never new.
struct novelty {
  static constexpr auto balanced = 0.7;
  static constexpr auto strict = 0.5;
  static constexpr auto lenient = 1.0;  ///< any other text is new
  /// The same for cosines of sentences: two answers to a question are about the same matter, whose
  /// cosine is high before they say the same.
  static constexpr auto balanced_cosine = 0.9;
  static constexpr auto strict_cosine = 0.8;

  double most_similar = balanced;  ///< an answer that is more similar to another one is refused
  /// Words in common; or, where a model for sentences is there, the cosine of their embeddings.
  std::function<double(std::string_view, std::string_view)> similarity = word_overlap;
};

}  // namespace tessera
