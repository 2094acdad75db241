// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/config.hpp>

#if TESSERA_SIMD
#include <tessera/backend/simd/pairs.hpp>
#include <tessera/ops/reference/block_product.hpp>
#include <tessera/random/torch.hpp>

#include <algorithm>
#include <bit>

using namespace tessera;

namespace {

constexpr auto lanes = lane::word_lanes;

[[nodiscard]] auto any_bits(torch_generator& r) -> std::uint32_t {
  return static_cast<std::uint32_t>(r.randint(65536)) << 16 |
         static_cast<std::uint32_t>(r.randint(65536));
}
/// bf16 in place of the upper bits of a float: all exponents, or those below and above 2^-126.
[[nodiscard]] auto any_bf16(torch_generator& r, bool small) -> bf16 {
  auto result = bf16(0.0F);
  result.bits = static_cast<std::uint16_t>(any_bits(r) & (small ? 0x83FFU : 0xFFFFU));
  return result;
}
[[nodiscard]] auto same(float a, float b) -> bool {
  return (a != a && b != b) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
[[nodiscard, gnu::noinline]] auto sum_of(lane::pack<float> sum, lane::words w, lane::words x)
    -> lane::pack<float> {
  auto result = lane::sum_of_pairs{sum};
  result.add(w, x);
  return result.value;
}

}  // namespace

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("pairs: numbers go to bf16 as one by one, what is no normal number to zero") {
  auto r = torch_generator(1);
  for (auto round = std::size_t{0}; round < 3000; ++round) {
    float numbers[lanes];
    for (auto& each : numbers)
      each = std::bit_cast<float>(any_bits(r) & (round % 3 == 0 ? 0x81FFFFFFU : 0xFFFFFFFFU));
    numbers[round % lanes] = round % 2 == 0 ? 0x1.FFFFFEp-127F : 0x1p-126F;
    bf16 to[lanes + 1];
    to[lanes].bits = 0x1234;
    lane::store_normal(to, lane::load(numbers));
    for (auto i = std::size_t{0}; i < lanes; ++i)
      CHECK(to[i].bits == bf16(detail::normal_or_zero(numbers[i])).bits);
    CHECK(to[lanes].bits == 0x1234);
  }
}
TEST_CASE("pairs: a sum has the bits of one after another, the odd first") {
  if (not lane::zero_subnormals::possible) return;
  auto r = torch_generator(2);
  for (auto round = std::size_t{0}; round < 3000; ++round) {
    bf16 w[2 * lanes];
    bf16 x[2 * lanes];
    float before[lanes];
    for (auto& each : w) each = any_bf16(r, round % 4 == 1);
    for (auto& each : x) {
      each = bf16(static_cast<float>(r.randint(255) + 1) * (round % 3 == 0 ? 0x1p-30F : 0x1p40F));
      if (r.randint(2) == 0) each.bits |= 0x8000U;
    }
    for (auto& each : before)
      each = std::bit_cast<float>(any_bits(r) & (round % 2 == 0 ? 0x81FFFFFFU : 0xFFFFFFFFU));
    float after[lanes];
    {
      auto const zeros = lane::zero_subnormals();
      lane::words of_w;
      lane::words of_x;
      std::memcpy(&of_w.value, w, sizeof w);
      std::memcpy(&of_x.value, x, sizeof x);
      lane::store(after, sum_of(lane::load(before), of_w, of_x));
    }
    for (auto i = std::size_t{0}; i < lanes; ++i) {
      auto pairs_of_w = bf16_pairs{};
      auto pairs_of_x = detail::rounded_pairs{};
      std::fill_n(pairs_of_w.numbers, 16, bf16(0.0F));
      std::fill_n(pairs_of_x.numbers, 16, bf16(0.0F));
      std::copy_n(w + 2 * i, 2, pairs_of_w.numbers);
      std::copy_n(x + 2 * i, 2, pairs_of_x.numbers);
      CHECK(same(after[i] + 0.0F, detail::add_block(before[i], pairs_of_w, pairs_of_x)));
    }
  }
}

#endif
