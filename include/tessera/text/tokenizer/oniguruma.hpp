// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/unicode.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::detail {

/// A regular expression of Oniguruma, for which tokenizer.json is written, in PCRE2's words:
/// classes in classes and what they have in common (&&), its words, blanks and hexadecimal digits,
/// its intervals, and its (?m), where a dot is any letter. What means the same stays as it stands;
/// lines begin and end wherever there are some (PCRE2_MULTILINE).
///
/// Errors  text_error for what has another meaning and no translation; what neither knows is left
///         to PCRE2
/// Source  Oniguruma 6.9, doc/RE and the syntax ONIG_SYNTAX_RUBY
class oniguruma_pattern {
 public:
  /// Asked of a name in \p{...} whether it is one of a script.
  using script_function = std::function<bool(std::string_view)>;

  [[nodiscard]] static auto translated(std::string_view pattern, script_function const& is_script)
      -> std::string {
    auto one = oniguruma_pattern(pattern, is_script);
    while (one.at_ < pattern.size()) one.read();
    return one.to_.append(one.groups_.front().parentheses, ')');
  }

 private:
  // Inside of brackets.
  static constexpr auto words = std::string_view{
      R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})"};
  // Six numbers are words outside of classes alone.
  static constexpr auto words_alone = std::string_view{R"(\xB2\xB3\xB9\xBC-\xBE)"};
  static constexpr auto blanks = std::string_view{R"(\t-\r\x{85}\p{Z})"};
  static constexpr auto digits = std::string_view{"0-9a-fA-F"};
  static constexpr std::pair<std::string_view, std::string_view> named[] = {
      {"word", words},
      {"space", blanks},
      {"xdigit", digits},
      {"alpha", R"(\p{Alphabetic})"},
      {"alnum", R"(\p{Alphabetic}\p{Nd})"},
      {"upper", R"(\p{Uppercase})"},
      {"lower", R"(\p{Lowercase})"},
      {"punct", R"(\p{P}\p{S})"},
      {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
      {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
      {"cntrl", R"(\p{Cc})"},
      {"blank", R"(\t\p{Zs})"}};

  oniguruma_pattern(std::string_view pattern, script_function const& is_script)
      : from_(pattern), is_script_(is_script) {}

  [[nodiscard]] auto is_at(std::string_view text) const -> bool {
    return from_.substr(at_).starts_with(text);
  }
  /// The letter here, or so many further; behind the end none.
  [[nodiscard]] auto next(std::size_t ahead = 0) const -> char {
    return at_ + ahead < from_.size() ? from_[at_ + ahead] : '\0';
  }
  [[nodiscard]] static auto set_of(char letter) -> std::string_view {
    return letter == 'w' || letter == 'W'   ? words
           : letter == 's' || letter == 'S' ? blanks
           : letter == 'h' || letter == 'H' ? digits
                                            : std::string_view{};
  }
  [[nodiscard]] static auto in_brackets(std::string_view set, bool without = false) -> std::string {
    return (without ? "[^" : "[") + std::string{set} + ']';
  }
  [[nodiscard]] static auto is_large(char letter) -> bool { return letter >= 'A' && letter <= 'Z'; }
  [[nodiscard]] static auto lowered(char letter) -> char {
    return is_large(letter) ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  [[noreturn]] void refuse(std::string const& what) const {
    throw text_error("pattern " + json_text(from_) + ": " + what + " at byte " +
                     std::to_string(at_) + " is not known here");
  }

  void read() {
    if (next() == '\\') {
      read_escape();
    } else if (next() == '[') {
      ++at_;
      to_ += read_class(1);
    } else if (is_at("(?#")) {
      at_ = std::min(from_.find(')', at_), from_.size() - 1) + 1;
    } else if (is_at("(?")) {
      read_flags();
    } else if (next() == '(') {
      groups_.push_back({.caseless = groups_.back().caseless});
      to_ += from_[at_++];
    } else if (next() == ')') {
      to_.append(groups_.back().parentheses, ')');
      if (groups_.size() > 1) groups_.pop_back();
      to_ += from_[at_++];
    } else if (next() == '{') {
      read_interval();
    } else {
      check_letter();
      to_ += from_[at_++];
    }
  }
  /// Without case, a letter may be two others there: ss and the German one, ff and its ligature.
  void check_letter() const {
    if (not groups_.back().caseless || at_ >= from_.size()) return;
    auto const two = std::string{lowered(next()), lowered(next(1))};
    for (auto const* const one : {"ss", "ff", "fi", "fl", "st"})
      if (two == one) refuse("(?i) of letters that are one letter, too,");
    check_letter_of_class();
  }
  void check_letter_of_class() const {
    if (not groups_.back().caseless || at_ >= from_.size() || continues(next())) return;
    constexpr std::pair<char32_t, char32_t> several[] = {
        {0xDF, 0xDF},     {0x130, 0x130},   {0x149, 0x149},   {0x1F0, 0x1F0},
        {0x390, 0x390},   {0x3B0, 0x3B0},   {0x587, 0x587},   {0x1E96, 0x1E9A},
        {0x1E9E, 0x1E9E}, {0x1F50, 0x1F56}, {0x1F80, 0x1FFC}, {0xFB00, 0xFB17}};
    auto letters = std::string{from_.substr(at_, 4)};
    letters.resize(4);  // PCRE2 refuses what is no UTF-8
    auto const letter = code_point_at(letters, 0).value;
    for (auto const& [first, last] : several)
      if (letter >= first && letter <= last) refuse("(?i) of a letter that is several, too,");
  }
  /// What follows a backslash, where it is no set.
  [[nodiscard]] auto taken_escape() -> std::string {
    auto const letter = next(1);
    auto const code = from_.substr(std::min(at_ + 2, from_.size()), 4);
    if (letter == 'u' && code.size() == 4 &&
        code.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos) {
      at_ += 6;
      return "\\x{" + std::string{code} + '}';
    }
    if (letter == 'v') {  // one letter there
      at_ += 2;
      return "\\x0B";
    }
    auto const plain = letter == 'Q' || letter == 'E';  // no quotes there
    auto taken = std::string{from_.substr(at_ + (plain ? 1 : 0), plain ? 1 : 2)};
    at_ = std::min(at_ + 2, from_.size());
    auto const has_name = letter == 'x' || letter == 'p' || letter == 'P';
    auto const ends = has_name && next() == '{' ? from_.find('}', at_) : std::string_view::npos;
    if (ends == std::string_view::npos) return taken;
    auto name = from_.substr(at_ + 1, ends - at_ - 1);
    at_ = ends + 1;
    taken += '{';
    if (name.starts_with('^')) {
      taken += '^';
      name.remove_prefix(1);
    }
    // A script alone is what letters are of, not what they are used in, too.
    if (letter != 'x' && is_script_(name)) taken += "sc:";
    return taken.append(name) + '}';
  }
  void read_escape() {
    auto const letter = next(1);
    if (auto const set = set_of(letter); not set.empty()) {
      auto const alone = set == words ? words_alone : "";
      to_ += in_brackets(std::string{set}.append(alone), is_large(letter));
      at_ += 2;
    } else if (letter == 'b' || letter == 'B') {
      auto const word = in_brackets(std::string{words}.append(words_alone));
      auto const [first, second] =
          letter == 'b' ? std::pair{"(?!", "(?="} : std::pair{"(?=", "(?!"};
      to_.append("(?:(?<=").append(word).append(")").append(first).append(word);
      to_.append(")|(?<!").append(word).append(")").append(second).append(word).append("))");
      at_ += 2;
    } else if (letter == 'X') {
      refuse("\\X");  // PCRE2 10.42 has two emoji as one
    } else {
      to_ += taken_escape();
    }
  }
  /// Flags alone hold to the end of the group, beyond what stands between bars.
  void read_flags() {
    auto const begin = at_;
    at_ += 2;
    while (next() == '-' || next() == 'i' || next() == 'm' || next() == 'x') ++at_;
    auto const flags = from_.substr(begin + 2, at_ - begin - 2);
    auto const alone = next() == ')';
    if ((alone || next() == ':') && flags.find('x') != std::string_view::npos)
      refuse("a pattern with blanks between");
    auto const off = flags.find('-');
    auto const i = flags.find('i');
    auto const caseless = i == std::string_view::npos ? groups_.back().caseless : i < off;
    to_ += "(?";
    for (auto const letter : flags) to_ += (alone || next() == ':') && letter == 'm' ? 's' : letter;
    if (alone) {
      ++at_;
      to_ += ':';
      ++groups_.back().parentheses;
      groups_.back().caseless = caseless;
    } else {
      groups_.push_back({.caseless = caseless});
    }
  }
  void read_interval() {
    auto const begin = at_++;
    auto const low = at_;
    auto const skip_digits = [&] {
      while (next() >= '0' && next() <= '9') ++at_;
    };
    skip_digits();
    auto const has_low = at_ > low;
    auto const comma = next() == ',';
    at_ += comma ? 1 : 0;
    auto const high = at_;
    skip_digits();
    if (next() != '}' || not(has_low || at_ > high)) {
      to_ += '{';
      at_ = begin + 1;
      return;
    }
    ++at_;
    if (next() == '+' || (next() == '?' && not comma)) refuse("an interval that is repeated");
    if (not has_low) to_ += "{0";
    to_ += from_.substr(has_low ? begin : low, at_ - (has_low ? begin : low));
  }

  /// What a hyphen in a class would follow: a letter that may begin a range, the hyphen of one, or
  /// what begins none.
  enum class before : std::uint8_t { set, letter, hyphen };
  /// One of the parts that have `&&` between them, in a class.
  struct alternatives {
    std::string plain;                ///< what stands in brackets
    std::vector<std::string> others;  ///< what does not
    before last = before::set;

    [[nodiscard]] auto text() const -> std::string {
      auto all = plain.empty() ? std::string{} : in_brackets(plain);
      for (auto const& one : others) all += (all.empty() ? "" : "|") + one;
      return all.empty() ? "(?!)" : others.empty() ? all : "(?:" + all + ')';
    }
  };
  /// What matches one letter of a class, whose bracket is behind.
  [[nodiscard]] auto read_class(int depth) -> std::string {
    if (depth > 20) refuse("a class in more than 20 others");
    auto const without = next() == '^';
    at_ += without ? 1 : 0;
    auto parts = std::vector<alternatives>(1);
    for (auto first = true; first || next() != ']'; first = false) {
      if (at_ >= from_.size()) return "[";  // which PCRE2 refuses
      if (is_at("&&")) {
        at_ += 2;
        parts.emplace_back();
      } else {
        read_of_class(parts.back(), depth);
      }
    }
    ++at_;
    if (parts.size() == 1 && parts[0].others.empty()) return in_brackets(parts[0].plain, without);
    auto all = std::string{};
    for (auto const& one : parts)
      all += &one == &parts.back() ? one.text() : "(?=" + one.text() + ')';
    return (without ? "(?:(?!" + all + ")(?s:.)" : "(?:" + all) + ')';
  }
  void read_of_class(alternatives& to, int depth) {
    auto const letter = next(1);
    auto const is_set = next() == '\\' && (not set_of(letter).empty() || letter == 'd' ||
                                           letter == 'D' || letter == 'p' || letter == 'P');
    auto const name_ends = end_of_name();
    if ((next() == '[' || is_set) && to.last == before::hyphen) refuse("a range to a class");
    if (name_ends > 0) {
      read_named(to, name_ends);
      to.last = before::set;
    } else if (next() == '[') {
      ++at_;
      to.others.push_back(read_class(depth + 1));
      to.last = before::set;
    } else if (is_set && not set_of(letter).empty()) {
      at_ += 2;
      if (is_large(letter))
        to.others.push_back(in_brackets(set_of(letter), true));
      else
        to.plain += set_of(letter);
      to.last = before::set;
    } else if (is_set) {
      auto const set = taken_escape();
      check_set(set);
      to.plain += set;
      to.last = before::set;
    } else if (next() == '-') {
      ++at_;
      auto const in_range = to.last == before::letter;
      to.plain += in_range ? "-" : "\\-";
      to.last = in_range ? before::hyphen : before::set;
    } else {
      check_letter_of_class();
      if (to.plain.empty() && (next() == '^' || next() == ']')) to.plain += '\\';
      to.plain += next() == '\\' ? taken_escape() : std::string{from_[at_++]};
      to.last = to.last == before::hyphen ? before::set : before::letter;
    }
  }
  /// Without case, a class of capitals is one of small letters there, too.
  void check_set(std::string_view set) const {
    if (not groups_.back().caseless) return;
    auto name = std::string{};
    for (auto const c : set)
      if (auto const letter = lowered(c); letter >= 'a' && letter <= 'z') name += letter;
    name.erase(0, 1);  // the p of \p{...}
    for (auto const* const one : {"lu", "ll", "lt", "uppercase", "lowercase", "upper", "lower",
                                  "uppercaseletter", "lowercaseletter", "titlecaseletter"})
      if (name == one) refuse("(?i) of a class with capitals or small letters");
  }
  /// Behind [:name:], where that stands here, or 0.
  [[nodiscard]] auto end_of_name() const -> std::size_t {
    if (not is_at("[:")) return 0;
    auto end = at_ + (is_at("[:^") ? 3U : 2U);
    while (end < from_.size() && from_[end] >= 'a' && from_[end] <= 'z') ++end;
    return from_.substr(end).starts_with(":]") ? end + 2 : 0;
  }
  /// [:alpha:] and such.
  void read_named(alternatives& to, std::size_t end) {
    auto name = from_.substr(at_ + 2, end - at_ - 4);
    auto const without = name.starts_with('^');
    name.remove_prefix(without ? 1 : 0);
    auto const* const found =
        std::ranges::find(named, name, &std::pair<std::string_view, std::string_view>::first);
    auto const set = found == std::end(named) ? std::string_view{} : found->second;
    check_set(set);
    if (set.empty())
      to.plain += from_.substr(at_, end - at_);
    else if (without)
      to.others.push_back(in_brackets(set, true));
    else
      to.plain += set;
    at_ = end;
  }

  std::string_view from_;
  script_function const& is_script_;
  std::size_t at_ = 0;
  /// A group that is open.
  struct group {
    std::size_t parentheses = 0;  ///< that end with it
    bool caseless = false;
  };
  std::vector<group> groups_ = {{}};
  std::string to_;
};

}  // namespace tessera::detail
