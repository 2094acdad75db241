// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "network.hpp"

namespace characters {

/// What is ASCII of a text, and how much is not.
struct ascii_text {
  std::string characters;
  std::size_t bytes = 0;     ///< that were read
  std::size_t left_out = 0;  ///< of them
};

/// The ASCII of a file, or of all files of a folder in the order of their names but those with an
/// extension, which index the others.
///
/// Errors  std::runtime_error for a text that is too short to learn from, and for one of which more
///         than a twentieth is left out: what remains would not be its language
[[nodiscard]] inline auto load_text(std::filesystem::path const& path) -> ascii_text {
  namespace fs = std::filesystem;
  auto files = std::vector<fs::path>{};
  if (fs::is_directory(path)) {
    for (auto const& entry : fs::directory_iterator(path))
      if (entry.is_regular_file() && not entry.path().has_extension())
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  auto text = ascii_text{};
  for (auto const& file : files)
    for (auto const byte : tessera::read_file(file)) {
      auto const c = static_cast<unsigned char>(byte);
      auto const is_kept = c == '\n' || c == '\t' || (c >= ' ' && c < 127);
      if (is_kept) text.characters += static_cast<char>(c);
      if (not is_kept && c != '\r') ++text.left_out;
      ++text.bytes;
    }
  if (text.left_out > text.bytes / 20)
    throw std::runtime_error(path.string() + ": expected ASCII, " + std::to_string(text.left_out) +
                             " of " + std::to_string(text.bytes) + " bytes are none");
  if (text.characters.size() < 1000 * (context + 1))
    throw std::runtime_error(path.string() + ": expected at least " +
                             std::to_string(1000 * (context + 1)) + " characters of ASCII, found " +
                             std::to_string(text.characters.size()));
  return text;
}

struct split_text {
  std::string train;
  std::string held_out;
};

/// Every twentieth piece of 16,384 characters is held out.
[[nodiscard]] inline auto split(std::string const& text) -> split_text {
  constexpr auto piece = std::size_t{16'384};
  auto result = split_text{};
  for (auto i = std::size_t{0}; i * piece < text.size(); ++i)
    (i % 20 == 1 ? result.held_out : result.train).append(text, i * piece, piece);
  return result;
}

}  // namespace characters
