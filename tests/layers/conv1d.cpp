// SPDX-License-Identifier: MIT
#include <support/inner_lanes.hpp>
#include <support/test.hpp>
#include <tessera/layers/conv1d.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<conv1d<4, 6, 3>, shape<9, 4>>);
static_assert(std::same_as<output_shape<conv1d<4, 6, 3>, shape<9, 2, 4>>, shape<7, 2, 6>>);
static_assert(std::same_as<output_shape<conv1d<4, 6, 3, conv1d_options{.stride = 2, .padding = 1}>,
                                        shape<at_most(9), 4>>,
                           shape<at_most(5), 6>>);
static_assert(not accepts<conv1d<4, 6, 3>, shape<2, 4>>, "shorter than the window");
static_assert(not accepts<conv1d<4, 6, 3>, shape<9, 5>>);
using causal_layer = conv1d<4, 6, 3, conv1d_options{.dilation = 2, .causal = true}>;
static_assert(streams<causal_layer> && stateful<causal_layer>);
static_assert(not streams<conv1d<4, 6, 3>> && not stateful<conv1d<4, 6, 3>>);
static_assert(parameter_count<conv1d<4, 6, 3, conv1d_options{.groups = 2}>> == 6 * 2 * 3 + 6);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("conv1d: a window of two ones adds neighbours") {
  using model = sequential<conv1d<1, 1, 2>>;
  auto p = parameters_of<model, owned<float>>{};
  get<0>(p).weight = {{1, 1}};
  auto const run = std::make_unique<inference<model, tensor<float, shape<4, 1>>>>();
  auto const y = (*run)(p, tensor<float, shape<4, 1>>{{1, 2, 4, 8}});
  CHECK(test::distance(y, {3, 6, 12}) == 0);
}

