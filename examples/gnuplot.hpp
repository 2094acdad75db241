// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

/// Runs a script of gnuplot in a folder, where it stays as plots.gp.
inline void run_gnuplot(std::filesystem::path const& folder, std::string const& script) {
  auto const file = folder / "plots.gp";
  tessera::write_file(file, script);
  auto const command = "cd '" + folder.string() + "' && gnuplot plots.gp";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error("gnuplot failed on " + file.string() + "; is gnuplot installed?");
}
