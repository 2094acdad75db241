// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/mapped_file.hpp>
#include <tessera/io/model_config.hpp>
#include <tessera/io/safetensors.hpp>

#include <cmath>

/// Folders as transformers writes them: config.json, and weights in one file or in shards.
namespace tessera {

namespace detail {

/// The members of a JSON object by their names, with a sentence for each that is missing or of
/// another type.
class json_members {
 public:
  json_members(std::filesystem::path path, nlohmann::json const& object, std::string inside = "")
      : path_(std::move(path)), object_(object), inside_(std::move(inside)) {}

  [[nodiscard]] auto has(char const* name) const -> bool {
    return object_.contains(name) && not object_[name].is_null();
  }
  /// Also where it is null.
  [[nodiscard]] auto names(char const* name) const -> bool { return object_.contains(name); }
  /// What is there and not {}.
  [[nodiscard]] auto says(char const* name) const -> bool {
    return has(name) && not object_[name].empty();
  }
  [[nodiscard]] auto count(char const* name) const -> std::uint64_t {
    auto const& value = member(name);
    if (not value.is_number_unsigned() || value.get<std::uint64_t>() > 0xFFFFFFFFU)
      wrong(name, "a whole number from 0 to 4294967295", value);
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] auto number(char const* name) const -> double {
    auto const& value = member(name);
    if (not value.is_number() || not std::isfinite(value.get<double>()))
      wrong(name, "a number", value);
    return value.get<double>();
  }
  [[nodiscard]] auto flag(char const* name) const -> bool {
    auto const& value = member(name);
    if (not value.is_boolean()) wrong(name, "true or false", value);
    return value.get<bool>();
  }
  [[nodiscard]] auto text(char const* name) const -> std::string {
    auto const& value = member(name);
    if (not value.is_string()) wrong(name, "a text", value);
    return value.get<std::string>();
  }
  [[nodiscard]] auto object(char const* name) const -> json_members {
    auto const& value = member(name);
    if (not value.is_object()) wrong(name, "an object", value);
    return {path_, value, inside_ + name + "."};
  }
  void set(char const* name, std::uint64_t& to) const { to = has(name) ? count(name) : to; }
  void set(char const* name, double& to) const { to = has(name) ? number(name) : to; }
  void set(char const* name, bool& to) const { to = has(name) ? flag(name) : to; }
  void set(char const* name, std::string& to) const { to = has(name) ? text(name) : to; }

  /// Refuses another value than `wanted`, which is that of a file without the member.
  template <class T> void only(char const* name, T const& wanted) const {
    auto got = wanted;
    set(name, got);
    if (got == wanted) return;
    wrong(name, described_value(wanted), got);
  }

  [[nodiscard]] auto json() const -> nlohmann::json const& { return object_; }
  [[noreturn]] void fail(std::string const& what) const { throw file_error(path_, what); }
  [[noreturn]] void wrong(std::string const& name, std::string const& want,
                          nlohmann::json const& got) const {
    auto text = got.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 60) + "...";
    fail(inside_ + name + ": expected " + want + ", got " + text);
  }

 private:
  [[nodiscard]] auto member(char const* name) const -> nlohmann::json const& {
    if (not object_.contains(name)) fail("has no " + inside_ + name);
    return object_[name];
  }

  std::filesystem::path path_;
  nlohmann::json const& object_;
  std::string inside_;
};

/// A small file as JSON in which no object has the same key twice.
[[nodiscard]] inline auto read_json(std::filesystem::path const& path) -> nlohmann::json {
  constexpr auto longest = std::uint64_t{64} << 20U;
  if (auto const size = input_file(path).size(); size > longest)
    throw file_error(path, "expected at most 67108864 bytes, got " + std::to_string(size));
  auto keys = std::vector<std::set<std::string>>{};
  auto const each = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using enum nlohmann::detail::parse_event_t;
    if (event == object_start) keys.emplace_back();
    if (event == object_end) keys.pop_back();
    if (event == key && not keys.back().insert(parsed.get<std::string>()).second)
      throw file_error(path, "names " + json_text(parsed.get<std::string>()) + " twice");
    return true;
  };
  auto const text = read_text(path);
  if (is_too_deep(text))
    throw file_error(path, "has more than " + std::to_string(most_json_levels) + " levels");
  try {
    return nlohmann::json::parse(text, each);
  } catch (nlohmann::json::exception const& e) {
    throw file_error(path, "is not JSON: " + valid_utf8(e.what()));
  }
}
[[nodiscard]] inline auto read_json_object(std::filesystem::path const& path) -> nlohmann::json {
  auto result = read_json(path);
  if (not result.is_object()) throw file_error(path, "is no JSON object");
  return result;
}

