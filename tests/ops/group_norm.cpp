// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE(
    "group_norm: the bits of the reference, or near it on a device, for random geometries", "",
    float, double) {
  using T = TestType;
  using fast = kernel_for<detail::group_norm_fn, simd>;
  using slow = kernel_for<detail::group_norm_fn, reference>;
  auto r = torch_generator(1);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 42; ++round) {
    auto const groups = up_to(5);
    auto const g =
        round < 40
            ? detail::group_norm_geometry{.batch = up_to(3),
                                          .pixels = up_to(20),
                                          .channels = groups * up_to(14),
                                          .groups = groups}
            // More channels in a group than threads of a device's block, and more images.
            : detail::group_norm_geometry{.batch = 70, .pixels = 3, .channels = 400, .groups = 2};
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
      auto sums = std::vector<T>(4 * g.channels);
      Kernel::forward(g, x.data(), w, affine ? bias.data() : nullptr, T(1e-5), out[0].data(),
                      mean.data(), scale.data(), sums.data());
      Kernel::backward(g, x.data(), w, affine ? bias.data() : nullptr, mean.data(), scale.data(),
                       dy.data(),
                       {round % 4 == 0 ? nullptr : out[1].data(), affine ? out[2].data() : nullptr,
                        affine ? out[3].data() : nullptr},
                       sums.data());
      return out;
    };
    auto const want = run(slow{});
    CHECK(run(fast{}) == want);
    auto const on_device = run(kernel_for<detail::group_norm_fn, cuda>{});
    auto close = true;
    for (auto k = std::size_t{0}; k < want.size(); ++k)
      for (auto i = std::size_t{0}; i < want[k].size(); ++i)
        close &= std::abs(on_device[k][i] - want[k][i]) <
                 (sizeof(T) == 4 ? 2e-5 : 1e-13) * std::max(1.0, std::abs(double(want[k][i])));
    CHECK(close);
  }
}
TEMPLATE_TEST_CASE("group_norm: with an activation, the bits of one after the other", "", float,
                   double) {
  using T = TestType;
  auto const both = [&]<class Kernel>(Kernel, bool with, std::size_t pixels, bool affine,
                                      bool wants_dx) {
    auto const g =
        detail::group_norm_geometry{.batch = 2, .pixels = pixels, .channels = 35, .groups = 5};
    auto r = torch_generator(4);
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
      return v;
    };
    auto const x = numbers(g.batch * g.pixels * g.channels);
    auto dy = numbers(x.size());
    auto const weight = numbers(g.channels);
    auto const bias = numbers(g.channels);
    auto y = x;
    auto dx = x;
    auto dweight = weight;
    auto dbias = bias;
    auto mean = std::vector<T>(g.batch * g.groups);
    auto scale = mean;
    auto sums = std::vector<T>(4 * g.channels);
    auto const* const w = affine ? weight.data() : nullptr;
    auto const* const b = affine ? bias.data() : nullptr;
    auto const slopes = detail::group_norm_slopes<T>{wants_dx ? dx.data() : nullptr,
                                                     affine ? dweight.data() : nullptr,
                                                     affine ? dbias.data() : nullptr};
    if (with) {
      Kernel::template forward<T, silu_layer>(g, x.data(), w, b, T(1e-5), y.data(), mean.data(),
                                              scale.data(), sums.data());
      Kernel::template backward<T, silu_layer>(g, x.data(), w, b, mean.data(), scale.data(),
                                               dy.data(), slopes, sums.data());
    } else {
      Kernel::template forward<T>(g, x.data(), w, b, T(1e-5), y.data(), mean.data(), scale.data(),
                                  sums.data());
      for (auto i = std::size_t{0}; i < y.size(); ++i) {
        dy[i] = silu_layer::slope_through(dy[i], y[i]);
        y[i] = silu_layer::apply(y[i]);
      }
      Kernel::template backward<T>(g, x.data(), w, b, mean.data(), scale.data(), dy.data(), slopes,
                                   sums.data());
    }
    for (auto const* part : {&dx, &dweight, &dbias}) y.insert(y.end(), part->begin(), part->end());
    return y;
  };
  for (auto const pixels : {7U, 1U, 0U})
    for (auto const affine : {true, false})
      for (auto const wants_dx : {true, false}) {
        INFO(pixels << " pixels" << (affine ? ", affine" : "") << (wants_dx ? ", dx" : ""));
        using slow = kernel_for<detail::group_norm_fn, reference>;
        using fast = kernel_for<detail::group_norm_fn, simd>;
        auto const apart = both(slow{}, false, pixels, affine, wants_dx);
        CHECK(both(slow{}, true, pixels, affine, wants_dx) == apart);
        CHECK(both(fast{}, true, pixels, affine, wants_dx) == apart);
      }
}
namespace {

/// The mean, the scale and the sums of slopes of one image, which is one group.
template <class Kernel> void keeps_digits(std::size_t channels, std::vector<float> const& x) {
  auto const pixels = x.size() / channels;
  auto const g =
      detail::group_norm_geometry{.batch = 1, .pixels = pixels, .channels = channels, .groups = 1};
  auto y = x;
  auto dx = x;
  float mean[1];
  float scale[1];
  auto sums = std::vector<float>(4 * channels);
  auto of_weight = std::vector<float>(channels);
  auto of_bias = of_weight;
  Kernel::forward(g, x.data(), static_cast<float*>(nullptr), static_cast<float*>(nullptr), 1e-5F,
                  y.data(), mean, scale, sums.data());
  auto sum = 0.0;
  for (auto const number : x) sum += number;
  auto const center = sum / static_cast<double>(x.size());
  auto squares = 0.0;
  for (auto const number : x) squares += (number - center) * (number - center);
  auto const wanted = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
  CHECK(mean[0] == Approx(center).epsilon(1e-6));
  CHECK(scale[0] == Approx(wanted).epsilon(1e-5));
  // With ones for slopes, the sum of a channel's is their number.
  auto const dy = std::vector<float>(x.size(), 0.1F);
  auto const ones = std::vector<float>(channels, 1.0F);
  Kernel::backward(g, x.data(), ones.data(), static_cast<float const*>(nullptr), mean, scale,
                   dy.data(), {dx.data(), of_weight.data(), of_bias.data()}, sums.data());
  auto const slope = 0.1 * static_cast<double>(pixels);
  for (auto const of : of_bias) CHECK(of == Approx(slope).epsilon(1e-4));
}

}  // namespace

