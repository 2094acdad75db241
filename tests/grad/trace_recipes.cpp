// SPDX-License-Identifier: MIT
// The recipes of include/tessera/README.md: layers of torch.nn as a line.
#include <support/test.hpp>

using namespace tessera;

namespace {

struct without_numbers {
  template <class Storage> struct parameters {};
};
struct softmax_layer : without_numbers {
  static constexpr auto forward(auto const&, auto x) { return softmax(x, axis<-1>); }
};
struct leaky_relu : without_numbers {
  static constexpr auto forward(auto const&, auto x) { return where(x > 0, x, 0.01 * x); }
};
struct elu : without_numbers {
  static constexpr auto forward(auto const&, auto x) {
    return where(x >= 0, x, expm1(min(x, 0.0)));
  }
};
struct glu : without_numbers {
  static constexpr auto forward(auto const&, auto x) {
    return chunk<0, 2>(x) * sigmoid(chunk<1, 2>(x));
  }
};
struct product_of_both : without_numbers {
  static constexpr auto forward(auto const&, auto x) { return chunk<0, 2>(x) * chunk<1, 2>(x); }
};
struct global_average : without_numbers {
  static constexpr auto forward(auto const&, auto x) { return mean(x, axis<1, 2>); }
};
template <std::size_t Features> struct prelu {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using expected_shape = with_last<S, Features>;
  static constexpr auto forward(auto const& p, auto x) { return where(x > 0, x, p.weight * x); }
};
template <std::size_t Features> struct mean_square_norm {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using expected_shape = with_last<S, Features>;
  static constexpr auto forward(auto const& p, auto x) {
    return x * rsqrt(mean(square(x), axis<-1>, keepdims) + 1e-5) * p.weight;
  }
};
using gated = sequential<parallel<linear<4, 3>, linear<4, 3>>, product_of_both>;

template <class Layer> [[nodiscard]] auto answer(tensor<float, shape<1, 4>> const& x) {
  auto run = inference<Layer, tensor<float, shape<1, 4>>>{};
  auto p = parameters_of<Layer, owned<float>>{};
  for_each_parameter([](path_name const&, auto& w) { w = 0.25F; }, p);
  return evaluate(run(p, x) * 1.0F);
}

}  // namespace

TEST_CASE("recipes: by hand") {
  auto const x = tensor<float, shape<1, 4>>{{-2, 0, 1, 3}};
  CHECK(test::distance(answer<leaky_relu>(x), {-0.02, 0, 1, 3}) < 1e-6);
  CHECK(test::distance(answer<elu>(x), {-0.864664717, 0, 1, 3}) < 1e-6);
  CHECK(test::distance(answer<prelu<4>>(x), {-0.5, 0, 1, 3}) < 1e-6);
  CHECK(test::distance(answer<glu>(x), {-1.462117157, 0}) < 1e-6);
  CHECK(test::distance(answer<product_of_both>(x), {-2, 0}) < 1e-6);
  CHECK(test::distance(answer<softmax_layer>(x),
                       {0.005653303, 0.041772571, 0.113549619, 0.839024507}) < 1e-6);
  CHECK(test::distance(answer<mean_square_norm<4>>(x),
                       {-0.267260860, 0.000000000, 0.133630430, 0.400891290}) < 1e-6);
}
TEMPLATE_TEST_CASE("recipes: gradient check", "", softmax_layer, leaky_relu, elu, glu,
                   product_of_both, prelu<4>, mean_square_norm<4>, gated) {
  test::passes_gradient_check<TestType, tensor<double, shape<3, 4>>>();
}
TEST_CASE("recipes: the mean of an image, by channel") {
  test::passes_gradient_check<global_average, tensor<double, shape<2, 3, 3, 4>>>();
}
TEST_CASE("recipes: the slopes of torch at 0") {
  using X = tensor<double, shape<1>>;
  auto const slope = []<class Layer>(std::type_identity<Layer>) {
    auto const pass = std::make_unique<differentiation<Layer, X>>();
    auto const p = parameters_of<as_layer<Layer>, owned<double>>{};
    auto const x = X{{0}};
    auto dx = X{};
    *pass = {};
    pass->forward(p, x);
    pass->dy = {{1}};
    pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
    return dx(0);
  };
  CHECK(slope(std::type_identity<elu>{}) == 1);
  CHECK(slope(std::type_identity<leaky_relu>{}) == 0.01);
}
struct turned : without_numbers {
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) { return transpose(x, axis<1, 0, 2>); }
};
TEST_CASE("trace: extents that are not those of the output are refused") {
  using X = tensor<float, shape<at_most(8), at_most(8), 4>>;
  auto const run = std::make_unique<inference<turned, X>>();
  auto const p = parameters_of<as_layer<turned>, owned<float>>{};
  auto x = X{};
  CHECK_NOTHROW((*run)(p, x.sized(5, 5)));
  CHECK_THROWS_WITH((*run)(p, x.sized(5, 2)), Catch::Contains("bounded extent"));
}
