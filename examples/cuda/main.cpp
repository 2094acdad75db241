// SPDX-License-Identifier: MIT
// Compiled by a host compiler: it loads the data of the other examples and drives the GPU.
#include <tessera/optim/schedule.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/random/torch.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "../characters/network.hpp"
#include "../characters/text.hpp"
#include "../digits/data.hpp"
#include "steps.hpp"

namespace {

/// Fills a batch with numbers of the network's data.
using source = std::function<void(steps::trainer::batch&, tessera::torch_generator&)>;

[[nodiscard]] auto source_of(std::string const& network, std::string const& data) -> source {
  if (network == "digits") {
    auto const all = std::make_shared<digits::split_data>(digits::load_digits(data));
    return [all](auto& batch, auto& generator) {
      constexpr auto pixels = digits::size * digits::size;
      auto const& d = all->train;
      generator.normal(batch.target.data(), batch.target.size());
      for (auto b = std::size_t{0}; b < 64; ++b) {
        auto const i = generator.randint(static_cast<std::uint32_t>(d.count()));
        auto const t = generator.randint(digits::diffusion.steps);
        using image = tessera::view<float, tessera::shape<pixels>>;
        digits::diffusion.add_noise(
            t, tessera::view<float const, tessera::shape<pixels>>(&d.pixels[i * pixels]),
            image(&batch.target[b * pixels]), image(&batch.x[b * pixels]));
        batch.condition[2 * b] = static_cast<float>(t);
        batch.condition[2 * b + 1] = static_cast<float>(
            generator.randint(10) == 0 ? static_cast<std::int32_t>(digits::classes) : d.labels[i]);
      }
    };
  }
  if (network == "characters") {
    auto const text = std::make_shared<std::string>(characters::load_text(data).characters);
    return [text](auto& batch, auto& generator) {
      for (auto lane = std::size_t{0}; lane < characters::batch; ++lane) {
        auto const start =
            generator.randint(static_cast<std::uint32_t>(text->size() - characters::context));
        for (auto t = std::size_t{0}; t < characters::context; ++t) {
          batch.x[t * characters::batch + lane] = static_cast<float>((*text)[start + t]);
          batch.target[t * characters::batch + lane] = static_cast<float>((*text)[start + t + 1]);
        }
      }
    };
  }
  // A sine among noise, and the sine alone.
  return [](auto& batch, auto& generator) {
    generator.uniform(batch.x.data(), batch.x.size(), -1, 1);
    for (auto lane = std::size_t{0}; lane < 32; ++lane) {
      auto const rate = 0.1F + 0.4F * generator.template rand<float>();
      for (auto t = std::size_t{0}; t < 50; ++t) {
        auto const wave = std::sin(rate * static_cast<float>(t));
        batch.x[(t * 32 + lane) * 5] += wave;
        batch.target[t * 32 + lane] = wave;
      }
    }
  };
}

auto run(int count, char** arguments) -> int {
  auto network = std::string{"filter"};
  auto data = std::string{};
  auto output = std::string{};
  auto wanted = std::size_t{1000};
  auto rate = 1e-3;
  auto seed = std::uint32_t{1};
  auto app = CLI::App{"Trains a network of the other examples on a GPU, a graph for each step"};
  app.option_defaults()->always_capture_default();
  app.add_option("network", network, "filter, digits or characters")
      ->check(CLI::IsMember({"filter", "digits", "characters"}));
  app.add_option("--data", data, "digits.npy, or a text")->check(CLI::ExistingPath);
  app.add_option("--output", output, "a safetensors file for the parameters");
  app.add_option("--steps", wanted, "of training")->check(CLI::PositiveNumber);
  tessera::add_option(app, "learning_rate", rate, "at its highest");
  app.add_option("--seed", seed, "of the start and the batches");
  if (not tessera::parse_command_line(app, count, arguments)) return 0;
  tessera::check_range("learning_rate", rate, 1e-12, 1e3);
  if (data.empty() && network != "filter")
    throw std::runtime_error("--data: expected a file for the network " + network);
  auto const fill = source_of(network, data);
  if (not steps::has_device()) {
    std::puts("skipped: no device");
    return 77;
  }
  auto const trainer = steps::make_trainer(network, seed);
  auto batch = trainer->shape();
  auto generator = tessera::torch_generator(seed);
  auto const schedule = tessera::cosine_lr{.period = wanted};
  auto seconds = 0.0;
  for (auto step = std::size_t{0}; step < wanted; ++step) {
    fill(batch, generator);
    auto const begun = std::chrono::steady_clock::now();
    auto const loss = trainer->step(batch, schedule.rate(rate, step));
    // The first step records the graph.
    if (step > 0)
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    if (step == 0 || (step + 1) % 100 == 0 || step + 1 == wanted)
      std::printf("step %zu of %zu, loss %.4f\n", step + 1, wanted, loss);
  }
  std::printf("%zu kernels in a graph, %.3f ms a step\n", trainer->kernels(),
              wanted > 1 ? 1e3 * seconds / static_cast<double>(wanted - 1) : 0.0);
  if (not output.empty()) trainer->save(output);
  return 0;
}

}  // namespace

auto main(int count, char** arguments) -> int {
  return tessera::run_program("cuda", [&] { return run(count, arguments); });
}
