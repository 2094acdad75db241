// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace tessera {

/// The next tokens of the sequence in a lane, which has seen `seen` ones before.
struct lane_tokens {
  std::size_t lane = 0;
  std::size_t seen = 0;
  std::span<std::uint32_t const> tokens;
};

/// What a lane_model takes at most.
struct lane_bounds {
  std::size_t lanes = 0;       ///< sequences at a time
  std::size_t rows = 0;        ///< tokens of a step, of all lanes; not fewer than lanes
  std::size_t context = 0;     ///< tokens that a lane holds
  std::size_t vocabulary = 0;  ///< tokens that there are
  bool goes_back = false;      ///< a lane may go on from any number of the tokens that it has seen
};

/// A language model with a cache for each of some lanes: what the engine asks of one. A lane begins
/// anew where a step says that it has seen nothing.
class lane_model {
 public:
  lane_model() = default;
  lane_model(lane_model const&) = delete;
  auto operator=(lane_model const&) -> lane_model& = delete;
  virtual ~lane_model() = default;
  [[nodiscard]] virtual auto bounds() const -> lane_bounds = 0;
  /// One pass over the tokens of some lanes, which ascend; scores[i] is what follows the last token
  /// of parts[i], memory of the model until its next step. An exception is an error of all parts.
  virtual void step(std::span<lane_tokens const> parts,
                    std::span<std::span<float const>> scores) = 0;
};

/// A model of the library, tokens (time, ...) -> scores (time, ..., vocabulary), as lanes: every
/// layer but attention takes all rows of a step at once, so that weights are read once for all. A
/// language_model scores the last token of each lane alone.
///
/// Backend   of what is computed: `relaxed` has weights that are as_stored<bf16> multiplied by the
///           processor's matrix unit, where it has one
/// State     the caches of Lanes sequences; memory that no sequence has reached is not touched
/// Accuracy  a lane has the bits of `streaming` that runs it alone on this backend, in parts of any
///           size; on `relaxed`, but for maps to a single output
/// Errors    std::invalid_argument for tokens that the vocabulary does not have; more of anything
///           than the bounds breaks the contract
template <class Model, std::size_t Lanes, std::size_t Rows, class P,
          class Backend = default_backend>
class streamed_lanes final : public lane_model {
  static_assert(Rows >= Lanes, "streamed_lanes: a step needs a row for each lane");
  using tokens_type = tensor<float, shape<at_most(Rows)>, Backend>;
  using places_type = tensor<std::int32_t, shape<Lanes, 2>>;
  using stream_type = streaming<Model, tokens_type, given_as<tag::sequences, places_type>>;
  static constexpr std::size_t vocabulary = last_of<shape_of<typename stream_type::output>>;
  /// Scores of the last tokens alone come first.
  static constexpr bool scores_last_tokens = requires { requires Model::scores_last_tokens; };

 public:
  /// The memory of a step and of all caches, beside the parameters.
  static constexpr std::size_t bytes = sizeof(stream_type);
  /// `context` is the model's own.
  streamed_lanes(std::shared_ptr<P const> parameters, std::size_t context)
      : parameters_(std::move(parameters)), context_(context) {}
  [[nodiscard]] auto bounds() const -> lane_bounds override {
    return {Lanes, Rows, context_, vocabulary, true};
  }
  void step(std::span<lane_tokens const> parts, std::span<std::span<float const>> scores) override {
    places_ = {};
    auto rows = std::size_t{0};
    for (auto const& part : parts) {
      places_(part.lane, 0) = static_cast<std::int32_t>(part.seen);
      places_(part.lane, 1) = static_cast<std::int32_t>(part.tokens.size());
      require(part.tokens.size() <= Rows - rows, "streamed_lanes: more tokens than a step takes");
      for (auto const token : part.tokens) {
        if (token >= vocabulary)
          throw std::invalid_argument("streamed_lanes: expected tokens below " +
                                      std::to_string(vocabulary) + ", got " +
                                      std::to_string(token));
        tokens_.values[rows++] = static_cast<float>(token);
      }
    }
    auto const y =
        stream_->step(*parameters_, as_const(tokens_.sized(rows)), given<tag::sequences>(places_));
    auto end = std::size_t{0};
    for (auto i = std::size_t{0}; i < parts.size(); ++i) {
      end += parts[i].tokens.size();
      scores[i] = {y.data() + (scores_last_tokens ? i : end - 1) * vocabulary, vocabulary};
    }
  }

 private:
  std::shared_ptr<P const> parameters_;
  std::size_t context_;
  tokens_type tokens_{};
  places_type places_{};
  std::unique_ptr<stream_type> stream_ = std::make_unique_for_overwrite<stream_type>();
};

/// make_lanes<Model, 8, 32>(parameters, context): eight sequences, of which a step takes 32 tokens;
/// make_lanes<Model, 8, 32, relaxed>(...) computes on another backend.
template <class Model, std::size_t Lanes, std::size_t Rows, class Backend = default_backend,
          class P>
[[nodiscard]] auto make_lanes(std::shared_ptr<P> parameters, std::size_t context)
    -> std::unique_ptr<lane_model> {
  using held = std::remove_const_t<P>;
  return std::make_unique<streamed_lanes<Model, Lanes, Rows, held, Backend>>(std::move(parameters),
                                                                             context);
}

}  // namespace tessera
