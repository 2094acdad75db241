// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/engine.hpp>
#include <tessera/serve/text_service.hpp>

#include <algorithm>
#include <mutex>

namespace tessera::inline TESSERA_TARGET {

/// How texts become tokens of one model, and back. Called on several threads at once.
struct engine_texts {
  std::function<std::vector<std::uint32_t>(std::string const&)> encode;
  /// A conversation by its model's template, up to where the answer begins; none: no conversations.
  std::function<std::vector<std::uint32_t>(std::vector<chat_message> const&)> encode_chat = {};
  std::function<std::unique_ptr<text_decoder>()> make_decoder;
  std::function<std::string(std::uint32_t)> text_of;  ///< of one token, beside its probability
  std::vector<std::uint32_t> end_tokens = {};
};

/// An engine that is asked with texts.
///
/// Errors  context_error and std::invalid_argument as of engine::submit, and for a conversation
///         where there is no template
class engine_service final : public text_service {
 public:
  engine_service(std::shared_ptr<engine> runs, engine_texts texts)
      : engine_(std::move(runs)), texts_(std::move(texts)) {}

  auto generate(text_request request, piece_function piece, done_function done)
      -> generation_ticket override {
    if (not request.messages.empty() && not texts_.encode_chat)
      throw std::invalid_argument("messages: this model takes prompts alone");
    check_length(request);
    auto inner =
        generation_request{.prompt = tokens_of(request), .options = std::move(request.options)};
    if (request.to_the_end) inner.options.max_tokens = engine_->bounds().context;
    inner.end_tokens = texts_.end_tokens;
    inner.decoder = texts_.make_decoder();
    inner.wanted = std::move(request.wanted);
    inner.done = std::move(done);
    inner.part = [piece = std::move(piece), text_of = texts_.text_of](generated_part const& part) {
      if (part.token == nullptr) {
        piece({part.text, nullptr, {}});
        return;
      }
      auto const token = scored_text{text_of(part.token->token), part.token->log_probability};
      auto top = std::vector<scored_text>{};
      for (auto const& one : part.token->top)
        top.push_back({text_of(one.token), one.log_probability});
      piece({part.text, &token, top});
    };
    return engine_->submit(std::move(inner));
  }

 private:
  [[nodiscard]] auto tokens_of(text_request const& request) const -> std::vector<std::uint32_t> {
    if (not request.messages.empty()) return texts_.encode_chat(request.messages);
    return request.tokens.empty() ? texts_.encode(request.prompt) : request.tokens;
  }
  /// What cannot be as few tokens as the context holds is refused before it is taken apart, which
  /// takes a thread of the server as long as the text is.
  void check_length(text_request const& request) {
    auto bytes = request.prompt.size();
    for (auto const& one : request.messages) bytes += one.content.size();
    auto const context = engine_->bounds().context;
    if (bytes <= context * usual_token) return;
    std::call_once(once_, [this] {
      for (auto token = std::uint32_t{0}; token < engine_->bounds().vocabulary; ++token)
        longest_token_ = std::max(longest_token_, length_of(token));
    });
    if (bytes > context * longest_token_) throw context_error::of_text(context, bytes);
  }

  static constexpr auto usual_token = std::size_t{64};  ///< bytes, at most in the mean of a text

  /// A vocabulary may be longer than what has texts.
  [[nodiscard]] auto length_of(std::uint32_t token) const -> std::size_t {
    try {
      return texts_.text_of ? texts_.text_of(token).size() : 0;
    } catch (std::exception const&) {
      return 0;
    }
  }

  std::shared_ptr<engine> engine_;
  engine_texts texts_;
  std::once_flag once_;
  std::size_t longest_token_ = usual_token;  ///< bytes; known when it is asked for
};

}  // namespace tessera::inline TESSERA_TARGET
