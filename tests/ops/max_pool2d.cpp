// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("max_pool2d: the bits of the reference on simd and on the device", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(1);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 60; ++round) {
    auto const window = size2(up_to(4), up_to(4));
    auto const stride = size2(up_to(4), up_to(4));
    auto const padding = size2(r.randint(static_cast<std::uint32_t>(window.height / 2 + 1)),
                               r.randint(static_cast<std::uint32_t>(window.width / 2 + 1)));
    auto const in = size2(window.height + up_to(5), window.width + up_to(5));
    auto const out = size2((in.height + 2 * padding.height - window.height) / stride.height + 1,
                           (in.width + 2 * padding.width - window.width) / stride.width + 1);
    auto const g = detail::max_pool2d_geometry{.images = up_to(3),
                                               .in = in,
                                               .out = out,
                                               .channels = up_to(20),
                                               .window = window,
                                               .stride = stride,
                                               .padding = padding};
    auto x = std::vector<T>(g.images * in.area() * g.channels);
    auto dy = std::vector<T>(g.images * out.area() * g.channels);
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
