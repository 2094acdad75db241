// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/named.hpp>
#include <tessera/compose/repeat.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/attention.hpp>
#include <tessera/layers/embedding.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/mean_over_length.hpp>
#include <tessera/layers/position_embedding.hpp>
#include <tessera/layers/token_type_embedding.hpp>
#include <tessera/layers/unit_length.hpp>

namespace tessera {

struct bert_options {
  std::size_t vocabulary = 256;
  std::size_t width = 128;
  std::size_t blocks = 4;
  std::size_t heads = 4;
  std::size_t hidden = 0;     ///< of the perceptron in a block; 0: 4·width
  std::size_t context = 512;  ///< tokens at most, each with a vector for its position
  std::size_t types = 2;      ///< of tokens
  double epsilon = 1e-12;     ///< of the norms, in steps of 1e-12
};

struct bert_projections {
  static constexpr auto query = "self.query";
  static constexpr auto key = "self.key";
  static constexpr auto value = "self.value";
  static constexpr auto out = "output.dense";
};

namespace detail {

template <bert_options O> struct bert_parts {
  using norm = layer_norm<O.width, layer_norm_options{.epsilon_1e12 = static_cast<std::uint64_t>(
                                                          O.epsilon * 1e12 + 0.5)}>;
  static constexpr auto of_attention = attention_options{.heads = O.heads, .padded = true};
  static constexpr auto hidden = O.hidden == 0 ? 4 * O.width : O.hidden;

  using attention =
      residual<named<"attention", attention_layer<O.width, of_attention, bert_projections>>>;
  using perceptron =
      residual<named<"", sequential<named<"intermediate.dense", linear<O.width, hidden>>,
                                    gelu_layer, named<"output.dense", linear<hidden, O.width>>>>>;
  using block = sequential<named<"", attention>, named<"attention.output.LayerNorm", norm>,
                           named<"", perceptron>, named<"output.LayerNorm", norm>>;
};

}  // namespace detail

/// A block of BERT: attention and a perceptron, each around a residual and before a norm.
///
/// Shapes  x (time, batch, width), given<tag::lengths> (batch) -> the same
template <bert_options Options> using bert_block = typename detail::bert_parts<Options>::block;

/// An encoder of the family bert, by the names of transformers' BertModel, without its pooler.
///
/// Shapes  tokens (time, batch), given<tag::lengths> (batch) and, unless all are of type 0,
///         given<tag::token_types> (time, batch) -> (time, batch, width); parameters:
///         embeddings.{word, token_type, position}_embeddings, embeddings.LayerNorm,
///         encoder.layer.<i>.{attention.self.{query, key, value}, attention.output.{dense,
///         LayerNorm}, intermediate.dense, output.{dense, LayerNorm}}
/// Source  Devlin et al., BERT, 2018; reference values: tests/reference/bert.py
template <bert_options Options>
using bert = sequential<
    named<"embeddings.word_embeddings", embedding<Options.vocabulary, Options.width>>,
    named<"embeddings.token_type_embeddings", token_type_embedding<Options.types, Options.width>>,
    named<"embeddings.position_embeddings", position_embedding<Options.context, Options.width>>,
    named<"embeddings.LayerNorm", typename detail::bert_parts<Options>::norm>,
    named<"encoder.layer", repeat<bert_block<Options>, Options.blocks>>>;

/// A vector of length 1 for each sentence: the mean over its tokens, as sentence-transformers
/// takes it.
///
/// Shapes  tokens (time, batch), given<tag::lengths> (batch) -> (batch, width)
template <bert_options Options>
using sentence_bert = sequential<named<"", bert<Options>>, mean_over_length, unit_length>;

}  // namespace tessera
