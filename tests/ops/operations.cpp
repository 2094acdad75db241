// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/operations.hpp>

using namespace tessera;

namespace {
struct zeros {
  using fallback = reference;
};
}  // namespace
namespace tessera {
template <>
struct kernel_for<operation::affine_map, zeros> : kernel_for<operation::affine_map, reference> {
  static constexpr void run(auto, auto const&, auto const*, auto y, auto&) {
    for (auto& v : y) v = 0;
  }
};
}  // namespace tessera

TEST_CASE("operations: a backend replaces one by its name, and the rest stays") {
  using X = tensor<float, shape<2, 3>, zeros>;
  using model = sequential<linear<3, 2>, sigmoid_layer>;
  auto p = parameters_of<model, owned<float, zeros>>{};
  test::fill_parameters(p, 1);
  CHECK(test::distance(forward_by_value<model>(p, X{{1, 2, 3, 4, 5, 6}}), {0.5, 0.5, 0.5, 0.5}) ==
        0);
}
