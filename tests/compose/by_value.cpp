// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>

using namespace tessera;

// A model in a constant expression: parameters, a sequence, and its answer, known to the compiler.
namespace {
using model = sequential<lstm<2, 3>, layer_norm<3>, linear<3, 1>>;
using X = tensor<float, shape<4, 1, 2>>;

constexpr auto some_parameters() {
  auto p = parameters_of<model, owned<float>>{};
  auto g = torch_generator(1);
  model::initialize(p, g);
  return p;
}
constexpr auto some_input() {
  auto x = X{};
  for (auto i = std::size_t{0}; i < x.size(); ++i) x.values[i] = 0.1F * static_cast<float>(i);
  return x;
}
constexpr auto p = some_parameters();
constexpr auto x = some_input();
constexpr auto y = model::forward(p, x);
static_assert(y.values[0] != 0 && y.values[0] == y.values[0]);
}  // namespace

TEST_CASE("by_value: the compiler, the program and the object give the same bits, without a heap") {
  auto const before = test::allocations();
  auto const later = forward_by_value<model>(p, x);
  CHECK(test::allocations() == before);
  CHECK(test::same_bits(later, y));
  static inference<model, X> run;
  CHECK(test::same_bits(run(p, x), y));
}
