// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/conv1d.hpp>
#include <tessera/layers/gru.hpp>
#include <tessera/models/lstm_attention.hpp>
#include <tessera/tessera.hpp>

/// The models of the forecaster: x (time, batch, 15), the features of a look-back; y (batch, 1).
namespace forecast {

inline constexpr auto features_of_a_day = std::size_t{15};
inline constexpr auto longest_look_back = std::size_t{120};

template <std::size_t Hidden, std::size_t Heads>
using attention_model = tessera::lstm_attention<tessera::lstm_attention_options{
    .hidden = Hidden, .heads = Heads, .dropout = tessera::at_run_time}>;

template <std::size_t Hidden>
using lstm_model = tessera::sequential<
    tessera::named<
        "lstm", tessera::lstm<features_of_a_day, Hidden,
                              tessera::lstm_options{.layers = 2, .dropout = tessera::at_run_time}>>,
    tessera::last_step, tessera::named<"fc", tessera::linear<Hidden, 1>>>;
template <std::size_t Hidden>
using gru_model = tessera::sequential<
    tessera::named<
        "gru", tessera::gru<features_of_a_day, Hidden,
                            tessera::gru_options{.layers = 2, .dropout = tessera::at_run_time}>>,
    tessera::last_step, tessera::named<"fc", tessera::linear<Hidden, 1>>>;

/// A causal convolution of three samples, `Dilation` apart, around which the input goes.
template <std::size_t Hidden, std::size_t Dilation>
using temporal_block = tessera::residual<tessera::sequential<
    tessera::conv1d<Hidden, Hidden, 3,
                    tessera::conv1d_options{.dilation = Dilation, .causal = true}>,
    tessera::relu_layer, tessera::dropout<tessera::at_run_time>>>;
/// Sees 63 days back: 1 + 2·(1 + 2 + 4 + 8 + 16).
template <std::size_t Hidden>
using tcn_model = tessera::sequential<
    tessera::sequential<
        tessera::conv1d<features_of_a_day, Hidden, 3, tessera::conv1d_options{.causal = true}>,
        tessera::relu_layer>,
    temporal_block<Hidden, 2>, temporal_block<Hidden, 4>, temporal_block<Hidden, 8>,
    temporal_block<Hidden, 16>, tessera::last_step, tessera::linear<Hidden, 1>>;

}  // namespace forecast
