// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/lane_model.hpp>
#include <tessera/generate/sentence_model.hpp>
#include <tessera/io/gguf/model.hpp>
#include <tessera/io/hugging_face.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

/// The models that a program was compiled with, and the one among them that a file holds.
namespace tessera {

/// A GGUF file that is open; what looks into it lives as long.
///
/// Errors  file_error also for a part of a model
struct open_gguf {
  mapped_file file;
  gguf content;
  explicit open_gguf(std::filesystem::path const& path) : file(path), content(file) {
    expect_one_file(content);
  }
};

/// A language model of a file, and what it takes.
struct opened_lanes {
  std::unique_ptr<lane_model> model;
  std::size_t parameter_bytes = 0;  ///< of its own, beside the mapped file
  std::size_t stream_bytes = 0;     ///< of a step and all caches: memory_of
  std::size_t token_bytes = 0;      ///< of these, what a token of a sequence keeps
  std::size_t token_runs = 0;       ///< in which a sequence's tokens are kept, one after another
  std::size_t attention_bytes = 0;  ///< of these, work for a whole context, of which a shorter one
                                    ///< touches a part
};

/// One model of a program, with the form of its weights: what `tessera_model` in CMake adds.
struct compiled_model {
  std::string config;        ///< the file that describes it
  model_config description;  ///< what of a file has to be the same
  std::string matrices;      ///< a file's type of them, "Q4_1"; empty where it has a folder
  std::string embedding;
  bool exact = false;  ///< blocks and bf16 are widened, not multiplied as they are stored
  std::function<opened_lanes(std::shared_ptr<open_gguf const>)> open_lanes = {};
  std::function<std::unique_ptr<sentence_model>(hugging_face_folder const&)> open_sentences = {};
};

namespace detail {

/// The type that a file's matrices have, all of them but the embedding's, which may have another.
///
/// Errors  file_error for a type that is not read, and for matrices of several types
[[nodiscard]] inline auto type_of_matrices(gguf const& file) -> std::string {
  auto const& first = file.tensor("blk.0.attn_q.weight");
  for (auto const& t : file.tensors()) {
    if (t.rank < 2) continue;
    (void)file.data(t);
    if (t.name != "token_embd.weight" && t.type != first.type)
      file.fail(
          "tensor " + quoted_name(t.name) + ": expected " + std::string{first.type->name} +
          ", the type of \"blk.0.attn_q.weight\" and of all matrices but the embedding, got " +
          std::string{t.type->name});
  }
  return std::string{first.type->name};
}
/// The compiled models that are nearest to a file's, a line for each.
[[nodiscard]] inline auto lines_of_differences(std::span<compiled_model const> models,
                                               model_config const& file) -> std::string {
  constexpr auto most = std::size_t{2};
  auto named = std::set<std::string>{};
  auto lines = std::multimap<std::size_t, std::string>{};  // by the number of differences
  for (auto const& each : models) {
    if (not named.insert(each.config).second) continue;
    auto const found = differences(each.description, file);
    auto line = "\n  " + each.config + ":";
    for (auto const& one : found) line += " " + one + ";";
    lines.emplace(found.size(), std::move(line));
  }
  auto text = std::string{};
  for (auto const& [number, line] : lines | std::views::take(most)) text += line;
  return text;
}
[[noreturn]] inline void fail_unknown(std::span<compiled_model const> models,
                                      std::filesystem::path const& path, model_config const& file,
                                      std::string const& config, std::string const& weights) {
  throw file_error(path,
                   "no such model is compiled: add tessera_model(<target> " + config + weights +
                       " to the program's CMakeLists.txt; nearest of those that are compiled:" +
                       lines_of_differences(models, file));
}
[[nodiscard]] inline auto cmake_word(std::string type) -> std::string {
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type;
}

/// False for types whose numbers are what they are, and are multiplied as these.
[[nodiscard]] inline auto has_two_products(std::string_view type) -> bool {
  return type.starts_with('Q') || type == "BF16";
}

}  // namespace detail

/// The one that a GGUF file holds, multiplied as stored or, with `exact`, widened.
///
/// Errors  file_error: weights of a type that is not read, or of several; no model like that was
///         compiled, or none with weights of the file's types: it has the line to add, the
///         config.json for it, and where the compiled ones differ
[[nodiscard]] inline auto find_compiled(std::span<compiled_model const> models, gguf const& file,
                                        bool exact = false) -> compiled_model const& {
  auto const config = read_model_config(file);
  if (not is_rotary(config.family))
    file.fail("expected a model of the family llama, qwen2 or qwen3, got " +
              std::string{name_of(config.family)});
  auto const matrices = detail::type_of_matrices(file);
  auto const embedding = std::string{file.tensor("token_embd.weight").type->name};
  auto same = std::vector<compiled_model const*>{};
  for (auto const& each : models)
    if (each.open_lanes && differences(each.description, config).empty()) same.push_back(&each);
  auto const widened = exact && detail::has_two_products(matrices);
  auto const weights = " WEIGHTS " + detail::cmake_word(matrices) + "/" +
                       detail::cmake_word(embedding) + (widened ? " EXACT" : "");
  if (same.empty())
    detail::fail_unknown(models, file.path(), config, "<config.json>",
                         weights + "), where config.json says " + config_text(config) + ",");
  for (auto const* const each : same)
    if (each->matrices == matrices && each->embedding == embedding && each->exact == widened)
      return *each;
  throw file_error(file.path(), "its model is compiled, but not for its weights: add" + weights +
                                    " to tessera_model(<target> " + same.front()->config + ")");
}
/// The same for a folder of transformers that has sentences as vectors.
[[nodiscard]] inline auto find_compiled(std::span<compiled_model const> models,
                                        hugging_face_folder const& folder)
    -> compiled_model const& {
  for (auto const& each : models)
    if (each.open_sentences && differences(each.description, folder.config()).empty()) return each;
  detail::fail_unknown(models, folder.path(), folder.config(),
                       (folder.path() / "config.json").string(), ")");
}

/// Those that `tessera_model` has added to the program, which defines this.
[[nodiscard]] auto compiled_models() -> std::vector<compiled_model>;

}  // namespace tessera
