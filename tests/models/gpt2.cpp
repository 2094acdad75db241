// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/models/gpt2.hpp>

using namespace tessera;

constexpr auto small = gpt2_options{
    .vocabulary = 13, .width = 8, .blocks = 2, .heads = 2, .hidden = 12, .context = 20};
using model = gpt2<small>;

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<model, tensor<std::int32_t, shape<9, 2>>>);
static_assert(streams<model> && stateful<model>);
static_assert(
    parameter_count<gpt2<gpt2_options{
        .vocabulary = 50'257, .width = 768, .blocks = 12, .heads = 12, .context = 1024}>> ==
    124'439'808);

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("gpt2: gradient check of a block") {
  using block = gpt2_block<gpt2_options{.width = 6, .heads = 3, .hidden = 7, .context = 9}>;
  test::passes_gradient_check<block, tensor<double, shape<at_most(7), 2, 6>>>(1, 0.6, 5);
}
TEST_CASE("gpt2: a prompt and steps after it have the bits of the whole sequence") {
  using X = tensor<std::int32_t, shape<at_most(20), 2>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  auto generator = torch_generator(3);
  for (auto& token : x) token = static_cast<std::int32_t>(generator.randint(13));
  auto const whole = std::make_unique<inference<model, X>>();
  auto const prompt = std::make_unique<inference<gpt2_prompt<small>, X>>();
  auto const stream = std::make_unique<streaming<model, sample_of<X>>>();
  auto const y = (*whole)(*p, x.sized(20));
  CHECK(test::same_bits((*prompt)(*p, x.sized(7)), y[6]));
  stream->state = prompt->state;
  for (auto t = std::size_t{7}; t < 20; ++t)
    CHECK(test::same_bits(stream->step(*p, x.sized(20)[t]), y[t]));
}

// -- reference: tests/reference/gpt2.py -----------------------------------------------------------
TEST_CASE("gpt2: agrees with transformers, gradients too") {
  test::agrees_with_torch<model, tensor<float, shape<9, 2>>>(test::golden("gpt2"), "", 2e-6);
}
