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
  auto const said = [&] { return diagnose<model>(p, as_const(x), g); };
  CHECK(said() == "every layer's output is finite: the loss or its target is not");
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
  x(1, 1) = NAN;
  CHECK(said() == "the input of the model is not finite");
}
