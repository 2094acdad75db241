// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

namespace detail {

/// How many bytes from `at` are a letter of UTF-8; where they are none, `is_letter` is false and
/// the bytes are those that can begin none together.
struct utf8_piece {
  std::size_t bytes = 1;
  bool is_letter = false;
};
/// Source  Unicode 15, table 3-7
[[nodiscard]] inline auto utf8_piece_at(std::string_view text, std::size_t at) -> utf8_piece {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const lead = byte(at);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  auto const length = std::size_t{lead < 0xE0 ? 2U : lead < 0xF0 ? 3U : 4U};
  auto low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  auto high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (auto i = std::size_t{1}; i < length; ++i) {
    if (at + i == text.size() || byte(at + i) < low || byte(at + i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

/// Calls f(letter, depth) for each bracket, brace and comma of a text that is JSON if it is any,
/// outside of strings, until it says false; `depth` is of lists and objects in each other, with one
/// that begins there.
void for_each_json_mark(std::string_view json, auto const& f) {
  auto depth = std::size_t{0};
  auto quoted = false;
  for (auto i = std::size_t{0}; i < json.size(); ++i) {
    auto const letter = json[i];
    if (quoted && letter == '\\') ++i;
    if (letter == '"') quoted = not quoted;
    if (quoted) continue;
    auto const begins = letter == '[' || letter == '{';
    auto const ends = letter == ']' || letter == '}';
    if (begins) ++depth;
    if (ends && depth > 0) --depth;
    if ((begins || ends || letter == ',') && not f(letter, depth)) return;
  }
}

}  // namespace detail

/// The place of the first bytes that are no UTF-8, or npos.
[[nodiscard]] inline auto find_no_utf8(std::string_view text) -> std::size_t {
  for (auto at = std::size_t{0}; at < text.size();) {
    auto const piece = detail::utf8_piece_at(text, at);
    if (not piece.is_letter) return at;
    at += piece.bytes;
  }
  return std::string_view::npos;
}
/// What is wrong with a text that is no UTF-8; nothing where it is.
[[nodiscard]] inline auto fault_of_utf8(std::string_view text) -> std::string {
  auto const at = find_no_utf8(text);
  if (at == std::string_view::npos) return {};
  return "expected UTF-8, byte " + std::to_string(at) + " is none";
}

/// The text; bytes that are no UTF-8 are each replaced by U+FFFD, where they belong together by
/// one.
[[nodiscard]] inline auto valid_utf8(std::string_view text) -> std::string {
  auto result = std::string{};
  for (auto at = std::size_t{0}; at < text.size();) {
    auto const piece = detail::utf8_piece_at(text, at);
    result += piece.is_letter ? text.substr(at, piece.bytes) : std::string_view{"\xEF\xBF\xBD"};
    at += piece.bytes;
  }
  return result;
}

/// Lists and objects in each other, in files of models: what writes such a value as text, or copies
/// it, calls itself for each.
inline constexpr auto most_json_levels = std::size_t{64};
/// Whether they are in each other more often, in a text that is JSON if it is any.
[[nodiscard]] inline auto is_too_deep(std::string_view json) -> bool {
  auto deepest = std::size_t{0};
  detail::for_each_json_mark(json, [&](char, std::size_t depth) {
    deepest = std::max(deepest, depth);
    return deepest <= most_json_levels;
  });
  return deepest > most_json_levels;
}

/// The text as the inside of a JSON string, which YAML reads too; bytes that are no UTF-8 are each
/// replaced by U+FFFD, where they belong together by one.
[[nodiscard]] inline auto json_escaped(std::string_view text) -> std::string {
  static constexpr auto digits = std::string_view{"0123456789abcdef"};
  static constexpr auto plain = std::string_view{"\"\\\b\f\n\r\t"};
  static constexpr auto short_forms = std::string_view{"\"\\bfnrt"};
  auto result = std::string{};
  for (auto const letter : valid_utf8(text)) {
    auto const code = static_cast<unsigned char>(letter);
    if (auto const form = plain.find(letter); form != std::string_view::npos)
      result.append({'\\', short_forms[form]});
    else if (code < 0x20)
      result.append("\\u00").append({digits[code >> 4U], digits[code & 15U]});
    else
      result += letter;
  }
  return result;
}
/// The same in quotes.
[[nodiscard]] inline auto json_text(std::string_view text) -> std::string {
  return '"' + json_escaped(text) + '"';
}

}  // namespace tessera
