// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/parameters.hpp>
#include <tessera/tessera.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

/// What rows compute, for peers that must compute the same before they are timed:
/// `<program> --results <file> <row>` writes what the row starts from, and as `result` what each of
/// its steps gives, or as `results` what the first ones give, one after another.
namespace results {

using writer_of_row = std::function<void(std::filesystem::path const&)>;

/// The rows of a program that tell their results.
[[nodiscard]] inline auto rows() -> std::map<std::string, writer_of_row>& {
  static auto known = std::map<std::string, writer_of_row>{};
  return known;
}

/// Makes a row tell its results.
struct of_row {
  of_row(std::string const& name, writer_of_row write) { rows()[name] = std::move(write); }
};

/// Adds a tensor as it is now.
template <tessera::contiguous X>
void add(tessera::safetensors_writer& writer, std::string const& name, X const& x) {
  auto const bytes = std::as_bytes(std::span{x.data(), x.size()});
  writer.add_kept(name, tessera::dtype_of<tessera::scalar_of<X>>(),
                  tessera::file_shape<tessera::shape_of<X>>(), {bytes.begin(), bytes.end()});
}
/// Adds parameters as they are now.
template <class P> void add_parameters(tessera::safetensors_writer& writer, P const& p) {
  tessera::for_each_parameter(
      [&](auto const& path, auto const& w) {
        add(writer, "parameters." + std::string{path.c_str()}, w);
      },
      p);
}

}  // namespace results
