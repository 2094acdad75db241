// SPDX-License-Identifier: MIT
#include <tessera/models/bert.hpp>
#include <tessera/models/unet.hpp>

#include "onnx_models.hpp"

namespace test {
namespace {

using small_unet = unet<unet_options{.in = 2,
                                     .out = 3,
                                     .levels = 2,
                                     .channels = {4, 8},
                                     .blocks = 1,
                                     .attention_from = 1,
                                     .head_width = 4,
                                     .groups = 2,
                                     .classes = 3}>;
using pictures = tensor<float, shape<at_most(2), 6, 4, 2>>;
using step_and_class = given_as<tag::condition, tensor<float, shape<at_most(2), 2>>>;

using sequences = tensor<float, shape<at_most(5), at_most(3), 8>>;
using lengths_of = given_as<tag::lengths, tensor<std::int32_t, shape<at_most(3)>>>;
template <std::size_t Width>
using memory_of = given_as<tag::memory, tensor<float, shape<at_most(7), at_most(3), Width>>>;
template <std::size_t Width>
using lane_condition = given_as<tag::condition, tensor<float, shape<at_most(3), Width>>>;

using tokens = tensor<std::int32_t, shape<at_most(9), at_most(3)>>;
using types_of = given_as<tag::token_types, tokens>;
constexpr auto sentences = bert_options{
    .vocabulary = 11, .width = 8, .blocks = 2, .heads = 2, .hidden = 12, .context = 9, .types = 5};

}  // namespace

void write_given(std::filesystem::path const& folder) {
  write_case<small_unet, pictures, step_and_class>(
      folder, "unet", {{1, 6, 4, 2}, {2, 6, 4, 2}},
      {.names = {"batch", "batch"}, .given_scale = 3, .given_whole = true});

  auto const calls = std::vector<extents_of<sequences>>{{4, 1, 8}, {5, 3, 8}};
  write_case<attention_layer<8, attention_options{.heads = 2, .memory = 8}>, sequences,
             memory_of<8>>(folder, "attention_memory", calls,
                           {.names = {"time", "batch", "entries", "batch"}});
  write_case<attention_layer<8, attention_options{.heads = 4, .kv_heads = 2, .memory = 6},
                             llama_projections>,
             sequences, memory_of<6>, lengths_of>(
      folder, "attention_memory_lengths", calls,
      {.names = {"time", "batch", "entries", "batch", "batch"},
       .given_scale = 4,
       .last_is_nan = true});
  write_case<attention_layer<8, attention_options{.heads = 2, .causal = true, .padded = true}>,
             sequences, lengths_of>(folder, "attention_lengths", calls,
                                    {.names = {"time", "batch", "batch"}, .given_scale = 4});
  using images = tensor<float, shape<at_most(3), at_most(4), at_most(5), 6>>;
  write_case<condition_bias<4, 6>, images, lane_condition<4>>(
      folder, "condition_of_images", {{1, 2, 5, 6}, {3, 4, 1, 6}},
      {.names = {"batch", "height", "width", "batch"}});
  write_case<conditioned<sequential<linear<3, 4>, tanh_layer>,
                         sequential<lstm<8, 6>, condition_bias<4, 6, condition_axes::trailing>,
                                    linear<6, 2>>>,
             sequences, lane_condition<3>>(folder, "conditioned", calls,
                                           {.names = {"time", "batch", "batch"}});
  write_case<sentence_bert<sentences>, tokens, lengths_of>(
      folder, "sentence_bert", {{5, 1}, {9, 3}},
      {.names = {"time", "batch", "batch"}, .scale = 11, .given_scale = 5});
  write_case<bert<sentences>, tokens, lengths_of, types_of>(
      folder, "bert", {{5, 1}, {9, 3}},
      {.names = {"time", "batch", "batch", "time", "batch"}, .scale = 11, .given_scale = 5});
}

}  // namespace test
