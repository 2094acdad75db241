// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace agents {

struct finished_process {
  int status = 0;       ///< 127 where there is no such program
  std::string printed;  ///< its standard output
};

/// Runs a program of the search path to its end; its standard error is ours. SIGINT ends it, though
/// we may ignore that.
///
/// Errors  std::runtime_error where it cannot be begun
[[nodiscard]] auto run_process(std::vector<std::string> const& words) -> finished_process;

}  // namespace agents
