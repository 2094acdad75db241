// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/affine_map_row.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;

/// Every number of outputs beyond a vector, every rest of inputs, and rows long enough to be read
/// ahead: the sums, k ascending.
TEMPLATE_TEST_CASE("affine_map_row: the bits of a sum for each output", "", float, double) {
  using T = TestType;
  constexpr auto width = lane::pack<T>::width;
  auto r = torch_generator(1);
  auto inputs = std::vector<std::size_t>{33, 46, 59, 64, 72, 256, 272, 304, 305, 528};
  for (auto in = std::size_t{0}; in < 20; ++in) inputs.push_back(in);
  for (auto const in : inputs)
    for (auto out = width; out < 2 * std::max(width, 64 / sizeof(T)) + width + 2; ++out) {
      auto const numbers = [&](std::size_t n) {
        auto v = std::vector<T>(n);
        r.uniform(v.data(), v.size(), -1, 1);
        return v;
      };
      auto const x_numbers = numbers(in);
      auto const weight_numbers = numbers(out * in);  // nothing is read behind their end
      auto const bias_numbers = numbers(out);
      auto const* const x = x_numbers.data();
      auto const* const weights = weight_numbers.data();
      auto const* const bias = out % 2 == 0 ? bias_numbers.data() : nullptr;
      auto got = std::vector<T>(out + 1, T{7});
      auto want = got;
      for (auto o = std::size_t{0}; o < out; ++o) {
        want[o] = bias == nullptr ? T{0} : bias[o];
        for (auto k = std::size_t{0}; k < in; ++k)
          want[o] = lane::fma(x[k], weights[o * in + k], want[o]);
      }
      detail::affine_map_row(in, out, x, weights, bias, got.data());
      INFO(in << " -> " << out);
      CHECK(test::same_bits(got, want));
    }
}
