// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf.hpp>
#include <tessera/io/model_config.hpp>
#include <tessera/ops/rotary.hpp>

#include <algorithm>
#include <cmath>

namespace tessera {

namespace detail {

inline constexpr auto rope_factors_name = std::string_view{"rope_freqs.weight"};

[[nodiscard]] inline auto read_gguf_rope(gguf const& file, std::string const& family)
    -> rope_config {
  auto result = rope_config{};
  result.theta = file.find<double>(family + ".rope.freq_base").value_or(result.theta);
  auto const by_attention = family + ".rope.scaling.attn_factor";
  if (auto const factor = file.find<double>(by_attention); factor && *factor != 1)
    file.fail("key " + json_text(by_attention) + ": expected 1, got " + described_value(*factor));
  auto const key = family + ".rope.scaling.type";
  auto const kind = file.find<std::string_view>(key);
  if (kind && *kind == "none") return result;
  if (kind && *kind != "linear")
    file.fail("key " + json_text(key) + ": expected none or linear, got " + quoted_name(*kind));
  auto const name = family + ".rope.scaling.factor";
  auto factor = file.find<double>(name);
  if (not factor) factor = file.find<double>(family + ".rope.scale_linear");  // of older files
  if (not kind && not factor) return result;  // a factor alone is of the linear one
  result.kind = "linear";
  result.factor = factor ? *factor : file.get<double>(name);
  return result;
}
/// What llama3's scaling divides the frequencies by, which files have as a tensor, without how it
/// was computed: by the low and high factors and the context of all Llama 3.
inline void read_gguf_factors(gguf const& file, model_config& c) {
  auto const* const t = file.find_tensor(rope_factors_name);
  if (t == nullptr) return;
  auto const name = "tensor " + json_text(rope_factors_name);
  auto const factors = file.data<float>(*t);
  if (c.rope.kind != "default") file.fail(name + ": is one scaling more than " + c.rope.kind);
  if (factors.size() != c.head_width / 2)
    file.fail(name + ": expected " + std::to_string(c.head_width / 2) + " factors, got " +
              std::to_string(factors.size()));
  c.rope.kind = "llama3";
  c.rope.factor = static_cast<double>(std::ranges::max(factors));
  auto const scaling = rotary_scaling{.kind = rotary_kind::llama3, .factor = c.rope.factor};
  for (auto i = std::size_t{0}; i < factors.size(); ++i) {
    auto const part = static_cast<double>(i) / static_cast<double>(factors.size());
    auto const f = std::pow(c.rope.theta, -part);
    auto const want = f / scaled_frequency(f, scaling);
    if (not(std::abs(static_cast<double>(factors[i]) - want) <= 1e-4 * want))
      file.fail(name +
                ": expected those of llama3's scaling with factors 1 and 4 of a context of " +
                "8192, " + described_value(want) + " at " + std::to_string(i) + ", got " +
                described_value(static_cast<double>(factors[i])));
  }
}
[[nodiscard]] inline auto positive(gguf const& file, std::string const& key) -> std::uint64_t {
  auto const n = file.get<std::uint32_t>(key);
  if (n == 0) file.fail("key " + json_text(key) + ": expected a number from 1, got 0");
  return n;
}

}  // namespace detail

/// Errors  file_error for a part of a model that llama-gguf-split has cut, which has its tensors in
///         several files
inline void expect_one_file(gguf const& file) {
  auto const count = file.find<std::uint32_t>("split.count").value_or(1);
  if (count <= 1) return;
  auto const part = file.find<std::uint32_t>("split.no");
  file.fail("key \"split.count\": expected one file, got " +
            (part ? "part " + std::to_string(std::uint64_t{*part} + 1) : std::string{"a part"}) +
            " of " + std::to_string(count) + " (join them with llama-gguf-split --merge)");
}

/// What the metadata of a GGUF file says of its model.
///
/// Errors  file_error, which names the key, for a part of a model, for a family that is not llama,
///         qwen2, qwen3, gpt2 or bert, for what is missing, and for frequencies that are not
///         computed here
[[nodiscard]] inline auto read_model_config(gguf const& file) -> model_config {
  expect_one_file(file);
  auto const name = std::string{file.get<std::string_view>("general.architecture")};
  auto const family = model_family_of(name);
  if (not family)
    file.fail(
        "key \"general.architecture\": expected one of llama, qwen2, qwen3, gpt2, bert, got " +
        detail::quoted_name(name));
  auto const positive = [&](char const* key) { return detail::positive(file, name + key); };
  auto c = model_config{};
  c.family = *family;
  c.width = positive(".embedding_length");
  c.blocks = positive(".block_count");
  c.heads = positive(".attention.head_count");
  c.kv_heads =
      file.find<std::uint32_t>(name + ".attention.head_count_kv").value_or(std::uint32_t(c.heads));
  c.head_width = file.find<std::uint32_t>(name + ".attention.key_length")
                     .value_or(static_cast<std::uint32_t>(c.width / c.heads));
  c.hidden = positive(".feed_forward_length");
  c.context = positive(".context_length");
  c.vocabulary = file.get_array<std::string_view>("tokenizer.ggml.tokens").size();
  c.tied = file.find_tensor("output.weight") == nullptr;
  if (is_rotary(c.family)) {
    c.epsilon = file.get<double>(name + ".attention.layer_norm_rms_epsilon");
    c.rope = detail::read_gguf_rope(file, name);
    detail::read_gguf_factors(file, c);
    c.head_norms = file.find_tensor("blk.0.attn_q_norm.weight") != nullptr;
    c.qkv_bias = file.find_tensor("blk.0.attn_q.bias") != nullptr;
    c.out_bias = file.find_tensor("blk.0.attn_output.bias") != nullptr;
    auto const turned = file.find<std::uint32_t>(name + ".rope.dimension_count");
    if (turned && *turned != c.head_width)
      file.fail("key " + json_text(name + ".rope.dimension_count") + ": expected " +
                std::to_string(c.head_width) + ", got " + std::to_string(*turned));
  } else {
    c.epsilon = file.get<double>(name + ".attention.layer_norm_epsilon");
    c.activation = c.family == model_family::gpt2 ? "gelu_new" : "gelu";
    c.qkv_bias = c.out_bias = c.mlp_bias = true;
    if (c.family == model_family::bert)
      c.token_types = file.get<std::uint32_t>("tokenizer.ggml.token_type_count");
  }
  if (c.kv_heads == 0 || c.heads % c.kv_heads != 0)
    file.fail("key " + json_text(name + ".attention.head_count_kv") + ": expected a divisor of " +
              std::to_string(c.heads) + ", got " + std::to_string(c.kv_heads));
  c.bos = file.find<std::uint64_t>("tokenizer.ggml.bos_token_id");
  c.pad = file.find<std::uint64_t>("tokenizer.ggml.padding_token_id");
  if (auto const eos = file.find<std::uint64_t>("tokenizer.ggml.eos_token_id"))
    c.eos.push_back(*eos);
  return c;
}

}  // namespace tessera