TEMPLATE_TEST_CASE("group_norm: the sums of a large image keep their digits", "", simd, reference) {
  auto r = torch_generator(3);
  auto x = std::vector<float>(std::size_t{512} * 512 * 2);
  r.uniform(x.data(), x.size(), 285, 295);
  keeps_digits<kernel_for<detail::group_norm_fn, TestType>>(2, x);
}
TEMPLATE_TEST_CASE("group_norm: so do those of channels that no two threads of a device share", "",
                   cuda, reference) {
  // Sums of 4096 of these numbers are exact; those of 32768 have no place for their fractions.
  auto r = torch_generator(3);
  auto x = std::vector<float>(std::size_t{32'768} * 65);
  for (auto& number : x) number = 100 + static_cast<float>(1 + r.randint(3)) / 32;
  keeps_digits<kernel_for<detail::group_norm_fn, TestType>>(65, x);
}
TEMPLATE_TEST_CASE("group_norm: images without pixels have no slopes", "", cuda, simd, reference) {
  using kernel = kernel_for<detail::group_norm_fn, TestType>;
  auto const g = detail::group_norm_geometry{.batch = 2, .pixels = 0, .channels = 4, .groups = 2};
  auto const ones = std::vector<float>(4, 1.0F);
  auto mean = std::vector<float>(4);
  auto scale = mean;
  auto sums = std::vector<float>(16);
  auto y = std::vector<float>(1);
  auto dx = y;
  auto of_weight = std::vector<float>{1, 2, 3, 4};
  auto of_bias = of_weight;
  kernel::forward(g, y.data(), ones.data(), ones.data(), 1e-5F, y.data(), mean.data(), scale.data(),
                  sums.data());
  kernel::backward(g, y.data(), ones.data(), ones.data(), mean.data(), scale.data(), y.data(),
                   {dx.data(), of_weight.data(), of_bias.data()}, sums.data());
  CHECK(of_weight == std::vector<float>{1, 2, 3, 4});
  CHECK(of_bias == of_weight);
}
