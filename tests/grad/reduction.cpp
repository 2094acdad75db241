// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

template <std::ptrdiff_t... Axes> struct sums {
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) { return sum(square(x) * x, axis<Axes...>); }
};
template <std::ptrdiff_t... Axes> struct extremes {
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) {
    return x * max(x, axis<Axes...>, keepdims) - min(x * 2, axis<Axes...>, keepdims);
  }
};
TEST_CASE("reductions: gradients along any axes") {
  using X = tensor<double, shape<3, 4, 5>>;
  test::passes_gradient_check<sums<-1>, X>();
  test::passes_gradient_check<sums<0>, X>();
  test::passes_gradient_check<sums<0, 2>, X>();
  test::passes_gradient_check<sums<1>, X>();
  test::passes_gradient_check<extremes<-1>, X>();
  test::passes_gradient_check<extremes<0>, X>();
  test::passes_gradient_check<extremes<1>, X>();
  test::passes_gradient_check<extremes<0, 1, 2>, X>();
}
struct norms {
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) { return norm(x, axis<-1>); }
};
TEST_CASE("norm: a row of zeros has the slope 0, as torch's") {
  test::passes_gradient_check<norms, tensor<double, shape<3, 4>>>();
  using X = tensor<double, shape<2, 2>>;
  auto const pass = std::make_unique<differentiation<norms, X>>();
  auto const p = parameters_of<as_layer<norms>, owned<double>>{};
  auto const x = X{{0, 0, 3, 4}};
  auto dx = X{};
  *pass = {};
  pass->forward(p, x);
  pass->dy = {{1, 1}};
  pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
  CHECK(test::distance(dx, {0, 0, 0.6, 0.8}) < 1e-15);
}
struct largest {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return max(x, axis<-1>); }
};
TEST_CASE("max: equal elements share the slope") {
  using X = tensor<double, shape<2, 4>>;
  auto const pass = std::make_unique<differentiation<largest, X>>();
  auto const p = parameters_of<as_layer<largest>, owned<double>>{};
  auto const x = X{{3, 1, 3, 2, 5, 4, 4, 4}};
  auto dx = X{};
  *pass = {};
  pass->forward(p, x);
  pass->dy = {{6, 7}};
  pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
  CHECK(test::distance(dx, {3, 0, 3, 0, 7, 0, 0, 0}) == 0);
}
