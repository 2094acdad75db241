// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/sentence_model.hpp>
#include <tessera/serve/text_service.hpp>
#include <tessera/text/tokenizer.hpp>

#include <filesystem>
#include <mutex>

namespace agents {

/// A model of a folder that has vectors for sentences, with its tokenizer. Any number of threads
/// may ask.
class sentences final : public tessera::sentence_model {
 public:
  /// Errors  file_error for what is no model that was compiled, and safetensors_error for its
  ///         weights; text_error for its tokenizer
  explicit sentences(std::filesystem::path const& folder);
  [[nodiscard]] auto width() const -> std::size_t override { return model_->width(); }
  [[nodiscard]] auto context() const -> std::size_t override { return model_->context(); }
  [[nodiscard]] auto vocabulary() const -> std::size_t override { return model_->vocabulary(); }
  void embed(std::span<std::uint32_t const> tokens, std::span<float> to) override;
  /// The tokens of a text; those beyond the longest that the folder asks for are left out.
  [[nodiscard]] auto encode(std::string const& text) const -> std::vector<std::uint32_t>;
  [[nodiscard]] auto vector_of(std::string const& text) -> std::vector<float>;

 private:
  std::mutex mutex_;
  tessera::tokenizer words_;
  std::unique_ptr<tessera::sentence_model> model_;
  std::size_t longest_;
};

/// The same for a server: see sentence_service.
[[nodiscard]] auto service_of_sentences(std::shared_ptr<sentences> model)
    -> std::shared_ptr<tessera::text_service>;

}  // namespace agents
