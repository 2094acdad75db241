// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/conv2d.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(std::same_as<output_shape<conv2d<4, 6, 3>, shape<2, 9, 8, 4>>, shape<2, 7, 6, 6>>);
static_assert(
    std::same_as<output_shape<conv2d<4, 6, size2(3, 5), conv2d_options{.stride = 2, .padding = 1}>,
                              shape<at_most(3), 9, 9, 4>>,
                 shape<at_most(3), 5, 4, 6>>);
static_assert(accepts<conv2d<4, 6, 3>, shape<9, 8, 4>>, "one image");
static_assert(not accepts<conv2d<4, 6, 3>, shape<2, 9, 8, 5>>);
static_assert(not accepts<conv2d<4, 6, 3>, shape<8, 4>>, "no image");
static_assert(not accepts<conv2d<4, 6, 3>, shape<2, 9, 2, 4>>, "narrower than the window");
static_assert(
    not accepts<conv2d<4, 6, 3, conv2d_options{.padding = 3}>, shape<2, at_most(3), 9, 4>>,
    "an image of no size, padded by more than it has");
static_assert(accepts<conv2d<4, 6, 3, conv2d_options{.padding = 3}>, shape<at_most(2), 3, 9, 4>>);
static_assert(parameter_count<conv2d<4, 6, size2(3, 2), conv2d_options{.groups = 2}>> ==
              6 * 2 * 3 * 2 + 6);
static_assert(std::is_empty_v<conv2d<4, 6, 3>> && not streams<conv2d<4, 6, 3>>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("conv2d: a window of ones adds what it covers, and zeros around the image") {
  using X = tensor<float, shape<1, 2, 3, 1>>;
  constexpr auto x = X{{1, 2, 4,  //
                        8, 16, 32}};
  using model = sequential<conv2d<1, 1, 3, conv2d_options{.padding = 1}>>;
  auto p = parameters_of<model, owned<float>>{};
  get<0>(p).weight = 1.0F;
  auto const run = std::make_unique<inference<model, X>>();
  CHECK(test::distance((*run)(p, x), {27, 63, 54, 27, 63, 54}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using images = tensor<float, shape<2, 7, 9, 12>, B>;
TEST_CASE("conv2d: vectors have the bits of the reference") {
  test::equals_reference<images, sequential<conv2d<12, 70, 3, conv2d_options{.padding = 1}>>>();
  test::equals_reference<images, sequential<conv2d<12, 33, 1>>>();
  test::equals_reference<
      images,
      sequential<conv2d<
          12, 8, size2(3, 2),
          conv2d_options{
              .stride = 2, .padding = size2(2, 1), .dilation = size2(1, 3), .groups = 4}>>>();
}
TEST_CASE("conv2d: gradient check") {
  using X = tensor<double, shape<2, 5, 6, 4>>;
  test::passes_gradient_check<sequential<conv2d<4, 3, 3>>, X>();
  test::passes_gradient_check<
      sequential<
          conv2d<4, 6, size2(2, 3),
                 conv2d_options{.stride = size2(2, 1), .padding = 1, .dilation = 2, .groups = 2}>>,
      tensor<double, shape<at_most(3), 5, 6, 4>>>(1, 0.7, 2);
}
TEST_CASE("conv2d: a window wider than the padded reach of an edge sees only zeros") {
  using X = tensor<double, shape<1, 1, 1, 2>>;
  test::passes_gradient_check<sequential<conv2d<2, 3, 5, conv2d_options{.padding = 2}>>, X>();
}

// -- reference: tests/reference/conv2d.py ---------------------------------------------------------
template <std::size_t In, std::size_t Out, size2 Kernel, conv2d_options Options, class S>
void agrees(test::golden const& g, char const* name) {
  INFO(name);
  test::agrees_with_torch<sequential<conv2d<In, Out, Kernel, Options>>, tensor<float, S>>(g, name);
}
TEST_CASE("conv2d: agrees with torch in twelve configurations") {
  auto const g = test::golden("conv2d");
  using S = shape<2, 8, 9, 4>;
  agrees<4, 6, 3, {}, S>(g, "plain.");
  agrees<4, 6, 3, {.padding = 1}, S>(g, "same.");
  agrees<4, 6, 1, {}, S>(g, "point.");
  agrees<4, 6, 3, {.stride = 2, .padding = 1}, S>(g, "down.");
  agrees<4, 6, 5, {.padding = 2}, S>(g, "five.");
  agrees<4, 6, 3, {.padding = 2, .dilation = 2}, S>(g, "dilated.");
  agrees<4, 6, 3, {.padding = 1, .groups = 2}, S>(g, "groups.");
  agrees<4, 4, 3, {.padding = 1, .groups = 4}, S>(g, "depthwise.");
  agrees<4, 6, 3, {.bias = false}, S>(g, "no_bias.");
  agrees<4, 6, size2(2, 5), {.padding = size2(0, 2)}, S>(g, "wide.");
  agrees<4, 6, 4, {.stride = size2(3, 2), .padding = size2(1, 3), .dilation = size2(2, 1)}, S>(
      g, "mixed.");
  agrees<1, 3, 3, {.padding = 1}, shape<3, 4, 4, 1>>(g, "gray.");
}
TEST_CASE("conv2d: the start is torch's, bit for bit") {
  auto const g = test::golden("conv2d");
  auto p = parameters_of<conv2d<4, 6, 3>, owned<float>>{};
  auto generator = torch_generator(1);
  conv2d<4, 6, 3>::initialize(p, generator);
  CHECK(test::distance(p.weight, g["plain.0.weight"]) == 0);
  CHECK(test::distance(p.bias, g["plain.0.bias"]) == 0);
}
