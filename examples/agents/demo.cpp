// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>
#include <tessera/train/interrupt.hpp>

#include <cstdio>

#include "commands.hpp"
#include "demo_training.hpp"
#include "generation.hpp"

namespace agents {

namespace {

using namespace tessera;

struct demo_options {
  std::string output = "demo";
  demo_settings training;
};

/// Asks what was held out, by the same way as any other model's file is asked.
[[nodiscard]] auto ask(std::filesystem::path const& file, std::span<question const> held_out)
    -> finish_reason {
  constexpr auto questions = std::size_t{6};
  auto const model = open_model(file);
  auto options = sampling_options{};
  options.max_tokens = 20;
  options.temperature = 0;
  for (auto i = std::size_t{0}; i < questions; ++i) {
    auto const& one = held_out[i * held_out.size() / questions];
    std::printf("> %s\n", one.text.c_str());
    auto answer = std::string{};
    auto const result = generate_text(model, {.messages = {{"user", one.text}}, .options = options},
                                      [&](std::string_view text) {
                                        answer += text;
                                        (void)std::fwrite(text.data(), 1, text.size(), stdout);
                                        (void)std::fflush(stdout);
                                      });
    std::printf("\n  %s\n", answer == one.answer ? "right" : ("expected " + one.answer).c_str());
    if (result.reason == finish_reason::cancelled) return result.reason;
  }
  return finish_reason::stop;
}

[[nodiscard]] auto demo(demo_options const& s) -> int {
  auto const guard = interrupt_guard{};
  auto training = s.training;
  detail::make_folder(s.output);
  training.file = std::filesystem::path(s.output) / "model.gguf";
  auto const trained = train_demo(training);
  if (not trained) return 4;
  if (ask(training.file, trained->held_out) == finish_reason::cancelled) return 4;
  auto const file = training.file.string();
  std::printf("The model is %s; now try\n  agents chat --model %s\n", file.c_str(), file.c_str());
  return 0;
}

}  // namespace

auto add_demo(CLI::App& program) -> command {
  auto* const app = program.add_subcommand(
      "demo", "train a small model here, in half a minute, and ask it: nothing is downloaded");
  auto const s = std::make_shared<demo_options>();
  auto const option = [&](char const* name, auto& value, char const* help) {
    return app->add_option(name, value, help)->capture_default_str();
  };
  option("--output", s->output, "the folder for model.gguf");
  option("--seed", s->training.seed, "of the start and the draws")
      ->check(CLI::Range(0U, 4294967295U));
  option("--steps", s->training.steps, "of training")->check(CLI::Range(2, 1'000'000));
  option("--threads", s->training.threads, "that share a step of training")
      ->check(CLI::Range(1, 256));
  return {app, [s] { return demo(*s); }};
}

}  // namespace agents
