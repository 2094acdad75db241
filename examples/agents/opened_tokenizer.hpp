// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer.hpp>

#include <filesystem>

namespace agents {

/// That of a GGUF file, a tokenizer.json, or a folder that has one.
[[nodiscard]] auto open_tokenizer(std::filesystem::path const& path) -> tessera::tokenizer;

}  // namespace agents
