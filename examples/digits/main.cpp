// SPDX-License-Identifier: MIT
#include <tessera/optim/schedule.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/program/gnuplot.hpp>
#include <tessera/train/trainer.hpp>

#include <cstdio>
#include <memory>

#include "data.hpp"

namespace digits {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

using step_and_class = given_as<tag::condition, conditions>;
struct settings {
  std::string data = DIGITS_FOLDER "/digits.npy";
  std::string output = "digits_output";
  std::uint64_t seed = 1;
  std::uint64_t epochs = 150;
  std::uint64_t classifier_epochs = 40;
  double learning_rate = 1e-3;
  double guidance = 1;
  std::uint64_t count = 320;

  static void visit(auto const& f, auto& s) {
    f("output", s.output, "folder of the trained models and the pictures");
    f("seed", s.seed, "of the start, the order and the noise", {.high = 4294967295});
    f("data", s.data, "the file of the digits", {.command = "train"});
    f("epochs", s.epochs, "of the denoiser", {.low = 1, .high = 100'000, .command = "train"});
    f("classifier_epochs", s.classifier_epochs, "of the classifier",
      {.low = 1, .high = 100'000, .command = "train"});
    f("learning_rate", s.learning_rate, "of Adam", {.low = 1e-9, .high = 10, .command = "train"});
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
  return by.measure(p, source, accuracy{})[1].value;
}

/// Trains the classifier; returns the share of the held-out images that it recognizes.
auto train_classifier(settings const& s, split_data const& data) -> double {
  auto trainer = tessera::trainer<learner, cross_entropy>({.epochs = s.classifier_epochs},
                                                          adam{.rate = s.learning_rate}, {}, {});
  auto generator = torch_generator(s.seed);
  classifier::initialize(trainer.parameters(), generator);
  auto source =
      tensor_batches(data.train.pixels, data.train.labels, {.batch = batch, .seed = s.seed});
  trainer.run(source);
  save_parameters(fs::path(s.output) / "classifier.safetensors", trainer.parameters());
  return recognized(trainer, trainer.parameters(), data.held_out);
}

/// Trains the denoiser, and keeps the average of its weights.
void train_denoiser(settings const& s, split_data const& data) {
  using object = training<denoiser, images, adam, 1, step_and_class>;
  using average = averaging<object::parameters_type>;
  using cosine = by_step<cosine_lr>;
  auto generator = torch_generator(s.seed);
  auto const first = std::make_unique<object::parameters_type>();
  denoiser::initialize(*first, generator);
  auto source = noisy_images(data.train, s.seed, generator);
  auto trainer = tessera::trainer<object, mse, cosine, norm_clipping, average>(
      {.epochs = s.epochs}, adam{.rate = s.learning_rate}, {{.period = s.epochs * source.size()}},
      {}, norm_clipping{.most = 1}, average({.decay = 0.995}));
  trainer.parameters() = *first;
  auto log = std::string{"epoch,loss\n"};
  trainer.on_epoch = [&](epoch_report const& r) {
    char line[64];
    auto const epoch = static_cast<std::size_t>(r.epoch);
    std::snprintf(line, sizeof line, "%zu,%.6f\n", epoch, r.training_loss);
    log += line;
    if (epoch % 10 == 0 || epoch == s.epochs)
      std::printf("epoch %zu of %zu, loss %.4f\n", epoch, s.epochs, r.training_loss),
          std::fflush(stdout);
  };
  auto const ctrl_c = interrupt_guard{};
  trainer.run(source);
  write_file(fs::path(s.output) / "losses.csv", log);
  save_parameters(fs::path(s.output) / "denoiser.safetensors", trainer.part<average>().average());
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

void train(settings const& s) {
  auto const data = load_digits(s.data);
  fs::create_directories(s.output);
  std::printf("%zu digits to learn from, %zu held out\n", data.train.count(),
              data.held_out.count());
  std::printf("classifier: %.2f %% of the held-out digits recognized\n",
              100 * train_classifier(s, data));
  std::fflush(stdout);
  std::printf("denoiser: %zu parameters, %zu bytes to train with\n", parameter_count<denoiser>,
              memory_of<denoiser, images, call_mode::training, adam, step_and_class>.total);
  train_denoiser(s, data);
}

void sample(settings const& s) {
  auto p = std::make_unique<parameters_of<classifier, owned<float>>>();
  load_parameters(fs::path(s.output) / "classifier.safetensors", *p);
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
  if (not parse_command_line(app, count, arguments)) return 0;
  check_ranges(s);
  if (*learn) train(s);
  if (*make) sample(s);
  return 0;
}

}  // namespace

}  // namespace digits

auto main(int count, char** arguments) -> int {
  return tessera::run_program("digits", [&] { return digits::run(count, arguments); });
}
