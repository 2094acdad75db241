// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/group_norm.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<group_norm<2, 8>, shape<3, 5, 5, 8>> &&
              accepts<group_norm<2, 8>, shape<3, 8>>);
static_assert(not accepts<group_norm<2, 8>, shape<3, 5, 5, 6>>);
static_assert(not accepts<group_norm<2, 8>, shape<8>>, "a batch is first");
static_assert(parameter_count<group_norm<2, 8>> == 16);
static_assert(parameter_count<group_norm<2, 8, group_norm_options{.affine = false}>> == 0);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("group_norm: two channels of a group have mean 0 and deviation 1 together") {
  using X = tensor<double, shape<1, 2, 2>>;
  using model =
      sequential<group_norm<1, 2, group_norm_options{.epsilon_1e12 = 0, .affine = false}>>;
  auto const p = parameters_of<model, owned<double>>{};
  auto const run = std::make_unique<inference<model, X>>();
  CHECK(test::distance((*run)(p, X{{1, 3, 3, 1}}), {-1, 1, 1, -1}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using images = tensor<float, shape<3, 5, 7, 36>, B>;
TEST_CASE("group_norm: vectors have the bits of the reference") {
  test::equals_reference<images, sequential<group_norm<4, 36>>>();
  test::equals_reference<images,
                         sequential<group_norm<36, 36, group_norm_options{.affine = false}>>>();
}
TEST_CASE("group_norm: gradient check") {
  test::passes_gradient_check<sequential<group_norm<2, 6>>, tensor<double, shape<2, 3, 2, 6>>>();
  test::passes_gradient_check<sequential<group_norm<3, 6, group_norm_options{.affine = false}>>,
                              tensor<double, shape<at_most(4), 5, 6>>>(1, 0.7, 3);
}
/// y, dx and the gradient of a model from random numbers.
template <class Model, class Backend> auto both_ways() -> std::vector<float> {
  using X = tensor<float, shape<3, 5, 36>, Backend>;
  auto p = parameters_of<Model, owned<float, Backend>>{};
  auto x = X{};
  auto dx = X{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  auto const pass = std::make_unique<differentiation<Model, X>>();
  test::poison(*pass);
  clear_parameters(pass->gradient);
  auto const y = pass->forward(p, x);
  auto all = std::vector<float>(y.data(), y.data() + y.size());
  test::fill(pass->dy, 3);
  pass->backward(p, x, view_of<X>{dx.data()}, pass->gradient, plain_context{});
  all.insert(all.end(), dx.begin(), dx.end());
  for_each_parameter([&](auto const&, auto const& w) { all.insert(all.end(), w.begin(), w.end()); },
                     pass->gradient);
  return all;
}
/// A norm in a sequential of its own does not take along what is behind it.
template <class Activation> void takes_along() {
  using norm = group_norm<4, 36>;
  using joined = sequential<norm, Activation>;
  using apart = sequential<sequential<norm>, Activation>;
  static_assert(joined::template taken_along<simd>(1) && not apart::template taken_along<simd>(1));
  CHECK(both_ways<joined, simd>() == both_ways<apart, simd>());
  CHECK(both_ways<joined, reference>() == both_ways<apart, reference>());
  CHECK(both_ways<joined, simd>() == both_ways<joined, reference>());
  // Between others, two norms, and a second activation.
  using more = sequential<Activation, norm, Activation, Activation, group_norm<2, 36>, Activation,
                          linear<36, 36>>;
  using more_apart = sequential<Activation, sequential<norm>, Activation, Activation,
                                sequential<group_norm<2, 36>>, Activation, linear<36, 36>>;
  static_assert(more::template taken_along<simd>(2) && not more::template taken_along<simd>(3));
  CHECK(both_ways<more, simd>() == both_ways<more_apart, simd>());
  using image = tensor<float, shape<3, 5, 36>>;
  static_assert(memory_of<more, image, call_mode::training>.kept <
                memory_of<more_apart, image, call_mode::training>.kept);
}
TEST_CASE("group_norm: an activation behind it is taken along, to the same bits") {
  takes_along<relu_layer>();
  takes_along<silu_layer>();
  takes_along<tanh_layer>();
  takes_along<gelu_layer>();
  test::passes_gradient_check<
      sequential<group_norm<2, 6>, silu_layer, group_norm<3, 6>, tanh_layer>,
      tensor<double, shape<at_most(4), 5, 6>>>(1, 0.7, 3);
  using model = sequential<group_norm<1, 2>, relu_layer>;
  auto const p = parameters_of<model, owned<float>>{};
  auto const y = forward_by_value<model>(p, tensor<float, shape<1, 2, 2>>{{1, 3, 3, 1}});
  CHECK(y(0, 0, 0) == 0);
  CHECK(y(0, 0, 1) == 0);  // the weight is zero
}
struct twice : relu_layer {
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};
struct halved : group_norm<4, 36> {
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    group_norm<4, 36>::forward(p, x, y, m);
    assign(y, as_const(y) / 2);
  }
};
/// Says that it takes an activation along, and is no norm.
struct other : tanh_layer {
  static constexpr bool takes_activation = true;
};
template <class Norm, class Activation> void stays_apart() {
  using model = sequential<Norm, Activation>;
  static_assert(not model::template taken_along<simd>(1));
  CHECK(both_ways<model, simd>() == both_ways<sequential<sequential<Norm>, Activation>, simd>());
}
TEST_CASE("group_norm: what is derived from a norm or an activation is its own") {
  stays_apart<group_norm<4, 36>, twice>();
  stays_apart<halved, silu_layer>();
  stays_apart<recompute<group_norm<4, 36>>, silu_layer>();
  stays_apart<other, silu_layer>();
  using named_ones = sequential<named<"norm", group_norm<4, 36>>, named<"", relu_layer>>;
  static_assert(named_ones::taken_along<simd>(1));
}
TEST_CASE("group_norm: an image does not see the others") {
  using X = tensor<float, shape<at_most(3), 4, 6>>;
  using model = sequential<group_norm<2, 6>>;
  auto p = parameters_of<model, owned<float>>{};
  test::fill_parameters(p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto const all_three = std::make_unique<inference<model, X>>();
  auto const alone = std::make_unique<inference<model, X>>();
  auto const y = (*all_three)(p, x.sized(3));
  auto const second =
      (*alone)(p, view<float const, shape<at_most(3), 4, 6>>{x.data() + 24, {{{1}}}});
  CHECK(test::same_bits(second[0], y[1]));
}

// -- reference: tests/reference/group_norm.py -----------------------------------------------------
TEST_CASE("group_norm: agrees with torch") {
  auto const g = test::golden("group_norm");
  test::agrees_with_torch<sequential<group_norm<3, 12>>, tensor<float, shape<2, 5, 4, 12>>>(
      g, "plain.");
  test::agrees_with_torch<sequential<group_norm<1, 6>>, tensor<float, shape<3, 4, 4, 6>>>(g,
                                                                                          "one.");
  test::agrees_with_torch<sequential<group_norm<6, 6>>, tensor<float, shape<2, 4, 3, 6>>>(g,
                                                                                          "each.");
  test::agrees_with_torch<sequential<group_norm<2, 8, group_norm_options{.affine = false}>>,
                          tensor<float, shape<2, 3, 3, 8>>>(g, "bare.");
  test::agrees_with_torch<
      sequential<group_norm<4, 8, group_norm_options{.epsilon_1e12 = 100'000'000'000}>>,
      tensor<float, shape<1, 2, 2, 8>>>(g, "epsilon.");
}
TEST_CASE("group_norm: what is initialized starts as torch's, whatever was there") {
  auto p = parameters_of<group_norm<2, 4>, owned<float>>{};
  test::fill_parameters(p, 1);
  auto g = torch_generator(1);
  initialize_layer<group_norm<2, 4>>(p, g);
  CHECK(test::distance(p.weight, {1, 1, 1, 1}) == 0);
  CHECK(test::distance(p.bias, {0, 0, 0, 0}) == 0);
}
