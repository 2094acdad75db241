// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/named.hpp>
#include <tessera/compose/recompute.hpp>
#include <tessera/compose/repeat.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/embedding.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/self_attention.hpp>

namespace tessera {

struct gpt_options {
  std::size_t vocabulary = 256;
  std::size_t width = 128;
  std::size_t blocks = 4;
  std::size_t heads = 4;
  std::size_t kv_heads = 0;     ///< 0: as many as heads
  std::size_t hidden = 0;       ///< of the perceptron in a block; 0: 4·width
  std::size_t context = 128;    ///< tokens at most, in a sequence or a stream
  double rotary_base = 10'000;  ///< positions are turned into queries and keys
  bool recompute = false;       ///< blocks keep no tape
};

namespace detail {

template <gpt_options O> struct gpt_parts {
  static constexpr auto attention_options = self_attention_options{.heads = O.heads,
                                                                   .kv_heads = O.kv_heads,
                                                                   .causal = true,
                                                                   .context = O.context,
                                                                   .rotary_base = O.rotary_base};
  static constexpr auto hidden = O.hidden == 0 ? 4 * O.width : O.hidden;

  using attention = residual<
      named<"", sequential<named<"norm_1", layer_norm<O.width>>,
                           named<"attention", self_attention<O.width, attention_options>>>>>;
  using perceptron =
      residual<named<"", sequential<named<"norm_2", layer_norm<O.width>>,
                                    named<"linear_1", linear<O.width, hidden>>, gelu_layer,
                                    named<"linear_2", linear<hidden, O.width>>>>>;
  using whole_block = sequential<named<"", attention>, named<"", perceptron>>;
  using block = std::conditional_t<O.recompute, tessera::recompute<whole_block>, whole_block>;
};

}  // namespace detail

/// A block of a transformer: attention and a perceptron, each behind a norm and around a residual.
///
/// Shapes  x (time, batch, width) -> the same
/// State   keys and values of the samples before
template <gpt_options Options> using gpt_block = typename detail::gpt_parts<Options>::block;

/// A language model: an embedding, blocks, a norm and a linear layer to the scores of all tokens.
///
/// Shapes  tokens (time, ...), whole numbers or in the scalar type of the model -> scores (time,
///         ..., vocabulary); parameters: embedding, blocks.<i>.{norm_1, attention, norm_2,
///         linear_1, linear_2}, norm, head
/// State   keys and values of up to `context` tokens for each block, in inference and streaming
/// Source  Radford et al., Language models are unsupervised multitask learners, 2019, with rotary
///         positions; reference values: tests/reference/gpt.py
template <gpt_options Options>
using gpt = sequential<named<"embedding", embedding<Options.vocabulary, Options.width>>,
                       named<"blocks", repeat<gpt_block<Options>, Options.blocks>>,
                       named<"norm", layer_norm<Options.width>>,
                       named<"head", linear<Options.width, Options.vocabulary>>>;

}  // namespace tessera
