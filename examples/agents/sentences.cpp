// SPDX-License-Identifier: MIT
#include "sentences.hpp"

#include <tessera/generate/compiled_model.hpp>
#include <tessera/serve/sentence_service.hpp>
#include <tessera/text/tokenizer_file.hpp>

namespace agents {

namespace {

using namespace tessera;
namespace fs = std::filesystem;

[[nodiscard]] auto tokenizer_in(fs::path const& folder) -> tokenizer {
  if (fs::exists(folder) && not fs::is_directory(folder))
    throw file_error(folder, "expected a folder of transformers, of bert, got a file");
  return load_tokenizer(folder / "tokenizer.json");
}
/// The tokens of a sentence at most: sentence-transformers' setting, where the folder has it.
[[nodiscard]] auto longest_in(fs::path const& folder, tokenizer const& words, std::size_t context)
    -> std::size_t {
  auto const path = folder / "sentence_bert_config.json";
  if (not fs::exists(path)) return context;
  auto const json = detail::read_json_object(path);
  auto const settings = detail::json_members(path, json);
  auto const lowers = settings.has("do_lower_case") && settings.flag("do_lower_case");
  if (lowers && words.encode("ABC \u00C4").ids != words.encode("abc \u00E4").ids)
    throw file_error(path, "do_lower_case: expected a tokenizer that does so itself");
  if (not settings.has("max_seq_length")) return context;
  auto const longest = settings.count("max_seq_length");
  if (longest < 2) settings.wrong("max_seq_length", "a whole number from 2", longest);
  return std::min<std::size_t>(context, longest);
}

}  // namespace

sentences::sentences(fs::path const& folder)
    : words_(tokenizer_in(folder)),
      model_([&] {
        auto const files = hugging_face_folder(folder);
        auto const models = compiled_models();
        return find_compiled(models, files).open_sentences(files);
      }()),
      longest_(longest_in(folder, words_, model_->context())) {}

auto sentences::encode(std::string const& text) const -> std::vector<std::uint32_t> {
  return words_.encode(text, {.longest = longest_}).ids;
}
auto sentences::vector_of(std::string const& text) -> std::vector<float> {
  auto result = std::vector<float>(width());
  embed(encode(text), result);
  return result;
}
void sentences::embed(std::span<std::uint32_t const> tokens, std::span<float> to) {
  auto const lock = std::lock_guard{mutex_};
  model_->embed(tokens, to);
}

auto service_of_sentences(std::shared_ptr<sentences> model) -> std::shared_ptr<text_service> {
  auto encode = [model](std::string const& text) { return model->encode(text); };
  return std::make_shared<sentence_service>(std::move(model), std::move(encode));
}

}  // namespace agents
