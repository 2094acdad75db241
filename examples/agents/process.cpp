// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace agents {

namespace {

[[noreturn]] void fail(std::string const& name, int error) {
  throw std::runtime_error(name + " cannot be run: " + std::generic_category().message(error));
}

}  // namespace

auto run_process(std::vector<std::string> const& words) -> finished_process {
  auto pointers = std::vector<char*>{};
  for (auto const& word : words) pointers.push_back(const_cast<char*>(word.c_str()));  // NOLINT
  pointers.push_back(nullptr);
  auto ends = std::array<int, 2>{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(words[0], errno);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // Ctrl-C is for the program, too, where it is not for us.
  auto interrupts = sigset_t{};
  ::sigemptyset(&interrupts);
  ::sigaddset(&interrupts, SIGINT);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigdefault(&attributes, &interrupts);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  auto child = pid_t{};
  auto const error =
      ::posix_spawnp(&child, words[0].c_str(), &actions, &attributes, pointers.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  auto result = finished_process{};
  auto buffer = std::array<char, 4096>{};
  while (error == 0) {
    auto const n = ::read(ends[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.printed.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  if (error != 0) fail(words[0], error);
  auto status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace agents
