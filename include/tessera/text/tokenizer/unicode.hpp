// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include <utf8proc.h>

/// Code points in UTF-8 and their classes, of Unicode as utf8proc knows it.
namespace tessera {

/// Why a text or a tokenizer cannot be used: where, what was expected and what came.
struct text_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

/// A code point and the bytes it takes.
struct code_point {
  char32_t value = 0;
  std::uint32_t bytes = 1;
};

[[nodiscard]] constexpr auto byte_at(std::string_view text, std::size_t at) -> unsigned char {
  return static_cast<unsigned char>(text[at]);
}
[[nodiscard]] constexpr auto continues(char c) -> bool {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}
/// The code point that begins at `at`; the text is UTF-8.
[[nodiscard]] constexpr auto code_point_at(std::string_view text, std::size_t at) -> code_point {
  auto const lead = static_cast<char32_t>(byte_at(text, at));
  auto const low = [&](std::size_t i) {
    return static_cast<char32_t>(byte_at(text, at + i) & 0x3FU);
  };
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1FU) << 6U | low(1), 2};
  if (lead < 0xF0) return {(lead & 0x0FU) << 12U | low(1) << 6U | low(2), 3};
  return {(lead & 0x07U) << 18U | low(1) << 12U | low(2) << 6U | low(3), 4};
}
/// The code point that ends at `end`, which is > 0.
[[nodiscard]] constexpr auto code_point_before(std::string_view text, std::size_t end)
    -> code_point {
  auto at = end - 1;
  while (continues(text[at])) --at;
  return code_point_at(text, at);
}

inline void append_code_point(std::string& text, char32_t c) {
  auto const put = [&](char32_t byte) { text += static_cast<char>(byte); };
  auto const low = [&](unsigned shift) { put(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) {
    put(c);
    return;
  }
  if (c < 0x800) {
    put(0xC0U | c >> 6U);
  } else if (c < 0x10000) {
    put(0xE0U | c >> 12U);
    low(6);
  } else {
    put(0xF0U | c >> 18U);
    low(12);
    low(6);
  }
  low(0);
}

/// How many bytes of the text are ASCII from `at` on.
[[nodiscard]] inline auto ascii_bytes(std::string_view text, std::size_t at) -> std::size_t {
  auto const begin = at;
  for (; at + 8 <= text.size(); at += 8) {
    auto word = std::uint64_t{};
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < text.size() && byte_at(text, at) < 0x80) ++at;
  return at - begin;
}
/// Errors  text_error where bytes are no UTF-8
inline void expect_utf8(std::string_view text, std::string_view what) {
  for (auto at = std::size_t{0}; at < text.size();) {
    at += ascii_bytes(text, at);
    if (at == text.size()) return;
    auto const piece = utf8_piece_at(text, at);
    if (not piece.is_letter)
      throw text_error(std::string{what} + ": expected UTF-8, byte " + std::to_string(at) +
                       " is none");
    at += piece.bytes;
  }
}
/// How long the text is without what may be the beginning of a code point at its end.
[[nodiscard]] inline auto whole_code_points(std::string_view text) -> std::size_t {
  auto at = text.size();
  for (auto back = 0; back < 3 && at > 0; ++back) {
    --at;
    auto const byte = byte_at(text, at);
    if (continues(text[at])) continue;
    auto const needed = std::size_t{byte >= 0xF0 ? 4U : byte >= 0xE0 ? 3U : byte >= 0xC0 ? 2U : 1U};
    auto const piece = utf8_piece_at(text, at);
    auto const cut = not piece.is_letter && at + piece.bytes == text.size() && piece.bytes < needed;
    return cut && byte >= 0xC2 && byte <= 0xF4 ? at : text.size();
  }
  return text.size();
}
/// The text with bytes that are no UTF-8 replaced by U+FFFD, where they belong together by one.
[[nodiscard]] inline auto repaired_utf8(std::string_view text) -> std::string {
  auto result = std::string{};
  result.reserve(text.size());
  for (auto at = std::size_t{0}; at < text.size();) {
    auto const piece = utf8_piece_at(text, at);
    if (piece.is_letter)
      result += text.substr(at, piece.bytes);
    else
      result += "\xEF\xBF\xBD";
    at += piece.bytes;
  }
  return result;
}

/// What split patterns ask of a code point.
enum class kind : std::uint8_t { other, letter, number, space };

[[nodiscard]] constexpr auto is_space(char32_t c) -> bool {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}
[[nodiscard]] inline auto category(char32_t c) -> utf8proc_category_t {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}
[[nodiscard]] inline auto kind_of_any(char32_t c) -> kind {
  if (is_space(c)) return kind::space;
  auto const of = category(c);
  if (of >= UTF8PROC_CATEGORY_LU && of <= UTF8PROC_CATEGORY_LO) return kind::letter;
  return of >= UTF8PROC_CATEGORY_ND && of <= UTF8PROC_CATEGORY_NO ? kind::number : kind::other;
}
inline constexpr auto ascii_kinds = [] {
  auto result = std::array<kind, 128>{};
  for (auto c = char32_t{0}; c < 128; ++c)
    result[c] = is_space(c)                                  ? kind::space
                : (c >= '0' && c <= '9')                     ? kind::number
                : ((c | 0x20U) >= 'a' && (c | 0x20U) <= 'z') ? kind::letter
                                                             : kind::other;
  return result;
}();
[[nodiscard]] inline auto split_kind_of(char32_t c) -> kind {
  return c < 128 ? ascii_kinds[c] : kind_of_any(c);
}

[[nodiscard]] inline auto is_punctuation(char32_t c) -> bool {
  auto const of = category(c);
  return of >= UTF8PROC_CATEGORY_PC && of <= UTF8PROC_CATEGORY_PO;
}
[[nodiscard]] inline auto is_mark(char32_t c) -> bool {
  auto const of = category(c);
  return of >= UTF8PROC_CATEGORY_MN && of <= UTF8PROC_CATEGORY_ME;
}
/// \w of regular expressions: letters, marks, digits, connectors.
[[nodiscard]] inline auto is_word(char32_t c) -> bool {
  auto const of = category(c);
  auto const joins = c == 0x200C || c == 0x200D;
  auto const circled = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
                       (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return split_kind_of(c) == kind::letter || is_mark(c) || of == UTF8PROC_CATEGORY_ND ||
         of == UTF8PROC_CATEGORY_NL || of == UTF8PROC_CATEGORY_PC || joins || circled;
}

}  // namespace detail
}  // namespace tessera
