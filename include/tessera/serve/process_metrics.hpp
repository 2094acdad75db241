// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/metrics.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/resource.h>
#include <unistd.h>

namespace tessera {

namespace detail {

/// Number `field` of /proc/self/stat, from 1; 0 where the system has none.
[[nodiscard]] inline auto process_field(std::size_t field) -> double {
  auto file = std::ifstream{"/proc/self/stat"};
  auto text = std::string{std::istreambuf_iterator<char>{file}, {}};
  auto const name_end = text.rfind(')');  // the name of the program may hold anything
  if (name_end == std::string::npos) return 0;
  auto words = std::istringstream{text.substr(name_end + 1)};
  auto word = std::string{};
  for (auto i = std::size_t{2}; i < field; ++i) words >> word;
  return std::strtod(word.c_str(), nullptr);
}
[[nodiscard]] inline auto process_cpu_seconds() -> double {
  auto usage = rusage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}
[[nodiscard]] inline auto process_open_files() -> double {
  auto error = std::error_code{};
  auto const files = std::filesystem::directory_iterator{"/proc/self/fd", error};
  return error ? 0 : static_cast<double>(std::distance(begin(files), end(files)));
}
[[nodiscard]] inline auto process_most_files() -> double {
  auto limit = rlimit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}
/// Seconds of 1970 at which the process began.
[[nodiscard]] inline auto process_start() -> double {
  auto file = std::ifstream{"/proc/stat"};
  for (auto word = std::string{}; file >> word;)
    if (word == "btime") {
      auto boot = 0.0;
      file >> boot;
      return boot + process_field(22) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
  return 0;
}

}  // namespace detail

/// What Prometheus' clients tell of every process: time, memory, files.
inline void add_process_metrics(metrics& to) {
  to.ask("process_cpu_seconds_total", "User and system CPU time in seconds.", "counter",
         detail::process_cpu_seconds);
  to.ask("process_resident_memory_bytes", "Resident memory size in bytes.", "gauge",
         [] { return detail::process_field(24) * static_cast<double>(::sysconf(_SC_PAGESIZE)); });
  to.ask("process_virtual_memory_bytes", "Virtual memory size in bytes.", "gauge",
         [] { return detail::process_field(23); });
  to.ask("process_open_fds", "Number of open file descriptors.", "gauge",
         detail::process_open_files);
  to.ask("process_max_fds", "Maximum number of open file descriptors.", "gauge",
         detail::process_most_files);
  to.ask("process_start_time_seconds", "Start time of the process since 1970 in seconds.", "gauge",
         [began = detail::process_start()] { return began; });
}

}  // namespace tessera
