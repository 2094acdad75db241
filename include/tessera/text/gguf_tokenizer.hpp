// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf.hpp>
#include <tessera/text/tokenizer_gguf.hpp>

namespace tessera {

/// The tokenizer that a GGUF file has in it.
///
/// Errors  file_error for a key that is missing or of another type; text_error with the file's path
///         for a kind of tokenizer that is not known
[[nodiscard]] inline auto load_tokenizer(gguf const& file) -> tokenizer {
  auto given = gguf_vocabulary{};
  auto const key = [](char const* name) { return std::string{"tokenizer.ggml."} + name; };
  given.model = file.get<std::string_view>(key("model"));
  given.pre = file.find<std::string_view>(key("pre")).value_or("");
  for (auto const text : file.get_array<std::string_view>(key("tokens")))
    given.tokens.push_back(text);
  if (auto const types = file.find_array<std::int32_t>(key("token_type")))
    for (auto const type : *types) given.types.push_back(type);
  if (given.model == "gpt2")  // without them every text would become single bytes
    for (auto const merge : file.get_array<std::string_view>(key("merges")))
      given.merges.push_back(merge);
  given.begin_id = file.find<std::uint32_t>(key("bos_token_id"));
  given.end_id = file.find<std::uint32_t>(key("eos_token_id"));
  given.add_begin = file.find<bool>(key("add_bos_token"));
  given.add_end = file.find<bool>(key("add_eos_token")).value_or(false);
  try {
    return tokenizer_from(given);
  } catch (text_error const& e) {
    throw text_error(file.path().string() + ": " + e.what());
  }
}

}  // namespace tessera
