// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <support/windows.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("max_pool2d: the bits of the reference on simd and on the device", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(1);
  for (auto round = 0; round < 60; ++round) {
    auto const g = test::random_windows(r);
    auto x = std::vector<T>(g.images * g.in.area() * g.channels);
    auto dy = std::vector<T>(g.images * g.out.area() * g.channels);
    for (auto& v : x) v = static_cast<T>(r.randint(6));  // many are equal
    for (auto& v : dy) v = static_cast<T>(2 * r.rand<double>() - 1);
    auto const by = [&]<class Kernel>(Kernel) {
      auto y = dy;
      auto dx = std::vector<T>(x.size(), T{7});
      Kernel::forward(g, x.data(), y.data());
      Kernel::backward(g, x.data(), y.data(), dy.data(), dx.data());
      y.insert(y.end(), dx.begin(), dx.end());
      return y;
    };
    auto const slow = by(kernel_for<detail::max_pool2d_fn, reference>{});
    CHECK(by(kernel_for<detail::max_pool2d_fn, simd>{}) == slow);
    CHECK(by(kernel_for<detail::max_pool2d_fn, cuda>{}) == slow);
  }
}
