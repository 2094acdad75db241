// SPDX-License-Identifier: MIT
#include <tessera/program/gnuplot.hpp>
#include <tessera/program/training_settings.hpp>
#include <tessera/random/token_sampler.hpp>

#include <chrono>
#include <cstdio>
#include <memory>

#include "training.hpp"

#include <tracking/loggers.hpp>

namespace characters {

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using parameters = parameters_of<model, owned<float>>;

struct settings {
  std::string text = "/usr/share/games/fortunes";
  std::string output = "characters_output";
  std::uint64_t seed = 1;
  double learning_rate = 3e-3;
  training_settings training = {.gradient_clip_val = 1, .max_steps = 3000};
  tracking::logger_settings tracking;
  std::string prompt = "Never ";
  std::uint64_t length = 1500;
  token_sampler sampler = {.temperature = 0.8, .top_k = 40, .top_p = 0.95};

  static void visit(auto const& f, auto& s) {
    f("output", s.output, "folder of the trained model and the picture", {.changes_result = false});
    f("seed", s.seed, "of the start and the draws", {.high = 4294967295});
    f("text", s.text, "a file, or a folder of files without extension", {.command = "train"});
    f("learning_rate", s.learning_rate, "at its highest",
      {.low = 1e-9, .high = 10, .command = "train"});
    auto const but_epochs = [&](std::string_view name, auto& value, auto const&... about) {
      if (name != "max_epochs") f(name.data(), value, about...);  // the steps decide
    };
    training_settings::visit(but_epochs, s.training, "train");
    tracking::logger_settings::visit(f, s.tracking, "train");
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

/// The losses of a training as a file, a line for every 20 steps and for each measurement; a
/// checkpoint keeps them, too.
class loss_log : public callback {
 public:
  void on_fit_start(fit_control&) override { began_ = clock::now(); }
  void on_train_epoch_start(fit_control& fit, std::uint64_t batches) override {
    auto const together = fit.options().accumulate_grad_batches;
    last_ = std::min(
        fit.options().max_steps,
        fit.progress().updates + (batches - fit.progress().batch + together - 1) / together);
  }
  void on_optimizer_step(fit_control&, step_report const& r) override {
    step_ = r.step;
    sum_ += r.loss;
    ++count_;
    if (r.step % 20 == 0 && r.step != last_) add("");
  }
  void on_train_epoch_end(fit_control& fit, epoch_report const& r) override {
    char text[32] = "";
    if (r.validated) std::snprintf(text, sizeof text, "%.6f", r.monitored_loss);
    auto const mean = add(text);
    std::printf("step %zu of %zu, loss %.4f, held out %.4f, %.0f s\n",
                static_cast<std::size_t>(step_), static_cast<std::size_t>(fit.options().max_steps),
                mean, r.monitored_loss,
                std::chrono::duration<double>(clock::now() - began_).count());
    std::fflush(stdout);
  }
  [[nodiscard]] auto text() const -> std::string const& { return text_; }

  [[nodiscard]] auto settings() const -> std::string override { return "loss_log()"; }
  [[nodiscard]] auto state() const -> std::string override {
    return described(sum_) + ' ' + described(count_) + '\n' + text_;
  }
  void restore(std::string const& state) override {
    auto words = std::istringstream{state};
    words >> sum_ >> count_;
    text_ = state.substr(state.find('\n') + 1);
  }

 private:
  using clock = std::chrono::steady_clock;
  /// Returns the mean loss of the steps since the line before.
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
  std::uint64_t last_ = 0;  // of the epoch
  double sum_ = 0;
  clock::time_point began_;
};

/// 130 where it was interrupted.
auto train(settings const& s, std::string const& resume) -> int {
  auto const gpu = on_gpu();
  auto const device = choose_device(s.training.device, gpu.answers);
  std::printf("%s\n", device.line.c_str());
  if (s.training.fast_dev_run > 0 && not resume.empty())
    throw usage_error("--resume: expected no --fast-dev-run, which keeps nothing to go on with");
  auto const text = split(load_text(s.text));
  fs::create_directories(s.output);
  std::printf("%zu characters to learn from, %zu held out\n", text.train.size(),
              text.held_out.size());
  std::printf("%zu parameters, %zu bytes to train with\n", parameter_count<model>,
              memory_of<model, text_batch, call_mode::training, adamw>.total);
  auto const log = std::make_shared<loss_log>();
  auto task = training_task{.options = s.training.options(),
                            .learning_rate = s.learning_rate,
                            .generator = torch_generator(s.seed),
                            .callbacks = s.training.made_callbacks(),
                            .resume = resume};
  task.options.folder = fs::path(s.output) / "training";
  task.options.model = "characters";
  task.options.settings = to_result_yaml(s);
  task.callbacks.push_back(log);
  tracking::add_loggers(
      task.callbacks, s.tracking, fs::path(s.output) / "logs",
      {.name = "characters", .project = "characters", .settings = tracking::described(s)});
  auto const p = std::make_unique<parameters>();
  model::initialize(*p, task.generator);
  auto const numbers = numbers_of(*p);
  auto const ctrl_c = interrupt_guard{};
  auto const by = device.cuda ? gpu.train : train_model<default_backend, model>;
  auto const how = by(std::move(task), text, {numbers.begin(), numbers.end()});
  if (s.training.fast_dev_run > 0) return 0;
  if (how == ending::interrupted) {
    std::printf("interrupted; to go on: the same command with --resume\n");
    return 130;
  }
  write_file(fs::path(s.output) / "losses.csv", log->text());
  save_parameters(model_file(s), *p);
  draw(s.output);
  return 0;
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
  auto resume = std::string{};
  add_resume(*learn, resume);
  if (not parse_command_line(app, count, arguments)) return 0;
  check_ranges(s);
  s.training.check();
  (void)s.tracking.names();
  if (*learn) {
    check_range("max_steps", s.training.max_steps, 2U, 100'000'000U);
    return train(s, resume);
  }
  if (*write) generate(s);
  return 0;
}

}  // namespace

}  // namespace characters

auto main(int count, char** arguments) -> int {
  return tessera::run_program("characters", [&] { return characters::run(count, arguments); });
}
