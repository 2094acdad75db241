// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/tensor/search.hpp>

namespace tessera::nodes {

/// An index has no slope.
template <bool Largest, std::size_t Axis>
constexpr void pull_operation(search<Largest, Axis>, auto const&, auto const&, auto const&,
                              auto const&) {}

}  // namespace tessera::nodes
