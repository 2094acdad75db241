// SPDX-License-Identifier: MIT
#include <tessera/models/gpt.hpp>
#include <tessera/models/gpt2.hpp>
#include <tessera/models/llama.hpp>

#include "onnx_models.hpp"

/// Layers of a program of one's own: an expression, and a composition.
namespace shop {

struct scaled : tessera::any_shape {
  template <class Storage> struct parameters {
    tessera::tensor_in<Storage, tessera::shape<5>> factor;
    TESSERA_PARAMETERS(factor)
  };
  static constexpr auto forward(auto const& p, auto x) { return x * p.factor; }
};
auto to_onnx(scaled const&, auto& at, tessera::onnx_value const& x) -> tessera::onnx_value {
  return at.like("Mul", x, {at.tensor("factor", at.parameters.factor)});
}

template <class F> struct twice : tessera::composition<twice<F>, F> {
  template <class S> using output_shape = S;
  static constexpr auto backward_reads = tessera::reads::neither;
  static constexpr void run(auto inside, auto x, auto y) {
    inside.template forward<0>(x, y);
    y += y;
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    inside.template backward<0>(x, y, dy, dx);
  }
};
template <class F>
auto to_onnx(twice<F> const& layer, auto& at, tessera::onnx_value const& x) -> tessera::onnx_value {
  auto const y = onnx_of_child<0>(layer, at, x);
  return at.like("Add", y, {y.name});
}

}  // namespace shop

