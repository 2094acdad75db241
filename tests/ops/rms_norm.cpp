// SPDX-License-Identifier: MIT
#include <support/backwards.hpp>
#include <support/test.hpp>
#include <tessera/ops/rms_norm.hpp>

#include <vector>

using namespace tessera;

namespace {

using fast = kernel_for<detail::rms_norm_fn, simd>;
using slow = kernel_for<detail::rms_norm_fn, reference>;
template <class T> auto numbers(torch_generator& r, std::size_t n) -> std::vector<T> {
  auto v = std::vector<T>(n);
  r.uniform(v.data(), n, -2, 3);
  return v;
}

}  // namespace

TEMPLATE_TEST_CASE("rms_norm: the bits of the reference, for random geometries", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(1);
  for (auto round = 0; round < 60; ++round) {
    auto const g = detail::layer_norm_geometry{.rows = r.randint(40),
                                               .features = 1 + r.randint(round < 50 ? 300 : 9000)};
    auto const x = numbers<T>(r, g.rows * g.features);
    auto const weight = numbers<T>(r, g.features);
    auto const run = [&](auto kernel, bool in_place) {
      auto y = in_place ? x : std::vector<T>(x.size());
      auto scale = std::vector<T>(g.rows);
      decltype(kernel)::forward(g, in_place ? y.data() : x.data(), weight.data(), T(1e-5), y.data(),
                                scale.data());
      y.insert(y.end(), scale.begin(), scale.end());
      return y;
    };
    auto const y = run(slow{}, false);
    CHECK(run(fast{}, false) == y);
    CHECK(run(fast{}, true) == y);
  }
}
TEMPLATE_TEST_CASE("rms_norm: slopes have the bits of the reference", "", float, double) {
  using T = TestType;
  auto r = torch_generator(2);
  for (auto round = 0; round < 40; ++round) {
    auto const g =
        detail::layer_norm_geometry{.rows = r.randint(40), .features = 1 + r.randint(300)};
    auto const x = numbers<T>(r, g.rows * g.features);
    auto const dy = numbers<T>(r, g.rows * g.features);
    auto const weight = numbers<T>(r, g.features);
    auto const scale = numbers<T>(r, g.rows);
    // dx, slopes of the weight, dx is added to; then dx in place of dy
    auto apart = std::vector<T>{};
    for (auto const wanted : {0U, 1U, 2U, 3U, 7U, 11U}) {
      auto const run = [&](auto kernel) {
        auto to = std::vector<T>((g.rows + 2) * g.features, T{2});
        auto* const dx = to.data() + 2 * g.features;
        auto const in_place = (wanted & 8U) != 0;
        if (in_place) std::copy(dy.begin(), dy.end(), dx);
        decltype(kernel)::backward(
            g, x.data(), weight.data(), scale.data(), in_place ? dx : dy.data(),
            detail::rms_norm_slopes<T>{(wanted & 1U) != 0 ? dx : nullptr, (wanted & 4U) != 0,
                                       (wanted & 2U) != 0 ? to.data() : nullptr},
            to.data() + g.features);
        return to;
      };
      auto const found = run(fast{});
      CHECK(found == run(slow{}));
      if (wanted == 3) apart = found;
      if (wanted == 11) CHECK(found == apart);
    }
  }
}
TEMPLATE_TEST_CASE("rms_norm: the bits of the reference with NaN, infinities and tiny numbers", "",
                   float, double) {
  using T = TestType;
  auto r = torch_generator(3);
  auto ordinary = 0;
  for (auto round = 0; round < 60; ++round) {
    auto const g = detail::layer_norm_geometry{.rows = 30, .features = 1 + r.randint(200)};
    auto x = numbers<T>(r, g.rows * g.features);
    auto weight = numbers<T>(r, g.features);
    test::put_extremes(x.data(), x.size(), 20, r);
    test::put_extremes(weight.data(), weight.size(), 2, r);
    for (auto i = std::size_t{0}; i < g.features; ++i)  // a row whose squares vanish
      x[i] *= std::numeric_limits<T>::min();
    auto const run = [&](auto kernel) {
      auto y = std::vector<T>(x.size() + g.rows);
      decltype(kernel)::forward(g, x.data(), weight.data(), T(round % 2) / 1024, y.data(),
                                y.data() + x.size());
      return y;
    };
    auto const y = run(fast{});
    CHECK(test::same_numbers(y, run(slow{})));
    for (auto const number : y) ordinary += std::isfinite(number) ? 1 : 0;
  }
  CHECK(ordinary > 60 * 30);
}
TEST_CASE("rms_norm: threads share many rows, with the same bits") {
  auto r = torch_generator(4);
  auto const g = detail::layer_norm_geometry{.rows = 131, .features = 1000};
  auto const x = numbers<float>(r, g.rows * g.features);
  auto const weight = numbers<float>(r, g.features);
  auto const run = [&] {
    auto y = std::vector<float>(x.size() + g.rows);
    fast::forward(g, x.data(), weight.data(), 1e-6F, y.data(), y.data() + x.size());
    return y;
  };
  auto const alone = run();
  auto const team = test::backwards(3);
  CHECK(run() == alone);
  CHECK(team.tasks == 3);
}
