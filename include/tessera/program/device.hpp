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
/// is built without CUDA has none to give. `lacks` names what was not compiled for CUDA and is
/// asked for, as "the model gru of 256"; it is empty where all is there.
///
/// Errors  usage_error for another word, and for cuda where there is none
[[nodiscard]] inline auto choose_device(std::string const& asked,
                                        std::function<bool()> const& has_cuda = {},
                                        std::string const& lacks = {}) -> chosen_device {
  check_one_of("device", asked, {"auto", "cpu", "cuda"});
  auto const built = static_cast<bool>(has_cuda);
  if (asked == "cpu") return {false, "device: cpu"};
  auto const reason = [&]() -> std::string {
    if (not built) return "this program is built without CUDA";
    if (not has_cuda()) return "no CUDA device answers";
    return lacks.empty() ? "" : lacks + " is not compiled for CUDA";
  }();
  if (reason.empty()) return {true, "device: cuda"};
  if (asked == "cuda") throw usage_error("--device: cuda was asked for, and " + reason);
  return {false, "device: cpu, as " + reason};
}

}  // namespace tessera
