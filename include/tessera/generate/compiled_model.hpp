// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/lane_model.hpp>
#include <tessera/generate/sentence_model.hpp>
#include <tessera/io/gguf/model.hpp>
#include <tessera/io/hugging_face.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

/// The models that a program was compiled with, and the one among them that a file holds.
namespace tessera {

/// A GGUF file that is open; what looks into it lives as long.
struct open_gguf {
  mapped_file file;
  gguf content;
  explicit open_gguf(std::filesystem::path const& path) : file(path), content(file) {}
};

/// A language model of a file, and what it takes.
struct opened_lanes {
  std::unique_ptr<lane_model> model;
  std::size_t parameter_bytes = 0;  ///< of its own, beside the mapped file
  std::size_t stream_bytes = 0;     ///< of a step and all caches: memory_of
  std::size_t token_bytes = 0;      ///< of these, what a token of a sequence keeps
};

/// One model of a program, with the form of its weights: what `tessera_model` in CMake adds.
struct compiled_model {
  std::string config;        ///< the file that describes it
  model_config description;  ///< what of a file has to be the same
  std::string matrices;      ///< a file's type of them, "Q4_1"; empty where it has a folder
  std::string embedding;
  bool exact = false;  ///< blocks are widened, not multiplied as they are stored
  std::function<opened_lanes(std::shared_ptr<open_gguf const>)> open_lanes = {};
  std::function<std::unique_ptr<sentence_model>(hugging_face_folder const&)> open_sentences = {};
};

namespace detail {

/// The type of a file's tensor with this name, as the file has it.
[[nodiscard]] inline auto type_in(gguf const& file, char const* tensor) -> std::string {
  return std::string{file.tensor(tensor).type->name};
}
/// The compiled models that differ least from a file's, first the nearest one, and in what.
[[nodiscard]] inline auto lines_of_differences(std::span<compiled_model const> models,
                                               model_config const& file) -> std::string {
  constexpr auto most = std::size_t{3};
  auto all = std::map<std::string, std::vector<std::string>>{};
  for (auto const& each : models) all.emplace(each.config, differences(each.description, file));
  auto nearest =
      std::vector<std::pair<std::string, std::vector<std::string>>>(all.begin(), all.end());
  std::ranges::stable_sort(nearest, {}, [](auto const& each) { return each.second.size(); });
  auto text = std::string{};
  for (auto const& [config, lines] : std::span{nearest}.first(std::min(most, nearest.size()))) {
    text += "\n  " + config + ":";
    for (auto const& one : lines) text += " " + one + ";";
  }
  if (nearest.size() > most)
    text += "\n  and " + std::to_string(nearest.size() - most) + " that differ in more";
  return text;
}
[[noreturn]] inline void fail_unknown(std::span<compiled_model const> models,
                                      std::filesystem::path const& path, model_config const& file,
                                      std::string const& weights) {
  throw file_error(path,
                   "no such model is compiled: add tessera_model(<target> <config.json>" + weights +
                       ") to the program's CMakeLists.txt, with the config.json of the model that "
                       "the file was made of; the nearest ones that are compiled:" +
                       lines_of_differences(models, file));
}
[[nodiscard]] inline auto cmake_word(std::string type) -> std::string {
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type;
}

}  // namespace detail

/// The one that a GGUF file holds, multiplied as stored or, with `exact`, widened.
///
/// Errors  file_error: no model like that was compiled, or none with weights of the file's types;
///         it has the line to add, and where the compiled ones differ
[[nodiscard]] inline auto find_compiled(std::span<compiled_model const> models, gguf const& file,
                                        bool exact = false) -> compiled_model const& {
  auto const config = read_model_config(file);
  auto const matrices = detail::type_in(file, "blk.0.attn_q.weight");
  auto const embedding = detail::type_in(file, "token_embd.weight");
  auto same = std::vector<compiled_model const*>{};
  for (auto const& each : models)
    if (each.open_lanes && differences(each.description, config).empty()) same.push_back(&each);
  auto const widened = exact && matrices.starts_with('Q');  // other numbers are what they are
  auto const weights = " WEIGHTS " + detail::cmake_word(matrices) + "/" +
                       detail::cmake_word(embedding) + (widened ? " EXACT" : "");
  if (same.empty()) detail::fail_unknown(models, file.path(), config, weights);
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
  detail::fail_unknown(models, folder.path(), folder.config(), "");
}

/// Those that `tessera_model` has added to the program, which defines this.
[[nodiscard]] auto compiled_models() -> std::vector<compiled_model>;

}  // namespace tessera
