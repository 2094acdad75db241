// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/bpe.hpp>

namespace tessera {

/// The tokens of one text or two, and where they come from.
struct encoding {
  std::vector<std::uint32_t> ids;
  std::vector<text_range> offsets;      ///< in code points of its text; (0, 0) for what was added
  std::vector<std::uint32_t> type_ids;  ///< 0 and 1 for the first and the second text, as a rule

  [[nodiscard]] auto size() const -> std::size_t { return ids.size(); }
};

namespace detail {

/// A place in what a model reads: a text, or tokens that stand there in any case.
struct template_piece {
  enum class source : std::uint8_t { first, second, tokens };
  source from = source::first;
  std::uint32_t type_id = 0;
  std::vector<std::uint32_t> ids;
};

/// What is done to tokens at last: spaces do not count as part of a token, tokens are added around.
struct post_processor {
  bool trims_spaces = false;
  bool keeps_first_space = false;  ///< one space at the text's begin was added and is no part of it
  std::vector<template_piece> single{{}};
  std::vector<template_piece> pair{
      {}, {.from = template_piece::source::second, .type_id = 1, .ids = {}}};
};

/// How many spaces a token begins and ends with, as letters of bytes or as they are.
struct spaces_of_token {
  std::uint32_t leading = 0;
  std::uint32_t trailing = 0;

  explicit spaces_of_token(std::string_view token) {
    auto const is = [](char32_t c) { return c == byte_letters[' '] || is_space(c); };
    for (auto at = std::size_t{0}; at < token.size(); ++leading) {
      auto const c = code_point_at(token, at);
      if (not is(c.value)) break;
      at += c.bytes;
    }
    for (auto end = token.size(); end > 0; ++trailing) {
      auto const c = code_point_before(token, end);
      if (not is(c.value)) break;
      end -= c.bytes;
    }
  }
};
[[nodiscard]] inline auto trimmed(text_range range, spaces_of_token spaces, bool keeps_one)
    -> text_range {
  if (keeps_one && spaces.leading == 1) spaces.leading = 0;
  range.begin = std::min(range.begin + spaces.leading, range.end);
  if (range.end >= spaces.trailing) range.end = std::max(range.end - spaces.trailing, range.begin);
  return range;
}

/// Puts the tokens of the texts, and those that are added, in their places.
[[nodiscard]] inline auto fill_template(std::vector<template_piece> const& places,
                                        encoding const& first, encoding const& second,
                                        bool add_tokens) -> encoding {
  auto result = encoding{};
  for (auto const& place : places) {
    if (place.from == template_piece::source::tokens) {
      if (not add_tokens) continue;
      result.ids.insert(result.ids.end(), place.ids.begin(), place.ids.end());
      result.offsets.resize(result.ids.size());
    } else {
      auto const& text = place.from == template_piece::source::first ? first : second;
      result.ids.insert(result.ids.end(), text.ids.begin(), text.ids.end());
      result.offsets.insert(result.offsets.end(), text.offsets.begin(), text.offsets.end());
    }
    result.type_ids.resize(result.ids.size(), place.type_id);
  }
  return result;
}

}  // namespace detail
}  // namespace tessera
