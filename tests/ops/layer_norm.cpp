// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("layer_norm: the bits of the reference, for random geometries", "", float,
                   double) {
  using T = TestType;
  using fast = kernel_for<detail::layer_norm_fn, simd>;
  using slow = kernel_for<detail::layer_norm_fn, reference>;
  auto r = torch_generator(1);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 60; ++round) {
    auto const g = detail::layer_norm_geometry{.rows = up_to(40),
                                               .features = round < 50 ? up_to(300) : up_to(9000)};
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      r.uniform(v.data(), n, -2, 3);
      return v;
    };
    auto const x = numbers(g.rows * g.features);
    auto const weight = numbers(g.features);
    auto const bias = numbers(g.features);
    for (auto const affine : {true, false}) {
      auto const run = [&](auto kernel) {
        auto y = std::vector<T>(x.size());
        auto mean = std::vector<T>(g.rows);
        auto scale = std::vector<T>(g.rows);
        decltype(kernel)::forward(g, x.data(), affine ? weight.data() : nullptr,
                                  affine ? bias.data() : nullptr, T(1e-5), y.data(), mean.data(),
                                  scale.data());
        y.insert(y.end(), mean.begin(), mean.end());
        y.insert(y.end(), scale.begin(), scale.end());
        return y;
      };
      CHECK(run(fast{}) == run(slow{}));
    }
  }
}
TEST_CASE("layer_norm: no rows, and rows of one number") {
  float const x[] = {3, -4};
  float y[] = {7, 7};
  float mean[2];
  float scale[2];
  using kernels = kernel_for<detail::layer_norm_fn, simd>;
  kernels::forward<float>({0, 2}, x, nullptr, nullptr, 0.25F, y, mean, scale);
  CHECK(y[0] == 7);
  kernels::forward<float>({2, 1}, x, nullptr, nullptr, 0.25F, y, mean, scale);
  CHECK(y[0] == 0);
  CHECK(mean[1] == -4);
  CHECK(scale[1] == 2);
}
