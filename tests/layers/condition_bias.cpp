// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/with.hpp>
#include <tessera/layers/condition_bias.hpp>
#include <tessera/layers/identity.hpp>

using namespace tessera;

using layer = condition_bias<2, 3>;
static_assert(accepts<layer, shape<4, 5, 5, 3>> && not accepts<layer, shape<4, 5, 5, 2>>);
static_assert(parameter_count<layer> == 3 * 2 + 3 && in_place<layer>);

TEST_CASE("condition_bias: every pixel of an image moves by what its condition says") {
  using X = tensor<double, shape<2, 2, 3>>;
  using C = tensor<double, shape<2, 2>>;
  auto p = parameters_of<layer, owned<double>>{};
  p.weight = {{1, 0, 0, 1, 1, 1}};
  p.bias = {{0, 0, 100}};
  auto x = X{};
  x = 0.5;
  auto const run = std::make_unique<inference<layer, X>>();
  auto const y = run->resume(p, x, given(C{{1, 2, 10, 20}}));
  CHECK(test::distance(
            y, {1.5, 2.5, 103.5, 1.5, 2.5, 103.5, 10.5, 20.5, 130.5, 10.5, 20.5, 130.5}) == 0);
}
TEST_CASE("condition_bias: gradient check, in place between others too") {
  using C = tensor<double, shape<at_most(3), 2>>;
  auto c = C{};
  test::fill(c, 7);
  using X = tensor<double, shape<at_most(3), 2, 2, 3>>;
  test::passes_gradient_check_given<with<2, identity, sequential<layer>>, X, C>(c.sized(2), 1, 0.7,
                                                                                2);
  using between = with<2, linear<2, 2>, sequential<linear<3, 3>, layer, tanh_layer, layer>>;
  test::passes_gradient_check_given<between, X, C>(c.sized(3), 1, 0.7, 3);
}
template <class B> using images = tensor<float, shape<3, 4, 5, 20>, B>;
TEST_CASE("condition_bias: vectors have the bits of the reference") {
  auto run = []<class B>(B) {
    using X = images<B>;
    using C = tensor<float, shape<3, 6>, B>;
    using model = condition_bias<6, 20>;
    auto const p = std::make_unique<parameters_of<model, owned<float, B>>>();
    auto const pass = std::make_unique<differentiation<model, X>>();
    auto const x = std::make_unique<X>();
    auto c = C{};
    auto dc = C{};
    *pass = {};
    test::fill_parameters(*p, 1);
    test::fill(*x, 2);
    test::fill(c, 3);
    test::fill(pass->dy, 4);
    auto const context = given(c, view_of<C>(dc));
    auto const y = pass->forward(*p, *x, context);
    pass->backward(*p, *x, context);
    auto all_numbers = std::vector<float>(y.begin(), y.end());
    all_numbers.insert(all_numbers.end(), dc.begin(), dc.end());
    for_each_parameter(
        [&](name const&, auto& w) { all_numbers.insert(all_numbers.end(), w.begin(), w.end()); },
        pass->gradient);
    return all_numbers;
  };
  CHECK(run(simd{}) == run(reference{}));
}
