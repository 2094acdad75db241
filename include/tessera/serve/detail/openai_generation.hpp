// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/detail/openai_answer.hpp>
#include <tessera/serve/metrics.hpp>

#include <mutex>

namespace tessera::detail::inline TESSERA_TARGET {

inline void answer_error(http_exchange& exchange, openai_error const& e) {
  auto response = http_response{.status = e.status, .body = dumped(json_of_error(e))};
  if (e.status == 429) response.headers.push_back({"Retry-After", "1"});
  exchange.answer(std::move(response));
}
inline void refuse_unless_admitted(admission how) {
  if (how == admission::full)
    throw openai_error(429, "Too many requests wait for this model", {}, "queue_full");
  if (how == admission::closed) throw openai_error(503, "The server ends");
}

/// What is counted of generated texts, of one model.
class openai_metrics {
 public:
  openai_metrics(metrics* to, std::string const& model) : to_(to), labels_{{"model", model}} {}

  void first_token(double seconds) const {
    if (to_ != nullptr)
      to_->histogram_of("generation_time_to_first_token_seconds",
                        "Time from a request to its first token.", labels_)
          .observe(seconds);
  }
  void end(generation_result const& result) const {
    if (to_ == nullptr) return;
    static constexpr auto reasons =
        std::to_array<char const*>({"stop", "length", "cancelled", "failed"});
    auto labels = labels_;
    labels.emplace_back("reason", reasons[static_cast<std::size_t>(result.reason)]);
    to_->counter_of("generation_sequences_total", "Sequences that have ended.", labels).add();
    if (not result.had_lane) return;
    to_->counter_of("generation_prompt_tokens_total", "Tokens of prompts.", labels_)
        .add(static_cast<double>(result.prompt_tokens));
    to_->counter_of("generation_tokens_total", "Tokens that were generated.", labels_)
        .add(static_cast<double>(result.generated_tokens));
    to_->histogram_of("generation_queue_seconds", "Time from a request to its lane.", labels_)
        .observe(result.queue_seconds);
    if (result.generated_tokens == 0) return;
    first_token(result.first_token_seconds);
    if (result.generated_tokens > 1)
      to_->histogram_of("generation_time_per_token_seconds",
                        "Mean time between the tokens of a sequence.", labels_)
          .observe((result.seconds - result.first_token_seconds) /
                   static_cast<double>(result.generated_tokens - 1));
  }

 private:
  metrics* to_;
  metric_labels labels_;
};

/// One request for texts from its first choice to the last: held by what is said of its choices,
/// which may come from several threads.
class openai_generation : public std::enable_shared_from_this<openai_generation> {
 public:
  openai_generation(std::shared_ptr<http_exchange> exchange, openai_text_request asked,
                    openai_head head, metrics* counted)
      : exchange_(std::move(exchange)),
        asked_(std::move(asked)),
        head_(std::move(head)),
        metrics_(counted, asked_.model),
        choices_(asked_.requests.size()),
        left_(asked_.requests.size()) {}

  void start(text_service& service) {
    auto const self = shared_from_this();
    for (auto i = std::size_t{0}; i < choices_.size(); ++i) {
      auto request = std::move(asked_.requests[i]);
      auto const counts_prompt = request.options.stream == 0;
      request.wanted = [exchange = exchange_] { return exchange->wanted(); };
      try {
        auto const ticket = service.generate(
            std::move(request),
            [self, i](tessera::text_piece const& piece) { self->add(i, piece); },
            [self, i, counts_prompt](generation_result const& result) {
              self->end(i, result, counts_prompt);
            });
        refuse_unless_admitted(ticket.admitted());
        auto const lock = std::lock_guard{mutex_};
        tickets_.push_back(ticket);
        if (over_) ticket.cancel();
      } catch (openai_error const& e) {
        fail(e);
        return;
      } catch (context_error const& e) {
        fail(beyond_context(e, asked_.completion_tokens, head_.chat ? "messages" : "prompt"));
        return;
      } catch (std::invalid_argument const& e) {
        fail(openai_error(400, e.what()));
        return;
      }
    }
  }

 private:
  void fail(openai_error const& e) {
    auto const lock = std::lock_guard{mutex_};
    refuse(e);
  }
  void add(std::size_t i, tessera::text_piece const& piece) {
    auto const lock = std::lock_guard{mutex_};
    if (over_) return;
    auto& choice = choices_[i];
    choice.add(piece, head_.chat, asked_.logprobs);
    // A text that is held back goes with the next one.
    if (asked_.stream && not choice.text.empty()) send_chunk(i);
  }
  void end(std::size_t i, generation_result const& result, bool counts_prompt) {
    auto const lock = std::lock_guard{mutex_};
    metrics_.end(result);
    if (over_) return;
    if (result.reason == finish_reason::failed) {
      refuse(openai_error(500, result.error));
      return;
    }
    if (result.reason == finish_reason::cancelled) {
      refuse(openai_error(503, "The server ends"));
      return;
    }
    choices_[i].reason = name_of(result.reason);
    if (counts_prompt) usage_.prompt += result.prompt_tokens, usage_.cached += result.cached_tokens;
    usage_.generated += result.generated_tokens;
    if (asked_.stream) send_chunk(i);
    if (--left_ > 0 || over_) return;
    over_ = true;
    if (asked_.stream)
      end_stream();
    else
      answer();
  }
  // -- under the lock
  void cancel() {
    over_ = true;
    for (auto const& ticket : tickets_) ticket.cancel();
  }
  void refuse(openai_error const& e) {
    if (over_) return;
    cancel();
    if (not begun_) {
      answer_error(*exchange_, e);
      return;
    }
    send(dumped(json_of_error(e)));
    exchange_->end();
  }
  void send(std::string const& event) {
    auto text = "data: " + event + "\n\n";
    if (begun_) {
      if (not exchange_->write(std::move(text))) cancel();
      return;
    }
    begun_ = true;
    exchange_->begin({.body = std::move(text),
                      .type = "text/event-stream",
                      .headers = {{"Cache-Control", "no-cache"}}});
  }
  void send_chunk(std::size_t i) {
    auto event = head_.begun(true);
    event["choices"] = json::array({choices_[i].chunk(i, head_.chat, asked_.logprobs)});
    if (asked_.stream_usage) event["usage"] = nullptr;
    send(dumped(event));
  }
  void end_stream() {
    if (asked_.stream_usage) {
      auto event = head_.begun(true);
      event["choices"] = json::array();
      event["usage"] = usage_.whole();
      send(dumped(event));
    }
    send("[DONE]");
    exchange_->end();
  }
  void answer() {
    auto whole = head_.begun(false);
    whole["choices"] = json::array();
    for (auto i = std::size_t{0}; i < choices_.size(); ++i)
      whole["choices"].push_back(choices_[i].whole(i, head_.chat, asked_.logprobs));
    whole["usage"] = usage_.whole();
    exchange_->answer({.body = dumped(whole)});
  }

  std::mutex mutex_;
  std::shared_ptr<http_exchange> exchange_;
  openai_text_request asked_;
  openai_head head_;
  openai_metrics metrics_;
  std::vector<openai_choice> choices_;
  std::vector<generation_ticket> tickets_;
  std::size_t left_;
  openai_usage usage_;
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace tessera::detail::inline TESSERA_TARGET
