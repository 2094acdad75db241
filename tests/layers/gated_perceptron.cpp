// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/gated_perceptron.hpp>

using namespace tessera;

constexpr auto with_bias = gated_perceptron_options{.bias = true};

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<gated_perceptron<4, 7>, shape<2, 3, 4>>);
static_assert(row_wise<gated_perceptron<4, 7>> && not accepts<gated_perceptron<4, 7>, shape<2, 5>>);
static_assert(parameter_count<gated_perceptron<4, 7>> == 3 * 4 * 7);
static_assert(parameter_count<gated_perceptron<4, 7, with_bias>> == 3 * 4 * 7 + 2 * 7 + 4);
static_assert(
    memory_of<gated_perceptron<4, 16>, tensor<float, shape<3, 4>>, call_mode::streaming>.kept ==
        2 * 3 * 16 * sizeof(float),
    "a step keeps no third row");

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("gated_perceptron: by hand") {
  using model = sequential<gated_perceptron<2, 1>>;
  auto p = parameters_of<model, owned<double>>{};
  get<0>(p).gate_proj.weight = {{1, 0}};
  get<0>(p).up_proj.weight = {{0, 1}};
  get<0>(p).down_proj.weight = {{1, 2}};
  auto const y = model::forward(p, tensor<double, shape<1, 2>>{{2, 3}});
  auto const hidden = 2 / (1 + std::exp(-2.0)) * 3;
  CHECK(test::distance(y, {hidden, 2 * hidden}) < 1e-15);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<5, 3, 20>, B>;
TEST_CASE("gated_perceptron: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<gated_perceptron<20, 37, with_bias>>>();
  test::equals_reference<batch, residual<gated_perceptron<20, 37>>>();
}
TEST_CASE("gated_perceptron: gradient check, streaming") {
  using model = sequential<gated_perceptron<5, 7>, residual<gated_perceptron<5, 3, with_bias>>>;
  test::passes_gradient_check<model, tensor<double, shape<3, 2, 5>>>();
  test::passes_gradient_check<model, tensor<double, shape<at_most(3), 5>>>(1, 0.7, 2);
  test::streams_like_a_sequence<model, tensor<float, shape<4, 2, 5>>>();
}

// -- reference: tests/reference/gated_perceptron.py -----------------------------------------------
TEST_CASE("gated_perceptron: agrees with transformers") {
  auto const g = test::golden("gated_perceptron");
  test::agrees_with_torch<sequential<gated_perceptron<6, 10>>, tensor<float, shape<4, 3, 6>>>(
      g, "plain.");
  test::agrees_with_torch<sequential<gated_perceptron<6, 10, with_bias>>,
                          tensor<float, shape<5, 6>>>(g, "bias.");
}
