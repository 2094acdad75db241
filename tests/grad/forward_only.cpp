// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

template <std::size_t Time> struct newest {
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) { return x[Time - 1]; }
};
struct with_a_constant {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    auto const squared = x * x;  // an expression has a name, and is still one
    return squared * tensor<scalar_of<decltype(x)>, shape<3>>{{1, 2, 3}} + squared;
  }
};
struct last_columns {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    return slice(x, whole_axis, whole_axis, range<1, 3>);
  }
};

/// F of a sequence, as a layer.
template <auto F> struct of_x {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return F(x); }
};

}  // namespace

// What a function names that its gradient would not see; it is asked with views of `probing`.
using asked = view<float const, shape<2, 3>, probing<simd>>;
template <class E> constexpr auto lost_by = tracing::detail::lost_by<detail::node_of<float, E>>;
static_assert(lost_by<float> == tracing::lost::nothing && lost_by<asked> == tracing::lost::nothing);
static_assert(lost_by<tensor<float, shape<3>>> == tracing::lost::nothing);
static_assert(lost_by<tensor<float, shape<3>>&> == tracing::lost::outside_tensor);
static_assert(lost_by<kind_of<asked>> == tracing::lost::own_tensor &&
              lost_by<kind_of<asked>&> == tracing::lost::own_tensor);
static_assert(lost_by<decltype(evaluate(asked{} * 2))> == tracing::lost::own_tensor);
static_assert(lost_by<decltype(asked{} * asked{}(0, 1))> == tracing::lost::number);
static_assert(lost_by<decltype(asked{} * asked{}[0][1])> == tracing::lost::number);
static_assert(lost_by<decltype(asked{} * std::declval<kind_of<asked>&>()(0, 1))> ==
              tracing::lost::number);
static_assert(lost_by<decltype(sum(slice(asked{}, 0, whole_axis) * asked{}))> ==
              tracing::lost::nothing);

// Whether a sample (2, 3) of a sequence is computed on its own, and by the axes that are meant.
template <auto F> using streamed = tracing::by_samples<of_x<F>, tensor<float, shape<2, 3>, simd>>;
template <auto F> constexpr bool fits = streamed<F>::are_apart && streamed<F>::have_same_axes;
static_assert(fits<[](auto x) { return x - mean(x * x, axis<-1>, keepdims); }>);
static_assert(fits<[](auto x) { return max(x, 0) + softmax(x, axis<-1>); }>);
template <class X> using flat = shape<shape_of<X>::capacity / 3, 3>;
static_assert(fits<[](auto x) { return reshape<flat<decltype(x)>>(x) * 2; }>);
struct of_weights {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<3, 4>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto forward(auto const& p, auto x) {
    return x * sum(p.weight, axis<1>) +
           sum(concatenate(axis<-1>, p.weight, p.weight), axis<-1>) * mean(x, axis<-1>, keepdims);
  }
};
static_assert(tracing::by_samples<of_weights, tensor<float, shape<2, 3>, simd>>::are_apart);
static_assert(tracing::by_samples<of_weights, tensor<float, shape<2, 3>, simd>>::have_same_axes);
static_assert(not streamed<[](auto x) { return x - x[0]; }>::are_apart);
static_assert(not streamed<[](auto x) { return x - slice(x, 0); }>::are_apart);
static_assert(not streamed<[](auto x) { return x - slice(x, range<0, 1>); }>::are_apart);
static_assert(not streamed<[](auto x) { return sum(transpose(x) * 1); }>::are_apart);
static_assert(not streamed<[](auto x) { return x - mean(x); }>::are_apart);
static_assert(not fits<[](auto x) { return x - mean(x, axis<1>, keepdims); }>);
static_assert(not fits<[](auto x) { return x * slice(x, whole_axis, range<0, 1>); }>);
static_assert(not fits<[](auto x) { return concatenate(axis<1>, x, x); }>);
static_assert(fits<[](auto x) { return concatenate(axis<-1>, x, x); }>);

TEST_CASE("forward_only: a part of x is an answer") {
  using X = tensor<double, shape<4, 2, 3>>;
  test::passes_gradient_check<newest<4>, X>();
  test::passes_gradient_check<last_columns, X>();
  test::passes_gradient_check<sequential<linear<3, 5>, newest<4>, linear<5, 1>>, X>();
}
TEST_CASE("forward_only: constants that the expression owns") {
  test::passes_gradient_check<with_a_constant, tensor<double, shape<4, 2, 3>>>();
}
