// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/named.hpp>
#include <tessera/compose/repeat.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/attention.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/position_embedding.hpp>
#include <tessera/models/language_model.hpp>

namespace tessera {

struct gpt2_options {
  std::size_t vocabulary = 256;
  std::size_t width = 128;
  std::size_t blocks = 4;
  std::size_t heads = 4;
  std::size_t hidden = 0;     ///< of the perceptron in a block; 0: 4·width
  std::size_t context = 128;  ///< tokens at most, each with a vector for its position
  double epsilon = 1e-5;      ///< of the norms, in steps of 1e-12
};

namespace detail {

template <gpt2_options O> struct gpt2_parts {
  using norm = layer_norm<O.width, layer_norm_options{.epsilon_1e12 = static_cast<std::uint64_t>(
                                                          O.epsilon * 1e12 + 0.5)}>;
  static constexpr auto of_attention =
      attention_options{.heads = O.heads, .causal = true, .context = O.context};
  static constexpr auto hidden = O.hidden == 0 ? 4 * O.width : O.hidden;

  using attention = residual<named<
      "", sequential<named<"ln_1", norm>,
                     named<"attn", attention_layer<O.width, of_attention, gpt2_projections>>>>>;
  using perceptron = residual<
      named<"", sequential<named<"ln_2", norm>, named<"mlp.c_fc", linear<O.width, hidden>>,
                           gelu_tanh_layer, named<"mlp.c_proj", linear<hidden, O.width>>>>>;
  using block = sequential<named<"", attention>, named<"", perceptron>>;
  using positions =
      position_embedding<O.context, O.width, position_embedding_options{.streams = true}>;
  using body =
      named<"transformer", sequential<named<"wpe", positions>, named<"h", repeat<block, O.blocks>>,
                                      named<"ln_f", norm>>>;
};

}  // namespace detail

/// A block of GPT-2: attention and a perceptron, each behind a norm and around a residual.
///
/// Shapes  x (time, batch, width) -> the same
/// State   keys and values of the samples before
template <gpt2_options Options> using gpt2_block = typename detail::gpt2_parts<Options>::block;

/// A language model of the family gpt2, by the names of transformers, whose files have the matrices
/// c_attn, c_proj and c_fc turned: here they are (Out, In).
///
/// Shapes  tokens (time, ...) -> scores (time, ..., vocabulary); parameters: transformer.wte,
///         transformer.wpe, transformer.h.<i>.{ln_1, attn.{c_attn, c_proj}, ln_2, mlp.{c_fc,
///         c_proj}}, transformer.ln_f
/// State   keys and values of up to `context` tokens for each block, in inference and streaming
/// Source  Radford et al., Language models are unsupervised multitask learners, 2019; reference
///         values: tests/reference/gpt2.py
template <gpt2_options Options>
using gpt2 =
    language_model<Options.vocabulary, Options.width, typename detail::gpt2_parts<Options>::body,
                   language_model_options{}, gpt2_matrices>;

/// The same for a prompt, of whose last token alone the scores are wanted.
template <gpt2_options Options>
using gpt2_prompt =
    language_model<Options.vocabulary, Options.width, typename detail::gpt2_parts<Options>::body,
                   language_model_options{.last_alone = true}, gpt2_matrices>;

}  // namespace tessera
