// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/lent_passes.hpp>

using namespace tessera;

namespace {
using model = sequential<lstm<3, 8>, linear<8, 2>>;
using X = tensor<float, shape<6, at_most(4), 3>>;
using trained = training<model, X, adam, 2>;
using fused =
    training<sequential<linear<3, 2>>, tensor<float, shape<4, 3>>, fused_gradient_descent>;
static_assert(lent_passes<trained>::fits && lent_passes<fused>::fits);
}  // namespace

TEST_CASE("lent_passes: the answers of an inference, and the training goes on as if nothing was") {
  auto const t = std::make_unique<trained>();
  clear(*t);
  test::fill_parameters(t->parameters, 1);
  auto x = X{};
  auto y = tensor<float, shape<6, at_most(4), 2>>{};
  test::fill(x, 1);
  test::fill(y, 2);
  auto const step = [&](trained& one) {
    auto loss = 0.0F;
    for (auto c = std::size_t{0}; c < 2; ++c)
      loss += one.differentiate(c, as_const(x.sized(3)), as_const(y.sized(3)), mse{}, 72,
                                plain_context{});
    (void)one.gradient();
    one.update(adam{});
    return loss;
  };
  (void)step(*t);
  auto const untouched = std::make_unique<trained>(*t);
  auto const run = std::make_unique<inference<model, X>>();
  auto const want = (*run)(t->parameters, x.sized(3));
  auto passes = lent_passes<trained>(*t);
  {
    auto runs = lent_passes<trained>::loan(passes);
    for (auto c = std::size_t{0}; c < 2; ++c)
      CHECK(test::same_bits(runs[c].resume(t->parameters, x.sized(3)), want));
    CHECK_FALSE(test::same_bits(runs[0].resume(t->parameters, x.sized(3)), want));  // its state
  }
  CHECK(std::memcmp(&t->passes[0].state, &untouched->passes[0].state, sizeof t->passes[0].state) ==
        0);
  CHECK_THROWS_AS(t->passes[0].backward(t->parameters, x.sized(3)), std::invalid_argument);
  for (auto n = 0; n < 3; ++n) CHECK(step(*t) == step(*untouched));
  CHECK(test::same_parameters(t->parameters, untouched->parameters));
}
