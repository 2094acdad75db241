// SPDX-License-Identifier: MIT
#include <tessera/program/command_line.hpp>

#include <cstdio>
#include <iostream>

#include "commands.hpp"
#include "sentences.hpp"

namespace agents {

namespace {

void print_vector(std::vector<float> const& numbers) {
  for (auto i = std::size_t{0}; i < numbers.size(); ++i)
    std::printf(i == 0 ? "%.9g" : " %.9g", static_cast<double>(numbers[i]));
  std::printf("\n");
}
[[nodiscard]] auto embed(std::string const& folder, std::vector<std::string> const& texts) -> int {
  auto model = sentences(folder);
  for (auto const& text : texts) print_vector(model.vector_of(text));
  if (texts.empty())
    for (auto [line, number] = std::pair{std::string{}, 1}; std::getline(std::cin, line);
         ++number) {
      if (auto const fault = tessera::fault_of_utf8(line); not fault.empty())
        throw tessera::usage_error("line " + std::to_string(number) + ": " + fault);
      print_vector(model.vector_of(line));
    }
  return 0;
}

}  // namespace

auto add_embed(CLI::App& program) -> command {
  struct settings {
    std::string folder;
    std::vector<std::string> texts;
  };
  auto* const app =
      program.add_subcommand("embed", "print the vectors of sentences, each in one line");
  auto const s = std::make_shared<settings>();
  app->add_option("--model", s->folder, "a folder of transformers, of bert")->required();
  app->add_option("--text", s->texts, "a sentence, or several; without it lines are read")
      ->check(tessera::utf8_text());
  return {app, [s] { return embed(s->folder, s->texts); }};
}

}  // namespace agents
