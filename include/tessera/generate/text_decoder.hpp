// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// The text of one sequence, token by token: an object for each sequence.
class text_decoder {
 public:
  text_decoder() = default;
  text_decoder(text_decoder const&) = delete;
  auto operator=(text_decoder const&) -> text_decoder& = delete;
  virtual ~text_decoder() = default;
  /// The text that is complete with this token: whole code points, or nothing yet.
  virtual auto append(std::uint32_t token) -> std::string = 0;
  /// What is left at the end; what is no whole code point is U+FFFD.
  virtual auto finish() -> std::string = 0;
};

namespace detail {

/// How many bytes the code point that begins here has: 0 where they are too few yet, negative where
/// so many bytes begin none.
[[nodiscard]] inline auto code_point_bytes(std::string_view text) -> int {
  auto const at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return -1;
  auto const size = std::size_t{first < 0xE0 ? 2U : first < 0xF0 ? 3U : 4U};
  auto const low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  auto const high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (auto i = std::size_t{1}; i < size; ++i) {
    if (i == text.size()) return 0;
    auto const inside = i == 1 ? at(i) >= low && at(i) <= high : (at(i) & 0xC0) == 0x80;
    if (not inside) return -static_cast<int>(i);
  }
  return static_cast<int>(size);
}

/// Takes the whole code points from the front of `bytes`; what can become none is U+FFFD.
[[nodiscard]] inline auto take_code_points(std::string& bytes, bool at_end) -> std::string {
  auto text = std::string{};
  auto rest = std::string_view{bytes};
  while (not rest.empty()) {
    auto const n = code_point_bytes(rest);
    if (n == 0 && not at_end) break;
    if (n > 0)
      text += rest.substr(0, static_cast<std::size_t>(n));
    else
      text += "\xEF\xBF\xBD";
    rest.remove_prefix(n == 0 ? rest.size() : static_cast<std::size_t>(n > 0 ? n : -n));
  }
  bytes.erase(0, bytes.size() - rest.size());
  return text;
}

}  // namespace detail

/// Text whose tokens are strings of bytes that follow one another: a vocabulary of byte-level BPE,
/// or of bytes. A token without bytes is silent.
///
/// Errors  std::invalid_argument for a token that the vocabulary does not have
class bytes_decoder final : public text_decoder {
 public:
  explicit bytes_decoder(std::shared_ptr<std::vector<std::string> const> vocabulary)
      : vocabulary_(std::move(vocabulary)) {}
  auto append(std::uint32_t token) -> std::string override {
    if (token >= vocabulary_->size())
      throw std::invalid_argument("bytes_decoder: expected tokens below " +
                                  std::to_string(vocabulary_->size()) + ", got " +
                                  std::to_string(token));
    bytes_ += (*vocabulary_)[token];
    return detail::take_code_points(bytes_, false);
  }
  auto finish() -> std::string override { return detail::take_code_points(bytes_, true); }

 private:
  std::shared_ptr<std::vector<std::string> const> vocabulary_;
  std::string bytes_;
};

}  // namespace tessera
