// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

template <std::ptrdiff_t Axis> struct stacked {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<4>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const& p, auto x) {
    return stack(axis<Axis>, x, x * p.weight, sin(x)) * 1.5;
  }
};
template <std::ptrdiff_t Axis> struct concatenated_with {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<2, 3, 4>> other;
    TESSERA_PARAMETERS(other)
  };
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const& p, auto x) {
    return concatenate(axis<Axis>, x * x, p.other, slice(x, whole_axis, range<0, 2>) * 0.5, x);
  }
};
struct only_joined {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return concatenate(axis<-1>, x, -x); }
};

}  // namespace

TEST_CASE("join: what is joined keeps its gradient") {
  using X = tensor<double, shape<2, 3, 4>>;
  test::passes_gradient_check<stacked<0>, X>();
  test::passes_gradient_check<stacked<2>, X>();
  test::passes_gradient_check<stacked<-1>, X>();
  test::passes_gradient_check<concatenated_with<1>, X>();
  test::passes_gradient_check<sequential<linear<4, 3>, only_joined, linear<6, 2>>, X>();
}
template <class B> using batch = tensor<float, shape<2, 3, 4>, B>;
TEST_CASE("join: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<stacked<1>, only_joined>>();
}
TEST_CASE("join: a joined layer streams where its rows are apart") {
  test::streams_like_a_sequence<sequential<linear<4, 3>, only_joined>,
                                tensor<float, shape<5, 2, 4>>>();
}
