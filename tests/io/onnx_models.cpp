// SPDX-License-Identifier: MIT
// onnx_models <folder>: writes models for tests/readers/onnx_models.py.
#include "onnx_models.hpp"

#include <cstdio>

namespace test {
namespace {

struct separate {
  static constexpr auto query = "query", key = "key", value = "value";
};
template <std::size_t Heads>
using look_back =
    attention_layer<16, attention_options{.heads = Heads, .out_projection = false}, separate>;
constexpr auto two_layers = lstm_options{.layers = 2, .dropout = 0.2};
template <std::size_t Heads>
using forecast =
    sequential<transposed_layer, named<"lstm", lstm<15, 16, two_layers>>,
               named<"attention", residual<named<"", look_back<Heads>>>>,
               named<"layer_norm", layer_norm<16>>, last_step, named<"fc", linear<16, 1>>>;
using windows = tensor<float, shape<at_most(8), at_most(40), 15>>;
using steps = tensor<float, shape<at_most(24), at_most(4), 6>>;

template <std::size_t In, std::size_t Out, std::size_t Dilation>
using causal = conv1d<In, Out, 3, conv1d_options{.dilation = Dilation, .causal = true}>;
using tcn = sequential<
    named<"stem", causal<6, 8, 1>>, relu_layer,
    residual<sequential<causal<8, 8, 2>, relu_layer, dropout<0.1>, causal<8, 8, 4>, relu_layer>>,
    last_step, linear<8, 2>>;

}  // namespace

void write_sequences(std::filesystem::path const& folder) {
  auto const batch_first = std::vector<extents_of<windows>>{{1, 1, 15}, {3, 40, 15}, {8, 17, 15}};
  auto const cut = model_case{.names = {"batch", "time"}, .cut_along = "1"};
  write_case<forecast<1>, windows>(folder, "forecast", batch_first, {.names = cut.names});
  write_case<forecast<4>, windows>(folder, "forecast_4_heads", batch_first, {.names = cut.names});
  write_case<sequential<transposed_layer, named<"lstm", lstm<15, 8, two_layers>>, transposed_layer>,
             windows>(folder, "lstm_batch_first", batch_first, cut);

  auto const time_first = std::vector<extents_of<steps>>{{1, 1, 6}, {24, 2, 6}, {7, 4, 6}};
  auto const along_time = model_case{.names = {"time", "batch"}, .cut_along = "0"};
  auto const whole = model_case{.names = {"time", "batch"}};
  write_case<lstm<6, 5>, steps>(folder, "lstm", time_first, along_time);
  write_case<lstm<6, 5, lstm_options{.bias = false}>, steps>(folder, "lstm_no_bias", time_first,
                                                             along_time);
  write_case<lstm<6, 5, lstm_options{.layers = 2, .bidirectional = true}>, steps>(
      folder, "lstm_both_directions", time_first, whole);
  write_case<gru<6, 5, gru_options{.layers = 2, .dropout = 0.5}>, steps>(folder, "gru", time_first,
                                                                         along_time);
  write_case<gru<6, 5, gru_options{.bias = false, .bidirectional = true}>, steps>(
      folder, "gru_both_directions", time_first, whole);
  write_case<tcn, steps>(folder, "tcn", time_first, along_time);
}

}  // namespace test

auto main(int count, char** arguments) -> int try {
  if (count != 2) throw std::runtime_error("expected a folder");
  test::write_sequences(arguments[1]);
  test::write_images(arguments[1]);
  test::write_others(arguments[1]);
  test::write_given(arguments[1]);
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "onnx_models: %s\n", e.what());
  return 2;
}
