// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tessera.hpp>

/// The models of the filter: input (time, lanes, 5), the mixture and a selector of four; output
/// (time, lanes, 1).
namespace frequency {

template <std::size_t Hidden, std::size_t Layers>
using plain = tessera::sequential<
    tessera::lstm<5, Hidden,
                  tessera::lstm_options{.layers = Layers, .dropout = tessera::at_run_time}>,
    tessera::linear<Hidden, 1>>;

/// Attention over the window, each sample to the ones before it, beside the LSTM's own output.
template <std::size_t Hidden>
using with_attention =
    tessera::sequential<tessera::lstm<5, Hidden>,
                        tessera::residual<tessera::attention_layer<
                            Hidden, tessera::attention_options{.heads = 4, .causal = true}>>,
                        tessera::linear<Hidden, 1>>;

/// Columns [Begin, End) of the input.
template <tessera::extent Begin, tessera::extent End> struct columns {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    using namespace tessera;
    if constexpr (shape_of<decltype(x)>::rank == 3)
      return slice(x, tessera::whole_axis, tessera::whole_axis, tessera::range<Begin, End>) * 1.0F;
    else
      return slice(x, tessera::whole_axis, tessera::range<Begin, End>) * 1.0F;
  }
};
/// Of (hidden, scale, shift), side by side: scale·hidden + shift.
struct modulate {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    return tessera::chunk<1, 3>(x) * tessera::chunk<0, 3>(x) + tessera::chunk<2, 3>(x);
  }
};
/// Feature-wise linear modulation: the LSTM hears the mixture alone; the selector decides how its
/// output is scaled and shifted.
template <std::size_t Hidden>
using film = tessera::sequential<
    tessera::parallel<
        tessera::sequential<columns<0, 1>, tessera::lstm<1, Hidden>>,
        tessera::sequential<columns<1, 5>, tessera::linear<4, 2 * Hidden>, tessera::relu_layer,
                            tessera::linear<2 * Hidden, 2 * Hidden>>>,
    modulate, tessera::linear<Hidden, 1>>;

// PyTorch's counts.
static_assert(tessera::parameter_count<plain<64, 1>> == 18'241);
static_assert(tessera::parameter_count<plain<64, 2>> == 51'521);
static_assert(tessera::parameter_count<plain<128, 2>> == 201'345);
static_assert(tessera::parameter_count<plain<256, 2>> == 795'905);

}  // namespace frequency
