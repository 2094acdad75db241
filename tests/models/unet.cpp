// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>
#include <tessera/compose/walk.hpp>
#include <tessera/models/unet.hpp>

using namespace tessera;

// Two levels with attention and classes; two blocks a level without; four levels.
using two_levels = unet<unet_options{.in = 2,
                                     .out = 3,
                                     .levels = 2,
                                     .channels = {4, 8},
                                     .blocks = 1,
                                     .attention_from = 1,
                                     .head_width = 4,
                                     .groups = 2,
                                     .classes = 3}>;
using two_blocks = unet<unet_options{.in = 1,
                                     .out = 1,
                                     .levels = 2,
                                     .channels = {2, 4},
                                     .blocks = 2,
                                     .attention_from = 2,
                                     .head_width = 4,
                                     .groups = 2}>;

// -- contract -------------------------------------------------------------------------------------
static_assert(std::same_as<output_shape<two_levels, shape<2, 6, 4, 2>>, shape<2, 6, 4, 3>>);
static_assert(
    std::same_as<output_shape<two_levels, shape<at_most(9), 8, 8, 2>>, shape<at_most(9), 8, 8, 3>>);
using step_and_class = given_as<tag::condition, tensor<float, shape<2, 2>>>;
static_assert(accepts<two_levels, shape<2, 6, 4, 2>, step_and_class>);
static_assert(not accepts<two_levels, shape<2, 6, 4, 3>, step_and_class>);
static_assert(not accepts<two_levels, shape<2, 5, 4, 2>, step_and_class>, "5 does not halve");

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("unet: gradient check through both inputs") {
  using X = tensor<double, shape<at_most(2), 4, 4, 2>>;
  using C = tensor<double, shape<at_most(2), 2>>;
  auto c = C{{3.5, 1, 0.7, 2}};
  test::passes_gradient_check_given<two_levels, X>(given(c.sized(2)), 1, 0.3, 2);
}

// -- reference: tests/reference/unet.py -----------------------------------------------------------
template <class Model, class X, class C>
void agrees(test::golden const& g, std::string const& prefix) {
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto const pass = std::make_unique<differentiation<Model, X, given_as<tag::condition, C>>>();
  auto const x = std::make_unique<X>();
  auto const dx = std::make_unique<X>();
  auto const run = std::make_unique<inference<Model, X, given_as<tag::condition, C>>>();
  auto c = C{};
  test::load(*p, g, prefix);
  test::load(*x, g[prefix + "x"]);
  test::load(c, g[prefix + "c"]);
  *pass = {};
  test::poison(*run);
  run->state = {};
  auto const before = test::allocations();
  auto const y = pass->forward(*p, *x, given(c));
  auto const same = run->resume(*p, *x, given(c));
  CHECK(test::allocations() == before);
  CHECK(test::same_bits(y, same));
  CHECK(test::distance(y, g[prefix + "y"]) <= 1e-6);
  test::load(pass->dy, g[prefix + "dy"]);
  pass->backward(*p, *x, view_of<X>(*dx), pass->gradient, given(c));
  CHECK(test::distance(*dx, g[prefix + "dx"]) <= 1e-5);
  auto numbers = std::size_t{0};
  for_each_parameter(
      [&](path_name const& path, auto const& slope) {
        INFO(path.c_str());
        CHECK(test::distance(slope, g[prefix + "d" + path.c_str()]) <= 1e-5);
        numbers += shape_of<decltype(slope)>::capacity;
      },
      pass->gradient);
  // and torch has no parameter that is not among them
  auto in_torch = std::size_t{0};
  for (auto const& [key, values] : g)
    if (key.starts_with(prefix) && g.has(prefix + "d" + key.substr(prefix.size())) &&
        key != prefix + "x" && key != prefix + "y")
      in_torch += values.size();
  CHECK(numbers == in_torch);
  CHECK(numbers == parameter_count<Model>);
}
TEST_CASE("unet: agrees with diffusers' UNet2DModel written in torch, by its keys") {
  auto const g = test::golden("unet");
  agrees<two_levels, tensor<float, shape<2, 6, 4, 2>>, tensor<float, shape<2, 2>>>(g, "two.");
  agrees<two_blocks, tensor<float, shape<1, 4, 4, 1>>, tensor<float, shape<1, 1>>>(g, "plain.");
}
