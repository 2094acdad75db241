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
