// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <set>

using namespace tessera;

TEST_CASE("context: every place of a model has a stream of its own") {
  auto paths = std::set<std::uint32_t>{};
  auto const root = random_context{.seed = 3, .step = 4, .chunk = 5, .dropout = 0.5F};
  auto places = std::size_t{0};
  for (auto i = std::size_t{0}; i < 40; ++i) {
    paths.insert(root.inside(i).path);
    ++places;
    for (auto j = std::size_t{0}; j < 40; ++j) {
      paths.insert(root.inside(i).inside(j).path);
      ++places;
    }
  }
  CHECK(paths.size() == places);
  CHECK(root.inside(2).seed == 3);
  CHECK(root.inside(2).step == 4);
  CHECK(root.inside(2).chunk == 5);
  CHECK(root.inside(2).dropout == 0.5F);
}
TEST_CASE("context: two dropout layers of a model do not drop the same, a step not as the next") {
  using model = sequential<dropout<0.5>, dropout<0.5>>;
  using X = tensor<float, shape<1, 1000>>;
  auto const pass = std::make_unique<differentiation<model, X>>();
  *pass = {};
  auto x = X{};
  x = 1.0F;
  auto const p = parameters_of<model, owned<float>>{};
  auto const kept = [&](std::uint64_t step) {
    auto const y = pass->forward(p, x, random_context{.seed = 1, .step = step});
    auto which = std::vector<bool>{};
    for (auto const v : y) which.push_back(v != 0);
    return which;
  };
  auto const first_step = kept(0);
  auto const n = std::count(first_step.begin(), first_step.end(), true);
  CHECK(n > 200);  // a quarter: alike they would keep a half
  CHECK(n < 300);
  CHECK(kept(1) != first_step);
  CHECK(kept(0) == first_step);
}
