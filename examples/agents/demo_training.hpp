// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "demo_chats.hpp"

namespace agents {

struct demo_settings {
  std::filesystem::path file;  ///< the model, as GGUF
  std::uint64_t seed = 1;      ///< of the start and the draws
  std::uint64_t steps = 400;
  std::size_t threads = 2;  ///< decide nothing but the time
};

/// What a training came to.
struct demo_result {
  std::vector<question> held_out;
  std::size_t right = 0;  ///< answers to those, letter by letter
};

/// Trains a small language model on the chats, prints how that goes, and writes it with its
/// tokenizer and chat template. The same seed and steps give the same file.
///
/// Errors  file_error; std::runtime_error for a loss that is no number; nothing is returned, and no
///         file written, where the program is interrupted
[[nodiscard]] auto train_demo(demo_settings const& settings) -> std::optional<demo_result>;

}  // namespace agents
