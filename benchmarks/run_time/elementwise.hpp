// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

/// What libraries in the same program start from, and must compute before they are timed.
namespace elementwise {

/// The operands of a row by their names, and its `result`.
using numbers = std::map<std::string, std::vector<float>>;

[[nodiscard]] auto told(std::string const& row) -> numbers;

}  // namespace elementwise
