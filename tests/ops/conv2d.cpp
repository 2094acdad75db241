// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <algorithm>
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

namespace {

template <class T> struct convolution {
  detail::conv2d_geometry g;
  std::vector<T> x, dy, weight, bias;
  [[nodiscard]] auto weights() const {
    return weight_matrix<T>{weight.data(), g.group_in() * g.kernel.area(), 1};
  }
};
template <class T> struct results {
  std::vector<T> y, dx, dweight, dbias;
  friend auto operator==(results const&, results const&) -> bool = default;
};

template <class T>
auto convolution_of(detail::conv2d_geometry const& g, torch_generator& r, bool has_bias)
    -> convolution<T> {
  auto const numbers = [&](std::size_t n) {
    auto v = std::vector<T>(n);
    for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
    return v;
  };
  return {g, numbers(g.batch * g.image.area() * g.in), numbers(g.batch * g.output.area() * g.out),
          numbers(g.out * g.group_in() * g.kernel.area()), numbers(has_bias ? g.out : 0)};
}
template <class T> auto random_convolution(torch_generator& r, bool has_bias) -> convolution<T> {
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  auto const groups = up_to(3);
  auto const kernel_size = size2(up_to(4), up_to(4));
  auto const dilation = size2(up_to(3), up_to(3));
  auto const stride = size2(up_to(3), up_to(3));
  auto const padding = size2(r.randint(4), r.randint(4));
  auto const reach =
      size2((kernel_size.height - 1) * dilation.height, (kernel_size.width - 1) * dilation.width);
  // Every other one is smaller by its padding, and may be smaller than the kernel.
  auto const inside = r.randint(2) == 0 ? size2(0, 0) : padding;
  auto const image =
      size2(std::max(reach.height + up_to(8), 2 * inside.height + 1) - 2 * inside.height,
            std::max(reach.width + up_to(8), 2 * inside.width + 1) - 2 * inside.width);
  auto const output =
      size2((image.height + 2 * padding.height - reach.height - 1) / stride.height + 1,
            (image.width + 2 * padding.width - reach.width - 1) / stride.width + 1);
  auto const g = detail::conv2d_geometry{.batch = up_to(3),
                                         .image = image,
                                         .output = output,
                                         .in = groups * up_to(12),
                                         .out = groups * up_to(12),
                                         .kernel = kernel_size,
                                         .stride = stride,
                                         .padding = padding,
                                         .dilation = dilation,
                                         .groups = groups};
  return convolution_of<T>(g, r, has_bias);
}
template <class Backend, class T, class kernel_type = kernel_for<detail::conv2d_fn, Backend>>
auto run(convolution<T> const& c, T* packed, auto const& weights) -> results<T> {
  auto result = results<T>{c.dy, c.x, c.weight, c.bias};
  auto const has_bias = not c.bias.empty();
  kernel_type::forward(c.g, c.x.data(), weights, has_bias ? c.bias.data() : nullptr,
                       result.y.data(), packed);
  kernel_type::input(c.g, weights, c.dy.data(), result.dx.data(), packed);
  kernel_type::parameters(c.g, c.x.data(), c.dy.data(), result.dweight.data(),
                          has_bias ? result.dbias.data() : nullptr, packed);
  return result;
}
template <class Backend, class T> auto run(convolution<T> const& c, T* packed) -> results<T> {
  return run<Backend>(c, packed, c.weights());
}

}  // namespace

