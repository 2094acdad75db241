// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/attention.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<attention_layer<8>, shape<5, 2, 8>>);
static_assert(not accepts<attention_layer<8>, shape<5, 2, 7>>);
static_assert(parameter_count<attention_layer<8>> == 3 * 8 * 8 + 3 * 8 + 8 * 8 + 8);
static_assert(not row_wise<attention_layer<8>>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("attention: equal keys give the mean of the values") {
  using model = sequential<attention_layer<2>>;
  auto p = parameters_of<model, owned<double>>{};
  auto& layer = get<0>(p);
  layer.in_proj_weight(4, 0) = 1;  // values are x; queries and keys are zero
  layer.in_proj_weight(5, 1) = 1;
  layer.out_proj.weight = {{1, 0, 0, 1}};
  auto const y = model::forward(p, tensor<double, shape<4, 1, 2>>{{1, 2, 3, 4, 5, 6, 7, 8}});
  for (auto t = std::size_t{0}; t < 4; ++t) {
    CHECK(y(t, 0, 0) == Approx(4));
    CHECK(y(t, 0, 1) == Approx(5));
  }
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<37, 2, 12>, B>;
using causal = sequential<attention_layer<12, attention_options{.heads = 2, .causal = true}>>;
TEST_CASE("attention: vectors have the bits of the reference") {
  test::equals_reference<batch, causal>();
  test::equals_reference<batch, sequential<attention_layer<12, attention_options{.heads = 3}>>>();
}
TEST_CASE("attention: a causal one does not see what comes") {
  auto const p = std::make_unique<parameters_of<causal, owned<float>>>();
  test::fill_parameters(*p, 1);
  using X = tensor<float, shape<37, 2, 12>>;
  auto const x = std::make_unique<X>();
  test::fill(*x, 2);
  auto const run = std::make_unique<inference<causal, X>>();
  (*run)(*p, *x);
  auto const before = run->y;
  for (auto i = std::size_t{20 * 24}; i < 37 * 24; ++i) x->values[i] = 100;
  (*run)(*p, *x);
  CHECK(std::memcmp(before.values, run->y.values, 20 * 24 * sizeof(float)) == 0);
  CHECK(std::memcmp(before.values, run->y.values, 21 * 24 * sizeof(float)) != 0);
}
TEST_CASE("attention: gradient check") {
  test::passes_gradient_check<sequential<attention_layer<4>>, tensor<double, shape<5, 2, 4>>>();
  test::passes_gradient_check<
      sequential<attention_layer<6, attention_options{.heads = 3, .causal = true, .bias = false}>>,
      tensor<double, shape<at_most(6), at_most(3), 6>>>(1, 0.7, 5, 2);
}

// -- reference: tests/reference/attention.py ------------------------------------------------------
TEST_CASE("attention: agrees with torch") {
  auto const g = test::golden("attention");
  test::agrees_with_torch<sequential<attention_layer<8>>, tensor<float, shape<5, 2, 8>>>(g, "one.");
  test::agrees_with_torch<sequential<attention_layer<8, attention_options{.causal = true}>>,
                          tensor<float, shape<9, 2, 8>>>(g, "causal.");
  test::agrees_with_torch<sequential<attention_layer<12, attention_options{.heads = 3}>>,
                          tensor<float, shape<7, 2, 12>>>(g, "heads.");
  test::agrees_with_torch<
      sequential<attention_layer<16, attention_options{.heads = 4, .causal = true}>>,
      tensor<float, shape<30, 2, 16>>>(g, "causal_heads.");
  test::agrees_with_torch<
      sequential<attention_layer<8, attention_options{.heads = 2, .bias = false}>>,
      tensor<float, shape<4, 2, 8>>>(g, "no_bias.");
}
