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
TEMPLATE_TEST_CASE("layer_norm: slopes have the bits of the reference", "", float, double) {
  using T = TestType;
  using fast = kernel_for<detail::layer_norm_fn, simd>;
  using slow = kernel_for<detail::layer_norm_fn, reference>;
  auto r = torch_generator(2);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 40; ++round) {
    auto const g = detail::layer_norm_geometry{.rows = up_to(40), .features = up_to(300)};
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      r.uniform(v.data(), n, -2, 3);
      return v;
    };
    auto const x = numbers(g.rows * g.features);
    auto const dy = numbers(g.rows * g.features);
    auto const weight = numbers(g.features);
    auto const mean = numbers(g.rows);
    auto const scale = numbers(g.rows);
    for (auto const wanted : {0U, 1U, 2U, 3U, 7U}) {  // dx, slopes of parameters, dx is added to
      auto const run = [&](auto kernel) {
        auto to = std::vector<T>((g.rows + 4) * g.features, T{2});
        auto* const dx = to.data() + 4 * g.features;
        auto* const dweight = (wanted & 2U) != 0 ? to.data() : nullptr;
        decltype(kernel)::backward(
            g, x.data(), round % 3 == 0 ? nullptr : weight.data(), mean.data(), scale.data(),
            dy.data(),
            detail::layer_norm_slopes<T>{(wanted & 1U) != 0 ? dx : nullptr, wanted == 7, dweight,
                                         dweight == nullptr ? nullptr : dweight + g.features},
            to.data() + 2 * g.features);
        return to;
      };
      CHECK(run(fast{}) == run(slow{}));
    }
  }
}
TEST_CASE("layer_norm: slopes as a tensor for every step between has them") {
  using X = tensor<float, shape<21, 70>>;
  using column = tensor<float, shape<21, 1>>;
  using row = tensor<float, shape<70>>;
  auto x = X{};
  auto dy = X{};
  auto weight = row{};
  test::fill(x, 1, 3);
  test::fill(dy, 2, 3);
  test::fill(weight, 3, 1);
  column const mean = tessera::mean(x, axis<-1>, keepdims);
  column const scale = rsqrt(variance(x, axis<-1>, keepdims));
  X const normal = (x - mean) * scale;
  X const d = dy * weight;
  column const mean_d = tessera::mean(d, axis<-1>, keepdims);
  column const mean_product = tessera::mean(d * normal, axis<-1>, keepdims);
  X const want = (d - mean_d - normal * mean_product) * scale;
  row const of_weight = weight + sum(dy * normal, axis<0>);
  auto dx = X{};
  auto dweight = weight;
  auto dbias = row{};
  float sums[140];
  kernel_for<detail::layer_norm_fn, simd>::backward<float>(
      {21, 70}, x.data(), weight.data(), mean.data(), scale.data(), dy.data(),
      {dx.data(), false, dweight.data(), dbias.data()}, sums);
  CHECK(test::same_bits(dx, want));
  CHECK(test::same_bits(dweight, of_weight));
  CHECK(test::same_bits(dbias, evaluate(sum(dy, axis<0>))));
}
TEMPLATE_TEST_CASE("layer_norm: the bits of the reference with NaN, infinities and tiny numbers",
                   "", float, double) {
  using T = TestType;
  auto r = torch_generator(2);
  auto ordinary = 0;
  for (auto round = 0; round < 60; ++round) {
    auto const g = detail::layer_norm_geometry{.rows = 30, .features = 1 + r.randint(200)};
    auto x = std::vector<T>(g.rows * g.features);
    auto weight = std::vector<T>(g.features);
    auto bias = std::vector<T>(g.features);
    for (auto* v : {&x, &weight, &bias}) r.uniform(v->data(), v->size(), -1, 1);
    test::put_extremes(x.data(), x.size(), 20, r);
    test::put_extremes(weight.data(), weight.size(), 2, r);
    test::put_extremes(bias.data(), bias.size(), 2, r);
    for (auto i = std::size_t{0}; i < g.features; ++i)  // a row whose squares vanish
      x[i] *= std::numeric_limits<T>::min();
    auto const run = [&](auto kernel) {
      auto y = std::vector<T>(x.size() + 2 * g.rows);
      auto* const mean = y.data() + x.size();
      decltype(kernel)::forward(g, x.data(), weight.data(), bias.data(), T(round % 2) / 1024,
                                y.data(), mean, mean + g.rows);
      return y;
    };
    auto const y = run(kernel_for<detail::layer_norm_fn, simd>{});
    CHECK(test::same_numbers(y, run(kernel_for<detail::layer_norm_fn, reference>{})));
    for (auto const number : y) ordinary += std::isfinite(number) ? 1 : 0;
  }
  CHECK(ordinary > 60 * 30);
}
TEST_CASE("layer_norm: rows in memory, which are fetched ahead, and written past the caches") {
  using fast = kernel_for<detail::layer_norm_fn, simd>;
  using slow = kernel_for<detail::layer_norm_fn, reference>;
  for (auto const g : {detail::layer_norm_geometry{.rows = 4111, .features = 1030},
                       detail::layer_norm_geometry{.rows = 8200, .features = 1024},
                       detail::layer_norm_geometry{.rows = 8200, .features = 1030}}) {
    auto const n = g.rows * g.features;
    auto x = std::vector<float>(n);
    torch_generator(3).uniform(x.data(), x.size(), -2, 3);
    auto statistics = std::vector<float>(2 * g.rows);
    auto const run = [&](auto kernel, float const* from, float* y) {
      decltype(kernel)::template forward<float>(g, from, nullptr, nullptr, 1e-5F, y,
                                                statistics.data(), statistics.data() + g.rows);
    };
    auto wanted = std::vector<float>(n);
    run(slow{}, x.data(), wanted.data());
    auto const wanted_statistics = statistics;
    auto memory = std::vector<float>(n + 17, -1.0F);
    auto const past = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(float) % 16;
    for (auto const beside : {0, 1}) {  // of a cache line
      auto* const y = memory.data() + (16 - past) % 16 + beside;
      run(fast{}, x.data(), y);
      CHECK(std::equal(wanted.begin(), wanted.end(), y));
      CHECK(statistics == wanted_statistics);
    }
    run(fast{}, x.data(), x.data());
    CHECK(x == wanted);
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