TEMPLATE_TEST_CASE("conv2d: the bits of the reference, for random geometries", "", float, double) {
  using T = TestType;
  auto const packed =
      std::make_unique<kernel_for<detail::conv2d_fn, simd>::packed<T, 40 * 40 * 16>>();
  auto r = torch_generator(1);
  for (auto round = 0; round < 60; ++round) {
    auto const c = random_convolution<T>(r, round % 3 != 0);
    CHECK(run<simd>(c, packed->data()) == run<reference>(c, static_cast<T*>(nullptr)));
  }
}
TEMPLATE_TEST_CASE("conv2d: the bits of the reference, for whole vectors of channels", "", float,
                   double) {
  using T = TestType;
  constexpr auto channels = std::size_t{64};
  auto const packed =
      std::make_unique<kernel_for<detail::conv2d_fn, simd>::packed<T, channels * channels * 9>>();
  auto r = torch_generator(4);
  for (auto const stride : {1, 2})
    for (auto const padding : {0, 1})
      for (auto const in : {64, 48, 37}) {
        auto const outputs = [&](std::size_t inputs) {
          return (inputs + 2 * static_cast<std::size_t>(padding) - 3) /
                     static_cast<std::size_t>(stride) +
                 1;
        };
        auto const g = detail::conv2d_geometry{.batch = 2,
                                               .image = {6, 7},
                                               .output = {outputs(6), outputs(7)},
                                               .in = static_cast<std::size_t>(in),
                                               .out = channels,
                                               .kernel = 3,
                                               .stride = static_cast<std::size_t>(stride),
                                               .padding = static_cast<std::size_t>(padding),
                                               .dilation = 1,
                                               .groups = 1};
        auto const c = convolution_of<T>(g, r, true);
        auto const ours = run<simd>(c, packed->data());
        auto const want = run<reference>(c, static_cast<T*>(nullptr));
        INFO(in << " channels, stride " << stride << ", padding " << padding);
        CHECK(test::same_bits(ours.y, want.y));
        CHECK(test::same_bits(ours.dx, want.dx));
        CHECK(test::same_bits(ours.dweight, want.dweight));
        CHECK(test::same_bits(ours.dbias, want.dbias));
      }
}
TEST_CASE("conv2d: the bits of the reference, for images that no cache holds together") {
  constexpr auto together = &kernel_for<detail::conv2d_fn, simd>::images_together;
  auto const packed =
      std::make_unique<kernel_for<detail::conv2d_fn, simd>::packed<float, 8 * 8 * 9>>();
  auto r = torch_generator(5);
  for (auto const& [size, count] : {std::pair{52U, 3U}, std::pair{91U, 1U}}) {  // of five
    auto g = detail::conv2d_geometry{.batch = 5,
                                     .image = size,
                                     .output = size,
                                     .in = 8,
                                     .out = 8,
                                     .kernel = 3,
                                     .stride = 1,
                                     .padding = 1,
                                     .dilation = 1,
                                     .groups = 2};
    CHECK(together(g) == count);
    auto const c = convolution_of<float>(g, r, true);
    CHECK(run<simd>(c, packed->data()) == run<reference>(c, static_cast<float*>(nullptr)));
    g.in = g.out = 512;  // whose weights are larger than what two rows of taps read again
    g.groups = 1;
    CHECK(together(g) == 5);
    g.in = g.out = 8;
    g.kernel = {1, 3};
    CHECK(together(g) == 5);
  }
}
TEST_CASE("conv2d: weights of eight bits have the bits of what they stand for") {
  auto const packed =
      std::make_unique<kernel_for<detail::conv2d_fn, simd>::packed<float, 40 * 40 * 16>>();
  auto* const none = static_cast<float*>(nullptr);
  auto r = torch_generator(3);
  for (auto round = 0; round < 30; ++round) {
    auto const c = random_convolution<float>(r, round % 3 != 0);
    auto const seen = c.g.group_in() * c.g.kernel.area();
    auto const eight = test::eight_bits<float>(c.g.out, seen, r);
    auto const widened = eight.widened();
    auto const want = run<reference>(c, none, weight_matrix<float>{widened.data(), seen, 1});
    CHECK(run<reference>(c, none, eight.by_columns()) == want);
    CHECK(run<simd>(c, packed->data(), eight.by_rows()) == want);
    CHECK(run<simd>(c, packed->data(), eight.by_columns()) == want);
    CHECK(run<reference, float, conv2d_by_products<reference>>(c, packed->data(),
                                                               eight.by_columns()) == want);
    auto const on_cuda = run<cuda>(c, none, eight.by_columns());
    auto worst = 0.0F;
    for (auto i = std::size_t{0}; i < want.y.size(); ++i)
      worst = test::larger(worst, std::abs(on_cuda.y[i] - want.y[i]) / (1 + std::abs(want.y[i])));
    for (auto i = std::size_t{0}; i < want.dx.size(); ++i)
      worst =
          test::larger(worst, std::abs(on_cuda.dx[i] - want.dx[i]) / (1 + std::abs(want.dx[i])));
    CHECK(worst < 1e-5F);
  }
}
TEST_CASE("conv2d: on cuda up to rounding, for random geometries") {
  auto r = torch_generator(2);
  auto worst = 0.0;
  auto const note = [&](std::vector<double> const& a, std::vector<double> const& b) {
    for (auto i = std::size_t{0}; i < a.size(); ++i)
      worst = test::larger(worst, std::abs(a[i] - b[i]));
  };
  auto plain = 0;
  for (auto round = 0; round < 60; ++round) {
    auto const c = random_convolution<double>(r, round % 3 != 0);
    auto const a = run<cuda>(c, static_cast<double*>(nullptr));
    auto const b = run<reference>(c, static_cast<double*>(nullptr));
    note(a.y, b.y);
    note(a.dx, b.dx);
    note(a.dweight, b.dweight);
    note(a.dbias, b.dbias);
    plain += c.g.groups == 1 ? 1 : 0;
  }
  CHECK(worst < 1e-12);
  CHECK(plain > 10);
  CHECK(plain < 50);
}
