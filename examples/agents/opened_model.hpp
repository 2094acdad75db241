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
  tessera::engine_texts texts;     ///< to ask the engine with texts; end_tokens is not empty
  std::vector<std::string> marks;  ///< tokens that the chat template writes
};

/// The same with its lanes, which a command steps itself.
struct lanes_of_file {
  std::string name;
  std::shared_ptr<tessera::tokenizer const> words;
  std::unique_ptr<tessera::lane_model> model;
  tessera::engine_texts texts;
  std::vector<std::string> marks;
  std::size_t file_bytes = 0;       ///< that are mapped
  std::size_t parameter_bytes = 0;  ///< beside them
  std::size_t stream_bytes = 0;     ///< of a step and of all caches
  std::size_t token_bytes = 0;      ///< of these, what a token of a sequence keeps
  std::size_t token_runs = 0;       ///< in which a sequence's tokens are kept, one after another
  std::size_t attention_bytes = 0;  ///< work for a whole context
};

struct opening {
  bool exact = false;  ///< blocks and bf16 are widened to floats, not multiplied as stored
  std::size_t threads = 1;
  std::size_t queue = 64;    ///< requests that wait for a lane
  bool texts_alone = false;  ///< no conversations: a chat template is not looked at
};

/// Errors  file_error for what is no model that was compiled: it says what to add; text_error for
///         a tokenizer or a chat template that is not known
[[nodiscard]] auto open_model(std::filesystem::path const& path, opening how = {}) -> opened_model;
[[nodiscard]] auto open_lanes(std::filesystem::path const& path, opening how = {}) -> lanes_of_file;

}  // namespace agents
