// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/attention.hpp>

namespace tessera {

using self_attention_options = attention_options;

/// Attention with a linear layer each for queries, keys, values and what comes out.
///
/// Errors  another last extent: tests/fail/self_attention_wrong_input.cpp
/// Source  reference values: tests/reference/self_attention.py
template <std::size_t Features, attention_options Options = attention_options{},
          class Names = llama_projections>
struct self_attention : attention_layer<Features, Options, Names> {};

}  // namespace tessera
