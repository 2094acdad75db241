// SPDX-License-Identifier: MIT
#include <tessera/program/gnuplot.hpp>
#include <tessera/program/training_run.hpp>
#include <tessera/program/training_settings.hpp>
#include <tessera/random/token_sampler.hpp>

#include <boost/crc.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>

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
    f("text", s.text, "a file of ASCII, or a folder of such files without extension",
      {.command = "train"});
    f("learning_rate", s.learning_rate, "at its highest",
      {.low = 1e-9, .high = 10, .command = "train"});
    visit_training(f, s.training);
    tracking::logger_settings::visit(f, s.tracking, "train");
    f("prompt", s.prompt, "what the text begins with", {.command = "generate"});
    f("length", s.length, "characters to write", {.command = "generate"});
    f("temperature", s.sampler.temperature, "0: always the likeliest",
      {.low = 0, .high = 100, .command = "generate"});
    f("top_k", s.sampler.top_k, "of so many characters; 0: of all", {.command = "generate"});
    f("top_p", s.sampler.top_p, "of those that hold so much probability",
      {.low = 1e-9, .high = 1, .command = "generate"});
  }

 private:
  /// The steps decide, not the epochs; the beginnings of an epoch's rows are in memory.
  static void visit_training(auto const& f, auto& s) {
    auto const fitting = [&](std::string_view name, auto& value, char const* help,
                             setting_rules rules) {
      if (name == "max_epochs") return;
      if (name == "max_steps") {
        help = "updates of the parameters";
        rules.low = 2;
        rules.high = 100'000'000;
      }
      if (name == "accumulate_grad_batches") rules.high = 1000;
      f(name.data(), value, help, rules);
    };
    training_settings::visit(fitting, s, "train");
  }
};

constexpr auto model_file = "model.safetensors";

/// What decides a training: the settings, and the characters that it learns from.
[[nodiscard]] auto described_training(settings const& s, std::string const& text) -> std::string {
  auto sum = boost::crc_32_type{};
  sum.process_bytes(text.data(), text.size());
  char digest[64];
  std::snprintf(digest, sizeof digest, "%zu characters, checksum %08x", text.size(),
                static_cast<unsigned>(sum.checksum()));
  return to_result_yaml(s) + "# text_digest: " + digest + '\n';
}

