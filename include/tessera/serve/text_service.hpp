// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/generation.hpp>

namespace tessera::inline TESSERA_TARGET {

struct chat_message {
  std::string role;  ///< system, user or assistant
  std::string content;
};

/// What a text is generated from: a prompt, or a conversation where there are messages.
struct text_request {
  std::string prompt = {};
  std::vector<std::uint32_t> tokens = {};  ///< in place of the prompt, where there are any
  std::vector<chat_message> messages = {};
  sampling_options options = {};
  bool to_the_end = false;            ///< max_tokens was not said: as many as the context takes
  std::function<bool()> wanted = {};  ///< false: nobody waits any more, and it is cancelled
};

/// A token as text, and its log-probability.
struct scored_text {
  std::string text;
  float log_probability = 0;
};
/// A piece of a generated text; `token` is null where only what was held back comes.
struct text_piece {
  std::string_view text;
  scored_text const* token = nullptr;
  std::span<scored_text const> top = {};
};

/// What vectors are made of.
struct embedding_request {
  std::vector<std::string> texts = {};
  std::vector<std::vector<std::uint32_t>> tokens = {};  ///< in place of texts, where there are any
  std::function<bool()> wanted = {};  ///< false: nobody waits any more, and it is dropped
};
struct embedding_result {
  std::vector<std::vector<float>> vectors = {};
  std::size_t tokens = 0;
  std::string error = {};  ///< why there are none
  bool closed = false;     ///< it is that the service has ended, which is no fault of the model's
};

/// A model that answers with texts: what servers and groups ask, whatever is behind it.
class text_service {
 public:
  text_service() = default;
  text_service(text_service const&) = delete;
  auto operator=(text_service const&) -> text_service& = delete;
  virtual ~text_service() = default;

  using piece_function = std::function<void(text_piece const&)>;
  using done_function = std::function<void(generation_result const&)>;
  using embedding_function = std::function<void(embedding_result)>;

  /// Begins a text and returns at once. What is said of it comes on one thread, `done` once and
  /// last; it may come before this returns. Nothing comes for a request that is not accepted.
  ///
  /// Errors  std::invalid_argument for a request that cannot be run, of which context_error is one
  virtual auto generate(text_request request, piece_function piece, done_function done)
      -> generation_ticket = 0;
  [[nodiscard]] virtual auto generates() const -> bool { return true; }
  [[nodiscard]] virtual auto embeds() const -> bool { return false; }
  /// A vector for each text. The same rules.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): a service keeps both
  virtual auto embed(embedding_request request, embedding_function done) -> admission {
    (void)request;
    done({.error = "this model has no embeddings"});
    return admission::accepted;
  }
};

}  // namespace tessera::inline TESSERA_TARGET
