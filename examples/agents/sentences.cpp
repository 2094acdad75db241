// SPDX-License-Identifier: MIT
#include "sentences.hpp"

#include <tessera/generate/compiled_model.hpp>
#include <tessera/text/tokenizer_file.hpp>

#include <condition_variable>
#include <deque>
#include <stdexcept>
#include <thread>

namespace agents {

namespace {

using namespace tessera;
namespace fs = std::filesystem;

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

class sentence_service final : public text_service {
 public:
  static constexpr auto longest_queue = std::size_t{64};

  explicit sentence_service(std::shared_ptr<sentences> model)
      : model_(std::move(model)), thread_([this] { work(); }) {}
  ~sentence_service() override {
    {
      auto const lock = std::lock_guard{mutex_};
      ended_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  sentence_service(sentence_service const&) = delete;
  auto operator=(sentence_service const&) -> sentence_service& = delete;

  auto generate(text_request, piece_function, done_function) -> generation_ticket override {
    return generation_ticket{admission::closed};
  }
  [[nodiscard]] auto generates() const -> bool override { return false; }
  [[nodiscard]] auto embeds() const -> bool override { return true; }
  auto embed(std::vector<std::string> texts, embedding_function done) -> admission override {
    auto const lock = std::lock_guard{mutex_};
    if (ended_) return admission::closed;
    if (waiting_.size() >= longest_queue) return admission::full;
    waiting_.push_back({std::move(texts), std::move(done)});
    changed_.notify_one();
    return admission::accepted;
  }

 private:
  struct request {
    std::vector<std::string> texts;
    embedding_function done;
  };
  void work() {
    for (;;) {
      auto next = request{};
      {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [&] { return ended_ || not waiting_.empty(); });
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      auto result = embedding_result{};
      try {
        for (auto const& text : next.texts) {
          if (is_ended()) throw std::runtime_error("the server ends");
          result.vectors.push_back(model_->vector_of(text));
          result.tokens += model_->tokens_of(text);
        }
      } catch (std::exception const& e) {
        result = {.vectors = {}, .tokens = 0, .error = e.what()};
      }
      next.done(std::move(result));
    }
  }

  [[nodiscard]] auto is_ended() -> bool {
    auto const lock = std::lock_guard{mutex_};
    return ended_;
  }

  std::shared_ptr<sentences> model_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<request> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace

sentences::sentences(fs::path const& folder)
    : words_(load_tokenizer(folder / "tokenizer.json")),
      model_([&] {
        auto const files = hugging_face_folder(folder);
        auto const models = compiled_models();
        return find_compiled(models, files).open_sentences(files);
      }()),
      longest_(longest_in(folder, model_->context())) {}

auto sentences::encode(std::string const& text) const -> std::vector<std::uint32_t> {
  return words_.encode(text, {.longest = longest_}).ids;
}
auto sentences::tokens_of(std::string const& text) const -> std::size_t {
  return encode(text).size();
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
  return std::make_shared<sentence_service>(std::move(model));
}

}  // namespace agents
