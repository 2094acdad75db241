// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/random/token_sampler.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/train/interrupt.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include "../gnuplot.hpp"
#include "text.hpp"

namespace characters {

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using parameters = parameters_of<model, owned<float>>;

struct settings {
  std::string text = "/usr/share/games/fortunes";
  std::string output = "characters_output";
  std::uint32_t seed = 1;
  std::uint64_t steps = 3000;
  double rate = 3e-3;
  std::string prompt = "Never ";
  std::size_t length = 1500;
  token_sampler sampler = {.temperature = 0.8, .top_k = 40, .top_p = 0.95};
};

[[nodiscard]] auto model_file(settings const& s) -> fs::path {
  return fs::path(s.output) / "model.safetensors";
}

/// The mean loss, in nats for a character, over rows that follow each other.
class evaluation {
 public:
  auto operator()(parameters const& p, std::string const& text) -> double {
    auto total = 0.0;
    auto batches = std::size_t{0};
    for (auto at = std::size_t{0}; at + batch * context < text.size(); at += batch * context) {
      auto starts = std::array<std::size_t, batch>{};
      for (auto b = std::size_t{0}; b < batch; ++b) starts[b] = at + b * context;
      load_rows(text, starts, x_->data(), y_->data());
      auto const scores = (*run_)(p, *x_);
      auto const target = as_const(*y_);
      total += static_cast<double>(
          cross_entropy{}.value(scores, target, 1.0F / static_cast<float>(y_->size())));
      ++batches;
    }
    return total / static_cast<double>(batches);
  }

 private:
  std::unique_ptr<inference<model, text_batch>> run_ =
      std::make_unique<inference<model, text_batch>>();
  std::unique_ptr<text_batch> x_ = std::make_unique<text_batch>();
  std::unique_ptr<next_batch> y_ = std::make_unique<next_batch>();
};

void draw(fs::path const& folder) {
  run_gnuplot(folder,
              "set terminal pngcairo size 720,420 font ',11'\nset output 'losses.png'\n"
              "set datafile separator ','\nset grid\nset title 'Character model'\n"
              "set xlabel 'step'\nset ylabel 'cross-entropy (nats per character)'\n"
              "plot 'losses.csv' every ::1 using 1:2 with lines lw 1 title 'batch', "
              "'losses.csv' every ::1 using 1:3 with linespoints pt 7 ps 0.6 title 'held out'\n");
}

void train(settings const& s) {
  using object = training<model, text_batch, adamw>;
  auto const text = split(load_text(s.text));
  fs::create_directories(s.output);
  std::printf("%zu characters to learn from, %zu held out\n", text.train.size(),
              text.held_out.size());
  std::printf("%zu parameters, %zu bytes to train with\n", parameter_count<model>,
              memory_of<model, text_batch, mode::training, adamw>.total);
  auto const learner = std::make_unique<object>();
  auto const x = std::make_unique<text_batch>();
  auto const y = std::make_unique<next_batch>();
  auto evaluate = evaluation{};
  auto generator = torch_generator(s.seed);
  model::initialize(learner->parameters, generator);
  auto const schedule = one_cycle_lr{.total = s.steps, .rise = 0.05};
  auto log = std::string{"step,loss,held_out\n"};
  auto const ctrl_c = interrupt_guard{};
  auto const began = std::chrono::steady_clock::now();
  auto recent = 0.0;
  auto since = std::uint64_t{0};
  for (auto step = std::uint64_t{0}; step < s.steps && not ctrl_c.requested(); ++step) {
    load_rows(text.train, random_starts(text.train, generator), x->data(), y->data());
    recent += static_cast<double>(learner->differentiate(
        0, as_const(*x), as_const(*y), cross_entropy{}, y->size(), plain_context{}));
    clip_norm(learner->gradient(), 1.0);
    learner->update(adamw{.rate = schedule.rate(s.rate, step), .weight_decay = 0.01});
    ++since;
    auto const last = step + 1 == s.steps;
    if ((step + 1) % 20 != 0 && not last) continue;
    auto const measured = (step + 1) % 200 == 0 || last;
    auto const held_out = measured ? evaluate(learner->parameters, text.held_out) : 0;
    char line[96];
    std::snprintf(line, sizeof line, measured ? "%zu,%.6f,%.6f\n" : "%zu,%.6f,\n",
                  static_cast<std::size_t>(step + 1), recent / static_cast<double>(since),
                  held_out);
    log += line;
    if (measured) {
      auto const seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      std::printf("step %zu of %zu, loss %.4f, held out %.4f, %.0f s\n",
                  static_cast<std::size_t>(step + 1), static_cast<std::size_t>(s.steps),
                  recent / static_cast<double>(since), held_out, seconds);
      std::fflush(stdout);
    }
    recent = 0;
    since = 0;
  }
  write_file(fs::path(s.output) / "losses.csv", log);
  save_parameters(model_file(s), learner->parameters);
  draw(s.output);
}

/// A model that hears characters: each is one step of a stream whose state are keys and values.
/// Where the context is full it starts anew from the last half of it.
class listener {
 public:
  explicit listener(parameters const& p) : p_(p) {}
  /// The scores of what comes after c.
  auto operator()(char c) -> const_view_of<streaming<model, character>::output> {
    if (heard_.size() == context) {
      heard_.erase(0, context / 2);
      clear(stream_->state);
      for (auto const again : heard_) (void)step(again);
    }
    heard_ += c;
    return step(c);
  }

