// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

/// A layer of a user's, in the words of its paper: y = x·sigmoid(w·x) / rms(x).
template <std::size_t N> struct gated_norm {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<N>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using expected_shape = with_last<S, N>;
  static constexpr auto forward(auto const& p, auto x) {
    return x * sigmoid(p.weight * x) * rsqrt(mean(square(x), axis<-1>, keepdims) + 1e-5);
  }
};
using D = tensor<double, shape<5, 2, 4>>;

}  // namespace

static_assert(std::same_as<as_layer<gated_norm<4>>, traced<gated_norm<4>>>);
static_assert(std::same_as<as_layer<linear<4, 4>>, linear<4, 4>>);
static_assert(streams<gated_norm<4>> || streams<as_layer<gated_norm<4>>>);

TEST_CASE("traced: a forward alone makes a layer, with its backward") {
  test::passes_gradient_check<gated_norm<4>, D>();
  test::passes_gradient_check<
      sequential<lstm<4, 4>, residual<gated_norm<4>>, repeat<gated_norm<4>, 2>, linear<4, 1>>, D>();
  test::streams_like_a_sequence<sequential<gated_norm<4>, lstm<4, 3>>,
                                tensor<float, shape<5, 2, 4>>>();
}
TEST_CASE("traced: the numbers are those of the formula") {
  auto p = parameters_of<gated_norm<4>, owned<double>>{};
  auto x = tensor<double, shape<1, 4>>{{1, -2, 3, 0.5}};
  test::fill_parameters(p, 1);
  auto const y = forward_by_value<gated_norm<4>>(p, x);
  auto const rms = std::sqrt((1 + 4 + 9 + 0.25) / 4 + 1e-5);
  for (auto i = std::size_t{0}; i < 4; ++i)
    CHECK(y(0, i) == Approx(x(0, i) / (1 + std::exp(-p.weight(i) * x(0, i))) / rms).epsilon(1e-14));
}
