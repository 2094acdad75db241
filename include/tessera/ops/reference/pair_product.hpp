// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/block_format.hpp>
#include <tessera/core/lane.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

/// Products of bf16 by pairs, for weights that are as_stored<bf16>: what the result is. All that
/// goes over rows and outputs is block_product.hpp's.
///
/// x is rounded to bf16, to the nearest, ties to even, and a number of y adds one product after
/// another, the odd number of a pair first. Numbers of x and W and sums below 2^-126 are zero. So
/// has it vdpbf16ps, of processors with AVX-512; other targets compute it in floats, x86-64 by
/// vectors, which take small numbers for zeros meanwhile, others one number at a time.
///
/// Accuracy  In·eps·(sum|x·w| + |bias|) of the sum, and 2^-8·sum|x·w| by rounding x. Without fused
///           multiply-adds in hardware, products below 2^-126 are zero, too
/// Source    measured on a Zen 4: 6.4 million tuples, numbers near and beyond all bounds among them
namespace tessera::detail::inline TESSERA_TARGET {

/// As many numbers of x as pairs of bf16 have.
struct rounded_pairs {
  bf16 numbers[numbers_of_block<bf16_pairs>];
};

/// x, or a zero of its sign in place of a number that is not normal.
[[nodiscard]] constexpr auto normal_or_zero(float x) -> float {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  return (bits & 0x7F800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : x;
}

constexpr void round_block(float const* x, rounded_pairs& to) {
  for (auto& number : to.numbers) number = bf16(normal_or_zero(*x++));
}
/// sum + w·x, of numbers that are normal or zero, and so is the result. A fused one is rounded as
/// if exponents had no end, and then too small: what gradual underflow rounds up to 2^-126 may be
/// zero.
[[nodiscard]] constexpr auto add_normal(float sum, float w, float x) -> float {
  if constexpr (TESSERA_FMA == 0) {
    return normal_or_zero(normal_or_zero(w * x) + sum);
  } else {
    constexpr auto least = 0x1p-126F;
    constexpr auto up = 0x1p24F;
    auto const result = lane::fma(w, x, sum);
    if (lane::abs(result) != least) return normal_or_zero(result);
    auto const is_w_smaller = lane::abs(w) < lane::abs(x);
    auto const larger = lane::fma(is_w_smaller ? w * up : w, is_w_smaller ? x : x * up, sum * up);
    return lane::abs(larger) < least * up ? result * 0.0F : result;
  }
}
[[nodiscard]] constexpr auto add_block(float sum, bf16_pairs const& w, rounded_pairs const& x)
    -> float {
  sum = normal_or_zero(sum);
  for (auto k = std::size_t{0}; k < numbers_of_block<bf16_pairs>; ++k) {
    auto const i = k ^ 1U;  // the odd one first
    sum = add_normal(sum, normal_or_zero(static_cast<float>(w.numbers[i])),
                     static_cast<float>(x.numbers[i]));
  }
  return sum;
}

}  // namespace tessera::detail::inline TESSERA_TARGET
