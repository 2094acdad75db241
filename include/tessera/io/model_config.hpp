// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/json_text.hpp>
#include <tessera/io/number_text.hpp>

#include <array>
#include <cstdint>
#include <optional>

/// What a language model is, whatever file says it, and where two of them differ.
namespace tessera {

enum class model_family : std::uint8_t { llama, qwen2, qwen3, gpt2, bert };

namespace detail {

inline constexpr auto model_family_names =
    std::array<std::string_view, 5>{"llama", "qwen2", "qwen3", "gpt2", "bert"};

}  // namespace detail

[[nodiscard]] constexpr auto name_of(model_family family) -> std::string_view {
  return detail::model_family_names[static_cast<std::size_t>(family)];
}
[[nodiscard]] constexpr auto model_family_of(std::string_view name) -> std::optional<model_family> {
  for (auto i = std::size_t{0}; i < detail::model_family_names.size(); ++i)
    if (detail::model_family_names[i] == name) return static_cast<model_family>(i);
  return std::nullopt;
}
/// True where positions are turned into queries and keys; the others have a table of them.
[[nodiscard]] constexpr auto is_rotary(model_family family) -> bool {
  return family != model_family::gpt2 && family != model_family::bert;
}

/// How positions are turned, by the words of transformers: "default", "linear", "llama3".
struct rope_config {
  std::string kind = "default";
  double theta = 10'000;
  double factor = 1;                           ///< linear, llama3
  double low_freq_factor = 1;                  ///< llama3
  double high_freq_factor = 4;                 ///< llama3
  std::uint64_t original_max_position = 8192;  ///< llama3
};

/// A language model as its files describe it, one struct for all families.
struct model_config {
  model_family family = model_family::llama;
  std::uint64_t vocabulary = 0;
  std::uint64_t width = 0;
  std::uint64_t blocks = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_width = 0;
  std::uint64_t hidden = 0;  ///< of the perceptron in a block
  std::uint64_t context = 0;
  std::uint64_t token_types = 0;  ///< bert
  double epsilon = 1e-6;          ///< of the norms
  std::string activation = "silu";
  bool tied = false;      ///< the head is the embedding's matrix
  bool qkv_bias = false;  ///< of queries, keys and values
  bool out_bias = false;  ///< of attention's output
  bool mlp_bias = false;
  bool head_norms = false;  ///< a norm of each query and each key
  rope_config rope;