 private:
  auto step(char c) -> const_view_of<streaming<model, character>::output> {
    auto x = character{};
    x.values[0] = static_cast<float>(c);
    return stream_->step(p_, x);
  }
  parameters const& p_;
  std::string heard_;
  std::unique_ptr<streaming<model, character>> stream_ =
      std::make_unique<streaming<model, character>>();
};

/// Prints the prompt and what follows it, a character at a time.
void generate(settings const& s) {
  auto const p = std::make_unique<parameters>();
  load_parameters(model_file(s), *p);
  auto hear = listener(*p);
  auto generator = torch_generator(s.seed);
  for (auto const c : s.prompt)
    if (static_cast<unsigned char>(c) >= vocabulary)
      throw std::runtime_error("--prompt: expected ASCII, found the byte " +
                               std::to_string(static_cast<unsigned char>(c)));
  if (s.prompt.empty()) throw std::runtime_error("--prompt: expected a character at least");
  std::fputs(s.prompt.c_str(), stdout);
  for (auto i = std::size_t{0}; i + 1 < s.prompt.size(); ++i) (void)hear(s.prompt[i]);
  auto last = s.prompt.back();
  for (auto i = std::size_t{0}; i < s.length; ++i) {
    last = static_cast<char>(s.sampler(hear(last)[0], generator));
    std::fputc(last, stdout);
    std::fflush(stdout);
  }
  std::fputc('\n', stdout);
}

auto run(int count, char** arguments) -> int {
  auto s = settings{};
  auto app = CLI::App{"A language model of characters: trained here on a text, then writing"};
  app.require_subcommand(1);
  app.set_config("--config", "", "settings as name = value lines");
  app.option_defaults()->always_capture_default();
  auto* const learn = app.add_subcommand("train", "train on a text, draw the losses");
  auto* const write = app.add_subcommand("generate", "write on from a prompt");
  for (auto* const command : {learn, write}) {
    command->add_option("--output", s.output, "folder of the trained model and the picture");
    command->add_option("--seed", s.seed, "of the start and the draws");
  }
  learn->add_option("--text", s.text, "a file, or a folder of files without extension")
      ->check(CLI::ExistingPath);
  learn->add_option("--steps", s.steps, "batches of 16 rows of 128 characters")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{100'000'000}));
  learn->add_option("--learning-rate", s.rate, "at its highest")->check(CLI::PositiveNumber);
  write->add_option("--prompt", s.prompt, "what the text begins with");
  write->add_option("--length", s.length, "characters to write");
  write->add_option("--temperature", s.sampler.temperature, "0: always the likeliest")
      ->check(CLI::NonNegativeNumber);
  write->add_option("--top-k", s.sampler.top_k, "of so many characters; 0: of all");
  write->add_option("--top-p", s.sampler.top_p, "of those that hold so much probability")
      ->check(CLI::Range(1e-9, 1.0));
  try {
    app.parse(count, arguments);
    if (*learn) train(s);
    if (*write) generate(s);
    return 0;
  } catch (CLI::ParseError const& e) {
    auto const code = app.exit(e);
    return code == 0 ? 0 : 2;
  } catch (std::exception const& e) {
    std::cerr << "characters: " << e.what() << '\n';
    return 2;
  }
}

}  // namespace

}  // namespace characters

auto main(int count, char** arguments) -> int { return characters::run(count, arguments); }