TEMPLATE_TEST_CASE("conv1d: of no samples but padding the bias comes out, and gets the slopes", "",
                   reference, default_backend) {
  using model = sequential<conv1d<1, 2, 3, conv1d_options{.padding = 2}>>;
  using X = tensor<float, shape<at_most(5), at_most(2), 1>, TestType>;
  using pass_type = differentiation<model, X>;
  auto const pass = std::make_unique<pass_type>();
  *pass = {};
  auto p = typename pass_type::parameters_type{};
  get<0>(p).weight = 1;
  get<0>(p).bias = {{0.5, 0.25}};
  auto x = X{};
  test::fill(x, 1);
  auto dx = X{};
  (void)pass->forward(p, x.sized(5, 2));  // what it leaves in memory
  auto const none = x.sized(0, 2);
  auto const y = pass->forward(p, none);
  CHECK(test::distance(y, {0.5, 0.25, 0.5, 0.25, 0.5, 0.25, 0.5, 0.25}) == 0);
  std::fill_n(pass->dy.data(), 16, 1.0F);
  pass->backward(p, none, view_of<X>(dx.sized(0, 2)), pass->gradient, plain_context{});
  CHECK(test::distance(get<0>(pass->gradient).bias, {4, 4}) == 0);
  CHECK(test::distance(get<0>(pass->gradient).weight, {0, 0, 0, 0, 0, 0}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<37, 2, 12>, B>;
TEST_CASE("conv1d: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<conv1d<12, 70, 3>>>();
  test::equals_reference<
      batch,
      sequential<conv1d<12, 8, 3,
                        conv1d_options{.stride = 2, .padding = 2, .dilation = 3, .groups = 4}>>>();
  test::equals_reference<
      batch, sequential<conv1d<12, 8, 4, conv1d_options{.groups = 2, .causal = true}>>>();
}
TEST_CASE("conv1d: gradient check, streaming") {
  using causal = sequential<causal_layer, conv1d<6, 2, 2, conv1d_options{.causal = true}>>;
  test::passes_gradient_check<sequential<conv1d<4, 3, 3>>, tensor<double, shape<9, 2, 4>>>();
  test::passes_gradient_check<
      sequential<
          conv1d<4, 6, 3, conv1d_options{.stride = 2, .padding = 1, .dilation = 2, .groups = 2}>>,
      tensor<double, shape<at_most(9), at_most(3), 4>>>(1, 0.7, 8, 2);
  test::passes_gradient_check<causal, tensor<double, shape<9, 2, 4>>>();
  test::streams_like_a_sequence<causal, tensor<float, shape<12, 3, 4>>>();
  test::streams_like_a_sequence<causal, tensor<float, shape<12, 4>>>();
}

TEST_CASE("conv1d: training goes on where the segment before it ended") {
  using X = tensor<double, shape<at_most(9), 2, 4>>;
  using pass_type = differentiation<causal_layer, X>;
  auto const whole = std::make_unique<pass_type>();
  auto const parts = std::make_unique<pass_type>();
  auto const p = std::make_unique<pass_type::parameters_type>();
  auto x = X{};
  auto dx = X{};
  auto dx_of_part = X{};
  *whole = {};
  *parts = {};
  test::fill_parameters(*p, 1);
  test::fill(x, 2);
  auto const y = whole->forward(*p, x.sized(9));
  test::fill(whole->dy, 3);
  whole->backward(*p, x.sized(9), view_of<X>(dx.sized(9)), whole->gradient, plain_context{});
  for (auto const& [first, count] : {std::pair<std::size_t, std::size_t>{0, 5}, {5, 4}}) {
    auto const segment = view<double const, X::shape_type>{x.data() + first * 8, {{{count}}}};
    auto const part = parts->forward(*p, segment);
    CHECK(std::memcmp(part.data(), y[first].data(), part.size() * sizeof(double)) == 0);
    std::copy_n(whole->dy.data() + first * 12, count * 12, parts->dy.data());
    auto const to = view_of<X>(dx_of_part.sized(count));
    parts->backward(*p, segment, to, parts->gradient, plain_context{});
  }
  CHECK(std::memcmp(dx_of_part.data(), dx.data() + 5 * 8, 4 * 8 * sizeof(double)) == 0);
  for_each_parameter(
      [](path_name const& path, auto const& got, auto const& want) {
        INFO(path.c_str());
        CHECK(test::distance(got, std::vector<double>(want.begin(), want.end())) < 1e-14);
      },
      parts->gradient, whole->gradient);
}
TEST_CASE("conv1d: lanes go on where others have ended") {
  using X = tensor<float, shape<at_most(6), at_most(3), 4>>;
  auto three = tensor<float, shape<6, 3, 4>>{};
  test::fill(three, 1);
  auto two = tensor<float, shape<6, 2, 4>>{};
  for (auto t = std::size_t{0}; t < 6; ++t)
    for (auto i = std::size_t{0}; i < 8; ++i) two.values[t * 8 + i] = three.values[t * 12 + i];
  auto p = parameters_of<causal_layer, owned<float>>{};
  test::fill_parameters(p, 3, 0.7);
  using given = view<float const, shape_of<X>>;
  auto whole = inference<causal_layer, X>{};
  auto const y = whole(p, given{two.data(), {{{6, 2}}}});
  auto parts = inference<causal_layer, X>{};
  (void)parts(p, given{three.data(), {{{3, 3}}}});
  auto const z = parts.resume(p, given{two.data() + 24, {{{3, 2}}}});
  for (auto i = std::size_t{0}; i < 36; ++i) CHECK(z.data()[i] == y.data()[36 + i]);
}
TEST_CASE("conv1d: lanes of a second axis go on together") {
  test::refuses_other_inner_lanes<causal_layer,
                                  tensor<float, shape<at_most(6), at_most(2), at_most(3), 4>>>();
}

// -- reference: tests/reference/conv1d.py ---------------------------------------------------------
TEST_CASE("conv1d: agrees with torch") {
  auto const g = test::golden("conv1d");
  test::agrees_with_torch<sequential<conv1d<4, 6, 3>>, tensor<float, shape<9, 2, 4>>>(g, "plain.");
  test::agrees_with_torch<
      sequential<conv1d<4, 6, 3,
                        conv1d_options{
                            .stride = 2, .padding = 2, .dilation = 2, .groups = 2, .bias = false}>>,
      tensor<float, shape<11, 2, 4>>>(g, "options.");
  test::agrees_with_torch<
      sequential<conv1d<3, 5, 4, conv1d_options{.dilation = 2, .causal = true}>>,
      tensor<float, shape<10, 2, 3>>>(g, "causal.");
}
