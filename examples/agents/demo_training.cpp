// SPDX-License-Identifier: MIT
#include "demo_training.hpp"

#include <tessera/io/gguf/writer.hpp>
#include <tessera/io/llama_file.hpp>
#include <tessera/layers/loss.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/text/tokenizer/vocabulary.hpp>
#include <tessera/train/interrupt.hpp>
#include <tessera/train/workers.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

namespace agents {

namespace {

using namespace tessera;

// -- the model: models/demo.json is its description for the program ------------------------------

/// A token is a byte, or one of these.
enum special_token : std::int32_t { end_of_text = 256, turn_begin, turn_end, vocabulary };

constexpr auto options = llama_options{.vocabulary = vocabulary,
                                       .width = 64,
                                       .blocks = 2,
                                       .heads = 4,
                                       .hidden = 192,
                                       .context = 128,
                                       .epsilon = 1e-5,
                                       .tied = true,
                                       .interleaved = true};
using model = llama<options>;

constexpr std::size_t chunks = 2;
constexpr std::size_t rows = 8;  ///< of a chunk
using rows_of_tokens = tensor<std::int32_t, shape<options.context, rows>>;
using object = training<model, rows_of_tokens, adamw, chunks>;

struct examples {
  rows_of_tokens x;
  rows_of_tokens target;
};

// -- chats as tokens -----------------------------------------------------------------------------

constexpr auto chat_template =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] "
    "+ '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ "
    "'<|im_start|>assistant\\n' }}{% endif %}";

void append(std::vector<std::int32_t>& tokens, std::string_view text) {
  for (auto const c : text) tokens.push_back(static_cast<unsigned char>(c));
}
/// A chat of one question, as the template writes it.
[[nodiscard]] auto tokens_of(question const& q) -> std::vector<std::int32_t> {
  auto result = std::vector<std::int32_t>{turn_begin};
  append(result, "user\n" + q.text);
  result.insert(result.end(), {turn_end, '\n', turn_begin});
  append(result, "assistant\n" + q.answer);
  result.insert(result.end(), {turn_end, '\n'});
  return result;
}
/// Where the answer of a chat ends: with its text and the end of the turn.
[[nodiscard]] auto answer_of(question const& q, std::size_t size)
    -> std::pair<std::size_t, std::size_t> {
  return {size - 2 - q.answer.size(), size - 1};
}
/// One row of tokens and of those that follow them, -100 where none does.
void set_row(examples& to, std::size_t row, std::span<std::int32_t const> tokens) {
  for (auto t = std::size_t{0}; t < options.context; ++t) {
    to.x.data()[t * rows + row] = t < tokens.size() ? tokens[t] : end_of_text;
    to.target.data()[t * rows + row] = t + 1 < tokens.size() ? tokens[t + 1] : std::int32_t{-100};
  }
}
/// Chats that were drawn, one after another, until no more of them has a place.
void draw_row(examples& to, std::size_t row, std::span<question const> from,
              torch_generator& generator) {
  auto tokens = std::vector<std::int32_t>{};
  while (tokens.size() <= options.context) {
    auto const chat = tokens_of(from[generator.randint(static_cast<std::uint32_t>(from.size()))]);
    tokens.insert(tokens.end(), chat.begin(), chat.end());
  }
  tokens.resize(options.context + 1);
  set_row(to, row, tokens);
}

// -- training ------------------------------------------------------------------------------------

class trained_demo {
 public:
  explicit trained_demo(demo_settings const& s)
      : settings_(s), generator_(s.seed), team_(std::min(s.threads, chunks)) {
    clear(*training_);
    model::initialize(training_->parameters, generator_);
    // Scores are taken by the same matrix: they begin with small differences.
    training_->parameters.mine.embedding *= 0.05F;
  }

  /// False where it was interrupted.
  [[nodiscard]] auto fit(std::span<question const> from) -> bool {
    auto const begun = std::chrono::steady_clock::now();
    auto const schedule = one_cycle_lr{.total = settings_.steps, .rise = 0.1};
    auto sum = 0.0;
    auto count = 0;
    for (auto step = std::uint64_t{0}; step < settings_.steps; ++step) {
      if (interrupt_guard::requested()) return false;
      sum += one_step(from, {.rate = schedule.rate(highest_rate, step), .weight_decay = 0.1});
      ++count;
      if (step != 0 && (step + 1) % every != 0 && step + 1 != settings_.steps) continue;
      auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun);
      std::printf("step %4zu of %zu, loss %.4f, %.1f s\n", static_cast<std::size_t>(step + 1),
                  static_cast<std::size_t>(settings_.steps), sum / count, seconds.count());
      (void)std::fflush(stdout);
      sum = 0;
      count = 0;
    }
    return true;
  }
  /// How many answers are given as they were held out. An answer is given letter by letter where
  /// each of its letters is the likeliest after those before it.
  [[nodiscard]] auto right_answers(std::span<question const> asked) -> std::size_t {
    auto right = std::size_t{0};
    for (auto first = std::size_t{0}; first < asked.size(); first += rows) {
      auto const these = asked.subspan(first, std::min(rows, asked.size() - first));
      right += right_answers_of_rows(these);
    }
    return right;
  }
  [[nodiscard]] auto parameters() const -> auto const& { return training_->parameters; }

