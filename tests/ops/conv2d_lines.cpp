// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

namespace {

using detail::conv2d_geometry;
using detail::three_indices;

/// The product of two lines, by as many threads as a tile has for them: each goes on by its steps.
template <class A, class B>
auto product(A const& a, B const& b, std::size_t i, std::size_t j, std::size_t depth) -> double {
  constexpr auto distance = std::size_t{4};
  auto sum = 0.0;
  for (auto first = std::size_t{0}; first < distance; ++first) {
    auto of_a = a.from(first);
    auto of_b = b.from(first);
    for (auto k = first; k < depth; k += distance) {
      sum += a.value(a.at(i), of_a) * b.value(b.at(j), of_b);
      a.go_on(of_a, distance);
      b.go_on(of_b, distance);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("conv2d_lines: indices go on as they are counted") {
  for (auto const n : {0U, 1U, 5U, 29U, 30U, 200U})
    for (auto const distance : {0U, 1U, 4U, 16U, 100U}) {
      auto i = three_indices::of(n, 5, 6);
      i.go_on(distance, 5, 6);
      auto const want = three_indices::of(n + distance, 5, 6);
      CHECK(i.outer == want.outer);
      CHECK(i.middle == want.middle);
      CHECK(i.inner == want.inner);
    }
}

TEST_CASE("conv2d_lines: their products are the convolution and its slopes") {
  using kernel = kernel_for<operation::conv2d, reference>;
  for (auto const strided : {false, true}) {
    auto const g =
        strided ? conv2d_geometry{2, {9, 7}, {4, 3}, 2, 3, {3, 2}, {2, 3}, {1, 1}, {1, 2}, 1}
                : conv2d_geometry{2, {5, 4}, {5, 4}, 3, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1};
    auto const taps = g.kernel.area();
    auto const pixels = g.batch * g.image.area();
    auto const outputs = g.batch * g.output.area();
    auto numbers = [seed = 1U](std::size_t n) mutable {
      auto v = std::vector<double>(n);
      test::fill(v.data(), n, seed++);
      return v;
    };
    auto const x = numbers(pixels * g.in);
    auto const weight = numbers(g.out * g.in * taps);
    auto const dy = numbers(outputs * g.out);
    auto const w = weight_matrix<double>{weight.data(), g.in * taps, 1};
    auto y = dy;
    auto dx = x;
    auto dweight = std::vector<double>(weight.size());
    auto* const none = static_cast<double*>(nullptr);
    kernel::forward(g, x.data(), w, static_cast<double const*>(nullptr), y.data(), none);
    kernel::input(g, w, dy.data(), dx.data(), none);
    kernel::parameters(g, x.data(), dy.data(), dweight.data(), none, none);

    auto const seen = detail::conv2d_seen<double>{g, x.data()};
    auto const seers = detail::conv2d_seers<double>{g, dy.data()};
    auto const by_tap = detail::conv2d_seen_by_tap<double>{seen};
    auto const of_outputs = detail::conv2d_weights<double, double>{w, taps, g.in, false};
    auto const of_inputs = detail::conv2d_weights<double, double>{w, taps, g.out, true};
    auto const slopes = device::lines<double>{dy.data(), 1, g.out};
    auto worst = 0.0;
    auto const compare = [&](double a, double b) { worst = test::larger(worst, std::abs(a - b)); };
    for (auto o = std::size_t{0}; o < g.out; ++o)
      for (auto p = std::size_t{0}; p < outputs; ++p)
        compare(product(seen, of_outputs, p, o, taps * g.in), y[p * g.out + o]);
    for (auto c = std::size_t{0}; c < g.in; ++c)
      for (auto p = std::size_t{0}; p < pixels; ++p)
        compare(product(seers, of_inputs, p, c, taps * g.out), dx[p * g.in + c]);
    for (auto o = std::size_t{0}; o < g.out; ++o)
      for (auto line = std::size_t{0}; line < taps * g.in; ++line)
        compare(product(slopes, by_tap, o, line, outputs),
                dweight[g.weight_at(o, line % g.in, line / g.in)]);
    CHECK(worst < 1e-13);
  }
}