[[nodiscard]] inline auto positive(json_members const& in, char const* name) -> std::uint64_t {
  auto const n = in.count(name);
  if (n == 0) in.wrong(name, "a number from 1", 0);
  return n;
}
/// rope_parameters of newer files, or rope_theta and rope_scaling of older ones. Of both, of which
/// transformers takes rope_scaling alone, neither is taken.
[[nodiscard]] inline auto read_rope(json_members const& in) -> rope_config {
  auto result = rope_config{};
  in.set("rope_theta", result.theta);
  in.only("partial_rotary_factor", 1.0);  // all of a head is turned
  if (in.says("rope_parameters") && in.says("rope_scaling"))
    in.wrong("rope_scaling", "none beside rope_parameters", "one");
  auto const* const name = in.says("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (not in.has(name)) return result;
  auto const rope = in.object(name);
  rope.set("type", result.kind);
  rope.set("rope_type", result.kind);
  rope.set("rope_theta", result.theta);
  if (result.kind != "default" && result.kind != "linear" && result.kind != "llama3")
    rope.wrong("rope_type", "one of default, linear, llama3", result.kind);
  if (result.kind != "default") result.factor = rope.number("factor");
  if (result.kind == "llama3") {
    result.low_freq_factor = rope.number("low_freq_factor");
    result.high_freq_factor = rope.number("high_freq_factor");
    result.original_max_position = positive(rope, "original_max_position_embeddings");
  }
  rope.only("partial_rotary_factor", 1.0);
  return result;
}
inline void read_rotary_model(json_members const& in, model_config& c) {
  c.width = positive(in, "hidden_size");
  c.blocks = positive(in, "num_hidden_layers");
  c.heads = positive(in, "num_attention_heads");
  if (in.has("num_key_value_heads"))
    c.kv_heads = positive(in, "num_key_value_heads");
  else  // transformers' Qwen2Config and Qwen3Config have 32 where a file is silent
    c.kv_heads = c.family == model_family::llama || in.names("num_key_value_heads") ? c.heads : 32;
  c.head_width = in.has("head_dim")                ? positive(in, "head_dim")
                 : c.family == model_family::qwen3 ? 128
                                                   : c.width / c.heads;
  c.hidden = positive(in, "intermediate_size");
  c.context = positive(in, "max_position_embeddings");
  in.set("rms_norm_eps", c.epsilon);
  in.set("hidden_act", c.activation);
  in.set("attention_dropout", c.attention_dropout);
  c.qkv_bias = c.family == model_family::qwen2;
  c.head_norms = c.family == model_family::qwen3;
  if (c.family != model_family::qwen2) in.set("attention_bias", c.qkv_bias);
  c.out_bias = c.family != model_family::qwen2 && c.qkv_bias;
  if (c.family == model_family::llama) in.set("mlp_bias", c.mlp_bias);
  c.rope = read_rope(in);
  in.only("use_sliding_window", false);
  in.only("is_causal", true);
}
inline void read_gpt2(json_members const& in, model_config& c) {
  // GPT2Config has two names for these, of which transformers takes the second one.
  auto const size = [&](char const* name, char const* other) {
    return positive(in, in.has(other) ? other : name);
  };
  c.width = size("n_embd", "hidden_size");
  c.blocks = size("n_layer", "num_hidden_layers");
  c.heads = size("n_head", "num_attention_heads");
  c.hidden = in.has("n_inner") ? positive(in, "n_inner") : 4 * c.width;
  c.context = size("n_positions", "max_position_embeddings");
  c.epsilon = 1e-5;
  c.activation = "gelu_new";
  c.tied = true;
  in.set("layer_norm_epsilon", c.epsilon);
  in.set("activation_function", c.activation);
  in.set("resid_pdrop", c.hidden_dropout);
  in.set("attn_pdrop", c.attention_dropout);
  in.set("embd_pdrop", c.embedding_dropout);
  in.only("scale_attn_weights", true);
  in.only("scale_attn_by_inverse_layer_idx", false);
  in.only("is_causal", true);
}
inline void read_bert(json_members const& in, model_config& c) {
  c.width = positive(in, "hidden_size");
  c.blocks = positive(in, "num_hidden_layers");
  c.heads = positive(in, "num_attention_heads");
  c.hidden = positive(in, "intermediate_size");
  c.context = positive(in, "max_position_embeddings");
  c.token_types = positive(in, "type_vocab_size");
  c.epsilon = 1e-12;
  c.activation = "gelu";
  c.tied = true;
  in.set("layer_norm_eps", c.epsilon);
  in.set("hidden_act", c.activation);
  in.set("hidden_dropout_prob", c.hidden_dropout);
  in.set("attention_probs_dropout_prob", c.attention_dropout);
  in.only("position_embedding_type", std::string{"absolute"});
  in.only("is_decoder", false);
}
inline void read_special_tokens(json_members const& in, model_config& c) {
  if (in.has("bos_token_id")) c.bos = in.count("bos_token_id");
  if (in.has("pad_token_id")) c.pad = in.count("pad_token_id");
  if (not in.has("eos_token_id")) return;
  auto const& eos = in.json()["eos_token_id"];
  for (auto const& each : eos.is_array() ? eos : nlohmann::json::array({eos})) {
    if (not each.is_number_unsigned()) in.wrong("eos_token_id", "whole numbers", eos);
    c.eos.push_back(each.get<std::uint64_t>());
  }
}

}  // namespace detail

