// SPDX-License-Identifier: MIT
// An attention head, grouped-query attention with its cache, and a network of convolutions.
#include <tessera/embedded.hpp>

#include "board/board.hpp"

using namespace tessera;

using sequence = tensor<float, shape<12, 1, 8>>;
using head = sequential<attention_layer<8>, linear<8, 2>>;
using grouped = sequential<
    self_attention<
        8,
        self_attention_options{
            .heads = 4, .kv_heads = 2, .causal = true, .context = 12, .rotary_base = 1e4}>,
    linear<8, 2>>;
using convolutions =
    sequential<conv1d<8, 12, 3, conv1d_options{.padding = 1}>, relu_layer,
               conv1d<12, 6, 3, conv1d_options{.stride = 2}>, silu_layer, linear<6, 1>>;

static parameters_of<head, owned<float>> head_parameters;
static parameters_of<grouped, owned<float>> grouped_parameters;
static parameters_of<convolutions, owned<float>> convolution_parameters;
static inference<head, sequence> run_head;
static streaming<grouped, tensor<float, shape<1, 8>>> run_grouped;
static inference<convolutions, sequence> run_convolutions;
static sequence x;

auto main() -> int {
  auto generator = torch_generator(1);
  head::initialize(head_parameters, generator);
  grouped::initialize(grouped_parameters, generator);
  convolutions::initialize(convolution_parameters, generator);
  for (auto& value : x) value = 2 * generator.rand<float>() - 1;

  auto const y = run_head(head_parameters, x);
  board::print("attention", y.data(), y.size());
  for (auto t = std::size_t{0}; t < 12; ++t) run_grouped.step(grouped_parameters, as_const(x)[t]);
  board::print("cached_attention", run_grouped.y.data(), 2);
  auto const z = run_convolutions(convolution_parameters, x);
  board::print("convolutions", z.data(), z.size());
  return 0;
}
