// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(detail::is_turned<float, bf16> && detail::is_turned<float, as_stored<q8_0>>);
static_assert(not detail::is_turned<double, bf16> && not detail::is_turned<float, std::int8_t>);

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("turned_numbers: lane r has the numbers of row r", "", bf16, f16, q4_0, q4_1,
                   q8_0) {
  constexpr auto rows = lane::word_lanes;
  auto w = tensor<float, shape<rows, 96>>{};
  test::fill(w, 1);
  using stored = compact_matrix<float, shape<rows, 96>, simd, TestType>;
  auto const m = std::make_unique<stored>();
  m->pack(weights_of<float>(w));
  if constexpr (std::same_as<TestType, q8_0>) m->values[1].quants[5] = -128;
  using turned = detail::turned_numbers<TestType>;
  for (auto k = std::size_t{0}; k < 96; k += turned::length) {
    auto const numbers = turned(m->values + k / numbers_of_stored<TestType>, 96);
    for (auto j = std::size_t{0}; j < turned::length; ++j) {
      float lanes[rows];
      lane::store(lanes, numbers[j]);
      for (auto r = std::size_t{0}; r < rows; ++r) CHECK(lanes[r] == m->numbers().at(r, k + j));
      if constexpr (is_storage_scalar<TestType>) {
        auto const [even, odd] = numbers.pair(j / 2);
        float of_pair[rows];
        lane::store(of_pair, j % 2 == 0 ? even : odd);
        CHECK(std::ranges::equal(of_pair, lanes));
      }
    }
  }
}
