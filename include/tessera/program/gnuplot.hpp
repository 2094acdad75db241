// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include <spawn.h>
#include <sys/wait.h>

namespace tessera {

/// A text as a string of a script. What could end it, or be run, replaced or taken for an escape
/// there, is written by its octal digits.
[[nodiscard]] inline auto gnuplot_text(std::string_view text) -> std::string {
  auto result = std::string{'"'};
  for (auto const letter : text) {
    auto const code = static_cast<unsigned char>(letter);
    auto const digit = [&](unsigned shift) {
      return static_cast<char>('0' + (code >> shift & 7U));
    };
    if (std::isalnum(code) != 0 || code > 127 ||
        std::string_view{" -_.,:;()/%+=<>"}.find(letter) != std::string_view::npos)
      result += letter;
    else
      result += {'\\', digit(6), digit(3), digit(0)};
  }
  return result + '"';
}

/// Runs a script of gnuplot in a folder, where it stays as plots.gp. No shell reads a name. What
/// stands in the script and is not the program's own goes through gnuplot_text.
///
/// Errors  std::runtime_error where gnuplot is missing or fails; file_error
inline void run_gnuplot(std::filesystem::path const& folder, std::string const& script) {
  auto const file = folder / "plots.gp";
  write_file(file, script);
  auto const fail = [&](std::string const& why) {
    throw std::runtime_error("gnuplot failed on " + file.string() + ": " + why);
  };
  posix_spawn_file_actions_t actions;
  (void)::posix_spawn_file_actions_init(&actions);
  (void)::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  char program[] = "gnuplot";
  char argument[] = "plots.gp";
  char* const arguments[] = {program, argument, nullptr};
  auto child = pid_t{};
  auto const error = ::posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
  (void)::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) fail("is gnuplot installed?");
  if (error != 0) fail(detail::system_reason(error));
  auto status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(detail::system_reason());
  if (not WIFEXITED(status)) fail("it was killed by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) fail("it ended with " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace tessera
