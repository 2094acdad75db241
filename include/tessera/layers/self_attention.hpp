// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/attention.hpp>

namespace tessera {

using self_attention_options = attention_options;

namespace detail {

[[nodiscard]] consteval auto separated(attention_options o) -> attention_options {
  o.fused = false;
  return o;
}

}  // namespace detail

/// Attention with a linear layer each for queries, keys, values and what comes out.
///
/// Errors  another last extent: tests/fail/self_attention_wrong_input.cpp
/// Source  reference values: tests/reference/self_attention.py
template <std::size_t Features, self_attention_options Options = self_attention_options{},
          class Names = llama_projections>
using self_attention = attention_layer<Features, detail::separated(Options), Names>;

}  // namespace tessera
