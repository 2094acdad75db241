// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/settings.hpp>

#include <functional>

namespace tessera {

/// Where a program computes, and a line that says so.
struct chosen_device {
  bool cuda = false;
  std::string line;
};

/// What "auto", "cpu" or "cuda" comes to. `has_cuda` tells whether a device answers; a program that
/// is built without CUDA has none to give.
///
/// Errors  usage_error for another word, and for cuda where there is none
[[nodiscard]] inline auto choose_device(std::string const& asked,
                                        std::function<bool()> const& has_cuda = {})
    -> chosen_device {
  check_one_of("device", asked, {"auto", "cpu", "cuda"});
  auto const built = static_cast<bool>(has_cuda);
  auto const there = asked != "cpu" && built && has_cuda();
  if (asked == "cuda" && not there)
    throw usage_error(built
                          ? "--device: cuda was asked for, and no CUDA device answers"
                          : "--device: cuda was asked for, and this program is built without CUDA");
  if (there) return {true, "device: cuda"};
  if (asked == "cpu") return {false, "device: cpu"};
  return {false, built ? "device: cpu, as no CUDA device answers"
                       : "device: cpu, as this program is built without CUDA"};
}

}  // namespace tessera
