// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf.hpp>
#include <tessera/text/tokenizer_gguf.hpp>

#include <algorithm>

namespace tessera {

/// The tokens by which a model of a GGUF file ends what it says, the file's own first: those of its
/// keys, the one by which its chat template ends a turn, and control tokens that are known to.
/// A file that names the end of texts alone may well have another for the end of turns.
///
/// Errors  file_error for a key whose token is not in the vocabulary, and for a file without any
[[nodiscard]] inline auto end_tokens_of(gguf const& file, tokenizer const& words,
                                        std::string_view end_of_turn = {})
    -> std::vector<std::uint32_t> {
  auto result = std::vector<std::uint32_t>{};
  auto const add = [&](std::uint32_t id) {
    if (std::ranges::find(result, id) == result.end()) result.push_back(id);
  };
  for (auto const* const key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                "tokenizer.ggml.eom_token_id"})
    if (auto const id = file.find<std::uint32_t>(key)) {
      if (*id >= words.vocabulary_size())
        file.fail(std::string{key} + ": expected a token below " +
                  std::to_string(words.vocabulary_size()) + ", got " + std::to_string(*id));
      add(*id);
    }
  if (auto const id = words.id_of(end_of_turn)) add(*id);
  for (auto const name : detail::known_end_tokens)
    if (auto const id = words.id_of(name); id && words.is_special(*id)) add(*id);
  if (result.empty()) file.fail("has no key \"tokenizer.ggml.eos_token_id\"");
  return result;
}

}  // namespace tessera
