// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/added_tokens.hpp>
#include <tessera/text/tokenizer/decoder.hpp>
#include <tessera/text/tokenizer/normalizer.hpp>
#include <tessera/text/tokenizer/post_processor.hpp>
#include <tessera/text/tokenizer/unigram.hpp>
#include <tessera/text/tokenizer/word_piece.hpp>

namespace tessera::detail {

/// What a tokenizer is made of; whoever reads a file fills it in.
struct tokenizer_parts {
  using model_type = std::variant<bpe_model, word_piece_model, unigram_model>;

  vocabulary words;  ///< the model's tokens
  model_type model;
  std::vector<added_token> added;
  std::vector<normalizer_step> normalizers;
  std::vector<pre_tokenizer_step> pre_tokenizers;
  post_processor post;
  decoder decoding;
};

/// A model of byte pairs after these steps. Where the last one writes bytes as letters the model
/// takes the bytes themselves, and the step is left out.
[[nodiscard]] inline auto bpe_over_bytes(vocabulary const& words,
                                         std::vector<bpe_model::merge> const& merges,
                                         bpe_options options,
                                         std::vector<pre_tokenizer_step>& steps) -> bpe_model {
  options.letters_are_bytes =
      not steps.empty() && std::holds_alternative<write_bytes_as_letters>(steps.back()) &&
      options.continuing_prefix.empty() && options.end_of_word.empty() && not options.byte_fallback;
  if (options.letters_are_bytes) steps.pop_back();
  return {words, merges, std::move(options)};
}

}  // namespace tessera::detail
