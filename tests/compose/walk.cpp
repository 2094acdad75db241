// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/walk.hpp>

using namespace tessera;

TEST_CASE("walk: every layer that is no composition, by its path, with its input") {
  using model = sequential<linear<4, 6>, residual<sequential<relu_layer, linear<6, 6>>>,
                           parallel<lstm<6, 2>, tanh_layer>, repeat<linear<8, 8>, 2>>;
  using X = tensor<float, shape<3, 4>>;
  auto paths = std::vector<std::string>{};
  auto inputs = std::vector<std::size_t>{};
  auto parameters = std::size_t{0};
  for_each_layer<model, X>([&]<class Layer, class Input, class Call>(
                               path_name const& path, place_of_layer<Layer, Input, Call> where) {
    paths.emplace_back(path.c_str());
    inputs.push_back(last_of<shape_of<Input>>);
    parameters += where.parameters;
  });
  CHECK(paths == std::vector<std::string>{"0", "1.0.0", "1.0.1", "2.0", "2.1", "3.0", "3.1"});
  CHECK(inputs == std::vector<std::size_t>{4, 6, 6, 6, 6, 8, 8});
  CHECK(parameters == parameter_count<model>);
  CHECK(place_of_layer<linear<4, 6>, X>::multiply_adds == 3 * 4 * 6);
}
