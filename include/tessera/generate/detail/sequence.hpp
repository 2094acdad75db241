// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/generation.hpp>
#include <tessera/generate/stop_strings.hpp>
#include <tessera/io/told_once.hpp>

#include <chrono>
#include <optional>

namespace tessera::detail::inline TESSERA_TARGET {

/// A sequence from its request to its end, without the model: what it reads next, and what becomes
/// of the scores that come back.
class sequence {
 public:
  using clock = std::chrono::steady_clock;

  sequence(generation_request request, std::size_t context, std::size_t vocabulary)
      : request_(std::move(request)),
        draw_(request_.options, vocabulary),
        stops_(request_.options.stop) {
    if (request_.prompt.empty())
      throw std::invalid_argument("prompt: expected a token at least, got none");
    if (request_.prompt.size() > context) throw context_error(context, request_.prompt.size());
    if (request_.options.max_tokens == 0)
      throw std::invalid_argument("max_tokens: expected 1 at least, got 0");
    for (auto const token : request_.prompt)
      if (token >= vocabulary)
        throw std::invalid_argument("prompt: expected tokens below " + std::to_string(vocabulary) +
                                    ", got " + std::to_string(token));
    draw_.read(request_.prompt);
    // The last token is read by nobody, and needs no place.
    most_ = std::min(request_.options.max_tokens, context - request_.prompt.size() + 1);
    result_.prompt_tokens = request_.prompt.size();
    result_.had_lane = false;
  }

  [[nodiscard]] auto cancelled() const -> std::shared_ptr<std::atomic<bool>> const& {
    return cancelled_;
  }
  /// Asks the user whether it is wanted.
  void ask() {
    try {
      unwanted_ = request_.wanted && not request_.wanted();
    } catch (...) {
      failed_ = failure_of("the request");
    }
  }
  /// Nobody waits for it any more, as far as was asked.
  [[nodiscard]] auto is_left() const -> bool {
    return *cancelled_ || unwanted_ || not failed_.empty();
  }
  void leaves() {
    if (failed_.empty())
      ends(finish_reason::cancelled);
    else
      ends(finish_reason::failed, failed_);
  }
  [[nodiscard]] auto seen() const -> std::size_t { return seen_; }
  [[nodiscard]] auto generated() const -> std::size_t { return result_.generated_tokens; }
  [[nodiscard]] auto reads_prompt() const -> bool { return seen_ < request_.prompt.size(); }
  /// What the model reads next, `most` tokens of it.
  [[nodiscard]] auto next(std::size_t most) const -> std::span<std::uint32_t const> {
    if (not reads_prompt()) return {&last_, 1};
    auto const left = std::span{request_.prompt}.subspan(seen_);
    return left.first(std::min(most, left.size()));
  }
  /// How many of some tokens, which a lane has seen, need not be read again: not the prompt's last,
  /// whose scores are wanted.
  [[nodiscard]] auto shares(std::span<std::uint32_t const> tokens) const -> std::size_t {
    auto const prompt = std::span{request_.prompt}.first(request_.prompt.size() - 1);
    return static_cast<std::size_t>(std::ranges::mismatch(prompt, tokens).in1 - prompt.begin());
  }
  /// It has a lane, which has seen so many of its tokens.
  void has_lane(std::size_t seen) {
    result_.had_lane = true;
    result_.queue_seconds = since();
    result_.cached_tokens = seen_ = seen;
  }
  /// The model has read so many tokens, and gave these scores: true where that was the end.
  [[nodiscard]] auto advance(std::size_t count, std::span<float const> scores) -> bool {
    seen_ += count;
    if (reads_prompt()) return false;
    try {
      return take(scores);
    } catch (...) {
      return ends(finish_reason::failed, failure_of("the request"));
    }
  }
  auto ends(finish_reason reason, std::string error = {}) -> bool {
    result_.reason = reason;
    result_.error = std::move(error);
    return true;
  }
  /// Says that it has ended.
  void finish() {
    result_.stop_string = stops_.found();
    result_.seconds = since();
    if (request_.done) request_.done(result_);
  }

 private:
  [[nodiscard]] auto since() const -> double {
    return std::chrono::duration<double>(clock::now() - begun_).count();
  }
  [[nodiscard]] auto take(std::span<float const> scores) -> bool {
    auto const& constraint = request_.constraint;
    auto const bound = constraint && not constraint->is_over();
    auto const allowed = bound ? constraint->allowed() : std::span<std::uint32_t const>{};
    if (bound && allowed.empty()) return ends(finish_reason::stop);
    auto const token = draw_(scores, allowed);
    if (result_.generated_tokens++ == 0) result_.first_token_seconds = since();
    last_ = token.token;
    if (bound) constraint->accept(token.token);
    auto const complete = bound && not constraint->is_over() && constraint->allowed().empty();
    auto const ended = std::ranges::find(request_.end_tokens, last_) != request_.end_tokens.end();
    // A constraint that goes on means the token's bytes, whatever else it is.
    if (ended && (complete || not bound)) {
      give(nullptr, rest());
      return ends(finish_reason::stop);
    }
    auto text = request_.decoder ? stops_.append(request_.decoder->append(last_)) : std::string{};
    auto const full = result_.generated_tokens == most_;
    if (not stops_.stopped() && (complete || full)) text += rest();
    give(&token, text);
    if (stops_.stopped() || complete) return ends(finish_reason::stop);
    return full && ends(finish_reason::length);
  }
  /// What decoder and stop strings held back.
  [[nodiscard]] auto rest() -> std::string {
    if (not request_.decoder) return {};
    auto text = stops_.append(request_.decoder->finish());
    return text + stops_.finish();
  }
  void give(sampled_token const* token, std::string_view text) const {
    if (request_.part && (token != nullptr || not text.empty())) request_.part({token, text});
  }

  generation_request request_;
  sampler draw_;
  stop_strings stops_;
  generation_result result_;
  std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  clock::time_point begun_ = clock::now();
  std::size_t most_ = 0;  // tokens to generate
  std::size_t seen_ = 0;
  std::uint32_t last_ = 0;
  bool unwanted_ = false;
  std::string failed_;  // by `wanted`
};

}  // namespace tessera::detail::inline TESSERA_TARGET
