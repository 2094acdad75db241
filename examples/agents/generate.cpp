// SPDX-License-Identifier: MIT
#include <tessera/train/interrupt.hpp>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "commands.hpp"
#include "generation.hpp"
#include "model_options.hpp"

namespace agents {

namespace {

using namespace tessera;

struct generate_settings {
  model_options model;
  sampling_options sampling;
  std::string prompt;  // "-": of standard input
  std::string system;
  bool raw = false;
};

[[nodiscard]] auto prompt_of(generate_settings const& s) -> std::string {
  if (s.prompt != "-") return s.prompt;
  auto text = std::string{std::istreambuf_iterator{std::cin}, {}};
  if (auto const fault = fault_of_utf8(text); not fault.empty())
    throw usage_error("standard input: " + fault);
  return text;
}
void report(generation_result const& result) {
  auto const after_first = result.seconds - result.first_token_seconds;
  if (result.generated_tokens == 0)
    (void)std::fprintf(stderr, "%zu tokens of prompt, no token after %.2f s\n",
                       result.prompt_tokens, result.seconds);
  else if (result.generated_tokens == 1 || after_first <= 0)
    (void)std::fprintf(stderr, "%zu tokens of prompt and the first one in %.2f s\n",
                       result.prompt_tokens, result.first_token_seconds);
  else
    (void)std::fprintf(stderr, "%zu tokens of prompt in %.2f s, %zu tokens at %.1f tokens/s\n",
                       result.prompt_tokens, result.first_token_seconds, result.generated_tokens,
                       static_cast<double>(result.generated_tokens - 1) / after_first);
}

[[nodiscard]] auto generate(generate_settings const& s) -> int {
  if (s.raw && not s.system.empty())
    throw usage_error("--system: expected a conversation, which --raw is none of");
  auto const prompt = prompt_of(s);
  auto const guard = interrupt_guard{};
  auto how = s.model.how;
  how.texts_alone = s.raw;
  auto const model = open_model(s.model.path, how);
  auto request = text_request{.options = s.sampling};
  auto const is_chat = not s.raw && model.texts.encode_chat;
  if (not s.raw && not is_chat) {
    if (not s.system.empty())
      throw usage_error("--system: " + s.model.path + " has no chat template to say it by");
    (void)std::fprintf(stderr, "%s has no chat template: the text is continued as it stands\n",
                       model.name.c_str());
  }
  if (not is_chat) {
    request.prompt = prompt;
  } else {
    if (not s.system.empty()) request.messages.push_back({"system", s.system});
    request.messages.push_back({"user", prompt});
  }
  auto const result = generate_text(model, std::move(request), print_text);
  if (not s.raw) {
    std::printf("\n");
    (void)std::fflush(stdout);
    report(result);
  }
  return result.reason == finish_reason::cancelled ? 4 : 0;
}

}  // namespace

auto add_generate(CLI::App& program) -> command {
  auto* const app = program.add_subcommand("generate", "continue a text, or answer one message");
  auto const s = std::make_shared<generate_settings>();
  s->model.add_to(*app);
  app->add_option("--prompt", s->prompt, "what it goes on from; -: standard input")
      ->required()
      ->check(utf8_text());
  app->add_option("--system", s->system, "a system message before it")->check(utf8_text());
  app->add_flag("--raw", s->raw, "the prompt as it stands, and nothing printed but what follows");
  add_sampling(*app, s->sampling);
  return {app, [s] { return generate(*s); }};
}

}  // namespace agents
