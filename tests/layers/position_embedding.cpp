// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/position_embedding.hpp>

using namespace tessera;

using whole = position_embedding<7, 4>;
using counting = position_embedding<7, 4, position_embedding_options{.streams = true}>;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<whole, shape<5, 2, 4>> && accepts<whole, shape<5, 4>>);
static_assert(not accepts<whole, shape<5, 3>> && not accepts<whole, shape<4>>, "there is no time");
static_assert(not streams<whole> && not stateful<whole> && streams<counting>);
static_assert(parameter_count<whole> == 7 * 4);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("position_embedding: by hand") {
  using model = sequential<position_embedding<3, 2>>;
  auto p = parameters_of<model, owned<float>>{};
  get<0>(p).weight = {{1, 2, 3, 4, 5, 6}};
  auto const y = model::forward(p, tensor<float, shape<2, 1, 2>>{{10, 20, 30, 40}});
  CHECK(test::distance(y, {11, 22, 33, 44}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<5, 3, 4>, B>;
TEST_CASE("position_embedding: vectors have the bits of the reference; gradient check") {
  test::equals_reference<batch, sequential<linear<4, 4>, whole, linear<4, 2>>>();
  test::passes_gradient_check<sequential<linear<4, 4>, whole, tanh_layer>,
                              tensor<double, shape<at_most(7), 2, 4>>>(1, 0.7, 6);
  test::passes_gradient_check<residual<counting>, tensor<double, shape<3, 4>>>();
}
TEST_CASE("position_embedding: a stream goes on counting, and ends with the positions") {
  test::streams_like_a_sequence<sequential<counting>, tensor<float, shape<6, 2, 4>>>();
  using X = tensor<float, shape<at_most(7), 2, 4>>;
  auto const p = std::make_unique<parameters_of<counting, owned<float>>>();
  auto const all = std::make_unique<inference<counting, X>>();
  auto const parts = std::make_unique<inference<counting, X>>();
  test::fill_parameters(*p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto const y = (*all)(*p, x.sized(7));
  (*parts)(*p, x.sized(4));
  auto const rest = view<float const, shape<at_most(7), 2, 4>>{x.data() + 4 * 8, {{{3}}}};
  auto const z = parts->resume(*p, rest);
  for (auto t = std::size_t{0}; t < 3; ++t) CHECK(test::same_bits(z[t], y[4 + t]));
  CHECK_THROWS_WITH(parts->resume(*p, x.sized(1)),
                    "position_embedding: more samples than positions");
  // What was refused does not count.
  (*parts)(*p, x.sized(4));
  CHECK_THROWS_WITH(parts->resume(*p, x.sized(4)),
                    "position_embedding: more samples than positions");
  auto const again = parts->resume(*p, rest);
  for (auto t = std::size_t{0}; t < 3; ++t) CHECK(test::same_bits(again[t], y[4 + t]));
}

// -- reference: tests/reference/embedding.py ------------------------------------------------------
TEST_CASE("position_embedding: the start is that of torch's embedding") {
  auto const g = test::golden("embedding");
  auto p = parameters_of<whole, owned<float>>{};
  auto generator = torch_generator(1);
  initialize_layer<whole>(p, generator);
  CHECK(test::distance(p.weight, g["0.weight"]) < 1e-6);
}
