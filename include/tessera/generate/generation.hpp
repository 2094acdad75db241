// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/constraint.hpp>
#include <tessera/generate/sampling.hpp>
#include <tessera/generate/text_decoder.hpp>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

/// What an engine is asked for, and what it says.
namespace tessera::inline TESSERA_TARGET {

/// A part of what is generated: a token, and the text that can be given away with it. A part that
/// ends the text may have no token. Views are valid in the call alone.
struct generated_part {
  sampled_token const* token = nullptr;
  std::string_view text;
};

enum class finish_reason : std::uint8_t {
  stop,       ///< a token that ends, a stop string, or a constraint that is complete
  length,     ///< max_tokens, or the context
  cancelled,  ///< by its ticket, or by the end of the engine
  failed,     ///< by `error`
};

struct generation_result {
  finish_reason reason = finish_reason::stop;
  std::string error = {};
  std::string stop_string = {};  ///< that ended the text
  std::size_t prompt_tokens = 0;
  std::size_t cached_tokens = 0;     ///< of the prompt, that a lane had read before
  std::size_t generated_tokens = 0;  ///< with one that ended it
  bool had_lane = true;              ///< false: it was cancelled while it waited for one
  double queue_seconds = 0;          ///< until it had a lane
  double first_token_seconds = 0;    ///< from its submission; 0: none came
  double seconds = 0;                ///< from its submission
};

/// One sequence to generate. Its functions are called on the engine's thread, without a lock;
/// `done` once, last.
struct generation_request {
  std::vector<std::uint32_t> prompt;
  sampling_options options = {};
  std::vector<std::uint32_t> end_tokens = {};            ///< end the sequence, and are no text
  std::unique_ptr<text_decoder> decoder = {};            ///< none: parts have no text
  std::unique_ptr<token_constraint> constraint = {};     ///< none: any token may come
  std::function<void(generated_part const&)> part = {};  ///< an exception fails the sequence
  std::function<void(generation_result const&)> done = {};
  std::function<bool()> wanted = {};  ///< asked before each step; false: it is cancelled; throws
                                      ///< as `part` does
};

/// A prompt for which the context has no place.
struct context_error : std::invalid_argument {
  std::size_t context;     ///< tokens, at most
  std::size_t tokens = 0;  ///< of the prompt; 0: its text is too long for them to be counted

  context_error(std::size_t most, std::size_t got)
      : context_error(most, got, std::to_string(got)) {}
  [[nodiscard]] static auto of_text(std::size_t most, std::size_t bytes) -> context_error {
    return {most, 0, "a text of " + std::to_string(bytes) + " bytes"};
  }

 private:
  context_error(std::size_t most, std::size_t got, std::string const& what)
      : std::invalid_argument("prompt: expected at most " + std::to_string(most) + " tokens, got " +
                              what),
        context(most),
        tokens(got) {}
};

enum class admission : std::uint8_t { accepted, full, closed };

/// A request that an engine was given.
class generation_ticket {
 public:
  explicit generation_ticket(admission how) : admission_(how) {}
  generation_ticket(admission how, std::shared_ptr<std::atomic<bool>> cancelled)
      : admission_(how), cancelled_(std::move(cancelled)) {}
  [[nodiscard]] auto admitted() const -> admission { return admission_; }
  [[nodiscard]] explicit operator bool() const { return admission_ == admission::accepted; }
  /// The lane is free before the step after this one. A sequence that is done stays as it is.
  void cancel() const {
    if (cancelled_) *cancelled_ = true;
  }

 private:
  admission admission_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

}  // namespace tessera::inline TESSERA_TARGET
