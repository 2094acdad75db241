// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

/// The commands of the program, each in a file of its name.
namespace agents {

/// A command: how it is called, and what it does then, which is the program's status.
struct command {
  CLI::App* called = nullptr;
  std::function<int()> run;
};

/// Each adds itself, with its options, to the program.
[[nodiscard]] auto add_bench(CLI::App& program) -> command;
[[nodiscard]] auto add_chat(CLI::App& program) -> command;
[[nodiscard]] auto add_demo(CLI::App& program) -> command;
[[nodiscard]] auto add_embed(CLI::App& program) -> command;
[[nodiscard]] auto add_fetch(CLI::App& program) -> command;
[[nodiscard]] auto add_generate(CLI::App& program) -> command;
[[nodiscard]] auto add_inspect(CLI::App& program) -> command;
[[nodiscard]] auto add_run(CLI::App& program) -> command;
[[nodiscard]] auto add_serve(CLI::App& program) -> command;
[[nodiscard]] auto add_tokenize(CLI::App& program) -> command;

}  // namespace agents
