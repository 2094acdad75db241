// SPDX-License-Identifier: MIT
#include <tessera/program/gnuplot.hpp>
#include <tessera/program/training_run.hpp>
#include <tessera/program/training_settings.hpp>

#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "training.hpp"

#include <tracking/loggers.hpp>

namespace digits {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

using step_and_class = given_as<tag::condition, conditions>;
struct settings {
  std::string data = DIGITS_FOLDER "/digits.npy";
  std::string output = "digits_output";
  std::uint64_t seed = 1;
  std::uint64_t classifier_epochs = 40;
  double learning_rate = 1e-3;
  training_settings training = {.max_epochs = 150, .gradient_clip_val = 1};
  tracking::logger_settings tracking;
  double guidance = 1;
  std::uint64_t count = 320;

  static void visit(auto const& f, auto& s) {
    f("output", s.output, "folder of the trained models and the pictures",
      {.changes_result = false});
    f("seed", s.seed, "of the start, the order and the noise", {.high = 4294967295});
    f("data", s.data, "the file of the digits", {.command = "train"});
    f("classifier_epochs", s.classifier_epochs, "of the classifier",
      {.low = 1, .high = 100'000, .command = "train"});
    f("learning_rate", s.learning_rate, "of Adam", {.low = 1e-9, .high = 10, .command = "train"});
    visit_training(f, s.training);
    tracking::logger_settings::visit(f, s.tracking, "train");
    f("guidance", s.guidance, "0: the class alone; more: away from no class",
      {.low = 0, .high = 100, .command = "sample"});
    f("count", s.count, "digits to generate", {.low = 1, .high = 1'000'000, .command = "sample"});
  }

 private:
  /// The denoiser is judged by its loss alone: there is nothing that it is validated with.
  static void visit_training(auto const& f, auto& s) {
    auto const fitting = [&](std::string_view name, auto& value, char const* help,
                             setting_rules rules) {
      constexpr auto others =
          std::array<std::string_view, 4>{"limit_val_batches", "val_check_interval",
                                          "check_val_every_n_epoch", "num_sanity_val_steps"};
      if (std::ranges::find(others, name) != others.end()) return;
      if (name == "patience") help = "epochs without a smaller loss before a stop; 0 never stops";
      if (name == "save_top_k") help = "checkpoints of the best epochs to keep";
      f(name.data(), value, help, rules);
    };
    training_settings::visit(fitting, s, "train");
  }
};

using learner = training<classifier, images, adam>;

/// The share of images that are recognized; `x` and `labels` have the same length.
[[nodiscard]] auto recognized(trainer<learner, cross_entropy>& by,
                              parameters_of<classifier, owned<float>> const& p,
                              labelled_images const& data) -> double {
  auto source = tensor_batches(data.pixels, data.labels, {.batch = batch, .shuffles = false});
  return by.validate(p, source, accuracy{})[1].value;
}

constexpr auto classifier_file = "classifier.safetensors";
constexpr auto denoiser_file = "denoiser.safetensors";

/// What decides a training: the settings, and the numbers that the file of the digits holds.
[[nodiscard]] auto described_training(settings const& s) -> std::string {
  auto const bytes = read_file(s.data);
  auto sum = boost::crc_32_type{};
  sum.process_bytes(bytes.data(), bytes.size());
  char digest[64];
  std::snprintf(digest, sizeof digest, "%zu bytes, checksum %08x", bytes.size(),
                static_cast<unsigned>(sum.checksum()));
  return to_result_yaml(s) + "# data_digest: " + digest + '\n';
}
/// The training that a file is of, where the file tells.
[[nodiscard]] auto training_of(fs::path const& path) -> std::string {
  auto const file = safetensors::read(path);
  auto const found = file.metadata().find("settings");
  return found == file.metadata().end() ? "" : found->second;
}
/// Errors  usage_error where the file is of another training than the one that is described
template <class P> void load(fs::path const& path, std::string const& described, P& p) {
  if (auto const difference = settings_difference(described, training_of(path));
      not difference.empty())
    throw usage_error(path.string() + ": is of another training: " + difference);
  load_parameters(path, p);
}

/// Trains the classifier, or takes that of the run that goes on; returns the share of the held-out
/// images that it recognizes, nothing where it was interrupted.
auto train_classifier(settings const& s, split_data const& data, training_run const& run,
                      std::string const& described) -> std::optional<double> {
  auto trainer = tessera::trainer<learner, cross_entropy>(
      {.max_epochs = s.classifier_epochs, .fast_dev_run = s.training.fast_dev_run},
      adam{.rate = s.learning_rate}, {}, {});
  auto generator = torch_generator(s.seed);
  classifier::initialize(trainer.parameters(), generator);
  auto source =
      tensor_batches(data.train.pixels, data.train.labels, {.batch = batch, .seed = s.seed});
  auto const file = run.path() / classifier_file;
  auto const is_there = run.resumes() && fs::exists(file);
  if (is_there)
    load(file, described, trainer.parameters());
  else if (trainer.fit(source) == ending::interrupted)
    return std::nullopt;
  if (not is_there && s.training.fast_dev_run == 0)
    save_parameters(file, trainer.parameters(), {{"settings", described}});
  return recognized(trainer, trainer.parameters(), data.held_out);
}

/// The losses of a training, by epochs: what a checkpoint keeps of them, too.
class loss_log : public callback {
 public:
  void on_train_epoch_end(fit_control& fit, epoch_report const& r) override {
    char line[64];
    auto const epoch = static_cast<std::size_t>(r.epoch);
    auto const epochs = static_cast<std::size_t>(fit.options().max_epochs);
    std::snprintf(line, sizeof line, "%zu,%.6f\n", epoch, r.training_loss);
    text_ += line;
    if (epoch % 10 == 0 || epoch == epochs)
      std::printf("epoch %zu of %zu, loss %.4f\n", epoch, epochs, r.training_loss),
          std::fflush(stdout);
  }
  void on_train_batch_end(fit_control&, batch_report const& r) override {
    is_cut_ = r.batch < r.batches;
  }
  void on_fit_end(fit_control& fit, ending how) override {
    auto const& options = fit.options();
    auto const* const again = "; to go on: the same command with --resume";
    if (options.fast_dev_run > 0) return;
    if (how == ending::interrupted) std::printf("interrupted%s\n", again);
    if (how == ending::out_of_time) std::printf("out of time (--max-time)%s\n", again);
    if (how == ending::stopped_early) std::printf("stopped early (--patience)\n");
    auto const has_all = options.max_steps > 0 && fit.progress().updates == options.max_steps;
    if (how == ending::finished && is_cut_ && not has_all)
      std::printf("out of time (--max-time) in the last epoch\n");
  }
  [[nodiscard]] auto settings() const -> std::string override { return "loss_log()"; }
  [[nodiscard]] auto state() const -> std::string override { return text_; }
  void restore(std::string const& text) override { text_ = text; }

 private:
  std::string text_ = "epoch,loss\n";
  bool is_cut_ = false;  // the epoch, before its last batch
};

/// Trains the denoiser, and keeps the average of its weights. 130 where it was interrupted.
auto train_denoiser(settings const& s, split_data const& data, training_run& run,
                    std::string const& described, std::string const& resume, training_function by)
    -> int {
  auto const log = std::make_shared<loss_log>();
  auto task = training_task{.run = run,
                            .options = s.training.options(),
                            .learning_rate = s.learning_rate,
                            .seed = s.seed,
                            .generator = torch_generator(s.seed),
                            .callbacks = s.training.made_callbacks(),
                            .resume = resume};
  task.options.folder = run.path();
  task.options.model = "denoiser";
  task.options.settings = described;
  task.callbacks.push_back(log);
  tracking::add_loggers(
      task.callbacks, s.tracking, fs::path(s.output) / "logs",
      {.name = "denoiser", .project = "digits", .settings = tracking::described(s)});
  auto const p = std::make_unique<parameters_of<denoiser, owned<float>>>();
  denoiser::initialize(*p, task.generator);
  auto const numbers = numbers_of(*p);
  auto const how = by(std::move(task), data.train, {numbers.begin(), numbers.end()});
  if (s.training.fast_dev_run > 0) return 0;
  if (how == ending::interrupted) return 130;
  write_file(run.path() / "losses.csv", log->state());
  save_parameters(run.path() / denoiser_file, *p, {{"settings", described}});
  return 0;
}

/// Images of the asked classes, from noise: classifier-free guidance away from "no class".
class sampler {
 public:
  sampler(settings const& s, std::string const& described)
      : guidance_(static_cast<float>(s.guidance)), noise_(s.seed) {
    load(fs::path(s.output) / denoiser_file, described, *p_);
  }
  auto operator()(std::vector<std::int32_t> const& labels) -> images const& {
    auto const n = labels.size();
    auto const x = x_->sized(n);
    auto const z = z_->sized(n);
    noise_.normal(x.data(), x.size());
    auto c = conditions{};
    for (auto t = diffusion.steps; t-- > 0;) {
      for (auto i = std::size_t{0}; i < n; ++i) {
        c.values[2 * i] = static_cast<float>(t);
        c.values[2 * i + 1] = static_cast<float>(labels[i]);
      }
      auto const with_class = with_class_->resume(*p_, as_const(x), given(c.sized(n)));
      for (auto i = std::size_t{0}; i < n; ++i) c.values[2 * i + 1] = classes;
      auto const without = without_->resume(*p_, as_const(x), given(c.sized(n)));
      noise_.normal(z.data(), z.size());
      diffusion.denoise(t, x, with_class + (with_class - without) * guidance_, z);
    }
    return *x_;
  }

 private:
  using run = inference<denoiser, images, step_and_class>;
  float guidance_;
  torch_generator noise_;
  std::unique_ptr<parameters_of<denoiser, owned<float>>> p_ =
      std::make_unique<parameters_of<denoiser, owned<float>>>();
  std::unique_ptr<run> with_class_ = std::make_unique<run>();
  std::unique_ptr<run> without_ = std::make_unique<run>();
  std::unique_ptr<images> x_ = std::make_unique<images>();
  std::unique_ptr<images> z_ = std::make_unique<images>();
};

/// The first n images, ten in a row, as a table of pixels.
[[nodiscard]] auto table_of(images const& x, std::size_t n) -> std::string {
  constexpr auto columns = std::size_t{10};
  constexpr auto cell = size + 1;
  auto const rows = (n + columns - 1) / columns;
  auto table = std::string{};
  for (auto r = std::size_t{0}; r < rows * cell; ++r) {
    for (auto c = std::size_t{0}; c < columns * cell; ++c) {
      auto const i = r / cell * columns + c / cell;
      auto const inside = r % cell < size && c % cell < size && i < n;
      auto const v = inside ? x.values[(i * size + r % cell) * size + c % cell] : -1.0F;
      table += std::to_string(v) + " ";
    }
    table += "\n";
  }
  return table;
}

/// The table and the losses: two pictures by gnuplot.
void draw(fs::path const& folder, std::string const& table) try {
  write_file(folder / "samples.txt", table);
  run_gnuplot(
      folder,
      "set terminal pngcairo size 720,560 font ',11'\n"
      "set output 'samples.png'\nset title 'Generated digits, a column for each class'\n"
      "set palette gray negative\nunset colorbox\nset cbrange [-1:1]\nset border 0\n"
      "set yrange [*:*] reverse\nunset ytics\nset size ratio -1\nset xlabel 'class asked for'\n"
      "set xtics scale 0 ('0' 3.5, '1' 12.5, '2' 21.5, '3' 30.5, '4' 39.5, '5' 48.5, "
      "'6' 57.5, '7' 66.5, '8' 75.5, '9' 84.5)\n"
      "plot 'samples.txt' matrix with image notitle\n"
      "reset\nset output 'losses.png'\nset datafile separator ','\nset grid\n"
      "set title 'Denoiser: mean squared error of the predicted noise'\nset xlabel 'epoch'\n"
      "set ylabel 'loss'\nset logscale y\n"
      "plot 'losses.csv' every ::1 using 1:2 with lines lw 2 notitle\n");
} catch (std::runtime_error const& e) {
  std::fprintf(stderr, "digits: no pictures: %s\n", e.what());
}

auto train(settings const& s, std::string const& resume) -> int {
  auto const gpu = on_gpu();
  auto const device = choose_device(s.training.device, gpu.answers);
  std::printf("%s\n", device.line.c_str());
  auto const data = load_digits(s.data);
  auto const described = described_training(s);
  auto run = training_run({.output = s.output,
                           .settings = described,
                           .files = {classifier_file, denoiser_file, "losses.csv", "losses.png",
                                     "samples.txt", "samples.png", "plots.gp"},
                           .resume = resume,
                           .keeps_nothing = s.training.fast_dev_run > 0});
  auto const ctrl_c = interrupt_guard{};
  std::printf("%zu digits to learn from, %zu held out\n", data.train.count(),
              data.held_out.count());
  std::fflush(stdout);
  auto const share = train_classifier(s, data, run, described);
  if (not share) {
    std::printf(
        "interrupted in the classifier, of which nothing is kept: the same command again\n");
    return 130;
  }
  std::printf("classifier: %.2f %% of the held-out digits recognized\n", 100 * *share);
  std::fflush(stdout);
  std::printf("denoiser: %zu parameters, %zu bytes to train with\n", parameter_count<denoiser>,
              memory_of<denoiser, images, call_mode::training, adam, step_and_class>.total);
  return train_denoiser(s, data, run, described, resume,
                        device.cuda ? gpu.train : train_model<default_backend, denoiser>);
}

void sample(settings const& s) {
  auto const folder = fs::path(s.output);
  training_run::check_whole(folder);
  auto const described = training_of(folder / denoiser_file);
  auto p = std::make_unique<parameters_of<classifier, owned<float>>>();
  load(folder / classifier_file, described, *p);
  auto reader = trainer<learner, cross_entropy>({}, {}, {}, {});
  auto draw_samples = sampler(s, described);
  auto right = 0.0;
  auto table = std::string{};
  for (auto done = std::size_t{0}; done < s.count;) {
    auto const n = std::min(batch, s.count - done);
    auto labels = std::vector<std::int32_t>(n);
    for (auto i = std::size_t{0}; i < n; ++i) labels[i] = static_cast<std::int32_t>(i % classes);
    auto const& x = draw_samples(labels);
    auto const generated = labelled_images{
        xt::adapt(x.data(), n * size * size, xt::no_ownership(), std::array{n, size, size, 1UL}),
        xt::adapt(labels, std::array{n})};
    right += recognized(reader, *p, generated) * static_cast<double>(n);
    if (done == 0) table = table_of(x, n);
    done += n;
  }
  std::printf("%zu digits generated, %.2f %% recognized as the class asked for\n", s.count,
              100 * right / static_cast<double>(s.count));
  std::fflush(stdout);
  draw(folder, table);
}

auto run(int count, char** arguments) -> int {
  auto s = settings{};
  auto app = CLI::App{"Handwritten digits by class: a diffusion model, trained here"};
  app.require_subcommand(1);
  auto* const learn = app.add_subcommand("train", "train the classifier and the denoiser");
  auto* const make =
      app.add_subcommand("sample", "generate digits, have them recognized, draw up to 64");
  for (auto* const command : {learn, make}) {
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
  if (*make) sample(s);
  return 0;
}

}  // namespace

}  // namespace digits

auto main(int count, char** arguments) -> int {
  return tessera::run_program("digits", [&] { return digits::run(count, arguments); });
}
