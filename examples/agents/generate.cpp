// SPDX-License-Identifier: MIT
#include <tessera/train/interrupt.hpp>

#include <cstdio>

#include "commands.hpp"
#include "generation.hpp"
#include "model_options.hpp"

namespace agents {

namespace {

using namespace tessera;

struct generate_settings {
  model_options model;
  sampling_options sampling;
  std::string prompt;
  std::string system;
  bool raw = false;
};

[[nodiscard]] auto generate(generate_settings const& s) -> int {
  auto const guard = interrupt_guard{};
  auto how = s.model.how;
  how.texts_alone = s.raw;
  auto const model = open_model(s.model.path, how);
  auto request = text_request{.options = s.sampling};
  if (s.raw || not model.texts.encode_chat) {
    request.prompt = s.prompt;
  } else {
    if (not s.system.empty()) request.messages.push_back({"system", s.system});
    request.messages.push_back({"user", s.prompt});
  }
  auto const result = generate_text(model, std::move(request), [](std::string_view text) {
    (void)std::fwrite(text.data(), 1, text.size(), stdout);
    (void)std::fflush(stdout);
  });
  if (not s.raw) {
    auto const after_first = result.seconds - result.first_token_seconds;
    auto const steps = static_cast<double>(result.generated_tokens) - 1;
    std::printf("\n");
    (void)std::fflush(stdout);
    (void)std::fprintf(stderr, "%zu tokens of prompt in %.2f s, %zu tokens at %.1f tokens/s\n",
                       result.prompt_tokens, result.first_token_seconds, result.generated_tokens,
                       after_first > 0 ? steps / after_first : 0);
  }
  return result.reason == finish_reason::cancelled ? 4 : 0;
}

}  // namespace

auto add_generate(CLI::App& program) -> command {
  auto* const app = program.add_subcommand("generate", "continue a text, or answer one message");
  auto const s = std::make_shared<generate_settings>();
  s->model.add_to(*app);
  app->add_option("--prompt", s->prompt, "what it goes on from")->required()->check(utf8_text());
  app->add_option("--system", s->system, "a system message before it")->check(utf8_text());
  app->add_flag("--raw", s->raw, "the prompt as it stands, and nothing printed but what follows");
  add_sampling(*app, s->sampling);
  return {app, [s] { return generate(*s); }};
}

}  // namespace agents
