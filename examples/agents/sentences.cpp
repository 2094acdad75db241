// SPDX-License-Identifier: MIT
#include "sentences.hpp"

#include <tessera/generate/compiled_model.hpp>
#include <tessera/serve/sentence_service.hpp>
#include <tessera/text/tokenizer_file.hpp>

namespace agents {

namespace {

using namespace tessera;
namespace fs = std::filesystem;

[[nodiscard]] auto checked_folder(fs::path const& folder) -> fs::path const& {
  if (fs::is_regular_file(folder))
    throw file_error(folder, "expected a folder of transformers, of bert, got a file");
  return folder;
}
/// The tokens of a sentence at most: sentence-transformers' setting, where the folder has it.
[[nodiscard]] auto longest_in(fs::path const& folder, std::size_t context) -> std::size_t {
  auto const path = folder / "sentence_bert_config.json";
  if (not fs::exists(path)) return context;
  auto const text = nlohmann::json::parse(read_text(path), nullptr, false);
  if (not text.is_object() || not text.contains("max_seq_length")) return context;
  auto const& longest = text["max_seq_length"];
  if (not longest.is_number_unsigned() || longest.get<std::size_t>() < 2)
    throw file_error(path, "max_seq_length: expected a whole number from 2, got " + longest.dump());
  return std::min(context, longest.get<std::size_t>());
}

}  // namespace

sentences::sentences(fs::path const& folder)
    : words_(load_tokenizer(checked_folder(folder) / "tokenizer.json")),
      model_([&] {
        auto const files = hugging_face_folder(folder);
        auto const models = compiled_models();
        return find_compiled(models, files).open_sentences(files);
      }()),
      longest_(longest_in(folder, model_->context())) {}

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
