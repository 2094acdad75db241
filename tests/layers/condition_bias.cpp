// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/with.hpp>
#include <tessera/layers/condition_bias.hpp>
#include <tessera/layers/identity.hpp>

using namespace tessera;

using layer = condition_bias<2, 3>;
using two = given_as<tag::condition, tensor<float, shape<4, 2>>>;
static_assert(accepts<layer, shape<4, 5, 5, 3>, two> && not accepts<layer, shape<4, 5, 5, 2>, two>);
static_assert(parameter_count<layer> == 3 * 2 + 3 && in_place<layer>);

TEST_CASE("condition_bias: every pixel of an image moves by what its condition says") {
  using X = tensor<double, shape<2, 2, 3>>;
  using C = tensor<double, shape<2, 2>>;
  auto p = parameters_of<layer, owned<double>>{};
  p.weight = {{1, 0, 0, 1, 1, 1}};
  p.bias = {{0, 0, 100}};
  auto x = X{};
  x = 0.5;
  auto const run = std::make_unique<inference<layer, X, given_as<tag::condition, C>>>();
  auto const y = run->resume(p, x, given(C{{1, 2, 10, 20}}));
  CHECK(test::distance(
            y, {1.5, 2.5, 103.5, 1.5, 2.5, 103.5, 10.5, 20.5, 130.5, 10.5, 20.5, 130.5}) == 0);
}
TEST_CASE("condition_bias: gradient check, in place between others too") {
  using C = tensor<double, shape<at_most(3), 2>>;
  auto c = C{};
  test::fill(c, 7);
  using X = tensor<double, shape<at_most(3), 2, 2, 3>>;
  test::passes_gradient_check_given<conditioned<identity, sequential<layer>>, X>(given(c.sized(2)),
                                                                                 1, 0.7, 2);
  using between = conditioned<linear<2, 2>, sequential<linear<3, 3>, layer, tanh_layer, layer>>;
  test::passes_gradient_check_given<between, X>(given(c.sized(3)), 1, 0.7, 3);
}
TEST_CASE("condition_bias: images of fewer pixels than their bound") {
  using X = tensor<double, shape<2, at_most(4), at_most(3), 3>>;
  using C = tensor<double, shape<2, 2>>;
  auto p = parameters_of<layer, owned<double>>{};
  test::fill_parameters(p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto c = C{};
  test::fill(c, 3);
  auto const seen = const_view_of<X>{x.data(), actual_extents<shape_of<X>>::from({2, 3, 2, 3})};
  auto const run = std::make_unique<inference<layer, X, given_as<tag::condition, C>>>();
  auto const y = run->resume(p, seen, given(c));
  REQUIRE(y.size() == 2 * 3 * 2 * 3);
  for (auto i = std::size_t{0}; i < y.size(); ++i) {
    auto const image = i / 18;
    auto const channel = i % 3;
    auto want = p.bias.values[channel] + x.values[i];
    for (auto k = std::size_t{0}; k < 2; ++k) want += p.weight(channel, k) * c(image, k);
    CHECK(y.data()[i] == Approx(want).epsilon(1e-14));
  }
  using rows = tensor<double, shape<2, at_most(4), 3>>;
  test::passes_gradient_check_given<conditioned<identity, sequential<layer>>, rows>(given(c), 1,
                                                                                    0.7, 3);
}
TEST_CASE("condition_bias: the start is that of torch's linear, which makes the bias") {
  auto p = parameters_of<condition_bias<6, 20>, owned<float>>{};
  auto want = parameters_of<linear<6, 20>, owned<float>>{};
  auto generator = torch_generator(1);
  auto other = torch_generator(1);
  initialize_layer<condition_bias<6, 20>>(p, generator);
  initialize_layer<linear<6, 20>>(want, other);
  CHECK(test::same_bits(p.weight, want.weight));
  CHECK(test::same_bits(p.bias, want.bias));
}
template <class B> using images = tensor<float, shape<3, 4, 5, 20>, B>;
TEST_CASE("condition_bias: vectors have the bits of the reference") {
  auto run = []<class B>(B) {
    using X = images<B>;
    using C = tensor<float, shape<3, 6>, B>;
    using model = condition_bias<6, 20>;
    auto const p = std::make_unique<parameters_of<model, owned<float, B>>>();
    auto const pass = std::make_unique<differentiation<model, X, given_as<tag::condition, C>>>();
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
    for_each_parameter([&](path_name const&,
                           auto& w) { all_numbers.insert(all_numbers.end(), w.begin(), w.end()); },
                       pass->gradient);
    return all_numbers;
  };
  CHECK(run(simd{}) == run(reference{}));
}
TEST_CASE("condition_bias: trailing axes, for every lane or every step of a sequence") {
  using sequence = tensor<double, shape<5, 3, 4>>;
  using by_lane = condition_bias<2, 4, condition_axes::trailing>;
  auto lanes = tensor<double, shape<3, 2>>{};
  auto steps = tensor<double, shape<5, 1, 2>>{};
  auto every = tensor<double, shape<5, 3, 2>>{};
  test::fill(lanes, 1);
  test::fill(steps, 2);
  test::fill(every, 3);
  using model = sequential<linear<4, 4>, by_lane, tanh_layer, by_lane>;
  test::passes_gradient_check_given<model, sequence>(given(lanes));
  test::passes_gradient_check_given<model, sequence>(given(steps));
  test::passes_gradient_check_given<model, sequence>(given(every));
}
TEST_CASE("condition_bias: a stream with a knob has the bits of the sequence") {
  using model = sequential<lstm<4, 6>, condition_bias<2, 6, condition_axes::trailing>, tanh_layer,
                           linear<6, 1>>;
  using sequence = tensor<float, shape<5, 3, 4>>;
  using knobs = tensor<float, shape<3, 2>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = sequence{};
  auto c = knobs{};
  test::fill(x, 2);
  test::fill(c, 3);
  auto const whole =
      std::make_unique<inference<model, sequence, given_as<tag::condition, knobs>>>();
  auto const stream =
      std::make_unique<streaming<model, sample_of<sequence>, given_as<tag::condition, knobs>>>();
  clear(*stream);
  auto const y = (*whole)(*p, x, given(c));
  for (auto t = std::size_t{0}; t < 5; ++t)
    CHECK(test::same_bits(stream->step(*p, as_const(x)[t], given(c)), y[t]));
}
