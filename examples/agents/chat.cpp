// SPDX-License-Identifier: MIT
#include <tessera/train/interrupt.hpp>

#include <cstdio>
#include <iostream>

#include "commands.hpp"
#include "generation.hpp"
#include "model_options.hpp"

namespace agents {

namespace {

using namespace tessera;

struct chat_settings {
  model_options model;
  sampling_options sampling;
  std::string system;
};

/// A conversation by lines: each is a message, and the answer is written as it comes.
[[nodiscard]] auto chat(chat_settings const& s) -> int {
  auto const guard = interrupt_guard{};
  auto const model = open_model(s.model.path, s.model.how);
  if (not model.texts.encode_chat)
    throw std::runtime_error(s.model.path + " has no chat template; `generate --raw` takes texts");
  auto messages = std::vector<chat_message>{};
  if (not s.system.empty()) messages.push_back({"system", s.system});
  (void)std::fprintf(stderr, "%s. A line is a message; the end of input ends it.\n",
                     model.name.c_str());
  for (auto line = std::string{};;) {
    (void)std::fputs("> ", stderr);
    if (not std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    messages.push_back({"user", line});
    auto answer = std::string{};
    auto result = generation_result{};
    try {
      result = generate_text(model, {.messages = messages, .options = s.sampling},
                             [&](std::string_view text) {
                               answer += text;
                               (void)std::fwrite(text.data(), 1, text.size(), stdout);
                               (void)std::fflush(stdout);
                             });
    } catch (std::exception const& e) {
      (void)std::fprintf(stderr, "this message is left out: %s\n", e.what());
      messages.pop_back();
      continue;
    }
    (void)std::fputs("\n", stdout);
    (void)std::fflush(stdout);
    messages.push_back({"assistant", answer});
    if (result.reason == finish_reason::cancelled) return 4;
  }
  (void)std::fputs("\n", stderr);
  return 0;
}

}  // namespace

auto add_chat(CLI::App& program) -> command {
  auto* const app = program.add_subcommand("chat", "a conversation, by lines of standard input");
  auto const s = std::make_shared<chat_settings>();
  s->model.add_to(*app);
  s->sampling.max_tokens = 512;
  s->sampling.temperature = 0.2;
  s->sampling.top_p = 0.9;
  app->add_option("--system", s->system, "what the model is told first");
  add_sampling(*app, s->sampling);
  return {app, [s] { return chat(*s); }};
}

}  // namespace agents
