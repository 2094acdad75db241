// SPDX-License-Identifier: MIT
#include <tessera/text/conversation.hpp>
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

/// A conversation that has to find place in a context.
class conversation {
 public:
  conversation(opened_model const& model, std::string const& system) : model_(model) {
    if (not system.empty()) messages_.push_back({"system", system});
    system_ = messages_.size();
  }
  struct question {
    std::vector<chat_message> messages;
    std::size_t left = 0;  ///< exchanges that are not among them any more
  };
  /// What is asked next. Where the context has less place for an answer than a quarter, and than
  /// `max_tokens`, the oldest exchanges leave it, and the system message stays.
  ///
  /// Errors  context_error where there is no place for the message alone
  [[nodiscard]] auto ask(std::string const& text, std::size_t max_tokens) const -> question {
    auto const context = model_.runs->bounds().context;
    auto const most = context - std::min(context / 4, max_tokens);
    auto const tokens = [&](std::vector<chat_message> const& messages) {
      return model_.texts.encode_chat(messages).size();
    };
    auto all = messages_;
    all.push_back({"user", text});
    auto const exchanges = (messages_.size() - system_) / 2;
    auto rest = without_oldest(all, system_, exchanges,
                               [&](auto const& messages) { return tokens(messages) <= most; });
    if (auto const n = tokens(rest); n > context) throw context_error(context, n);
    auto const left = (all.size() - rest.size()) / 2;
    return {std::move(rest), left};
  }
  void keep(question asked, std::string answer) {
    messages_ = std::move(asked.messages);
    messages_.push_back({"assistant", std::move(answer)});
  }

 private:
  opened_model const& model_;
  std::vector<chat_message> messages_;
  std::size_t system_ = 0;  ///< messages before the first exchange
};

/// Asks, and writes the answer as it comes; an interrupt ends the answer.
void take_turn(opened_model const& model, conversation& said, std::string const& line,
               sampling_options const& sampling) {
  auto const guard = interrupt_guard{};  // between two turns an interrupt ends the program
  auto asked = said.ask(line, sampling.max_tokens);
  if (asked.left > 0)
    (void)std::fprintf(stderr,
                       "the context of %zu tokens is full: %zu of the oldest exchanges left it\n",
                       model.runs->bounds().context, asked.left);
  auto answer = std::string{};
  auto const result = generate_text(model, {.messages = asked.messages, .options = sampling},
                                    [&](std::string_view text) {
                                      answer += text;
                                      print_text(text);
                                    });
  (void)std::fputs("\n", stdout);
  (void)std::fflush(stdout);
  said.keep(std::move(asked), std::move(answer));
  if (result.reason == finish_reason::cancelled)
    (void)std::fputs("the answer ends here: interrupted\n", stderr);
  if (result.reason == finish_reason::length)
    (void)std::fprintf(stderr, "the answer ends here: %s\n",
                       result.generated_tokens < sampling.max_tokens ? "the context is full"
                                                                     : "--max-tokens says so");
}

/// A conversation by lines: each is a message.
[[nodiscard]] auto chat(chat_settings const& s) -> int {
  auto const model = open_model(s.model.path, s.model.how);
  if (not model.texts.encode_chat)
    throw std::runtime_error(s.model.path + " has no chat template; `generate --raw` takes texts");
  auto said = conversation(model, s.system);
  (void)std::fprintf(stderr, "%s. A line is a message; the end of input ends it.\n",
                     model.name.c_str());
  for (auto line = std::string{};;) {
    (void)std::fputs("> ", stderr);
    if (not std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    try {
      if (auto const fault = fault_of_utf8(line); not fault.empty()) throw usage_error(fault);
      take_turn(model, said, line, s.sampling);
    } catch (std::exception const& e) {
      (void)std::fprintf(stderr, "this message is left out: %s\n", e.what());
    }
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
  app->add_option("--system", s->system, "what the model is told first")->check(utf8_text());
  add_sampling(*app, s->sampling);
  return {app, [s] { return chat(*s); }};
}

}  // namespace agents