 private:
  static constexpr auto highest_rate = 6e-3;
  static constexpr auto every = std::uint64_t{20};

  [[nodiscard]] auto one_step(std::span<question const> from, adamw const& optimizer) -> double {
    auto constexpr loss = cross_entropy{};
    auto terms = std::size_t{0};
    for (auto& chunk : batch_) {
      for (auto row = std::size_t{0}; row < rows; ++row) draw_row(chunk, row, from, generator_);
      terms += loss.terms(as_const(chunk.target));
    }
    auto parts = std::array<float, chunks>{};
    team_.run(chunks, [&](std::size_t c) {
      parts[c] = training_->differentiate(c, as_const(batch_[c].x), as_const(batch_[c].target),
                                          loss, terms, plain_context{});
    });
    auto const value = static_cast<double>(parts[0]) + static_cast<double>(parts[1]);
    if (not std::isfinite(value)) throw std::runtime_error("the loss is no number");
    (void)clip_norm(training_->gradient(), 1);
    training_->update(optimizer);
    return value;
  }
  [[nodiscard]] auto right_answers_of_rows(std::span<question const> asked) -> std::size_t {
    auto& given = batch_[0];
    for (auto row = std::size_t{0}; row < rows; ++row)
      set_row(given, row, row < asked.size() ? tokens_of(asked[row]) : std::vector<std::int32_t>{});
    auto const y =
        training_->passes[0].forward(training_->parameters, as_const(given.x), plain_context{});
    auto right = std::size_t{0};
    for (auto row = std::size_t{0}; row < asked.size(); ++row) {
      auto const tokens = tokens_of(asked[row]);
      auto const [first, last] = answer_of(asked[row], tokens.size());
      auto all = true;
      for (auto t = first; t < last; ++t) {
        auto const* const scores = y.data() + ((t - 1) * rows + row) * vocabulary;
        all = all && std::max_element(scores, scores + vocabulary) == scores + tokens[t];
      }
      right += all ? 1 : 0;
    }
    return right;
  }

  demo_settings const& settings_;
  torch_generator generator_;
  workers team_;
  std::unique_ptr<object> training_ = std::make_unique<object>();
  std::array<examples, chunks> batch_;
};

// -- the file ------------------------------------------------------------------------------------

void set_tokenizer(gguf_writer& to) {
  auto tokens = std::vector<std::string>{};
  for (auto const letter : detail::byte_letters)
    detail::append_code_point(tokens.emplace_back(), letter);
  tokens.insert(tokens.end(), {"<|endoftext|>", "<|im_start|>", "<|im_end|>"});
  auto types = std::vector<std::int32_t>(256, 1);
  types.resize(vocabulary, 3);
  auto const key = [](char const* name) { return std::string{"tokenizer.ggml."} + name; };
  to.set(key("model"), "gpt2");
  to.set(key("pre"), "gpt-2");
  to.set_array(key("tokens"), tokens);
  to.set_array(key("token_type"), types);
  to.set_array(key("merges"), std::vector<std::string>{});
  to.set(key("bos_token_id"), static_cast<std::uint32_t>(end_of_text));
  to.set(key("eos_token_id"), static_cast<std::uint32_t>(turn_end));
  to.set(key("add_bos_token"), false);
  to.set("tokenizer.chat_template", chat_template);
}
void set_facts(gguf_writer& to) {
  auto const set = [&](char const* name, std::size_t value) {
    to.set(std::string{"llama."} + name, static_cast<std::uint32_t>(value));
  };
  to.set("general.architecture", "llama");
  to.set("general.name", "Tessera demo");
  to.set("general.file_type", std::uint32_t{0});  // all in F32
  set("vocab_size", options.vocabulary);
  set("context_length", options.context);
  set("embedding_length", options.width);
  set("block_count", options.blocks);
  set("feed_forward_length", options.hidden);
  set("rope.dimension_count", options.width / options.heads);
  set("attention.head_count", options.heads);
  set("attention.head_count_kv", options.heads);
  to.set("llama.attention.layer_norm_rms_epsilon", static_cast<float>(options.epsilon));
  to.set("llama.rope.freq_base", static_cast<float>(options.rotary_base));
}
void save(std::filesystem::path const& path, auto const& parameters) {
  auto writer = gguf_writer{};
  set_facts(writer);
  set_tokenizer(writer);
  for_each_parameter(
      [&](path_name const& parameter, auto const& w) {
        writer.add_numbers(*detail::name_in_gguf(model_family::llama, parameter.c_str()),
                           ggml_type::f32, file_shape<shape_of<decltype(w)>>(),
                           {w.data(), w.size()});
      },
      parameters);
  save_gguf(path, writer);
}

}  // namespace

auto train_demo(demo_settings const& settings) -> std::optional<demo_result> {
  auto chats = make_chats();
  std::printf("%zu parameters; %zu questions to learn, %zu held out\n", parameter_count<model>,
              chats.train.size(), chats.held_out.size());
  auto demo = trained_demo(settings);
  if (not demo.fit(chats.train)) return std::nullopt;
  auto const right = demo.right_answers(chats.held_out);
  std::printf("held out: %zu of %zu answers are right\n", right, chats.held_out.size());
  save(settings.file, demo.parameters());
  return demo_result{.held_out = std::move(chats.held_out), .right = right};
}

}  // namespace agents
