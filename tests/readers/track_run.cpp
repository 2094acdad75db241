// SPDX-License-Identifier: MIT
#include <tessera/track/csv_logger.hpp>
#include <tessera/track/json_lines_logger.hpp>
#include <tessera/track/loggers.hpp>
#include <tessera/track/mlflow_logger.hpp>
#include <tessera/track/tensorboard_logger.hpp>
#include <tessera/track/wandb_logger.hpp>

#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <thread>

/// Writes runs for the programs of tests/readers:
///
///   track_run all FOLDER PICTURE [URL]   everything there is, in numbers that the readers know
///   track_run train FOLDER STEPS [URL]   a training of equal steps; prints how long they took
///   track_run endless FOLDER             scalars until it is killed
using namespace tessera;

namespace {

using clock_type = std::chrono::steady_clock;

auto loggers_of(std::filesystem::path const& folder, char const* url)
    -> std::unique_ptr<logger_group> {
  auto group = std::make_unique<logger_group>();
  group->add(std::make_unique<csv_logger>(folder / "csv"));
  group->add(std::make_unique<json_lines_logger>(folder / "run.jsonl"));
  group->add(std::make_unique<tensorboard_logger>(folder / "tensorboard"));
  group->add(std::make_unique<wandb_logger>(wandb_options{.folder = folder, .id = "abcd1234"}));
  if (url != nullptr) group->add(std::make_unique<mlflow_logger>(mlflow_options{.url = url}));
  return group;
}

/// 1 / (1 + step), and at three steps what is no number.
auto loss_at(std::uint64_t step) -> double {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  if (step == 7) return std::numeric_limits<double>::quiet_NaN();
  if (step == 8) return infinity;
  if (step == 9) return -infinity;
  return 1.0 / (1.0 + static_cast<double>(step));
}

void all(std::filesystem::path const& folder, char const* picture, char const* url) {
  auto const group = loggers_of(folder, url);
  group->begin({.name = "first run",
                .project = "readers",
                .group = "folds",
                .tags = {"short", "real"},
                .settings = {{"rate", 0.001}, {"layers", 2}, {"causal", false}, {"cell", "lstm"}},
                .started = std::chrono::system_clock::time_point{
                    std::chrono::milliseconds{1'700'000'000'125}}});
  for (auto step = std::uint64_t{0}; step < 1200; ++step) {
    auto values = std::vector<named_value>{{"train/loss", loss_at(step)}};
    if (step % 100 == 99) values.push_back({"validation/mae", std::sqrt(step)});
    group->scalars(step, values);
  }
  auto numbers = std::vector<float>{};
  for (auto i = 0; i < 1000; ++i) numbers.push_back(static_cast<float>(i * 37 % 101 - 50) / 8.0F);
  group->histogram(1200, "weights/fc.weight", numbers);
  auto const bytes = read_file(picture);
  group->image(1201, "attention", {.bytes = bytes, .width = 5, .height = 4});
  group->text(1202, "note", "a \"quoted\" line\nand another");
  auto long_text = std::string{};
  while (long_text.size() < 100'000) long_text += std::to_string(long_text.size()) + ' ';
  group->text(1203, "long", long_text);
  group->hyperparameters(std::vector<named_setting>{{"decay", 0.5}},
                         std::vector<named_value>{{"best/mae", 0.125}});
  group->finish(run_state::finished);
}

/// Work of the same length whatever is logged: its result depends on every step.
auto step_of_training(std::uint64_t seed) -> double {
  auto x = static_cast<double>(seed % 97) / 97;
  for (auto i = 0; i < 400'000; ++i) x = x * 0.999 + std::sqrt(x) * 0.0005;
  return x;
}

/// Seconds that this thread was ready to run while others had the processors.
auto waited() -> double {
  auto used = 0.0;
  auto waiting = 0.0;
  std::ifstream{"/proc/thread-self/schedstat"} >> used >> waiting;
  return waiting / 1e9;
}
/// What all threads have used of the processors.
auto processor_seconds() -> double {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

void train(std::filesystem::path const& folder, std::uint64_t steps, char const* url) {
  auto const begun = clock_type::now();
  auto const waited_before = waited();
  auto const group = loggers_of(folder, url);
  group->begin({.name = "training", .project = "readers", .settings = {{"rate", 0.5}}});
  auto sum = 0.0;
  for (auto step = std::uint64_t{1}; step <= steps; ++step) {
    sum += step_of_training(step);
    group->scalars(step, std::vector<named_value>{{"train/loss", sum}});
    if (step % 50 == 0) {
      (void)std::printf("step %d\n", static_cast<int>(step));
      (void)std::fflush(stdout);
    }
  }
  auto const trained = clock_type::now();
  auto const others = waited() - waited_before;
  group->finish(run_state::finished);
  auto const seconds = [](auto from, auto to) {
    return std::chrono::duration<double>(to - from).count();
  };
  (void)std::printf("{\"seconds\": %.4f, \"waited\": %.4f, \"processor\": %.4f, ",
                    seconds(begun, trained), others, processor_seconds());
  (void)std::printf("\"finish\": %.4f, \"sum\": \"%a\", \"dropped\": %zu}\n",
                    seconds(trained, clock_type::now()), sum, group->dropped());
}

void endless(std::filesystem::path const& folder) {
  auto const group = loggers_of(folder, nullptr);
  group->begin({.name = "endless", .project = "readers"});
  for (auto step = std::uint64_t{0};; ++step) {
    group->scalars(step, std::vector<named_value>{{"x", static_cast<double>(step) / 4}});
    if (step % 100 == 0) {
      (void)std::printf("%d\n", static_cast<int>(step));
      (void)std::fflush(stdout);
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
}

}  // namespace

auto main(int argc, char** argv) -> int {
  auto const arguments = std::vector<std::string>(argv + 1, argv + argc);
  auto const* url = argc > 4 ? argv[4] : nullptr;
  if (argc >= 4 && arguments[0] == "all") {
    all(arguments[1], argv[3], url);
  } else if (argc >= 4 && arguments[0] == "train") {
    train(arguments[1], std::stoull(arguments[2]), url);
  } else if (argc >= 3 && arguments[0] == "endless") {
    endless(arguments[1]);
  } else {
    (void)std::fprintf(stderr, "track_run all|train|endless FOLDER ...\n");
    return 2;
  }
}
