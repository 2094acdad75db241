// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/recompute.hpp>

using namespace tessera;

using block = sequential<linear<4, 8>, tanh_layer, lstm<8, 4>, dropout<probability(0.3)>>;
using X = tensor<float, shape<6, 2, 4>>;
using plain = sequential<repeat<block, 3>, linear<4, 2>>;
using again = sequential<repeat<recompute<block>, 3>, linear<4, 2>>;
static_assert(memory_of<again, X, call_mode::training>.kept <
              memory_of<plain, X, call_mode::training>.kept / 2);
static_assert(parameter_count<again> == parameter_count<plain>);
static_assert(memory_of<again, X, call_mode::inference>.scratch ==
              memory_of<plain, X, call_mode::inference>.scratch);

TEST_CASE("recompute: the bits of the layer, dropout and state included") {
  auto const run = []<class Model>(std::type_identity<Model>) {
    auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
    auto const pass = std::make_unique<differentiation<Model, X>>();
    auto const x = std::make_unique<X>();
    auto const dx = std::make_unique<X>();
    *pass = {};
    test::fill_parameters(*p, 1);
    test::fill(*x, 2);
    auto numbers = std::vector<float>{};
    for (auto step = std::uint64_t{0}; step < 3; ++step) {  // the state goes on
      auto const context = random_context{.seed = 5, .step = step};
      auto const y = pass->forward(*p, *x, context);
      test::fill(pass->dy, 3);
      pass->backward(*p, *x, view_of<X>(*dx), pass->gradient, context);
      numbers.insert(numbers.end(), y.begin(), y.end());
      numbers.insert(numbers.end(), dx->begin(), dx->end());
    }
    for_each_parameter(
        [&](path_name const&, auto& w) { numbers.insert(numbers.end(), w.begin(), w.end()); },
        pass->gradient);
    return numbers;
  };
  CHECK(run(std::type_identity<plain>{}) == run(std::type_identity<again>{}));
}
TEST_CASE("recompute: gradient check, streaming") {
  using model =
      sequential<recompute<sequential<linear<4, 5>, tanh_layer, lstm<5, 3>>>, linear<3, 2>>;
  test::passes_gradient_check<model, tensor<double, shape<5, 2, 4>>>();
  test::streams_like_a_sequence<model, tensor<float, shape<5, 2, 4>>>();
}
