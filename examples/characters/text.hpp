// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "network.hpp"

namespace characters {

/// The ASCII of a file, or of all files of a folder in the order of their names but those with an
/// extension, which index the others. Errors: a text too short to
/// learn from.
[[nodiscard]] inline auto load_text(std::filesystem::path const& path) -> std::string {
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
  auto text = std::string{};
  for (auto const& file : files)
    for (auto const byte : tessera::read_file(file)) {
      auto const c = static_cast<unsigned char>(byte);
      if (c == '\n' || c == '\t' || (c >= ' ' && c < 127)) text += static_cast<char>(c);
    }
  if (text.size() < 1000 * (context + 1))
    throw std::runtime_error(path.string() + ": expected at least " +
                             std::to_string(1000 * (context + 1)) + " characters of ASCII, found " +
                             std::to_string(text.size()));
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
