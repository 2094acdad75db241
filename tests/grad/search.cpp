// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {
struct scaled_by_place {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    using T = scalar_of<decltype(x)>;
    return x * expand_dims(cast<T>(argmax(square(x), axis<-1>)) + 1, axis<-1>);
  }
};
}  // namespace

TEST_CASE("search: an index has no slope, what it scales has one") {
  using X = tensor<double, shape<3, 5>>;
  test::passes_gradient_check<scaled_by_place, X>();
  test::passes_gradient_check<sequential<linear<5, 4>, scaled_by_place, linear<4, 2>>, X>();
}
