// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/program/training_run.hpp>
#include <tessera/train/display.hpp>
#include <tessera/train/interrupt.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "filter.hpp"
#include "metrics.hpp"
#include "plots.hpp"
#include "signal.hpp"

namespace frequency {

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using clock = std::chrono::steady_clock;

[[nodiscard]] auto seconds_since(clock::time_point begin) -> double {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// The figures of a filter on the two signals of its settings.
[[nodiscard]] auto evaluate_both(filter& f, settings const& s, std::size_t parameters) -> report {
  auto const of = [&](std::uint64_t seed) {
    return evaluate(f, make_signal(static_cast<std::uint32_t>(seed), s.phase_scale));
  };
  return {of(s.test_seed), of(s.train_seed), parameters};
}

/// A folder that was trained into: its settings and its filter with the best parameters.
struct trained {
  settings s;
  std::unique_ptr<filter> f;
  cost costs;
};
[[nodiscard]] auto open_folder(fs::path const& folder) -> trained {
  auto result = trained{};
  training_run::check_whole(folder);
  if (not fs::exists(folder / "settings.yaml"))
    throw usage_error(folder.string() + " has no settings.yaml: it is no output of `train`");
  read_config((folder / "settings.yaml").string(), result.s);
  resolve(result.s);
  result.f = make_filter(result.s);
  result.f->load(folder / "model.safetensors");
  auto ignored = std::ostringstream{};
  result.costs = result.f->describe(ignored);
  return result;
}

auto train(settings const& s, fs::path const& folder, std::string const& resume) -> int {
  auto const gpu = on_gpu(s);
  auto const device = choose_device(s.training.device, gpu.answers,
                                    gpu.train == nullptr ? "the model " + model_name(s) : "");
  std::printf("%s\n", device.line.c_str());
  auto f = make_filter(s);
  auto table = std::ostringstream{};
  auto const costs = f->describe(table);
  auto run = training_run({.output = folder,
                           .settings = to_result_yaml(s),
                           .files = {"model.safetensors", "metrics.json", "plots"},
                           .resume = resume,
                           .keeps_nothing = s.training.fast_dev_run > 0});
  std::printf("%s, %zu parameters\n%s", model_name(s).c_str(), costs.parameters,
              table.str().c_str());

  auto const guard = interrupt_guard{};
  auto const data =
      make_recordings(make_signal(static_cast<std::uint32_t>(s.train_seed), s.phase_scale));
  auto const begun = clock::now();
  auto told = callbacks{std::make_shared<epoch_display>()};
  tracking::add_loggers(
      told, s.tracking, folder / "logs",
      {.name = "training", .project = "frequency", .settings = tracking::described(s)});
  auto const result = f->train(data, run, resume, told, device.cuda ? gpu.train : nullptr);
  auto const trained_seconds = seconds_since(begun);
  if (s.training.fast_dev_run > 0) {
    std::printf("fast_dev_run: %zu batches trained; nothing is kept\n",
                static_cast<std::size_t>(result.progress.step));
    return 0;
  }
  if (result.how == ending::interrupted) {
    std::printf("\ninterrupted in epoch %llu; to go on: the same command with --resume\n",
                static_cast<unsigned long long>(result.progress.epoch + 1));
    return 130;
  }
  f->save(run.path() / "model.safetensors");
  auto const evaluated = clock::now();
  auto figures = report{};
  try {
    figures = evaluate_both(*f, s, costs.parameters);
  } catch (interrupted const&) {
    std::printf("\ninterrupted while it was evaluated; to go on: the same command with --resume\n");
    return 130;
  }
  auto const evaluation_seconds = seconds_since(evaluated);
  write_file(run.path() / "metrics.json", to_json(figures) + '\n');
  std::printf("best of epoch %llu\n\n",
              static_cast<unsigned long long>(result.progress.best_epoch));
  print_table(std::cout, figures);
  auto const positions = figures.test.total.n + figures.train.total.n;
  std::printf(
      "\ntraining %.1f s; evaluation %.2f s, %.3g samples/s\n"
      "memory in bytes: training %zu, inference %zu, one stream %zu, parameters %zu\n"
      "written: %s\n",
      trained_seconds, evaluation_seconds, positions / evaluation_seconds, costs.training,
      costs.inference, costs.streaming, costs.parameters * sizeof(float), folder.c_str());
  return 0;
}

auto run(int argc, char** argv) -> int {
  auto app = CLI::App{
      "An LSTM trained as a selectable filter: of a noisy mixture of four "
      "sinusoids it returns the one that is asked for."};
  app.require_subcommand(1);

  auto data_seed = std::uint64_t{1};
  auto data_scale = 0.01;
  auto data_rows = std::uint64_t{samples};
  auto* const data = app.add_subcommand("data", "Print a signal: the mixture and the four targets");
  add_option(*data, "seed", data_seed, "of the signal");
  add_option(*data, "phase_scale", data_scale, "share of the circle that phases are drawn from");
  add_option(*data, "print", data_rows, "samples to print");

  auto s = settings{};
  auto output = fs::path{"frequency-output"};
  auto resume = std::string{};
  auto prints = false;
  auto* const training = app.add_subcommand("train", "Train a filter");
  add_config(*training, argc, argv, s);
  training->add_option("--output", output, "folder of checkpoint, model, logs and metrics")
      ->capture_default_str();
  add_resume(*training, resume);
  training->add_flag("--print-config", prints, "print the settings as YAML and end");
  add_options(*training, s, "by mode");

  auto folder = fs::path{};
  auto json = false;
  auto* const evaluation = app.add_subcommand("evaluate", "Print the figures of a trained filter");
  evaluation->add_option("folder", folder, "output of train")->required();
  evaluation->add_flag("--json", json, "as JSON");
  auto* const plotting = app.add_subcommand("plot", "Draw a trained filter, by gnuplot");
  plotting->add_option("folder", folder, "output of train")->required();
  auto* const bench = app.add_subcommand("bench", "Measure a trained filter");
  bench->add_option("folder", folder, "output of train")->required();
  auto* const models = app.add_subcommand("models", "List the compiled models");

  if (not parse_command_line(app, argc, argv)) return 0;
  if (*data) {
    check_range("seed", data_seed, 0U, 4294967295U);
    check_range("phase_scale", data_scale, 0, 1);
    check_range("print", data_rows, 1U, samples);
    auto const signal = make_signal(static_cast<std::uint32_t>(data_seed), data_scale);
    for (auto n = std::size_t{0}; n < data_rows; ++n)
      std::printf("%.9f %.9f %.9f %.9f %.9f\n", signal.mixture[n], signal.targets[0][n],
                  signal.targets[1][n], signal.targets[2][n], signal.targets[3][n]);
  } else if (*training) {
    resolve(s);
    if (not prints) return train(s, output, resume);
    std::cout << to_yaml(s);
  } else if (*evaluation) {
    auto t = open_folder(folder);
    auto const figures = evaluate_both(*t.f, t.s, t.costs.parameters);
    if (json)
      std::cout << to_json(figures) << '\n';
    else
      print_table(std::cout, figures);
  } else if (*plotting) {
    auto const lock = folder_lock(folder);  // no run takes the folder meanwhile
    auto t = open_folder(folder);
    auto const signal = make_signal(static_cast<std::uint32_t>(t.s.test_seed), t.s.phase_scale);
    for (auto const& file :
         draw_plots(folder / "plots", folder / "log.csv", signal, evaluate(*t.f, signal)))
      std::printf("%s\n", file.c_str());
  } else if (*bench) {
    auto t = open_folder(folder);
    auto const begun = clock::now();
    auto const figures = evaluate_both(*t.f, t.s, t.costs.parameters);
    auto const seconds = seconds_since(begun);
    auto const n = figures.test.total.n + figures.train.total.n;
    std::printf("%s: evaluation %.3g samples/s, streaming %.3g samples/s\n",
                model_name(t.s).c_str(), n / seconds, t.f->streaming_rate(1.0));
  } else if (*models) {
    for (auto const& m : compiled_models())
      std::printf("--mode %s --variant %s --hidden %llu --layers %llu\n", m.mode, m.variant,
                  static_cast<unsigned long long>(m.hidden),
                  static_cast<unsigned long long>(m.layers));
  }
  return 0;
}

}  // namespace

}  // namespace frequency

/// 0: done; 2: what was asked for is impossible; 130: interrupted.
auto main(int argc, char** argv) -> int {
  return tessera::run_program("frequency", [&] { return frequency::run(argc, argv); });
}
