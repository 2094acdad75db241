// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/models/gpt.hpp>
#include <tessera/tessera.hpp>

/// The language model and the sizes that everything else follows from.
namespace characters {

inline constexpr std::size_t vocabulary = 128;  ///< ASCII
inline constexpr std::size_t context = 128;     ///< characters that a generated one sees
inline constexpr std::size_t batch = 16;

using model = tessera::gpt<tessera::gpt_options{
    .vocabulary = vocabulary, .width = 128, .blocks = 4, .heads = 4, .context = context}>;

using text_batch = tessera::tensor<float, tessera::shape<context, batch>>;
using character = tessera::tensor<float, tessera::shape<1>>;

}  // namespace characters
