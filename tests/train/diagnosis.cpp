// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/diagnosis.hpp>

using namespace tessera;

TEST_CASE("diagnosis: the first place is named") {
  using model = sequential<linear<2, 3>, linear<3, 3>, linear<3, 1>>;
  using X = tensor<float, shape<4, 2>>;
  auto p = parameters_of<model, owned<float>>{};
  auto g = parameters_of<model, owned<float>>{};
  test::fill_parameters(p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto target = tensor<float, shape<4, 1>>{};
  auto const said = [&] {
    return diagnose<model>(p, nothing{}, as_const(x), as_const(target), g, plain_context{});
  };
  CHECK(said() ==
        "every layer's output and every gradient are finite: the loss, or the sum of the "
        "gradient's squares, is not");
  get<0>(g).weight.values[1] = NAN;
  get<1>(g).bias.values[0] = INFINITY;
  CHECK(said() == "the gradient of 1.bias is not finite");
  get<1>(p).weight.values[0] = 3e38F;
  get<1>(p).weight.values[1] = 3e38F;
  get<1>(p).weight.values[2] = 3e38F;
  get<0>(p).bias = 10.0F;
  CHECK(said() == "the output of layer 1 is not finite");
  get<1>(p).weight.values[3] = NAN;
  CHECK(said() == "the parameter 1.weight is not finite");
  target(2, 0) = NAN;
  CHECK(said() == "the target is not finite");
  x(1, 1) = NAN;
  CHECK(said() == "the input of the model is not finite");
}
TEST_CASE("diagnosis: a model whose top is no sequence, and one that takes a condition") {
  using X = tensor<float, shape<4, 2>>;
  auto x = X{};
  auto const target = tensor<std::int32_t, shape<4>>{};
  using side_by_side = parallel<linear<2, 3>, linear<2, 1>>;
  auto p = parameters_of<side_by_side, owned<float>>{};
  auto g = p;
  CHECK(diagnose<side_by_side>(p, nothing{}, as_const(x), as_const(target), g, plain_context{}) ==
        "every layer's output and every gradient are finite: the loss, or the sum of the "
        "gradient's squares, is not");
  get<1>(p).bias.values[0] = NAN;
  CHECK(diagnose<side_by_side>(p, nothing{}, as_const(x), as_const(target), g, plain_context{}) ==
        "the parameter 1.bias is not finite");

  using body = sequential<linear<2, 3>, condition_bias<2, 3>, dropout<0.5>>;
  using conditioned_model = sequential<conditioned<linear<2, 2>, body>, linear<3, 1>>;
  auto const c = tensor<float, shape<4, 2>>{};
  auto const q = std::make_unique<parameters_of<conditioned_model, owned<float>>>();
  auto const h = std::make_unique<parameters_of<conditioned_model, owned<float>>>();
  test::fill_parameters(*q, 1);
  get<1>(*q).weight = 3e38F;
  get<1>(*q).bias = 3e38F;
  auto const said = diagnose<conditioned_model>(*q, nothing{}, as_const(x), as_const(target), *h,
                                                given(c, random_context{.seed = 1}));
  CHECK(said == "the output of layer 1 is not finite");
}