void draw(fs::path const& folder) try {
  run_gnuplot(folder,
              "set terminal pngcairo size 720,420 font ',11'\nset output 'losses.png'\n"
              "set datafile separator ','\nset grid\nset title 'Character model'\n"
              "set xlabel 'step'\nset ylabel 'cross-entropy (nats per character)'\n"
              "plot 'losses.csv' every ::1 using 1:2 with lines lw 1 title 'batch', "
              "'losses.csv' every ::1 using 1:3 with linespoints pt 7 ps 0.6 title 'held out'\n");
} catch (std::runtime_error const& e) {
  std::fprintf(stderr, "characters: no picture: %s\n", e.what());
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
    sum_ += r.loss;
    ++count_;
    if (r.step % 20 == 0 && r.step != last_) add(r.step, "");
  }
  void on_validation_end(fit_control& fit, validation_report const& r) override {
    char text[32];
    std::snprintf(text, sizeof text, "%.6f", r.scores[0].value);
    if (count_ > 0)
      add(r.step, text);
    else if (text_.ends_with(",\n"))
      text_.insert(text_.size() - 1, text);
    else
      return;  // no step since the last measurement
    std::snprintf(text, sizeof text, ", held out %.4f", r.scores[0].value);
    print(fit, text);
  }
  void on_train_epoch_end(fit_control& fit, epoch_report const& r) override {
    if (r.validated) return;
    if (count_ > 0) add(fit.progress().updates, "");
    print(fit, "");
  }
  void on_fit_end(fit_control& fit, ending how) override {
    auto const& options = fit.options();
    auto const* const again = "; to go on: the same command with --resume";
    if (options.fast_dev_run > 0) return;
    if (how == ending::interrupted) std::printf("interrupted%s\n", again);
    if (how == ending::out_of_time) std::printf("out of time (--max-time)%s\n", again);
    // What stops a training in its last epoch finishes it.
    auto const is_cut = how == ending::finished && fit.progress().updates < options.max_steps;
    auto const is_late = is_cut && options.max_time > 0 && seconds() >= options.max_time;
    if (how == ending::stopped_early || is_cut)
      std::printf("%s at step %zu of %zu\n",
                  is_late ? "out of time (--max-time)" : "stopped early (--patience)",
                  static_cast<std::size_t>(fit.progress().updates),
                  static_cast<std::size_t>(options.max_steps));
  }
  [[nodiscard]] auto text() const -> std::string const& { return text_; }

  [[nodiscard]] auto settings() const -> std::string override { return "loss_log()"; }
  [[nodiscard]] auto state() const -> std::string override {
    return described(sum_) + ' ' + described(count_) + ' ' + described(mean_) + '\n' + text_;
  }
  void restore(std::string const& state) override {
    auto words = std::istringstream{state};
    words >> sum_ >> count_ >> mean_;
    text_ = state.substr(state.find('\n') + 1);
  }

 private:
  using clock = std::chrono::steady_clock;
  [[nodiscard]] auto seconds() const -> double {
    return std::chrono::duration<double>(clock::now() - began_).count();
  }
  /// A row with the mean loss of the steps since the row before.
  void add(std::uint64_t step, char const* held_out) {
    mean_ = sum_ / static_cast<double>(count_);
    char line[96];
    std::snprintf(line, sizeof line, "%zu,%.6f,%s\n", static_cast<std::size_t>(step), mean_,
                  held_out);
    text_ += line;
    sum_ = 0;
    count_ = 0;
  }
  void print(fit_control& fit, char const* held_out) const {
    std::printf("step %zu of %zu, loss %.4f%s, %.0f s\n",
                static_cast<std::size_t>(fit.progress().updates),
                static_cast<std::size_t>(fit.options().max_steps), mean_, held_out, seconds());
    std::fflush(stdout);
  }
  std::string text_ = "step,loss,held_out\n";
  std::uint64_t count_ = 0;
  std::uint64_t last_ = 0;  // of the epoch
  double sum_ = 0;
  double mean_ = 0;  // of the last row
  clock::time_point began_;
};

/// 130 where it was interrupted.
auto train(settings const& s, std::string const& resume) -> int {
  auto const gpu = on_gpu();
  auto const device = choose_device(s.training.device, gpu.answers);
  std::printf("%s\n", device.line.c_str());
  auto const loaded = load_text(s.text);
  auto const described = described_training(s, loaded.characters);
  auto run = training_run({.output = s.output,
                           .settings = described,
                           .files = {model_file, "losses.csv", "losses.png", "plots.gp"},
                           .resume = resume,
                           .keeps_nothing = s.training.fast_dev_run > 0});
  if (loaded.left_out > 0)
    std::printf("%zu of %zu bytes are no ASCII and left out\n", loaded.left_out, loaded.bytes);
  auto const text = split(loaded.characters);
  std::printf("%zu characters to learn from, %zu held out\n", text.train.size(),
              text.held_out.size());
  std::printf("%zu parameters, %zu bytes to train with\n", parameter_count<model>,
              memory_of<model, text_batch, call_mode::training, adamw>.total);
  auto const log = std::make_shared<loss_log>();
  auto task = training_task{.run = run,
                            .options = s.training.options(),
                            .learning_rate = s.learning_rate,
                            .generator = torch_generator(s.seed),
                            .callbacks = s.training.made_callbacks(),
                            .resume = resume};
  task.options.folder = run.path();
  task.options.model = "characters";
  task.options.settings = described;
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
  if (how == ending::interrupted) return 130;
  write_file(run.path() / "losses.csv", log->text());
  save_parameters(run.path() / model_file, *p);
  draw(run.path());
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
  training_run::check_whole(s.output);
  load_parameters(fs::path(s.output) / model_file, *p);
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
  learn->get_option("--resume")
      ->description(
          "go on from a checkpoint: last (where no word follows), best, or a file of this run");
  if (not parse_command_line(app, count, arguments)) return 0;
  check_ranges(s);
  s.training.check();
  (void)s.tracking.names();
  if (*learn) return train(s, resume);
  if (*write) generate(s);
  return 0;
}

}  // namespace

}  // namespace characters

auto main(int count, char** arguments) -> int {
  return tessera::run_program("characters", [&] { return characters::run(count, arguments); });
}
