// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/rms_norm.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<rms_norm<4>, shape<2, 4>>);
static_assert(row_wise<rms_norm<4>> && not accepts<rms_norm<4>, shape<2, 5>>);
static_assert(parameter_count<rms_norm<4>> == 4);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("rms_norm: by hand") {
  using model = sequential<rms_norm<2, rms_norm_options{.epsilon_1e12 = 0}>>;
  auto p = parameters_of<model, owned<double>>{};
  get<0>(p).weight = {{1, 10}};
  auto const y = model::forward(p, tensor<double, shape<1, 2>>{{1, -7}});  // mean square 25
  CHECK(test::distance(y, {0.2, -14}) < 1e-15);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<5, 3, 70>, B>;
TEST_CASE("rms_norm: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<rms_norm<70>>>();
}
TEST_CASE("rms_norm: gradient check, streaming") {
  using model = sequential<rms_norm<5>, linear<5, 3>, rms_norm<3>>;
  test::passes_gradient_check<model, tensor<double, shape<3, 2, 5>>>();
  test::passes_gradient_check<model, tensor<double, shape<at_most(3), 5>>>(1, 0.7, 2);
  test::passes_gradient_check<
      residual<rms_norm<4, rms_norm_options{.epsilon_1e12 = 1'000'000'000}>>,
      tensor<double, shape<3, 4>>>();
  test::streams_like_a_sequence<model, tensor<float, shape<4, 2, 5>>>();
}
TEST_CASE("rms_norm: weights begin with ones") {
  auto p = parameters_of<rms_norm<13>, owned<float>>{};
  auto generator = torch_generator(1);
  initialize_layer<rms_norm<13>>(p, generator);
  for (auto const w : p.weight) CHECK(w == 1);
}

// -- reference: tests/reference/rms_norm.py -------------------------------------------------------
TEST_CASE("rms_norm: agrees with torch") {
  auto const g = test::golden("rms_norm");
  test::agrees_with_torch<sequential<rms_norm<13>>, tensor<float, shape<4, 3, 13>>>(g, "default.");
  test::agrees_with_torch<
      sequential<rms_norm<70, rms_norm_options{.epsilon_1e12 = 10'000'000'000}>>,
      tensor<float, shape<5, 70>>>(g, "wide.");
}
