// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>

#include <string>
#include <string_view>

namespace tessera {

/// A text of others as a terminal may be sent it: every control character but tabs and line breaks
/// is a question mark, and bytes that are no UTF-8 are U+FFFD.
[[nodiscard]] inline auto terminal_text(std::string_view text) -> std::string {
  auto result = std::string{};
  for (auto at = std::size_t{0}; at < text.size();) {
    auto const piece = detail::utf8_piece_at(text, at);
    auto const letter = text.substr(at, piece.bytes);
    auto const code = static_cast<unsigned char>(letter.front());
    auto const controls = (code < 0x20 && code != '\t' && code != '\n') || code == 0x7F ||
                          (letter >= "\xC2\x80" && letter <= "\xC2\x9F");
    if (not piece.is_letter)
      result += "\xEF\xBF\xBD";
    else
      result += controls ? std::string_view{"?"} : letter;
    at += piece.bytes;
  }
  return result;
}

}  // namespace tessera
