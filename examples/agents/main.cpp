// SPDX-License-Identifier: MIT
#include <tessera/program/command_line.hpp>

#include <vector>

#include "commands.hpp"

namespace agents {

namespace {

using namespace tessera;

/// What a group cannot be called with has a status of its own.
[[nodiscard]] auto status_of_refusal(usage_error const& e, int count, char const* const* arguments)
    -> int {
  if (count < 2 || std::string_view{arguments[1]} != "run") throw usage_error(e);
  (void)std::fprintf(stderr, "agents run: %s\n", e.what());
  return 1;
}
/// Errors  usage_error, with all subcommands, for a first word that is neither one nor an option
void check_is_command(CLI::App const& app, int count, char const* const* arguments) {
  auto const word = count < 2 ? std::string{} : std::string{arguments[1]};
  if (word.starts_with('-')) return;
  auto known = std::string{};
  for (auto const* const one : app.get_subcommands({})) {
    if (one->get_name() == word) return;
    known += (known.empty() ? "" : ", ") + one->get_name();
  }
  throw usage_error("expected a subcommand, one of " + known + ", got " +
                    (word.empty() ? "none" : shortened(word)));
}
[[nodiscard]] auto run(int count, char const* const* arguments) -> int {
  auto app = CLI::App{"Language models from files"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "agents " AGENTS_VERSION);
  auto const commands = std::vector{
      add_demo(app),  add_run(app),      add_generate(app), add_chat(app),    add_serve(app),
      add_embed(app), add_tokenize(app), add_bench(app),    add_inspect(app), add_fetch(app)};
  check_is_command(app, count, arguments);
  try {
    if (not parse_command_line(app, count, arguments)) return 0;
  } catch (usage_error const& e) {
    return status_of_refusal(e, count, arguments);
  }
  for (auto const& each : commands)
    if (each.called->parsed()) return each.run();
  return 2;
}

}  // namespace

}  // namespace agents

auto main(int count, char** arguments) -> int {
  return tessera::run_program("agents", [&] { return agents::run(count, arguments); });
}
