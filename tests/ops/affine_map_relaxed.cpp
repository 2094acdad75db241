// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <span>

using namespace tessera;

namespace {

/// Sixteen sums, of which each takes every sixteenth number, then halves.
[[nodiscard]] auto by_sixteen(std::span<float const> x, std::span<float const> w) -> float {
  float sums[16] = {};
  for (auto k = std::size_t{0}; k < x.size(); ++k)
    sums[k % 16] = lane::fma(x[k], w[k], sums[k % 16]);
  for (auto half = std::size_t{8}; half > 0; half /= 2)
    for (auto j = std::size_t{0}; j < half; ++j) sums[j] = sums[j] + sums[j + half];
  return sums[0];
}
template <class T, std::size_t Rows, std::size_t In, std::size_t Out, class Backend>
auto outputs(auto const& weight, T const* bias) {
  auto x = tensor<T, shape<Rows, In>, Backend>{};
  test::fill(x, 3);
  auto y = tensor<T, shape<Rows, Out>, Backend>{};
  auto none = nothing{};
  affine_map(as_const(x), weight, bias, view_of<decltype(y)>{y.data(), {}}, none);
  return std::vector<T>(y.data(), y.data() + y.size());
}
template <std::size_t In> void one_output() {
  auto x = tensor<float, shape<1, In>>{};
  auto const w = std::make_unique<tensor<float, shape<1, In>>>();
  auto const p = std::make_unique<packed_matrix<float, shape<1, In>, simd>>();
  test::fill(*w, 1);
  test::fill(x, 3);
  p->pack(weights_of<float>(*w));
  auto const bias = 0.3F;
  auto const sum = by_sixteen({x.data(), In}, {w->data(), In});
  INFO(In);
  CHECK(outputs<float, 1, In, 1, relaxed>(*w, &bias)[0] == bias + sum);
  CHECK(outputs<float, 1, In, 1, relaxed>(*p, &bias)[0] == bias + sum);
  CHECK(outputs<float, 1, In, 1, relaxed>(*w, static_cast<float const*>(nullptr))[0] == sum);
  auto exact = double{bias};
  auto size = double{bias};
  for (auto k = std::size_t{0}; k < In; ++k) {
    exact += double{x.values[k]} * w->values[k];
    size += std::abs(double{x.values[k]} * w->values[k]);
  }
  constexpr auto epsilon = double{std::numeric_limits<float>::epsilon()};
  CHECK(std::abs(double{bias + sum} - exact) <= 2 * (In / 16 + 6) * epsilon * size);
}
/// What is not one output of one row in float has the bits of simd.
template <class T, std::size_t Rows, std::size_t In, std::size_t Out> void as_simd() {
  auto const w = std::make_unique<tensor<T, shape<Out, In>>>();
  test::fill(*w, 1);
  auto const bias = std::vector<T>(Out, T{1});
  INFO(Rows << " rows, " << In << " to " << Out);
  CHECK(outputs<T, Rows, In, Out, relaxed>(*w, bias.data()) ==
        outputs<T, Rows, In, Out, simd>(*w, bias.data()));
}

}  // namespace

TEST_CASE("affine_map_relaxed: one output of one row adds by sixteen lanes") {
  one_output<8>();
  one_output<13>();
  one_output<16>();
  one_output<27>();
  one_output<64>();
  one_output<301>();
}
TEST_CASE("affine_map_relaxed: all else has the bits of simd") {
  as_simd<float, 2, 33, 1>();
  as_simd<float, 1, 33, 2>();
  as_simd<float, 1, 7, 1>();
  as_simd<double, 1, 33, 1>();
}
