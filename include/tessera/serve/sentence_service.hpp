// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/sentence_model.hpp>
#include <tessera/io/told_once.hpp>
#include <tessera/serve/text_service.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace tessera::inline TESSERA_TARGET {

/// A model of sentences that is asked with texts, or their tokens: one request after another, on a
/// thread of its own.
///
/// What nobody waits for any more is dropped before it is computed, between two of its texts, too,
/// and holds no place in the queue.
///
/// Errors  context_error for tokens beyond the context, std::invalid_argument for none and for one
///         that the vocabulary does not have; `encode` has to keep a text within both. What the
///         model throws is the request's error; of a `done` that throws standard error is told once
class sentence_service final : public text_service {
 public:
  using encoder = std::function<std::vector<std::uint32_t>(std::string const&)>;

  sentence_service(std::shared_ptr<sentence_model> model, encoder encode, std::size_t queue = 64)
      : model_(std::move(model)), encode_(std::move(encode)), queue_(queue) {
    thread_ = std::thread([this] { work(); });
  }
  sentence_service(sentence_service const&) = delete;
  auto operator=(sentence_service const&) -> sentence_service& = delete;
  ~sentence_service() override {
    {
      auto const lock = std::lock_guard{mutex_};
      ended_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  auto generate(text_request request, piece_function piece, done_function done)
      -> generation_ticket override {
    (void)request, (void)piece, (void)done;
    return generation_ticket{admission::closed};
  }
  [[nodiscard]] auto generates() const -> bool override { return false; }
  [[nodiscard]] auto embeds() const -> bool override { return true; }
  auto embed(embedding_request request, embedding_function done) -> admission override {
    for (auto const& tokens : request.tokens) check(tokens);
    auto one = std::make_shared<waiting>(waiting{std::move(request), std::move(done)});
    auto const lock = std::lock_guard{mutex_};
    if (ended_) return admission::closed;
    if (waiting_.size() >= queue_) return admission::full;
    waiting_.push_back(std::move(one));
    changed_.notify_one();
    return admission::accepted;
  }

 private:
  struct waiting {
    embedding_request asked;
    embedding_function done;
  };
  using pointer = std::shared_ptr<waiting const>;
  struct service_ends : std::runtime_error {
    service_ends() : std::runtime_error("the server ends") {}
  };

  void check(std::vector<std::uint32_t> const& tokens) const {
    if (tokens.empty()) throw std::invalid_argument("input: expected a token at least, got none");
    if (tokens.size() > model_->context()) throw context_error(model_->context(), tokens.size());
    for (auto const token : tokens)
      if (token >= model_->vocabulary())
        throw std::invalid_argument("input: expected tokens below " +
                                    std::to_string(model_->vocabulary()) + ", got " +
                                    std::to_string(token));
  }
  void work() {
    while (auto const next = take()) finish(*next, [&] { return vectors_of(next->asked); });
  }
  [[nodiscard]] auto take() -> pointer {
    auto lock = std::unique_lock{mutex_};
    changed_.wait(lock, [&] { return ended_ || not waiting_.empty(); });
    if (waiting_.empty()) return nullptr;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }
  [[nodiscard]] auto vectors_of(embedding_request const& asked) -> embedding_result {
    auto result = embedding_result{};
    for (auto const& tokens : asked.tokens) add(asked, [&] { return std::span{tokens}; }, result);
    if (asked.tokens.empty())
      for (auto const& text : asked.texts) add(asked, [&] { return encode_(text); }, result);
    return result;
  }
  template <class F>
  void add(embedding_request const& asked, F const& tokens_of, embedding_result& to) {
    drop_left();
    expect_wanted(asked);
    auto const tokens = tokens_of();
    model_->embed(tokens, to.vectors.emplace_back(model_->width()));
    to.tokens += tokens.size();
  }
  void expect_wanted(embedding_request const& asked) {
    {
      auto const lock = std::lock_guard{mutex_};
      if (ended_) throw service_ends{};
    }
    if (asked.wanted && not asked.wanted())
      throw std::runtime_error("nobody waits for it any more");
  }
  /// Those that wait in vain make place for others.
  void drop_left() {
    auto all = std::deque<pointer>{};
    {
      auto const lock = std::lock_guard{mutex_};
      all = waiting_;
    }
    for (auto const& one : all) {
      auto thrown = std::exception_ptr{};
      try {
        expect_wanted(one->asked);
        continue;
      } catch (...) {
        thrown = std::current_exception();
      }
      {
        auto const lock = std::lock_guard{mutex_};
        std::erase(waiting_, one);
      }
      finish(*one, [&]() -> embedding_result { std::rethrow_exception(thrown); });
    }
  }
  template <class F> void finish(waiting const& one, F const& make) {
    auto result = embedding_result{};
    try {
      result = make();
    } catch (service_ends const& e) {
      result = {.error = e.what(), .closed = true};
    } catch (...) {
      result.error = detail::failure_of("the model");
    }
    try {
      one.done(std::move(result));
    } catch (...) {
      told_.of_exception("who was told of embeddings");
    }
  }

  std::shared_ptr<sentence_model> model_;
  encoder encode_;
  std::size_t queue_;
  told_once told_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<pointer> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tessera::inline TESSERA_TARGET
