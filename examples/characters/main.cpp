// SPDX-License-Identifier: MIT
#include <tessera/data/tokens.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/program/gnuplot.hpp>
#include <tessera/random/token_sampler.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/train/trainer.hpp>

#include <chrono>
#include <cstdio>
#include <memory>

#include "text.hpp"

namespace characters {

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using parameters = parameters_of<model, owned<float>>;

struct settings {
  std::string text = "/usr/share/games/fortunes";
  std::string output = "characters_output";
  std::uint64_t seed = 1;
  std::uint64_t steps = 3000;
  double learning_rate = 3e-3;
  std::string prompt = "Never ";
  std::uint64_t length = 1500;
  token_sampler sampler = {.temperature = 0.8, .top_k = 40, .top_p = 0.95};

  static void visit(auto const& f, auto& s) {
    f("output", s.output, "folder of the trained model and the picture");
    f("seed", s.seed, "of the start and the draws", {.high = 4294967295});
    f("text", s.text, "a file, or a folder of files without extension", {.command = "train"});
    f("steps", s.steps, "batches of 16 rows of 128 characters",
      {.low = 2, .high = 100'000'000, .command = "train"});
    f("learning_rate", s.learning_rate, "at its highest",
      {.low = 1e-9, .high = 10, .command = "train"});
    f("prompt", s.prompt, "what the text begins with", {.command = "generate"});
    f("length", s.length, "characters to write", {.command = "generate"});
    f("temperature", s.sampler.temperature, "0: always the likeliest",
      {.low = 0, .high = 100, .command = "generate"});
    f("top_k", s.sampler.top_k, "of so many characters; 0: of all", {.command = "generate"});
    f("top_p", s.sampler.top_p, "of those that hold so much probability",
      {.low = 1e-9, .high = 1, .command = "generate"});
  }
};

[[nodiscard]] auto model_file(settings const& s) -> fs::path {
  return fs::path(s.output) / "model.safetensors";
}

void draw(fs::path const& folder) {
  run_gnuplot(folder,
              "set terminal pngcairo size 720,420 font ',11'\nset output 'losses.png'\n"
              "set datafile separator ','\nset grid\nset title 'Character model'\n"
              "set xlabel 'step'\nset ylabel 'cross-entropy (nats per character)'\n"
              "plot 'losses.csv' every ::1 using 1:2 with lines lw 1 title 'batch', "
              "'losses.csv' every ::1 using 1:3 with linespoints pt 7 ps 0.6 title 'held out'\n");
}

/// The losses of a training as a file, a line for every 20 steps and for each measurement.
class loss_log {
 public:
  void step(step_report const& r, bool ends_epoch) {
    step_ = r.step;
    sum_ += r.loss;
    ++count_;
    if (r.step % 20 == 0 && not ends_epoch) add("");
  }
  /// Returns the mean loss of the batches since the line before.
  auto measured(double held_out) -> double {
    char text[32];
    std::snprintf(text, sizeof text, "%.6f", held_out);
    return add(text);
  }
  [[nodiscard]] auto text() const -> std::string const& { return text_; }

 private:
  auto add(char const* held_out) -> double {
    auto const mean = sum_ / static_cast<double>(count_);
    char line[96];
    std::snprintf(line, sizeof line, "%zu,%.6f,%s\n", static_cast<std::size_t>(step_), mean,
                  held_out);
    text_ += line;
    sum_ = 0;
    count_ = 0;
    return mean;
  }
  std::string text_ = "step,loss,held_out\n";
  std::uint64_t step_ = 0;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

void train(settings const& s) {
  using object = training<model, text_batch, adamw>;
  auto const text = split(load_text(s.text));
  fs::create_directories(s.output);
  std::printf("%zu characters to learn from, %zu held out\n", text.train.size(),
              text.held_out.size());
  std::printf("%zu parameters, %zu bytes to train with\n", parameter_count<model>,
              memory_of<model, text_batch, call_mode::training, adamw>.total);
  auto const rows = token_rows{.length = context, .batch = batch};
  auto const schedule = by_step{one_cycle_lr{.total = s.steps, .rise = 0.05}};
  auto trainer = tessera::trainer<object, cross_entropy, by_step<one_cycle_lr>>(
      {.epochs = (s.steps + 199) / 200, .clip_norm = 1},
      adamw{.rate = s.learning_rate, .weight_decay = 0.01}, schedule, {});
  auto generator = torch_generator(s.seed);
  model::initialize(trainer.parameters(), generator);
  auto source = random_tokens(text.train, rows, s.steps, 200, generator);
  auto held_out = consecutive_tokens(text.held_out, rows);
  auto log = loss_log{};
  auto const began = std::chrono::steady_clock::now();
  trainer.on_step = [&](step_report const& r) {
    log.step(r, trainer.progress().batch == source.size());
  };
  trainer.on_epoch = [&](epoch_report const& r) {
    auto const mean = log.measured(r.monitored_loss);
    auto const seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::printf("step %zu of %zu, loss %.4f, held out %.4f, %.0f s\n",
                static_cast<std::size_t>(trainer.progress().step),
                static_cast<std::size_t>(s.steps), mean, r.monitored_loss, seconds);
    std::fflush(stdout);
  };
  auto const ctrl_c = interrupt_guard{};
  trainer.run(source, held_out);
  write_file(fs::path(s.output) / "losses.csv", log.text());
  save_parameters(model_file(s), trainer.parameters());
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
  auto* const learn = app.add_subcommand("train", "train on a text, draw the losses");
  auto* const write = app.add_subcommand("generate", "write on from a prompt");
  for (auto* const command : {learn, write}) {
    add_config(*command, count, arguments, s);
    add_options(*command, s);
  }
  if (not parse_command_line(app, count, arguments)) return 0;
  check_ranges(s);
  if (*learn) train(s);
  if (*write) generate(s);
  return 0;
}

}  // namespace

}  // namespace characters

auto main(int count, char** arguments) -> int {
  return tessera::run_program("characters", [&] { return characters::run(count, arguments); });
}
