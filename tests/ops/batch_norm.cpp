// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

namespace {

/// Two batches through every part of a kernel: what it leaves in memory.
template <class Kernel, class T>
auto run(Kernel, detail::batch_norm_geometry const& g, std::vector<T> const& numbers, bool affine,
         bool learns, bool wants_dx) {
  auto const size = g.rows * g.features;
  auto const* const x = numbers.data();
  auto const* const dy = x + size;
  auto const* const weight = affine ? dy + size : nullptr;
  auto const* const bias = affine ? weight + g.features : nullptr;
  auto const of = [](std::size_t n, T value = T{0}) { return std::vector<T>(n, value); };
  auto const each = g.groups() * g.features;
  auto mean = of(each);
  auto scale = of(each);
  auto counts = of(g.groups());
  auto means = of(each);
  auto squares = of(each);
  auto count = of(2);
  auto seen_mean = of(2 * g.features);
  auto seen_squares = of(2 * g.features);
  auto running_mean = of(g.features, T(0.5));
  auto running_var = of(g.features, T(2));
  auto batches = of(1);
  auto y = of(size);
  auto dx = of(size);
  auto dweight = of(g.features, T(0.25));
  auto dbias = dweight;
  auto const seen = [&](std::size_t i) {
    return detail::batch_norm_seen<T>{.count = count.data() + i,
                                      .mean = seen_mean.data() + i * g.features,
                                      .squares = seen_squares.data() + i * g.features};
  };
  for (auto const batch : {std::size_t{0}, std::size_t{1}}) {
    auto const from = batch == 0 ? x : dy;
    if (learns)
      Kernel::template observe<T>(
          g, from, T(1e-5), mean.data(), scale.data(),
          {.count = counts.data(), .mean = means.data(), .squares = squares.data()}, seen(batch));
    else
      Kernel::template recall<T>(g.features, running_mean.data(), running_var.data(), T(1e-5),
                                 mean.data(), scale.data());
    Kernel::template forward<T>(g, from, weight, bias, mean.data(), scale.data(), y.data());
    Kernel::template backward<T>(g, learns, from, weight, bias, mean.data(), scale.data(), dy,
                                 {.dx = wants_dx ? dx.data() : nullptr,
                                  .dweight = affine ? dweight.data() : nullptr,
                                  .dbias = dbias.data()},
                                 means.data(), squares.data());
  }
  Kernel::template fold<T>(g.features, seen(0), seen(1));
  Kernel::template absorb<T>(g.features, T(0.1), running_mean.data(), running_var.data(),
                             batches.data(), seen(0));
  auto all = std::vector<T>{};
  for (auto const& part :
       {y, dx, dweight, dbias, count, seen_mean, seen_squares, running_mean, running_var, batches})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("batch_norm: the bits of the reference, and the device's numbers", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(1);
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  for (auto round = 0; round < 40; ++round) {
    auto const learns = round % 4 != 0;
    auto const rows = up_to(30);
    auto const g = detail::batch_norm_geometry{
        .rows = rows, .group = learns ? up_to(9) : rows, .features = up_to(40)};
    auto numbers = std::vector<T>(2 * g.rows * g.features + 2 * g.features);
    for (auto& n : numbers) n = static_cast<T>(2 * r.rand<double>() - 1);
    auto const by = [&](auto which) {
      return run(which, g, numbers, round % 3 != 0, learns, round % 5 != 0);
    };
    auto const slow = by(kernel_for<detail::batch_norm_fn, reference>{});
    CHECK(by(kernel_for<detail::batch_norm_fn, simd>{}) == slow);
    auto const device = by(kernel_for<detail::batch_norm_fn, cuda>{});
    // A group of one row has scale 316: its rounding with it.
    for (auto i = std::size_t{0}; i < slow.size(); ++i)
      CHECK(device[i] == Approx(slow[i]).epsilon(1e-4).margin(1e-3));
  }
}
TEMPLATE_TEST_CASE("batch_norm: with an activation, the bits of one after the other", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(4);
  auto const numbers = [&](std::size_t n) {
    auto v = std::vector<T>(n);
    for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
    return v;
  };
  auto const features = std::size_t{35};
  auto const weight = numbers(features);
  auto const bias = numbers(features);
  auto const both = [&]<class Kernel, class Activation>(Kernel, Activation, std::vector<T> const& x,
                                                        std::vector<T> dy, bool with, bool learns,
                                                        bool affine, bool wants_dx) {
    auto const rows = x.size() / features;
    auto const g = detail::batch_norm_geometry{
        .rows = rows, .group = learns ? 3 : rows + 1, .features = features};
    auto const each = (g.groups() + 1) * features;
    auto mean = std::vector<T>(each, T(0.25));
    auto scale = std::vector<T>(each, T(1.5));
    auto sums = mean;
    auto products = mean;
    auto y = x;
    auto dx = x;
    auto dweight = weight;
    auto dbias = bias;
    auto const* const w = affine ? weight.data() : nullptr;
    auto const* const b = affine ? bias.data() : nullptr;
    auto const slopes = detail::batch_norm_slopes<T>{wants_dx ? dx.data() : nullptr,
                                                     affine ? dweight.data() : nullptr,
                                                     affine ? dbias.data() : nullptr};
    if (with) {
      Kernel::template forward<T, Activation>(g, x.data(), w, b, mean.data(), scale.data(),
                                              y.data());
      Kernel::template backward<T, Activation>(g, learns, x.data(), w, b, mean.data(), scale.data(),
                                               dy.data(), slopes, sums.data(), products.data());
    } else {
      Kernel::template forward<T>(g, x.data(), w, b, mean.data(), scale.data(), y.data());
      for (auto i = std::size_t{0}; i < y.size(); ++i) {
        dy[i] = Activation::slope_through(dy[i], y[i]);
        y[i] = Activation::apply(y[i]);
      }
      Kernel::template backward<T>(g, learns, x.data(), w, b, mean.data(), scale.data(), dy.data(),
                                   slopes, sums.data(), products.data());
    }
    for (auto const* part : {&dx, &dweight, &dbias}) y.insert(y.end(), part->begin(), part->end());
    return y;
  };
  auto const agree = [&](auto activation) {
    for (auto const rows : {7U, 1U, 0U}) {
      auto const x = numbers(rows * features);
      auto const dy = numbers(rows * features);
      for (auto i = 0U; i < 8; ++i) {
        auto const by = [&](auto kernel, bool with) {
          return both(kernel, activation, x, dy, with, (i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
        };
        INFO(rows << " rows, case " << i);
        auto const apart = by(kernel_for<detail::batch_norm_fn, reference>{}, false);
        CHECK(by(kernel_for<detail::batch_norm_fn, reference>{}, true) == apart);
        CHECK(by(kernel_for<detail::batch_norm_fn, simd>{}, true) == apart);
      }
    }
  };
  agree(relu_layer{});
  agree(silu_layer{});
}
TEMPLATE_TEST_CASE("batch_norm: many rows far from zero keep their mean and deviation", "", simd,
                   reference, cuda) {
  constexpr auto rows = std::size_t{65'536};
  auto const g = detail::batch_norm_geometry{.rows = rows, .group = rows, .features = 1};
  auto r = torch_generator(3);
  auto x = std::vector<float>(rows);
  r.uniform(x.data(), rows, 1000.2, 1000.4);
  float of[7];
  kernel_for<detail::batch_norm_fn, TestType>::observe(
      g, static_cast<float const*>(x.data()), 1e-5F, of, of + 1,
      detail::batch_norm_seen<float>{of + 2, of + 3, of + 4},
      detail::batch_norm_seen<float>{of + 2, of + 5, of + 6});
  auto sum = 0.0;
  for (auto const number : x) sum += number;
  auto const center = sum / rows;
  auto squares = 0.0;
  for (auto const number : x) squares += (number - center) * (number - center);
  CHECK(of[0] == Approx(center).epsilon(1e-7));
  CHECK(of[1] == Approx(1 / std::sqrt(squares / rows + 1e-5)).epsilon(1e-4));
  CHECK(of[5] == of[0]);
  CHECK(of[6] == Approx(squares).epsilon(1e-4));
}
TEMPLATE_TEST_CASE("batch_norm: slopes of a batch in one chunk have the bits of two", "", simd,
                   reference, cuda) {
  using kernel = kernel_for<detail::batch_norm_fn, TestType>;
  constexpr auto features = std::size_t{20};
  auto r = torch_generator(5);
  auto const numbers = [&](std::size_t n) {
    auto v = std::vector<float>(n);
    r.uniform(v.data(), n, -1, 1);
    return v;
  };
  auto const x = numbers(8 * features);
  auto const dy = numbers(8 * features);
  auto const mean = numbers(4 * features);
  auto const scale = numbers(4 * features);
  auto const slopes_of = [&](std::size_t first, std::size_t rows) {
    auto const g = detail::batch_norm_geometry{.rows = rows, .group = 2, .features = features};
    auto slopes = std::vector<float>(2 * features);
    auto sums = std::vector<float>(8 * features, 7.0F);
    kernel::backward(
        g, true, x.data() + first * features, static_cast<float const*>(nullptr),
        static_cast<float const*>(nullptr), mean.data() + first / 2 * features,
        scale.data() + first / 2 * features, dy.data() + first * features,
        detail::batch_norm_slopes<float>{nullptr, slopes.data(), slopes.data() + features},
        sums.data(), sums.data() + 4 * features);
    return slopes;
  };
  auto two = slopes_of(0, 4);
  auto const second = slopes_of(4, 4);
  for (auto i = std::size_t{0}; i < two.size(); ++i) two[i] += second[i];
  CHECK(slopes_of(0, 8) == two);
  CHECK(slopes_of(0, 0) == std::vector<float>(2 * features));
}
TEST_CASE("batch_norm: groups of a number of rows, the last of which has fewer") {
  auto const g = detail::batch_norm_geometry{.rows = 7, .group = 3, .features = 2};
  CHECK(g.groups() == 3);
  CHECK(g.rows_of(0) == 3);
  CHECK(g.rows_of(2) == 1);
  CHECK(detail::batch_norm_geometry{.rows = 0, .group = 1, .features = 2}.groups() == 0);
}
