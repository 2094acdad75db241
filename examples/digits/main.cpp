// SPDX-License-Identifier: MIT
#include <tessera/program/gnuplot.hpp>
#include <tessera/program/training_settings.hpp>

#include <cstdio>
#include <memory>

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
    training_settings::visit(f, s.training, "train");  // of the denoiser
    tracking::logger_settings::visit(f, s.tracking, "train");
    f("guidance", s.guidance, "0: the class alone; more: away from no class",
      {.low = 0, .high = 100, .command = "sample"});
    f("count", s.count, "digits to generate", {.low = 1, .high = 1'000'000, .command = "sample"});
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

[[nodiscard]] auto classifier_file(settings const& s) -> fs::path {
  return fs::path(s.output) / "classifier.safetensors";
}
/// Trains the classifier, or takes the one that is there; returns the share of the held-out images
/// that it recognizes.
auto train_classifier(settings const& s, split_data const& data, bool is_there) -> double {
  auto trainer = tessera::trainer<learner, cross_entropy>(
      {.max_epochs = s.classifier_epochs, .fast_dev_run = s.training.fast_dev_run},
      adam{.rate = s.learning_rate}, {}, {});
  auto generator = torch_generator(s.seed);
  classifier::initialize(trainer.parameters(), generator);
  auto source =
      tensor_batches(data.train.pixels, data.train.labels, {.batch = batch, .seed = s.seed});
  if (is_there)
    load_parameters(classifier_file(s), trainer.parameters());
  else
    trainer.fit(source);
  if (not is_there && s.training.fast_dev_run == 0)
    save_parameters(classifier_file(s), trainer.parameters());
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
  [[nodiscard]] auto settings() const -> std::string override { return "loss_log()"; }
  [[nodiscard]] auto state() const -> std::string override { return text_; }
  void restore(std::string const& text) override { text_ = text; }

 private:
  std::string text_ = "epoch,loss\n";
};

/// Trains the denoiser, and keeps the average of its weights. 130 where it was interrupted.
auto train_denoiser(settings const& s, split_data const& data, std::string const& resume,
                    training_function by) -> int {
  auto const log = std::make_shared<loss_log>();
  auto task = training_task{.options = s.training.options(),
                            .learning_rate = s.learning_rate,
                            .seed = s.seed,
                            .generator = torch_generator(s.seed),
                            .callbacks = s.training.made_callbacks(),
                            .resume = resume};
  task.options.folder = fs::path(s.output) / "training";
  task.options.model = "denoiser";
  task.options.settings = to_result_yaml(s);
  task.callbacks.push_back(log);
  tracking::add_loggers(
      task.callbacks, s.tracking, fs::path(s.output) / "logs",
      {.name = "denoiser", .project = "digits", .settings = tracking::described(s)});
  auto const p = std::make_unique<parameters_of<denoiser, owned<float>>>();
  denoiser::initialize(*p, task.generator);
  auto const numbers = numbers_of(*p);
  auto const ctrl_c = interrupt_guard{};
  auto const how = by(std::move(task), data.train, {numbers.begin(), numbers.end()});
  if (s.training.fast_dev_run > 0) return 0;
  if (how == ending::interrupted) {
    std::printf("interrupted; to go on: the same command with --resume\n");
    return 130;
  }
  write_file(fs::path(s.output) / "losses.csv", log->state());
  save_parameters(fs::path(s.output) / "denoiser.safetensors", *p);
  return 0;
}

/// Images of the asked classes, from noise: classifier-free guidance away from "no class".
class sampler {
 public:
  explicit sampler(settings const& s) : guidance_(static_cast<float>(s.guidance)), noise_(s.seed) {
    load_parameters(fs::path(s.output) / "denoiser.safetensors", *p_);
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

/// 64 images, ten in a row, and the losses: two pictures by gnuplot.
void draw(fs::path const& folder, images const& x) {
  constexpr auto columns = std::size_t{10};
  constexpr auto rows = (batch + columns - 1) / columns;
  constexpr auto cell = size + 1;
  auto table = std::string{};
  for (auto r = std::size_t{0}; r < rows * cell; ++r) {
    for (auto c = std::size_t{0}; c < columns * cell; ++c) {
      auto const i = r / cell * columns + c / cell;
      auto const inside = r % cell < size && c % cell < size && i < batch;
      auto const v = inside ? x.values[(i * size + r % cell) * size + c % cell] : -1.0F;
      table += std::to_string(v) + " ";
    }
    table += "\n";
  }
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
}

auto train(settings const& s, std::string const& resume) -> int {
  auto const gpu = on_gpu();
  auto const device = choose_device(s.training.device, gpu.answers);
  std::printf("%s\n", device.line.c_str());
  if (s.training.fast_dev_run > 0 && not resume.empty())
    throw usage_error("--resume: expected no --fast-dev-run, which keeps nothing to go on with");
  auto const data = load_digits(s.data);
  fs::create_directories(s.output);
  std::printf("%zu digits to learn from, %zu held out\n", data.train.count(),
              data.held_out.count());
  auto const is_there = not resume.empty() && fs::exists(classifier_file(s));
  std::printf("classifier: %.2f %% of the held-out digits recognized\n",
              100 * train_classifier(s, data, is_there));
  std::fflush(stdout);
  std::printf("denoiser: %zu parameters, %zu bytes to train with\n", parameter_count<denoiser>,
              memory_of<denoiser, images, call_mode::training, adam, step_and_class>.total);
  return train_denoiser(s, data, resume,
                        device.cuda ? gpu.train : train_model<default_backend, denoiser>);
}

void sample(settings const& s) {
  auto p = std::make_unique<parameters_of<classifier, owned<float>>>();
  load_parameters(classifier_file(s), *p);
  auto reader = trainer<learner, cross_entropy>({}, {}, {}, {});
  auto draw_samples = sampler(s);
  auto right = 0.0;
  for (auto done = std::size_t{0}; done < s.count;) {
    auto const n = std::min(batch, s.count - done);
    auto labels = std::vector<std::int32_t>(n);
    for (auto i = std::size_t{0}; i < n; ++i) labels[i] = static_cast<std::int32_t>(i % classes);
    auto const& x = draw_samples(labels);
    auto const generated = labelled_images{
        xt::adapt(x.data(), n * size * size, xt::no_ownership(), std::array{n, size, size, 1UL}),
        xt::adapt(labels, std::array{n})};
    right += recognized(reader, *p, generated) * static_cast<double>(n);
    if (done == 0 && n == batch) draw(s.output, x);
    done += n;
  }
  std::printf("%zu digits generated, %.2f %% recognized as the class asked for\n", s.count,
              100 * right / static_cast<double>(s.count));
}

auto run(int count, char** arguments) -> int {
  auto s = settings{};
  auto app = CLI::App{"Handwritten digits by class: a diffusion model, trained here"};
  app.require_subcommand(1);
  auto* const learn = app.add_subcommand("train", "train the classifier and the denoiser");
  auto* const make = app.add_subcommand("sample", "generate digits, have them recognized, draw 64");
  for (auto* const command : {learn, make}) {
    add_config(*command, count, arguments, s);
    add_options(*command, s);
  }
  auto resume = std::string{};
  add_resume(*learn, resume);
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