/// What a config.json of transformers says, of old files and of new ones.
///
/// Errors  file_error, which names the member, what was expected and what came: another model_type
///         than llama, qwen2, qwen3, gpt2, bert; a rope_type, or a change of attention, that is not
///         computed here; sizes that do not fit together
/// Source  files of transformers 5.23 and their meaning: tests/io/hugging_face.cpp
[[nodiscard]] inline auto read_model_config(std::filesystem::path const& path) -> model_config {
  auto const json = detail::read_json_object(path);
  auto const in = detail::json_members(path, json);
  auto const family = model_family_of(in.text("model_type"));
  if (not family)
    in.wrong("model_type", "one of llama, qwen2, qwen3, gpt2, bert", json["model_type"]);
  auto c = model_config{};
  c.family = *family;
  c.vocabulary = detail::positive(in, "vocab_size");
  if (c.family == model_family::gpt2) detail::read_gpt2(in, c);
  if (c.family == model_family::bert) detail::read_bert(in, c);
  if (is_rotary(c.family)) detail::read_rotary_model(in, c);
  if (not is_rotary(c.family)) {
    c.kv_heads = c.heads;
    c.head_width = c.width / c.heads;
    c.qkv_bias = c.out_bias = c.mlp_bias = true;
    in.only("add_cross_attention", false);
  }
  in.set("tie_word_embeddings", c.tied);
  in.set("initializer_range", c.initializer_range);
  detail::read_special_tokens(in, c);
  if (c.heads % c.kv_heads != 0)
    in.wrong("num_key_value_heads", "a divisor of " + std::to_string(c.heads), c.kv_heads);
  auto const has_head_width =
      is_rotary(c.family) && (in.has("head_dim") || c.family == model_family::qwen3);
  if (not has_head_width && c.width % c.heads != 0)
    in.wrong(c.family == model_family::gpt2 ? "n_head" : "num_attention_heads",
             "a divisor of " + std::to_string(c.width), c.heads);
  return c;
}

/// A folder of transformers: its description, and the tensors of model.safetensors, or, where there
/// is none, of the shards that model.safetensors.index.json names, as one set.
///
/// Cost    the files are mapped; what is handed out looks into them, and is valid as long as the
///         object lives, also after a move
/// Errors  file_error and safetensors_error, which name the file: a shard that is missing, or leads
///         out of the folder; a tensor that is not where the index says, or that it does not name
class hugging_face_folder {
 public:
  explicit hugging_face_folder(std::filesystem::path folder)
      : path_(std::move(folder)), config_(read_model_config(path_ / "config.json")) {
    auto const index = path_ / "model.safetensors.index.json";
    auto tensors = std::map<std::string, tensor_entry>{};
    if (std::filesystem::exists(index) && not std::filesystem::exists(path_ / whole))
      read_shards(index, tensors);
    else
      add_file(whole, tensors);
    weights_ = safetensors::of(std::move(tensors));
  }
  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }
  [[nodiscard]] auto config() const -> model_config const& { return config_; }
  [[nodiscard]] auto weights() const& -> safetensors const& { return weights_; }
  void weights() const&& = delete;

 private:
  static constexpr auto whole = "model.safetensors";
  using names = std::set<std::string>;

  /// One file's tensors, which are those that the index names, where there is one.
  void add_file(std::string const& name, std::map<std::string, tensor_entry>& tensors,
                names const* named = nullptr) {
    auto const& file = files_.emplace_back(path_ / name);
    try {
      auto const content = safetensors::look(file.bytes());
      for (auto const& [key, entry] : content.tensors()) {
        if (named != nullptr && not named->contains(key))
          throw safetensors_error("has a tensor " + json_text(key) +
                                  ", which the index has not, or in another file");
        tensors.emplace(key, entry);
      }
      if (named == nullptr) return;
      for (auto const& key : *named)
        if (not content.contains(key))
          throw safetensors_error("has no tensor " + json_text(key) + ", which the index names");
    } catch (safetensors_error const& e) {
      throw safetensors_error(file.path().string() + ": " + e.what());
    }
  }
  void read_shards(std::filesystem::path const& index,
                   std::map<std::string, tensor_entry>& tensors) {
    auto const json = detail::read_json_object(index);
    auto const map = detail::json_members(index, json).object("weight_map");
    auto files = std::map<std::string, names>{};
    for (auto const& [key, file] : map.json().items()) {
      auto const name = file.is_string() ? file.get<std::string>() : std::string{};
      if (name.find('/') != std::string::npos || not name.ends_with(".safetensors"))
        map.wrong(key, "the name of a safetensors file in the folder", file);
      files[name].insert(key);
    }
    for (auto const& [name, keys] : files) add_file(name, tensors, &keys);
  }

  std::filesystem::path path_;
  model_config config_;
  std::vector<mapped_file> files_;
  safetensors weights_;
};

}  // namespace tessera
