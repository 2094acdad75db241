// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/compiled_model.hpp>
#include <tessera/io/arranged_weights.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/models/bert.hpp>

namespace tessera::detail {

[[nodiscard]] inline auto described_bert(bert_options const& o) -> model_config {
  auto c = model_config{};
  c.family = model_family::bert;
  c.vocabulary = o.vocabulary;
  c.width = o.width;
  c.blocks = o.blocks;
  c.heads = c.kv_heads = o.heads;
  c.head_width = o.width / o.heads;
  c.hidden = o.hidden == 0 ? 4 * o.width : o.hidden;
  c.context = o.context;
  c.token_types = o.types;
  c.epsilon = o.epsilon;
  c.activation = "gelu";
  c.tied = c.qkv_bias = c.out_bias = c.mlp_bias = true;
  return c;
}

}  // namespace tessera::detail

namespace tessera::inline TESSERA_TARGET {

/// A model of the family bert that gives vectors of sentences, by the pooling that a folder of
/// sentence-transformers asks for: the mean over the tokens or the first one's vector, of length 1
/// or as it is. Its weights are prepared once, and a folder's pooler and heads are not read.
template <bert_options Options>
[[nodiscard]] auto compile_bert(std::string_view config) -> compiled_model {
  using model = bert<Options>;
  using P = parameters_of<model, packed<float>>;
  auto open = [](hugging_face_folder const& folder) -> std::unique_ptr<sentence_model> {
    auto parameters = std::make_unique<P>();
    constexpr std::string_view unused[] = {"embeddings.position_ids", "pooler.dense.weight",
                                           "pooler.dense.bias"};
    auto layout = hugging_face_layout(model_family::bert);
    layout.dropped = unused;
    layout.without_heads = true;
    auto const weights = arrange_weights(folder.weights(), layout, folder.config());
    load_parameters(weights.tensors(), *parameters);
    return std::make_unique<compiled_sentences<model, Options.vocabulary, Options.context, P>>(
        std::move(parameters), read_sentence_pooling(folder.path()));
  };
  return {.config = std::string{config},
          .description = detail::described_bert(Options),
          .matrices = {},
          .embedding = {},
          .open_sentences = open};
}

}  // namespace tessera::inline TESSERA_TARGET
