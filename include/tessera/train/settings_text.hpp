// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

/// Settings as text: a line "name: value" for everything that decides what a training computes.
namespace tessera {

namespace detail {

using settings_map = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] inline auto settings_by_name(std::string_view text) -> settings_map {
  auto result = settings_map{};
  while (not text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("# ")) line.remove_prefix(2);  // compared, too, but read by no program
    auto const colon = std::min(line.find(": "), line.size());
    if (not line.empty())
      result[std::string{line.substr(0, colon)}] = line.substr(std::min(colon + 2, line.size()));
  }
  return result;
}

}  // namespace detail

/// A text as messages print it: at most `most` bytes of it, whole letters, and none that would move
/// a terminal's cursor.
[[nodiscard]] inline auto shortened(std::string_view text, std::size_t most = 60) -> std::string {
  auto end = std::min(most, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // no part of a letter
  auto result = std::string{text.substr(0, end)};
  for (auto& letter : result)
    if (static_cast<unsigned char>(letter) < ' ' || letter == 127) letter = ' ';
  return text.size() > most ? result + "..." : result;
}

/// The first setting, by name, that two texts tell differently: "rate: expected 0.1, got 0.2".
/// Nothing where all are equal; the order of the lines does not count.
[[nodiscard]] inline auto settings_difference(std::string_view expected, std::string_view got)
    -> std::string {
  auto const want = detail::settings_by_name(expected);
  auto const have = detail::settings_by_name(got);
  auto names = want;
  names.insert(have.begin(), have.end());
  for (auto const& [name, ignored] : names) {
    auto const a = want.find(name);
    auto const b = have.find(name);
    if (a != want.end() && b != have.end() && a->second == b->second) continue;
    return shortened(name) + ": expected " + (a == want.end() ? "none" : shortened(a->second)) +
           ", got " + (b == have.end() ? "none" : shortened(b->second));
  }
  return "";
}

}  // namespace tessera
