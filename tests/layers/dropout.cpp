// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/dropout.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<dropout<>, shape<4, 3>> && accepts<dropout<0.3>, shape<3>>);
static_assert(in_place<dropout<>> && dropout<>::about.backward_reads == reads::neither);
static_assert(std::is_empty_v<kept_of<dropout<>, tensor<float, shape<3>>, training_call>>,
              "found again, not kept");
static_assert(probability(0.2).value() == 0.2 && at_run_time.is_run_time());

using X = tensor<float, shape<100, 37>>;
using model = sequential<dropout<0.3>>;

TEST_CASE("dropout: without a random context nothing happens") {
  auto const run = std::make_unique<inference<model, X>>();
  auto const x = std::make_unique<X>();
  test::fill(*x, 1);
  CHECK(test::same_bits((*run)(parameters_of<model, owned<float>>{}, *x), as_const(*x)));
}
TEST_CASE("dropout: drops its share, scales the rest, and backward drops the same") {
  auto const pass = std::make_unique<differentiation<model, X>>();
  auto const x = std::make_unique<X>();
  auto const dx = std::make_unique<X>();
  for (auto& v : *x) v = 1;
  *pass = {};
  auto const p = parameters_of<model, owned<float>>{};
  auto const context = random_context{.seed = 7, .step = 3};
  auto const y = pass->forward(p, *x, context);
  auto kept = 0;
  for (auto const v : y) {
    CHECK((v == 0 || v == Approx(1 / 0.7)));
    kept += v != 0 ? 1 : 0;
  }
  CHECK(kept == Approx(3700 * 0.7).margin(100));
  pass->dy = *x;
  pass->backward(p, *x, view_of<X>(*dx), pass->gradient, context);
  CHECK(test::same_bits(y, as_const(*dx)));
}
TEST_CASE("dropout: seed, step, chunk and place decide, nothing else") {
  auto const x = std::make_unique<X>();
  for (auto& v : *x) v = 1;
  using two = sequential<dropout<0.5>, dropout<0.5>>;
  auto const run = std::make_unique<inference<two, X>>();
  auto const drawn = [&](random_context c) {
    run->resume(parameters_of<two, owned<float>>{}, *x, c);
    return run->y;
  };
  auto const base = drawn({.seed = 1, .step = 2, .chunk = 3});
  CHECK(test::same_bits(base, drawn({.seed = 1, .step = 2, .chunk = 3})));
  CHECK_FALSE(test::same_bits(base, drawn({.seed = 2, .step = 2, .chunk = 3})));
  CHECK_FALSE(test::same_bits(base, drawn({.seed = 0x100000001, .step = 2, .chunk = 3})));
  CHECK_FALSE(test::same_bits(base, drawn({.seed = 1, .step = 3, .chunk = 3})));
  CHECK_FALSE(test::same_bits(base, drawn({.seed = 1, .step = 2, .chunk = 4})));
  auto kept = 0;
  for (auto const v : base) kept += v != 0 ? 1 : 0;
  CHECK(kept == Approx(3700 / 4.0).margin(120));  // two layers draw apart
}
TEST_CASE("dropout: a probability of run time") {
  using late = sequential<dropout<at_run_time>>;
  auto const x = std::make_unique<X>();
  for (auto& v : *x) v = 1;
  auto const run = std::make_unique<inference<late, X>>();
  auto const kept = [&](float p) {
    auto const y = run->resume(parameters_of<late, owned<float>>{}, *x,
                               random_context{.seed = 1, .dropout = p});
    auto n = 0;
    for (auto const v : y) n += v != 0 ? 1 : 0;
    return n;
  };
  CHECK(kept(0) == 3700);
  CHECK(kept(0.9F) == Approx(370).margin(60));
}
TEST_CASE("dropout: a probability that is none is refused when it is drawn") {
  using late = sequential<dropout<at_run_time>>;
  auto const x = std::make_unique<X>();
  auto const run = std::make_unique<inference<late, X>>();
  auto const p = parameters_of<late, owned<float>>{};
  for (auto const wrong : {1.0F, 2.0F, -0.1F, NAN})
    CHECK_THROWS_WITH(run->resume(p, *x, random_context{.dropout = wrong}),
                      "dropout: a probability from 0, and below 1");
}
