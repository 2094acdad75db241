// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/recompute.hpp>
#include <tessera/cuda.hpp>

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

// A state whose lanes lie along two axes, the second bounded: the host remembers how long it was.
template <class B> using lanes_input = tensor<float, shape<5, 2, at_most(3), 2>, B>;
template <class B> struct lanes_training {
  using learner = training<recompute<lstm<2, 4>>, lanes_input<B>, gradient_descent>;
  std::unique_ptr<learner> all = std::make_unique<learner>();
  lanes_input<B> x;
  tensor<float, shape<5, 2, at_most(3), 4>, B> target;

  lanes_training() {
    test::fill_parameters(all->parameters, 1);
    test::fill(x, 2);
    test::fill(target, 3);
  }
  auto step(std::size_t lanes) -> double {
    all->restart();
    return static_cast<double>(
        all->step(x.sized(lanes), target.sized(lanes), mse{}, gradient_descent{.rate = 0.1}));
  }
};
TEST_CASE(
    "recompute: a state that the host counts in, on a device that runs late, and as a graph") {
  auto host = std::make_unique<lanes_training<reference>>();
  auto late = std::make_unique<lanes_training<cuda>>();
  device::current().delay(true);
  for (auto const lanes : {3UL, 2UL, 3UL}) CHECK(late->step(lanes) == Approx(host->step(lanes)));
  device::current().delay(false);
  host = std::make_unique<lanes_training<reference>>();
  auto recorded = std::make_unique<lanes_training<cuda>>();
  auto graph = device::graph([&] { recorded->step(2); });
  for (auto run = 0; run < 3; ++run) CHECK(graph() == Approx(host->step(2)));
}
