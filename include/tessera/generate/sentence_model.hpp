// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>
#include <tessera/io/sentence_pooling.hpp>
#include <tessera/layers/unit_length.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace tessera {

/// A model that has a vector for a sentence.
class sentence_model {
 public:
  sentence_model() = default;
  sentence_model(sentence_model const&) = delete;
  auto operator=(sentence_model const&) -> sentence_model& = delete;
  virtual ~sentence_model() = default;
  [[nodiscard]] virtual auto width() const -> std::size_t = 0;
  [[nodiscard]] virtual auto context() const -> std::size_t = 0;  ///< tokens of a sentence, at most
  [[nodiscard]] virtual auto vocabulary() const -> std::size_t = 0;
  /// The vector of these tokens, 1 at least and `context` at most, into `to` of `width` numbers.
  virtual void embed(std::span<std::uint32_t const> tokens, std::span<float> to) = 0;
};

/// A model of the library, tokens (time, 1) and their number -> (time, 1, width), for sentences of
/// up to Context tokens: one pass for each, over as many rows as it has tokens; of what these give
/// the pooling makes one vector.
///
/// Errors  std::invalid_argument for no tokens, for more than Context, and for one that the
///         vocabulary does not have
template <class Model, std::size_t Vocabulary, std::size_t Context, class P>
class compiled_sentences final : public sentence_model {
  using tokens_type = tensor<std::int32_t, shape<at_most(Context), 1>>;
  using count_type = tensor<std::int32_t, shape<1>>;
  using run_type = inference<Model, tokens_type, given_as<tag::lengths, count_type>>;
  static constexpr std::size_t out = last_of<shape_of<typename run_type::output>>;

 public:
  explicit compiled_sentences(std::unique_ptr<P const> parameters, sentence_pooling pooling = {})
      : parameters_(std::move(parameters)), pooling_(pooling) {}
  [[nodiscard]] auto width() const -> std::size_t override { return out; }
  [[nodiscard]] auto context() const -> std::size_t override { return Context; }
  [[nodiscard]] auto vocabulary() const -> std::size_t override { return Vocabulary; }
  void embed(std::span<std::uint32_t const> tokens, std::span<float> to) override {
    if (tokens.empty() || tokens.size() > Context || to.size() != out)
      throw std::invalid_argument("sentences: expected 1 to " + std::to_string(Context) +
                                  " tokens, got " + std::to_string(tokens.size()));
    for (auto i = std::size_t{0}; i < tokens.size(); ++i) {
      if (tokens[i] >= Vocabulary)
        throw std::invalid_argument("sentences: expected tokens below " +
                                    std::to_string(Vocabulary) + ", got " +
                                    std::to_string(tokens[i]));
      tokens_->values[i] = static_cast<std::int32_t>(tokens[i]);
    }
    auto const count = count_type{{static_cast<std::int32_t>(tokens.size())}};
    auto const y =
        (*run_)(*parameters_, as_const(tokens_->sized(tokens.size())), given<tag::lengths>(count));
    auto const rows = pooling_.first ? 1 : tokens.size();
    auto pooled = tensor<float, shape<1, out>>{};
    for (auto t = std::size_t{0}; t < rows; ++t) pooled += y[t];
    pooled = pooled / static_cast<float>(rows);
    if (pooling_.unit_length) pooled = unit_length::forward(nothing{}, as_const(pooled));
    std::copy_n(pooled.data(), out, to.data());
  }

 private:
  std::unique_ptr<P const> parameters_;
  sentence_pooling pooling_;
  std::unique_ptr<tokens_type> tokens_ = std::make_unique<tokens_type>();
  std::unique_ptr<run_type> run_ = std::make_unique_for_overwrite<run_type>();
};

}  // namespace tessera