  // What a model that is only run does not need.
  double hidden_dropout = 0;
  double attention_dropout = 0;
  double embedding_dropout = 0;
  double initializer_range = 0.02;
  std::optional<std::uint64_t> bos;
  std::vector<std::uint64_t> eos;
  std::optional<std::uint64_t> pad;
};

namespace detail {

[[nodiscard]] inline auto described_value(std::uint64_t n) -> std::string {
  return std::to_string(n);
}
[[nodiscard]] inline auto described_value(bool b) -> std::string { return b ? "true" : "false"; }
[[nodiscard]] inline auto described_value(std::string const& s) -> std::string { return s; }
[[nodiscard]] inline auto described_value(model_family f) -> std::string {
  return std::string{name_of(f)};
}
[[nodiscard]] inline auto described_value(double x) -> std::string { return number_text(x, 9); }
template <class T> [[nodiscard]] auto same_value(T const& a, T const& b) -> bool { return a == b; }
/// The same number, of which one may have been a float.
[[nodiscard]] inline auto same_value(double a, double b) -> bool {
  auto const distance = a < b ? b - a : a - b;
  return distance <= 1e-6 * (a < 0 ? -a : a);
}

}  // namespace detail

/// Every member of which the numbers of a model depend, as f(name, value); the names are those of
/// config.json, of llama where families differ.
template <class F> void for_each_fact(model_config const& c, F const& f) {
  f("model_type", c.family);
  f("vocab_size", c.vocabulary);
  f("hidden_size", c.width);
  f("num_hidden_layers", c.blocks);
  f("num_attention_heads", c.heads);
  f("num_key_value_heads", c.kv_heads);
  f("head_dim", c.head_width);
  f("intermediate_size", c.hidden);
  f("type_vocab_size", c.token_types);
  f(c.family == model_family::bert || c.family == model_family::gpt2 ? "layer_norm_eps"
                                                                     : "rms_norm_eps",
    c.epsilon);
  f("hidden_act", c.activation);
  f("tie_word_embeddings", c.tied);
  f("attention_bias of queries, keys and values", c.qkv_bias);
  f("attention_bias of the output", c.out_bias);
  f("mlp_bias", c.mlp_bias);
  f("norms of queries and keys", c.head_norms);
  if (not is_rotary(c.family)) return;
  f("rope_type", c.rope.kind);
  f("rope_theta", c.rope.theta);
  if (c.rope.kind == "default") return;
  f("rope factor", c.rope.factor);
  if (c.rope.kind != "llama3") return;
  f("rope low_freq_factor", c.rope.low_freq_factor);
  f("rope high_freq_factor", c.rope.high_freq_factor);
  f("rope original_max_position_embeddings", c.rope.original_max_position);
}

/// What config.json of transformers says of a model of the family llama, qwen2 or qwen3, as
/// tessera_model and read_model_config read it.
[[nodiscard]] inline auto config_text(model_config const& c) -> std::string {
  auto text = std::string{};
  auto const add = [&](char const* name, std::string const& value) {
    text +=
        (text.empty() || text.ends_with('{') ? "\"" : ", \"") + std::string{name} + "\": " + value;
  };
  auto const number = [](double x) { return number_text(x, 7); };  // a file has floats
  add("model_type", json_text(name_of(c.family)));
  add("vocab_size", std::to_string(c.vocabulary));
  add("hidden_size", std::to_string(c.width));
  add("num_hidden_layers", std::to_string(c.blocks));
  add("num_attention_heads", std::to_string(c.heads));
  add("num_key_value_heads", std::to_string(c.kv_heads));
  add("head_dim", std::to_string(c.head_width));
  add("intermediate_size", std::to_string(c.hidden));
  add("max_position_embeddings", std::to_string(c.context));
  add("rms_norm_eps", number(c.epsilon));
  add("tie_word_embeddings", detail::described_value(c.tied));
  if (c.family != model_family::qwen2) add("attention_bias", detail::described_value(c.qkv_bias));
  text += ", \"rope_parameters\": {";
  add("rope_type", json_text(c.rope.kind));
  add("rope_theta", number(c.rope.theta));
  if (c.rope.kind != "default") add("factor", number(c.rope.factor));
  if (c.rope.kind == "llama3") {
    add("low_freq_factor", number(c.rope.low_freq_factor));
    add("high_freq_factor", number(c.rope.high_freq_factor));
    add("original_max_position_embeddings", std::to_string(c.rope.original_max_position));
  }
  return "{" + text + "}}";
}

/// Where the model of a file is not the one that was compiled, a line for each: "hidden_size:
/// expected 576, got 384". A rotary model may be compiled for a shorter context.
[[nodiscard]] inline auto differences(model_config const& compiled, model_config const& file)
    -> std::vector<std::string> {
  auto result = std::vector<std::string>{};
  auto const differ = [&](std::string const& name, std::string const& want,
                          std::string const& got) {
    result.push_back(name + ": expected " + want + ", got " + got);
  };
  for_each_fact(compiled, [&](std::string const& name, auto const& want) {
    auto found = false;
    for_each_fact(file, [&](std::string const& other, auto const& got) {
      if constexpr (std::same_as<decltype(want), decltype(got)>) {
        if (found || name != other) return;
        found = true;
        if (not detail::same_value(want, got))
          differ(name, detail::described_value(want), detail::described_value(got));
      }
    });
  });
  auto const fits = is_rotary(compiled.family) ? compiled.context <= file.context
                                               : compiled.context == file.context;
  if (not fits)
    differ("max_position_embeddings",
           (is_rotary(compiled.family) ? "at least " : "") + std::to_string(compiled.context),
           std::to_string(file.context));
  return result;
}
/// Errors  file_error, which names every difference
inline void check_same_model(std::filesystem::path const& path, model_config const& compiled,
                             model_config const& file) {
  auto text = std::string{};
  for (auto const& each : differences(compiled, file)) text += (text.empty() ? "" : "; ") + each;
  if (not text.empty()) throw file_error(path, "is not the compiled model: " + text);
}

/// The description of a model of the family llama, qwen2 or qwen3 by the options that it was
/// compiled with, where 0 stands for what follows from the others.
template <class Options>
[[nodiscard]] auto described_model(model_family family, Options const& o) -> model_config {
  auto c = model_config{};
  c.family = family;
  c.vocabulary = o.vocabulary;
  c.width = o.width;
  c.blocks = o.blocks;
  c.heads = o.heads;
  c.kv_heads = o.kv_heads == 0 ? o.heads : o.kv_heads;
  c.head_width = o.head_width == 0 ? o.width / o.heads : o.head_width;
  c.hidden = o.hidden == 0 ? 4 * o.width : o.hidden;
  c.context = o.context;
  c.epsilon = o.epsilon;
  c.tied = o.tied;
  c.qkv_bias = o.qkv_bias;
  c.head_norms = o.qk_norm;
  c.rope.theta = o.rotary_base;
  constexpr std::string_view kinds[] = {"default", "linear", "llama3"};
  c.rope.kind = kinds[static_cast<std::size_t>(o.scaling.kind)];
  c.rope.factor = o.scaling.factor;
  c.rope.low_freq_factor = o.scaling.low_factor;
  c.rope.high_freq_factor = o.scaling.high_factor;
  c.rope.original_max_position = static_cast<std::uint64_t>(o.scaling.context);
  return c;
}

}  // namespace tessera
