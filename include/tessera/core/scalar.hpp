// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

/// Scalars that are stored in 16 bits and computed in float.
namespace tessera {

/// The upper half of a float: 8 bits of exponent, 8 of mantissa. Rounds to nearest, ties to even.
struct bf16 {
  std::uint16_t bits;

  bf16() = default;
  constexpr explicit bf16(float x) : bits{} {
    auto const b = std::bit_cast<std::uint32_t>(x);
    if (x != x)
      bits = static_cast<std::uint16_t>(b >> 16 | 0x40U);  // a quiet NaN with its sign and payload
    else
      bits = static_cast<std::uint16_t>((b + 0x7FFFU + (b >> 16 & 1U)) >> 16);
  }
  [[nodiscard]] constexpr explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// IEEE binary16: 5 bits of exponent, 11 of mantissa. Rounds to nearest, ties to even; what is too
/// large becomes infinite.
struct f16 {
  std::uint16_t bits;

  f16() = default;
  constexpr explicit f16(float x) : bits{} {
    auto const b = std::bit_cast<std::uint32_t>(x);
    auto const sign = static_cast<std::uint32_t>(b >> 16 & 0x8000U);
    auto const magnitude = b & 0x7FFFFFFFU;
    auto half = std::uint32_t{0};
    if (magnitude > 0x7F800000U) {
      half = 0x7E00U | (magnitude >> 13 & 0x3FFU);
    } else if (magnitude >= 0x477FF000U) {
      half = 0x7C00U;
    } else if (magnitude < 0x38800000U) {  // subnormal: adding 1/2 puts its last bit in place
      auto const shifted = std::bit_cast<float>(magnitude) + 0.5F;
      half = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U;
    } else {
      half = (magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
    }
    bits = static_cast<std::uint16_t>(sign | half);
  }
  [[nodiscard]] constexpr explicit operator float() const {
    auto const sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    auto const magnitude = static_cast<std::uint32_t>(bits & 0x7FFFU);
    auto value = std::uint32_t{0};
    if (magnitude >= 0x7C00U)
      value = 0x7F800000U | (magnitude & 0x3FFU) << 13;
    else if (magnitude >= 0x0400U)
      value = (magnitude << 13) + 0x38000000U;
    else
      value = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
    return std::bit_cast<float>(sign | value);
  }
};

template <class T>
inline constexpr bool is_storage_scalar = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;

/// The value of a stored number in the type that is computed with.
template <class T, class Stored>
[[nodiscard]] TESSERA_INLINE TESSERA_DEVICE constexpr auto widened(Stored x) -> T {
  if constexpr (is_storage_scalar<Stored>)
    return static_cast<T>(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// What is computed with where T is stored.
template <class T> using compute_of = std::conditional_t<is_storage_scalar<T>, float, T>;

namespace detail {

/// False for NaN and infinity, in numbers that have them.
template <class T> [[nodiscard]] constexpr auto is_finite(T value) -> bool {
  return value - value == T{0};
}

}  // namespace detail

}  // namespace tessera
