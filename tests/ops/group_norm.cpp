// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("group_norm: the bits of the reference, for random geometries", "", float,
                   double) {
  using T = TestType;
  using fast = kernel_for<detail::group_norm_fn, simd>;
  using slow = kernel_for<detail::group_norm_fn, reference>;
  auto r = torch_generator(1);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 40; ++round) {
    auto const groups = up_to(5);
    auto const g = detail::group_norm_geometry{
        .batch = up_to(3), .pixels = up_to(20), .channels = groups * up_to(14), .groups = groups};
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
      return v;
    };
    auto const x = numbers(g.batch * g.pixels * g.channels);
    auto const dy = numbers(x.size());
    auto const weight = numbers(g.channels);
    auto const bias = numbers(g.channels);
    auto const affine = round % 3 != 0;
    auto const* const w = affine ? weight.data() : nullptr;
    auto const run = [&]<class Kernel>(Kernel) {
      auto out = std::vector<std::vector<T>>{x, x, weight, bias};
      auto mean = std::vector<T>(g.batch * g.groups);
      auto scale = mean;
      auto sums = std::vector<T>(2 * g.channels);
      Kernel::forward(g, x.data(), w, affine ? bias.data() : nullptr, T(1e-5), out[0].data(),
                      mean.data(), scale.data(), sums.data());
      Kernel::backward(g, x.data(), w, mean.data(), scale.data(), dy.data(),
                       {round % 4 == 0 ? nullptr : out[1].data(), affine ? out[2].data() : nullptr,
                        affine ? out[3].data() : nullptr},
                       sums.data());
      return out;
    };
    CHECK(run(fast{}) == run(slow{}));
  }
}
