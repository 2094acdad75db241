// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/optim/averaging.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/train/interrupt.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <memory>

#include "../gnuplot.hpp"
#include "data.hpp"

namespace digits {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

using labels_of_batch = tensor<std::int32_t, shape<at_most(batch)>>;

struct settings {
  std::string data = DIGITS_FOLDER "/digits.npy";
  std::string output = "digits_output";
  std::uint32_t seed = 1;
  std::size_t classifier_epochs = 40;
  std::size_t epochs = 150;
  double rate = 1e-3;
  double guidance = 1;
  std::size_t count = 320;
};

/// The class with the highest score of each image.
[[nodiscard]] auto recognize(parameters_of<classifier, owned<float>> const& p, images const& x,
                             std::size_t n) -> std::vector<std::int32_t> {
  static auto const run = std::make_unique<inference<classifier, images>>();
  auto const scores = (*run)(p, x.sized(n));
  auto result = std::vector<std::int32_t>{};
  for (auto i = std::size_t{0}; i < n; ++i) {
    auto const* const of = scores.data() + i * classes;
    result.push_back(static_cast<std::int32_t>(std::max_element(of, of + classes) - of));
  }
  return result;
}
[[nodiscard]] auto accuracy(parameters_of<classifier, owned<float>> const& p,
                            labelled_images const& data) -> double {
  auto order = std::vector<std::uint32_t>(data.count());
  for (auto i = std::size_t{0}; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  auto const x = std::make_unique<images>();
  auto labels = std::vector<std::int32_t>{};
  auto right = std::size_t{0};
  for (auto b = std::size_t{0}; b < batches_of(data); ++b) {
    auto const n = load_batch(data, order, b, *x, labels);
    auto const found = recognize(p, *x, n);
    for (auto i = std::size_t{0}; i < n; ++i) right += found[i] == labels[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(data.count());
}

/// Trains the classifier; returns the share of the held-out images that it recognizes.
auto train_classifier(settings const& s, split_data const& data) -> double {
  auto const learner = std::make_unique<training<classifier, images, adam>>();
  auto generator = torch_generator(s.seed);
  classifier::initialize(learner->parameters, generator);
  auto const x = std::make_unique<images>();
  auto target = labels_of_batch{};
  auto labels = std::vector<std::int32_t>{};
  for (auto epoch = std::size_t{0}; epoch < s.classifier_epochs; ++epoch) {
    auto const order = shuffled(s.seed, epoch, data.train.count());
    for (auto b = std::size_t{0}; b < batches_of(data.train); ++b) {
      auto const n = load_batch(data.train, order, b, *x, labels);
      std::copy(labels.begin(), labels.end(), target.values);
      learner->step(x->sized(n), target.sized(n), cross_entropy{}, adam{.rate = s.rate});
    }
  }
  save_parameters(fs::path(s.output) / "classifier.safetensors", learner->parameters);
  return accuracy(learner->parameters, data.held_out);
}

/// Trains the denoiser on images with noise of random steps, one in ten without its class.
void train_denoiser(settings const& s, split_data const& data) {
  using object = training<denoiser, images, adam>;
  auto const learner = std::make_unique<object>();
  auto const average = std::make_unique<object::parameters_type>();
  auto generator = torch_generator(s.seed);
  denoiser::initialize(learner->parameters, generator);
  *average = learner->parameters;
  auto const image = std::make_unique<images>();
  auto const noise = std::make_unique<images>();
  auto const x = std::make_unique<images>();
  auto c = conditions{};
  auto labels = std::vector<std::int32_t>{};
  auto log = std::string{"epoch,loss\n"};
  auto const schedule = cosine_lr{.period = s.epochs * batches_of(data.train)};
  auto const averaging = exponential_average{.decay = 0.995};
  auto const ctrl_c = interrupt_guard{};
  auto step = std::uint64_t{0};
  for (auto epoch = std::size_t{0}; epoch < s.epochs && not ctrl_c.requested(); ++epoch) {
    auto const order = shuffled(s.seed, epoch, data.train.count());
    auto total = 0.0;
    for (auto b = std::size_t{0}; b < batches_of(data.train); ++b, ++step) {
      auto const n = load_batch(data.train, order, b, *image, labels);
      generator.normal(noise->values, n * size * size);
      for (auto i = std::size_t{0}; i < n; ++i) {
        auto const t = generator.randint(diffusion.steps);
        auto const dropped = generator.randint(10) == 0;
        c.values[2 * i] = static_cast<float>(t);
        c.values[2 * i + 1] =
            static_cast<float>(dropped ? classes : static_cast<std::size_t>(labels[i]));
        diffusion.add_noise(t, image->sized(n)[i], noise->sized(n)[i], x->sized(n)[i]);
      }
      auto const loss = learner->differentiate(0, x->sized(n), as_const(noise->sized(n)), mse{},
                                               n * size * size, given(c.sized(n)));
      clip_norm(learner->gradient(), 1.0);
      learner->update(adam{.rate = schedule.rate(s.rate, step)});
      averaging.update(*average, learner->parameters, step);
      total += static_cast<double>(loss);
    }
    auto const mean = total / static_cast<double>(batches_of(data.train));
    char line[64];
    std::snprintf(line, sizeof line, "%zu,%.6f\n", epoch + 1, mean);
    log += line;
    if (epoch % 10 == 9 || epoch + 1 == s.epochs)
      std::printf("epoch %zu of %zu, loss %.4f\n", epoch + 1, s.epochs, mean), std::fflush(stdout);
  }
  write_file(fs::path(s.output) / "losses.csv", log);
  save_parameters(fs::path(s.output) / "denoiser.safetensors", *average);
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
  using run = inference<denoiser, images>;
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
              memory_of<denoiser, images, mode::training, adam>.total);
  train_denoiser(s, data);
}

void sample(settings const& s) {
  auto p = std::make_unique<parameters_of<classifier, owned<float>>>();
  load_parameters(fs::path(s.output) / "classifier.safetensors", *p);
  auto draw_samples = sampler(s);
  auto right = std::size_t{0};
  for (auto done = std::size_t{0}; done < s.count;) {
    auto labels = std::vector<std::int32_t>(std::min(batch, s.count - done));
    for (auto i = std::size_t{0}; i < labels.size(); ++i)
      labels[i] = static_cast<std::int32_t>(i % classes);
    auto const& x = draw_samples(labels);
    auto const found = recognize(*p, x, labels.size());
    for (auto i = std::size_t{0}; i < labels.size(); ++i) right += found[i] == labels[i] ? 1 : 0;
    if (done == 0 && labels.size() == batch) draw(s.output, x);
    done += labels.size();
  }
  std::printf("%zu digits generated, %.2f %% recognized as the class asked for\n", s.count,
              100 * static_cast<double>(right) / static_cast<double>(s.count));
}

auto run(int count, char** arguments) -> int {
  auto s = settings{};
  auto app = CLI::App{"Handwritten digits by class: a diffusion model, trained here"};
  app.require_subcommand(1);
  app.set_config("--config", "", "settings as name = value lines");
  app.option_defaults()->always_capture_default();
  auto* const learn = app.add_subcommand("train", "train the classifier and the denoiser");
  auto* const make = app.add_subcommand("sample", "generate digits, have them recognized, draw 64");
  for (auto* const command : {learn, make}) {
    command->add_option("--output", s.output, "folder of the trained models and the pictures");
    command->add_option("--seed", s.seed, "of the start, the order and the noise");
  }
  learn->add_option("--data", s.data, "the file of the digits")->check(CLI::ExistingFile);
  learn->add_option("--epochs", s.epochs, "of the denoiser")->check(CLI::PositiveNumber);
  learn->add_option("--classifier-epochs", s.classifier_epochs)->check(CLI::PositiveNumber);
  learn->add_option("--learning-rate", s.rate)->check(CLI::PositiveNumber);
  make->add_option("--guidance", s.guidance, "0: the class alone; more: away from no class")
      ->check(CLI::NonNegativeNumber);
  make->add_option("--count", s.count, "digits to generate")->check(CLI::PositiveNumber);
  try {
    app.parse(count, arguments);
    if (*learn) train(s);
    if (*make) sample(s);
    return 0;
  } catch (CLI::ParseError const& e) {
    auto const code = app.exit(e);
    return code == 0 ? 0 : 2;
  } catch (std::exception const& e) {
    std::cerr << "digits: " << e.what() << '\n';
    return 2;
  }
}

}  // namespace

}  // namespace digits

auto main(int count, char** arguments) -> int { return digits::run(count, arguments); }
