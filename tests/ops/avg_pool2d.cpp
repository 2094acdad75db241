// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <support/windows.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("avg_pool2d: the bits of the reference on simd and on the device", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(1);
  for (auto round = 0; round < 60; ++round) {
    auto const w = test::random_windows(r);
    auto const g = detail::avg_pool2d_geometry{w, round % 2 == 0};
    auto x = std::vector<T>(w.images * w.in.area() * w.channels);
    auto dy = std::vector<T>(w.images * w.out.area() * w.channels);
    for (auto& v : x) v = static_cast<T>(2 * r.rand<double>() - 1);
    for (auto& v : dy) v = static_cast<T>(2 * r.rand<double>() - 1);
    auto const by = [&]<class Kernel>(Kernel) {
      auto y = dy;
      auto dx = std::vector<T>(x.size(), T{7});
      Kernel::forward(g, x.data(), y.data());
      Kernel::backward(g, dy.data(), dx.data());
      y.insert(y.end(), dx.begin(), dx.end());
      return y;
    };
    auto const slow = by(kernel_for<detail::avg_pool2d_fn, reference>{});
    CHECK(by(kernel_for<detail::avg_pool2d_fn, simd>{}) == slow);
    CHECK(by(kernel_for<detail::avg_pool2d_fn, cuda>{}) == slow);
  }
}
