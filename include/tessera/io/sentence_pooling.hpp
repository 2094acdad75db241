// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/hugging_face.hpp>

namespace tessera {

/// What makes one vector of those of a sentence's tokens.
struct sentence_pooling {
  bool first = false;       ///< the first token's vector; else the mean over all
  bool unit_length = true;  ///< divided by its length
};

namespace detail {

/// By the name that sentence-transformers has for it now, or by a flag for each as before.
[[nodiscard]] inline auto pools_first(std::filesystem::path const& path) -> bool {
  constexpr auto flag_prefix = std::string_view{"pooling_mode_"};
  auto const json = read_json_object(path);
  auto const in = json_members(path, json);
  auto modes = nlohmann::json::array();
  if (in.has("pooling_mode")) {
    modes = json["pooling_mode"];
    if (not modes.is_array()) modes = nlohmann::json::array({modes});
  } else {
    for (auto const& [name, value] : json.items())
      if (name.starts_with(flag_prefix) && in.flag(name.c_str()))
        modes.push_back(name.substr(flag_prefix.size()));
    if (modes.empty()) modes.push_back("mean");
  }
  auto const mode = modes.size() == 1 ? modes[0] : nlohmann::json{};
  if (mode == "cls" || mode == "cls_token") return true;
  if (mode != "mean" && mode != "mean_tokens")
    in.wrong("pooling_mode", "mean or cls, one of them", modes);
  return false;
}

/// What is put before each text is none, or the folder is refused.
inline void refuse_prompt(std::filesystem::path const& path) {
  if (not std::filesystem::exists(path)) return;
  auto const json = read_json_object(path);
  auto const in = json_members(path, json);
  if (not in.has("default_prompt_name")) return;
  auto const name = in.text("default_prompt_name");
  if (in.has("prompts")) {
    auto const prompts = in.object("prompts");
    if (prompts.has(name.c_str()) && prompts.text(name.c_str()).empty()) return;
  }
  in.wrong("default_prompt_name", "none, or that of an empty prompt", name);
}

}  // namespace detail

/// How a folder of sentence-transformers makes vectors of sentences, by its modules.json; where it
/// has none, the mean of length 1.
///
/// Errors  file_error for a module that is not Transformer, Pooling or Normalize, for these in
///         another order, for another pooling than the mean or the first token's vector, and for a
///         prompt that is put before each text
/// Source  folders of sentence-transformers 6.2, and older ones: tests/io/sentence_pooling.cpp
[[nodiscard]] inline auto read_sentence_pooling(std::filesystem::path const& folder)
    -> sentence_pooling {
  auto const path = folder / "modules.json";
  if (not std::filesystem::exists(path)) return {};
  auto const modules = detail::read_json(path);
  auto result = sentence_pooling{.unit_length = false};
  auto kinds = std::string{};
  for (auto const& module : modules) {
    if (not module.is_object()) throw file_error(path, "expected a list of objects");
    auto const in = detail::json_members(path, module);
    auto const type = in.text("type");
    auto const kind = type.substr(type.rfind('.') + 1);
    kinds += (kinds.empty() ? "" : ", ") + kind;
    if (kind == "Pooling") {
      auto const place = in.text("path");
      if (place.empty() || place.find('/') != std::string::npos || place == "..")
        in.wrong("path", "a folder in the folder", place);
      result.first = detail::pools_first(folder / place / "config.json");
    }
    result.unit_length = kind == "Normalize";
  }
  if (kinds != "Transformer, Pooling" && kinds != "Transformer, Pooling, Normalize")
    throw file_error(path, "expected the modules Transformer, Pooling and perhaps Normalize, got " +
                               json_text(kinds.substr(0, 80)));
  detail::refuse_prompt(folder / "config_sentence_transformers.json");
  return result;
}

}  // namespace tessera