namespace test {
namespace {

using rows = tensor<float, shape<at_most(9), 5>>;
using sequences = tensor<float, shape<at_most(12), at_most(3), 8>>;
template <class... Activations>
using perceptron = sequential<sequential<linear<5, 5>, Activations>..., linear<5, 2>>;

constexpr auto words = gpt_options{.vocabulary = 11,
                                   .width = 16,
                                   .blocks = 2,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .context = 16,
                                   .recompute = true};

template <attention_options Options>
using block = residual<named<"", sequential<layer_norm<8, layer_norm_options{.affine = false}>,
                                            named<"attention", attention_layer<8, Options>>>>>;

void write_rows(std::filesystem::path const& folder) {
  auto const calls = std::vector<extents_of<rows>>{{1, 5}, {9, 5}};
  auto const more = model_case{.names = {"batch"}, .scale = 4};
  write_case<perceptron<relu_layer, tanh_layer, sigmoid_layer, silu_layer, gelu_layer,
                        gelu_tanh_layer, softplus_layer>,
             rows>(folder, "activations", calls, more);
  write_case<sequential<repeat<residual<sequential<linear<5, 5>, tanh_layer>>, 3>,
                        named<"kept", frozen<sequential<linear<5, 5>, batch_norm<5>>>>,
                        recompute<parallel<linear<5, 2, linear_options{.bias = false}>,
                                           evaluated<layer_norm<5>>>>,
                        select_column<3, 7>>,
             rows>(folder, "compositions", calls, more);
  write_case<sequential<named<"mlp", gated_perceptron<5, 7>>, rms_norm<5>,
                        gated_perceptron<5, 3, gated_perceptron_options{.bias = true}>>,
             rows>(folder, "gated_perceptron", calls, more);
  write_case<
      sequential<shop::scaled, named<"own", shop::twice<named<"inner", linear<5, 5>>>>, identity>,
      rows>(folder, "own_layers", calls, more);
  write_case<time_embedding<8, 6>, tensor<float, shape<at_most(5)>>>(folder, "time_embedding",
                                                                     {{1}, {5}}, {.scale = 100});
  write_case<linear<5, 3>, tensor<float, shape<2, 5>>>(folder, "fixed", {{2, 5}});
  write_case<linear<5, 3>, tensor<float, shape<5>>>(folder, "one_row", {{5}});
}

void write_attention(std::filesystem::path const& folder) {
  auto const calls = std::vector<extents_of<sequences>>{{1, 1, 8}, {12, 3, 8}, {7, 2, 8}};
  auto const more = model_case{.names = {"time", "batch"}};
  write_case<block<attention_options{.heads = 2}>, sequences>(folder, "attention", calls, more);
  write_case<block<attention_options{.heads = 4, .kv_heads = 2, .causal = true, .bias = false}>,
             sequences>(folder, "attention_causal", calls, more);
  write_case<block<attention_options{.heads = 2, .causal = true, .batch_first = true}>, sequences>(
      folder, "attention_batch_first", calls, more);
  write_case<self_attention<8, attention_options{.heads = 2, .rotary_base = 100, .bias = false}>,
             sequences>(folder, "attention_rotary", calls, more);
  using films = tensor<float, shape<at_most(3), 2, 4, 8>>;
  write_case<block<attention_options{.heads = 2, .batch_first = true}>, films>(
      folder, "attention_of_pixels", {{1, 2, 4, 8}, {3, 2, 4, 8}});
  write_case<block<attention_options{.heads = 2}>, tensor<float, shape<at_most(6), 8>>>(
      folder, "attention_one_lane", {{1, 8}, {6, 8}});
}

void write_tokens(std::filesystem::path const& folder) {
  using tokens = tensor<std::int32_t, shape<at_most(16), at_most(3)>>;
  auto const calls = std::vector<extents_of<tokens>>{{1, 1}, {16, 3}, {6, 2}};
  auto const more = model_case{.names = {"time", "batch"}, .scale = 11};
  write_case<gpt<words>, tokens>(folder, "gpt", calls, more);
  constexpr auto halves = llama_options{.vocabulary = 11,
                                        .width = 8,
                                        .blocks = 2,
                                        .heads = 4,
                                        .kv_heads = 2,
                                        .head_width = 6,
                                        .hidden = 12,
                                        .context = 16,
                                        .tied = true,
                                        .qk_norm = true};
  constexpr auto neighbours = llama_options{.vocabulary = 11,
                                            .width = 8,
                                            .blocks = 1,
                                            .heads = 2,
                                            .hidden = 12,
                                            .context = 16,
                                            .scaling = {rotary_kind::llama3, 8, 1, 4, 32},
                                            .qkv_bias = true,
                                            .interleaved = true};
  write_case<llama<halves>, tokens>(folder, "llama", calls, more);
  write_case<llama_prompt<neighbours>, tokens>(folder, "llama_prompt", calls, more);
  write_case<
      gpt2<gpt2_options{.vocabulary = 11, .width = 8, .blocks = 2, .heads = 2, .context = 16}>,
      tokens>(folder, "gpt2", calls, more);
  write_case<tied<11, 6, sequential<layer_norm<6>, residual<linear<6, 6>>>>, tokens>(folder, "tied",
                                                                                     calls, more);
  using names_as_numbers = tensor<float, shape<at_most(4)>>;
  write_case<embedding<3, 2>, names_as_numbers>(folder, "embedding", {{1}, {4}},
                                                {.scale = 3, .whole = true});
}

void write_lanes(std::filesystem::path const& folder) {
  using one_lane = tensor<float, shape<at_most(7), 5>>;
  write_case<sequential<lstm<5, 4>, gru<4, 3>, mean_over_time>, one_lane>(
      folder, "recurrent_one_lane", {{1, 5}, {7, 5}}, {.cut_along = ""});
  using many_lanes = tensor<float, shape<at_most(7), at_most(2), at_most(3), 5>>;
  write_case<sequential<lstm<5, 4>, conv1d<4, 3, 3, conv1d_options{.causal = true}>>, many_lanes>(
      folder, "recurrent_many_lanes", {{1, 1, 1, 5}, {7, 2, 3, 5}},
      {.names = {"time", "a", "b"}, .cut_along = "0"});
  write_case<flatten, tensor<float, shape<at_most(3), at_most(5), 2>>>(
      folder, "flatten_bounded", {{1, 3, 2}, {3, 5, 2}}, {.names = {"batch", "time"}});
}

}  // namespace

void write_others(std::filesystem::path const& folder) {
  write_rows(folder);
  write_attention(folder);
  write_tokens(folder);
  write_lanes(folder);
}

}  // namespace test
