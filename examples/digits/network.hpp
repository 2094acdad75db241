// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/flatten.hpp>
#include <tessera/models/diffusion.hpp>
#include <tessera/models/unet.hpp>
#include <tessera/tessera.hpp>

/// The two networks, and the sizes that everything else follows from.
namespace digits {

inline constexpr std::size_t size = 8;      ///< pixels of a side
inline constexpr std::size_t classes = 10;  ///< and class 10: no class was given
inline constexpr std::size_t batch = 64;
inline constexpr auto diffusion = tessera::cosine_diffusion<200>();

using images = tessera::tensor<float, tessera::shape<tessera::at_most(batch), size, size, 1>>;
using conditions =
    tessera::tensor<float, tessera::shape<tessera::at_most(batch), 2>>;  ///< step and class

/// Predicts the noise in an image.
using denoiser = tessera::unet<tessera::unet_options{.in = 1,
                                                     .out = 1,
                                                     .levels = 2,
                                                     .channels = {32, 64},
                                                     .blocks = 1,
                                                     .attention_from = 1,
                                                     .head_width = 16,
                                                     .groups = 8,
                                                     .classes = classes + 1}>;

/// Recognizes a digit.
using classifier = tessera::sequential<
    tessera::conv2d<1, 16, 3, tessera::conv2d_options{.padding = 1}>, tessera::relu_layer,
    tessera::conv2d<16, 32, 3, tessera::conv2d_options{.stride = 2, .padding = 1}>,
    tessera::relu_layer, tessera::flatten, tessera::linear<512, 64>, tessera::relu_layer,
    tessera::linear<64, classes>>;

}  // namespace digits
