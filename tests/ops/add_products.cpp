// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/reference/add_products.hpp>

using namespace tessera;

namespace {

/// Three outputs at once, not in their order, against one product after the other.
template <std::size_t In> void against_single_sums() {
  using S = shape<7, In>;
  auto w = tensor<float, S>{};
  auto x = tensor<float, shape<In>>{};
  test::fill(w, 1);
  test::fill(x, 2);
  auto const check = [&](auto const& weights) {
    constexpr std::size_t rows[] = {2, 3, 6};
    float sum[] = {0.5F, -1, 3};
    float want[] = {0.5F, -1, 3};
    detail::add_products<In>(x.data(), weights, [&](std::size_t r) { return rows[r]; }, sum);
    for (auto r = std::size_t{0}; r < 3; ++r)
      for (auto k = std::size_t{0}; k < In; ++k)
        want[r] = lane::fma(x(k), weights_of<float>(weights).at(rows[r], k), want[r]);
    CHECK(std::memcmp(sum, want, sizeof sum) == 0);
  };
  check(w);
  auto const stored = [&](auto&& made) {
    made.pack(weights_of<float>(w));
    check(made);
  };
  stored(packed_matrix<float, S, reference>{});
  stored(packed_matrix<float, S, reference, bf16>{});
  stored(packed_matrix<float, S, reference, std::int8_t>{});
  stored(compact_matrix<float, S, reference, std::int8_t>{});
}

}  // namespace

TEST_CASE("add_products: the order of one sum, whatever the storage and the number of inputs") {
  against_single_sums<1>();
  against_single_sums<4>();
  against_single_sums<8>();
  against_single_sums<21>();
}
