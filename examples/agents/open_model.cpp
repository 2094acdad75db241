// SPDX-License-Identifier: MIT
#include <tessera/generate/compiled_model.hpp>
#include <tessera/program/terminal_text.hpp>
#include <tessera/text/chat_template.hpp>
#include <tessera/text/decode_stream.hpp>
#include <tessera/text/end_tokens.hpp>
#include <tessera/text/gguf_tokenizer.hpp>
#include <tessera/train/workers.hpp>

#include <mutex>

#include "opened_model.hpp"

namespace agents {

namespace {

using namespace tessera;

/// The library's stream of text, as an engine asks for it.
class streamed_text final : public text_decoder {
 public:
  explicit streamed_text(std::shared_ptr<tokenizer const> words)
      : words_(std::move(words)), stream_(*words_) {}
  auto append(std::uint32_t token) -> std::string override { return stream_.put(token); }
  auto finish() -> std::string override { return stream_.finish(); }

 private:
  std::shared_ptr<tokenizer const> words_;
  decode_stream stream_;
};

/// Lanes whose steps are shared by threads.
class threaded_lanes final : public lane_model {
 public:
  threaded_lanes(std::unique_ptr<lane_model> model, std::size_t threads)
      : model_(std::move(model)), team_(threads) {}
  [[nodiscard]] auto bounds() const -> lane_bounds override { return model_->bounds(); }
  void step(std::span<lane_tokens const> parts, std::span<std::span<float const>> scores) override {
    auto const shared = shared_operations(team_);
    model_->step(parts, scores);
  }

 private:
  std::unique_ptr<lane_model> model_;
  workers team_;
};

[[nodiscard]] auto name_of_model(gguf const& file) -> std::string {
  auto const name = file.find<std::string_view>("general.name");
  // It goes to terminals and into JSON, by which clients ask for it again.
  auto const text = name ? terminal_text(*name) : std::string{};
  return text.empty() ? file.path().stem().string() : text;
}
[[nodiscard]] auto text_of_token(gguf const& file, tokenizer const& words, char const* key)
    -> std::string {
  auto const id = file.find<std::uint32_t>(key);
  return id ? std::string{words.token(*id).value_or("")} : std::string{};
}
[[nodiscard]] auto known_template(gguf const& file, std::string_view jinja, tokenizer const& words)
    -> chat_template {
  try {
    auto form = chat_template::of(jinja, text_of_token(file, words, "tokenizer.ggml.bos_token_id"),
                                  text_of_token(file, words, "tokenizer.ggml.eos_token_id"));
    if (auto const mark = mark_in_pieces(form, words))
      throw text_error((words.id_of(*mark) ? "tokenizer.ggml.token_type: expected "
                                           : "tokenizer.ggml.tokens: expected ") +
                       json_text(*mark) + ", which the chat template writes, " +
                       (words.id_of(*mark) ? "to be a control token (type 3)" : "among them"));
    return form;
  } catch (text_error const& e) {
    throw text_error(file.path().string() + ": generate --raw and bench run it; " + e.what());
  }
}
[[nodiscard]] auto template_of(gguf const& file, tokenizer const& words)
    -> std::optional<chat_template> {
  auto const jinja = file.find<std::string_view>("tokenizer.chat_template");
  if (not jinja) return std::nullopt;
  return known_template(file, *jinja, words);
}
/// How a conversation becomes tokens.
[[nodiscard]] auto encoder_of_chats(chat_template const& form,
                                    std::shared_ptr<tokenizer const> const& words)
    -> decltype(engine_texts::encode_chat) {
  return [words, form](std::vector<chat_message> const& messages) {
    auto turns = std::vector<chat_turn>{};
    for (auto const& one : messages) turns.push_back({one.role, one.content});
    return words->encode(form.render(turns), {.add_special_tokens = false}).ids;
  };
}
/// Tokens by their own bytes, which may be a part of a letter; where tokens stand for something
/// else, as texts. The list is made when it is asked for.
class spelt_tokens {
 public:
  explicit spelt_tokens(std::shared_ptr<tokenizer const> words) : words_(std::move(words)) {}
  [[nodiscard]] auto text_of(std::uint32_t token) -> std::string {
    std::call_once(once_, [&] {
      try {
        bytes_ = words_->token_bytes();
      } catch (text_error const&) {
        bytes_.clear();
      }
    });
    auto const special = token >= bytes_.size() || words_->is_special(token);
    return special ? words_->decode(std::array{token}, false) : bytes_[token];
  }

 private:
  std::shared_ptr<tokenizer const> words_;
  std::once_flag once_;
  std::vector<std::string> bytes_;
};

[[nodiscard]] auto texts_of(gguf const& file, std::shared_ptr<tokenizer const> const& words,
                            std::optional<chat_template> const& form) -> engine_texts {
  auto result = engine_texts{};
  result.encode = [words](std::string const& text) { return words->encode(text).ids; };
  if (form) result.encode_chat = encoder_of_chats(*form, words);
  result.make_decoder = [words] { return std::make_unique<streamed_text>(words); };
  result.text_of = [spelt = std::make_shared<spelt_tokens>(words)](std::uint32_t token) {
    return spelt->text_of(token);
  };
  result.end_tokens = end_tokens_of(file, *words, form ? form->end_of_turn() : "");
  return result;
}

}  // namespace

auto open_lanes(std::filesystem::path const& path, opening how) -> lanes_of_file {
  auto const models = compiled_models();
  auto const file = std::make_shared<open_gguf const>(path);
  auto words = std::make_shared<tokenizer const>(load_tokenizer(file->content));
  auto opened = find_compiled(models, file->content, how.exact).open_lanes(file);
  if (words->vocabulary_size() != opened.model->bounds().vocabulary)
    file->content.fail("expected a tokenizer of " +
                       std::to_string(opened.model->bounds().vocabulary) + " tokens, got " +
                       std::to_string(words->vocabulary_size()));
  auto const form = how.texts_alone ? std::nullopt : template_of(file->content, *words);
  auto marks = std::vector<std::string>{};
  if (form)
    for (auto const mark : form->marks()) marks.emplace_back(mark);
  auto texts = texts_of(file->content, words, form);
  auto model = std::move(opened.model);
  if (how.threads > 1) model = std::make_unique<threaded_lanes>(std::move(model), how.threads);
  return {.name = name_of_model(file->content),
          .words = std::move(words),
          .model = std::move(model),
          .texts = std::move(texts),
          .marks = std::move(marks),
          .file_bytes = file->file.bytes().size(),
          .parameter_bytes = opened.parameter_bytes,
          .stream_bytes = opened.stream_bytes,
          .token_bytes = opened.token_bytes,
          .token_runs = opened.token_runs,
          .attention_bytes = opened.attention_bytes};
}

auto open_model(std::filesystem::path const& path, opening how) -> opened_model {
  auto lanes = open_lanes(path, how);
  auto index = std::make_shared<token_index const>(lanes.words->token_bytes());
  return {
      .name = lanes.name,
      .words = std::move(lanes.words),
      .index = std::move(index),
      .runs = std::make_shared<engine>(std::move(lanes.model), engine_options{.queue = how.queue}),
      .texts = std::move(lanes.texts),
      .marks = std::move(lanes.marks)};
}

}  // namespace agents
