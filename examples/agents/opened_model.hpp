// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/engine_service.hpp>
#include <tessera/text/tokenizer.hpp>

#include <filesystem>

namespace agents {

/// A language model out of a file, which runs: what the commands share.
struct opened_model {
  std::string name;  ///< that the file gives itself, else the file's
  std::shared_ptr<tessera::tokenizer const> words;
  std::shared_ptr<tessera::token_index const> index;  ///< tokens by their bytes, to choose by
  std::shared_ptr<tessera::engine> runs;
  tessera::engine_texts texts;  ///< to ask the engine with texts; end_tokens is not empty
};

struct opening {
  bool exact = false;     ///< blocks are widened to floats instead of multiplied as they are stored
  std::size_t queue = 64;  ///< requests that wait for a lane
};

/// Errors  file_error for what is no model that was compiled: it says what to add; text_error for
///         a tokenizer or a chat template that is not known
[[nodiscard]] auto open_model(std::filesystem::path const& path, opening how = {}) -> opened_model;

}  // namespace agents
