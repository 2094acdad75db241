// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/model_config.hpp>

#include <span>

/// What the tensors of files are called, and how they become the parameters of a model: tables.
///
/// The parameters are called as transformers calls them: "blk.3.attn_q.weight" of a GGUF file is
/// "model.layers.3.self_attn.q_proj.weight".
namespace tessera {

/// What is done to the rows of a matrix, or to the numbers of a bias.
enum class weight_change : std::uint8_t {
  none,
  transposed,  ///< a matrix (in, out), as GPT-2's Conv1D has it, becomes (out, in)
  query_rows,  ///< within each head, pairs (2i, 2i + 1) become halves (i, i + half)
  key_rows,    ///< the same for the heads of keys
};

/// A parameter by the tensors whose rows it has, one after another; of `parts` equal parts of these
/// rows it has one. '%' stands for the number of a block; ".weight" and ".bias" follow.
struct weight_rule {
  std::string_view parameter;
  std::array<std::string_view, 3> tensors;
  weight_change change = weight_change::none;
  std::uint8_t part = 0;
  std::uint8_t parts = 1;
};

/// The names of a kind of files of one family.
struct weight_layout {
  std::span<weight_rule const> rules = {};
  std::span<std::string_view const> dropped = {};  ///< what files hold beside parameters
  std::string_view prefix = {};                    ///< of files of a model with a head
  std::string_view first = {};  ///< a tensor that names without the prefix begin with
  bool has_prefix = true;       ///< the parameters have it, too
  bool all_by_rules = false;    ///< else a tensor without a rule is a parameter
  bool without_heads = false;   ///< where names have the prefix, others are of heads, and dropped
};

namespace detail {

inline constexpr weight_rule gguf_rotary_rules[] = {
    {"model.embed_tokens", {"token_embd"}},
    {"lm_head", {"output"}},
    {"model.norm", {"output_norm"}},
    {"model.layers.%.input_layernorm", {"blk.%.attn_norm"}},
    {"model.layers.%.post_attention_layernorm", {"blk.%.ffn_norm"}},
    {"model.layers.%.self_attn.q_proj", {"blk.%.attn_q"}},
    {"model.layers.%.self_attn.k_proj", {"blk.%.attn_k"}},
    {"model.layers.%.self_attn.v_proj", {"blk.%.attn_v"}},
    {"model.layers.%.self_attn.o_proj", {"blk.%.attn_output"}},
    {"model.layers.%.self_attn.q_norm", {"blk.%.attn_q_norm"}},
    {"model.layers.%.self_attn.k_norm", {"blk.%.attn_k_norm"}},
    {"model.layers.%.mlp.gate_proj", {"blk.%.ffn_gate"}},
    {"model.layers.%.mlp.up_proj", {"blk.%.ffn_up"}},
    {"model.layers.%.mlp.down_proj", {"blk.%.ffn_down"}}};
/// Files of llama alone have the rows of queries and keys in ggml's order.
inline constexpr auto gguf_llama_rules = [] {
  auto rules = std::to_array(gguf_rotary_rules);
  for (auto& rule : rules) {
    if (rule.tensors[0] == "blk.%.attn_q") rule.change = weight_change::query_rows;
    if (rule.tensors[0] == "blk.%.attn_k") rule.change = weight_change::key_rows;
  }
  return rules;
}();
inline constexpr weight_rule gguf_gpt2_rules[] = {
    {"transformer.wte", {"token_embd"}},
    {"transformer.wpe", {"position_embd"}},
    {"lm_head", {"output"}},
    {"transformer.ln_f", {"output_norm"}},
    {"transformer.h.%.ln_1", {"blk.%.attn_norm"}},
    {"transformer.h.%.attn.c_attn", {"blk.%.attn_qkv"}},
    {"transformer.h.%.attn.c_proj", {"blk.%.attn_output"}},
    {"transformer.h.%.ln_2", {"blk.%.ffn_norm"}},
    {"transformer.h.%.mlp.c_fc", {"blk.%.ffn_up"}},
    {"transformer.h.%.mlp.c_proj", {"blk.%.ffn_down"}}};
inline constexpr weight_rule gguf_bert_rules[] = {
    {"embeddings.word_embeddings", {"token_embd"}},
    {"embeddings.position_embeddings", {"position_embd"}},
    {"embeddings.token_type_embeddings", {"token_types"}},
    {"embeddings.LayerNorm", {"token_embd_norm"}},
    {"encoder.layer.%.attention.self.query", {"blk.%.attn_q"}},
    {"encoder.layer.%.attention.self.key", {"blk.%.attn_k"}},
    {"encoder.layer.%.attention.self.value", {"blk.%.attn_v"}},
    {"encoder.layer.%.attention.output.dense", {"blk.%.attn_output"}},
    {"encoder.layer.%.attention.output.LayerNorm", {"blk.%.attn_output_norm"}},
    {"encoder.layer.%.intermediate.dense", {"blk.%.ffn_up"}},
    {"encoder.layer.%.output.dense", {"blk.%.ffn_down"}},
    {"encoder.layer.%.output.LayerNorm", {"blk.%.layer_output_norm"}}};

/// Conv1D keeps its matrix transposed.
inline constexpr weight_rule gpt2_rules[] = {
    {"transformer.h.%.attn.c_attn", {"transformer.h.%.attn.c_attn"}, weight_change::transposed},
    {"transformer.h.%.attn.c_proj", {"transformer.h.%.attn.c_proj"}, weight_change::transposed},
    {"transformer.h.%.mlp.c_fc", {"transformer.h.%.mlp.c_fc"}, weight_change::transposed},
    {"transformer.h.%.mlp.c_proj", {"transformer.h.%.mlp.c_proj"}, weight_change::transposed}};
inline constexpr std::string_view llama_dropped[] = {
    "model.layers.%.self_attn.rotary_emb.inv_freq"};
inline constexpr std::string_view gpt2_dropped[] = {"transformer.h.%.attn.bias",
                                                    "transformer.h.%.attn.masked_bias"};
inline constexpr std::string_view bert_dropped[] = {"embeddings.position_ids"};

}  // namespace detail

/// The names of GGUF files.
[[nodiscard]] constexpr auto gguf_layout(model_family family) -> weight_layout {
  auto result = weight_layout{.rules = detail::gguf_rotary_rules,
                              .dropped = {},
                              .prefix = {},
                              .first = {},
                              .all_by_rules = true};
  if (family == model_family::llama) result.rules = detail::gguf_llama_rules;
  if (family == model_family::gpt2) result.rules = detail::gguf_gpt2_rules;
  if (family == model_family::bert) result.rules = detail::gguf_bert_rules;
  return result;
}
/// The names of transformers' own files.
[[nodiscard]] constexpr auto hugging_face_layout(model_family family) -> weight_layout {
  if (family == model_family::gpt2)
    return {detail::gpt2_rules, detail::gpt2_dropped, "transformer.", "wte.weight"};
  if (family == model_family::bert)
    return {.rules = {},
            .dropped = detail::bert_dropped,
            .prefix = "bert.",
            .first = "embeddings.word_embeddings.weight",
            .has_prefix = false};
  return {{}, detail::llama_dropped, "model.", "embed_tokens.weight"};
}

/// The number of the block where a name fits a pattern; 0 for a pattern without one. Nothing where
/// it does not fit; a number has no leading zero.
[[nodiscard]] constexpr auto fit_name(std::string_view pattern, std::string_view name)
    -> std::optional<std::uint64_t> {
  auto const at = pattern.find('%');
  if (at == std::string_view::npos)
    return pattern == name ? std::optional{std::uint64_t{0}} : std::nullopt;
  auto const before = pattern.substr(0, at);
  auto const after = pattern.substr(at + 1);
  if (name.size() <= before.size() + after.size() || not name.starts_with(before) ||
      not name.ends_with(after))
    return std::nullopt;
  auto const digits = name.substr(at, name.size() - before.size() - after.size());
  if (digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  auto number = std::uint64_t{0};
  for (auto const d : digits) {
    if (d < '0' || d > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(d - '0');
  }
  return number;
}
/// The pattern with the number of a block in it.
[[nodiscard]] inline auto name_in_block(std::string_view pattern, std::uint64_t block)
    -> std::string {
  auto const at = pattern.find('%');
  if (at == std::string_view::npos) return std::string{pattern};
  return std::string{pattern.substr(0, at)} + std::to_string(block) +
         std::string{pattern.substr(at + 1)};
}

/// Which row of a file is row `row` of a parameter of so many rows and heads.
///
/// Source  llama.cpp's converter, turned back as transformers does: tests/reference/weight_names.py
[[nodiscard]] constexpr auto row_in_file(std::uint64_t row, std::uint64_t rows, std::uint64_t heads)
    -> std::uint64_t {
  auto const width = rows / heads;
  auto const in_head = row % width;
  auto const half = width / 2;
  return row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
}

}  // namespace tessera
