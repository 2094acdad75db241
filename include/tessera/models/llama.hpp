// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/named.hpp>
#include <tessera/compose/recompute.hpp>
#include <tessera/compose/repeat.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/gated_perceptron.hpp>
#include <tessera/layers/rms_norm.hpp>
#include <tessera/layers/self_attention.hpp>
#include <tessera/models/language_model.hpp>

namespace tessera {

/// Llama; with `qkv_bias` Qwen2, with `qk_norm` Qwen3. The defaults are those of a small one.
struct llama_options {
  std::size_t vocabulary = 256;
  std::size_t width = 128;
  std::size_t blocks = 4;
  std::size_t heads = 4;
  std::size_t kv_heads = 0;    ///< 0: as many as heads
  std::size_t head_width = 0;  ///< 0: width / heads
  std::size_t hidden = 0;      ///< of the perceptron in a block; 0: 4·width
  std::size_t context = 128;   ///< tokens at most, in a sequence or a stream
  bool half_cache = false;     ///< keys and values of the tokens before are kept as f16
  double rotary_base = 10'000;
  rotary_scaling scaling = rotary_scaling{};  ///< of the positions' frequencies
  double epsilon = 1e-6;                      ///< of the norms, in steps of 1e-12
  bool tied = false;                          ///< the head is the embedding's matrix
  bool qkv_bias = false;                      ///< of queries, keys and values
  bool qk_norm = false;      ///< a norm of each query and each key, before they are turned
  bool interleaved = false;  ///< pairs (2i, 2i + 1) are turned, as files of GGUF have them
  bool recompute = false;    ///< blocks keep no tape
};

namespace detail {

template <llama_options O> struct llama_parts {
  static constexpr auto of_norm =
      rms_norm_options{static_cast<std::uint64_t>(O.epsilon * 1e12 + 0.5)};
  static constexpr auto of_attention = self_attention_options{
      .heads = O.heads,
      .kv_heads = O.kv_heads,
      .head_width = O.head_width,
      .causal = true,
      .half_cache = O.half_cache,
      .context = O.context,
      .rotary_base = O.rotary_base,
      .pairs = O.interleaved ? rotary_pairs::neighbours : rotary_pairs::halves,
      .scaling = O.scaling,
      .head_norms = O.qk_norm,
      .norm = of_norm,
      .bias = O.qkv_bias,
      .out_bias = false};
  static constexpr auto hidden = O.hidden == 0 ? 4 * O.width : O.hidden;
  using norm = rms_norm<O.width, of_norm>;

  using attention =
      residual<named<"", sequential<named<"input_layernorm", norm>,
                                    named<"self_attn", self_attention<O.width, of_attention>>>>>;
  using perceptron =
      residual<named<"", sequential<named<"post_attention_layernorm", norm>,
                                    named<"mlp", gated_perceptron<O.width, hidden>>>>>;
  using whole_block = sequential<named<"", attention>, named<"", perceptron>>;
  using block = std::conditional_t<O.recompute, tessera::recompute<whole_block>, whole_block>;
  using body =
      named<"model", sequential<named<"layers", repeat<block, O.blocks>>, named<"norm", norm>>>;
};

}  // namespace detail

/// A block of Llama: attention and a gated perceptron, each behind a norm and around a residual.
///
/// Shapes  x (time, batch, width) -> the same
/// State   keys and values of the samples before
template <llama_options Options> using llama_block = typename detail::llama_parts<Options>::block;

/// A language model of the families llama, qwen2 and qwen3, by the names of transformers.
///
/// Shapes  tokens (time, ...) -> scores (time, ..., vocabulary); parameters:
///         model.embed_tokens.weight, model.layers.<i>.{input_layernorm, self_attn.{q, k, v,
///         o}_proj, post_attention_layernorm, mlp.{gate, up, down}_proj}, model.norm, and unless
///         tied lm_head.weight
/// State   keys and values of up to `context` tokens for each block, in inference and streaming
/// Source  Touvron et al., Llama, 2023; Yang et al., Qwen2, 2024, and Qwen3, 2025; reference
///         values: tests/reference/llama.py
template <llama_options Options>
using llama =
    language_model<Options.vocabulary, Options.width, typename detail::llama_parts<Options>::body,
                   language_model_options{.tied = Options.tied}>;

/// The same for a prompt, of whose last token alone the scores are wanted: with the parameters of
/// `llama`, and its state, from which steps go on.
template <llama_options Options>
using llama_prompt =
    language_model<Options.vocabulary, Options.width, typename detail::llama_parts<Options>::body,
                   language_model_options{.tied = Options.tied, .last_alone = true}>;

}  // namespace tessera
