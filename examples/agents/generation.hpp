// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/text_service.hpp>

#include "opened_model.hpp"

namespace agents {

/// Generates a text, calls `piece` for each part of it as it comes, and returns when it has ended;
/// an interrupt of the program ends it early.
///
/// Errors  std::runtime_error for a model that failed; std::invalid_argument for a request that
///         cannot be run
auto generate_text(opened_model const& model, tessera::text_request request,
                   std::function<void(std::string_view)> const& piece)
    -> tessera::generation_result;

/// Writes a text of a model to standard output at once; a terminal gets nothing that it would obey.
void print_text(std::string_view text);

}  // namespace agents
