// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <vector>

using namespace tessera;

TEST_CASE("conv2d: the run of a tap is where its input is inside of the image") {
  for (auto kernel = std::size_t{1}; kernel < 5; ++kernel)
    for (auto stride = std::size_t{1}; stride < 4; ++stride)
      for (auto padding = std::size_t{0}; padding < 4; ++padding)
        for (auto dilation = std::size_t{1}; dilation < 4; ++dilation) {
          auto const reach = (kernel - 1) * dilation + 1;
          for (auto inputs = reach; inputs < reach + 7; ++inputs) {
            auto const outputs = (inputs + 2 * padding - reach) / stride + 1;
            for (auto tap = std::size_t{0}; tap < kernel; ++tap) {
              auto const run = detail::run_of_tap(tap, inputs, outputs, stride, padding, dilation);
              for (auto i = std::size_t{0}; i < outputs; ++i) {
                auto const seen = i * stride + tap * dilation;
                auto const inside = seen >= padding && seen - padding < inputs;
                auto const in_run = i >= run.first && i < run.first + run.count;
                REQUIRE(inside == in_run);
                if (inside) REQUIRE(run.input + (i - run.first) * stride == seen - padding);
              }
            }
          }
        }
}

TEMPLATE_TEST_CASE("conv2d: the bits of the reference, for random geometries", "", float, double) {
  using T = TestType;
  using fast = kernel<detail::conv2d_fn, simd>;
  using slow = kernel<detail::conv2d_fn, reference>;
  auto const packed = std::make_unique<fast::packed<T, 40 * 40 * 16>>();
  auto r = torch_generator(1);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 60; ++round) {
    auto const groups = up_to(3);
    auto const kernel_size = size2(up_to(4), up_to(4));
    auto const dilation = size2(up_to(3), up_to(3));
    auto const stride = size2(up_to(3), up_to(3));
    auto const padding = size2(r.randint(4), r.randint(4));
    auto const reach =
        size2((kernel_size.height - 1) * dilation.height, (kernel_size.width - 1) * dilation.width);
    auto const image = size2(reach.height + up_to(8), reach.width + up_to(8));
    auto const output =
        size2((image.height + 2 * padding.height - reach.height - 1) / stride.height + 1,
              (image.width + 2 * padding.width - reach.width - 1) / stride.width + 1);
    auto const g = detail::conv2d_geometry{
        up_to(3),    image,  output,  groups * up_to(12), groups * up_to(12),
        kernel_size, stride, padding, dilation,           groups};
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
      return v;
    };
    auto const x = numbers(g.batch * g.image.area() * g.in);
    auto const dy = numbers(g.batch * g.output.area() * g.out);
    auto const weight = numbers(g.out * g.group_in() * g.kernel.area());
    auto const bias = numbers(g.out);
    auto const* const b = round % 3 == 0 ? nullptr : bias.data();

    auto y = dy;
    auto y_slow = dy;
    fast::forward(g, x.data(), weight.data(), b, y.data(), packed->data());
    slow::forward(g, x.data(), weight.data(), b, y_slow.data(), static_cast<T*>(nullptr));
    CHECK(y == y_slow);

    auto dx = x;
    auto dx_slow = x;
    fast::input(g, weight.data(), dy.data(), dx.data(), packed->data());
    slow::input(g, weight.data(), dy.data(), dx_slow.data(), static_cast<T*>(nullptr));
    CHECK(dx == dx_slow);

    auto dw = weight;
    auto dw_slow = weight;
    auto db = bias;
    auto db_slow = bias;
    fast::parameters(g, x.data(), dy.data(), dw.data(), db.data(), packed->data());
    slow::parameters(g, x.data(), dy.data(), dw_slow.data(), db_slow.data(),
                     static_cast<T*>(nullptr));
    CHECK(dw == dw_slow);
    CHECK(db == db_slow);
  }
}
