// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Arithmetic on a lane: a number, or (backend/simd/pack.hpp) a vector of them.
///
/// What is written with these functions gives the same bits for numbers and for vectors of any
/// width, at run time and in constant expressions: each is exact or correctly rounded. Without a
/// fused multiply-add in the target, `fma` rounds twice, everywhere alike.
namespace tessera::lane {

template <class V> struct traits;
template <> struct traits<float> {
  using scalar = float;
  using bits = std::uint32_t;
  using mask = bool;
};
template <> struct traits<double> {
  using scalar = double;
  using bits = std::uint64_t;
  using mask = bool;
};

template <class V> using scalar_of = typename traits<V>::scalar;
/// Unsigned integers as wide as the scalars of V.
template <class V> using bits_of = typename traits<V>::bits;
template <class V> using mask_of = typename traits<V>::mask;

/// The layout of a floating-point scalar.
template <class T> struct format;
template <> struct format<float> {
  static constexpr int mantissa = 23;
  static constexpr int bias = 127;
};
template <> struct format<double> {
  static constexpr int mantissa = 52;
  static constexpr int bias = 1023;
};

template <class T>
concept number = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept whole_number = requires(T x) { x % x; };

// -- bits -----------------------------------------------------------------------------------------

template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto as_bits(T x) -> bits_of<T> {
  return std::bit_cast<bits_of<T>>(x);
}
[[nodiscard]] TESSERA_INLINE constexpr auto from_bits(std::uint32_t b) -> float {
  return std::bit_cast<float>(b);
}
[[nodiscard]] TESSERA_INLINE constexpr auto from_bits(std::uint64_t b) -> double {
  return std::bit_cast<double>(b);
}
template <number T>
inline constexpr auto sign_bit = static_cast<bits_of<T>>(1) << (sizeof(T) * 8 - 1);

template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto abs(T x) -> T {
  return from_bits(static_cast<bits_of<T>>(as_bits(x) & ~sign_bit<T>));
}
/// The magnitude of x with the sign of s.
template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto copysign(T x, T s) -> T {
  return from_bits(
      static_cast<bits_of<T>>((as_bits(x) & ~sign_bit<T>) | (as_bits(s) & sign_bit<T>)));
}

// -- choices --------------------------------------------------------------------------------------

template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto select(bool c, T a, T b) -> T {
  return c ? a : b;
}
/// a < b ? a : b, as the instruction: b where one of them is NaN.
template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto min(T a, T b) -> T {
  return a < b ? a : b;
}
/// a > b ? a : b
template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto max(T a, T b) -> T {
  return a > b ? a : b;
}
/// The same of whole numbers.
template <whole_number T> [[nodiscard]] constexpr auto abs(T x) -> T {
  return x < 0 ? static_cast<T>(-x) : x;
}
template <whole_number T> [[nodiscard]] constexpr auto select(bool c, T a, T b) -> T {
  return c ? a : b;
}
template <whole_number T> [[nodiscard]] constexpr auto min(T a, T b) -> T { return a < b ? a : b; }
template <whole_number T> [[nodiscard]] constexpr auto max(T a, T b) -> T { return a > b ? a : b; }

[[nodiscard]] TESSERA_INLINE constexpr auto any(bool m) -> bool { return m; }
[[nodiscard]] TESSERA_INLINE constexpr auto all(bool m) -> bool { return m; }

// -- arithmetic -----------------------------------------------------------------------------------
namespace detail {

/// A number and what rounding took from it.
struct two_part {
  double value;
  double rest;
};
[[nodiscard]] constexpr auto exact_sum(double a, double b) -> two_part {
  auto const s = a + b;
  auto const z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}
[[nodiscard]] constexpr auto exact_product(double a, double b) -> two_part {
  auto const split = [](double x) {
    auto const big = 134217729.0 * x;
    return big - (big - x);
  };
  auto const p = a * b;
  auto const ah = split(a);
  auto const bh = split(b);
  return {p, ((ah * bh - p) + ah * (b - bh) + (a - ah) * bh) + (a - ah) * (b - bh)};
}
/// The sum rounded to odd: a later rounding to fewer digits sees every bit of it.
[[nodiscard]] constexpr auto sum_to_odd(double a, double b) -> double {
  auto const [s, rest] = exact_sum(a, b);
  auto bits = as_bits(s);
  if (rest != 0 && (bits & 1) == 0) bits += ((rest > 0) == (s > 0)) ? 1 : ~std::uint64_t{0};
  return from_bits(bits);
}

/// a·b + c with one rounding, for constant expressions; magnitudes within 2^-900 .. 2^900.
[[nodiscard]] constexpr auto constant_fma(float a, float b, float c) -> float {
  auto const product = static_cast<double>(a) * b;
  auto const sum = product + c;
  if (not(sum - sum == 0)) return static_cast<float>(sum);
  return static_cast<float>(sum_to_odd(product, c));
}
[[nodiscard]] constexpr auto constant_fma(double a, double b, double c) -> double {
  auto const plain = a * b + c;
  if (not(plain - plain == 0) || a * b == 0) return plain;
  auto const product = exact_product(a, b);
  auto const low = exact_sum(c, product.rest);
  auto const high = exact_sum(product.value, low.value);
  return high.value + sum_to_odd(low.rest, high.rest);
}

/// The root, correctly rounded, for constant expressions.
template <number T> [[nodiscard]] constexpr auto constant_sqrt(T x) -> T {
  if (not(x > 0) || x > std::numeric_limits<T>::max()) return x < 0 ? -(x - x) / (x - x) : x;
  auto scale = 1.0;
  auto y = static_cast<double>(x);
  for (; y < 0x1p-100; y *= 0x1p100) scale *= 0x1p-50;
  for (; y > 0x1p100; y *= 0x1p-100) scale *= 0x1p50;
  auto root = from_bits((as_bits(y) >> 1) + (std::uint64_t{511} << 52));
  for (auto k = 0; k < 6; ++k) root = 0.5 * (root + y / root);
  auto best = root;
  auto least = constant_fma(-root, root, y);
  for (auto k = 0; k < 2; ++k) {  // the neighbours, one unit above and one below
    auto const other = from_bits(as_bits(root) + (k == 0 ? 1 : ~std::uint64_t{0}));
    auto const miss = constant_fma(-other, other, y);
    if (abs(miss) < abs(least)) best = other, least = miss;
  }
  return static_cast<T>(best * scale);
}

}  // namespace detail

/// a·b + c: one rounding where the target has the instruction, two where it has not.
template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto fma(T a, T b, T c) -> T {
#if TESSERA_FMA
  if (std::is_constant_evaluated()) return detail::constant_fma(a, b, c);
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <number T> [[nodiscard]] TESSERA_INLINE constexpr auto sqrt(T x) -> T {
  if (std::is_constant_evaluated()) return detail::constant_sqrt(x);
  if constexpr (std::is_same_v<T, float>)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

// -- for numbers and vectors alike ----------------------------------------------------------------

/// A constant of the scalar type of V, in every lane.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto constant(double c) -> V {
  return V(static_cast<scalar_of<V>>(c));
}

/// A polynomial by Horner's rule, one fma each; coefficients from the highest power down.
template <class V, class... C>
[[nodiscard]] TESSERA_INLINE constexpr auto polynomial(V x, double highest, C... lower) -> V {
  auto sum = constant<V>(highest);
  ((sum = fma(sum, x, constant<V>(lower))), ...);
  return sum;
}

/// An integer n as a vector of scalars and, in the low bits, as an integer.
template <class V> struct integral {
  V value;
  bits_of<V> bits;
};

/// The integer nearest to x, ties to even, for |x| < 2^21 (float) or 2^50 (double): adding 1.5·2^p
/// leaves no digits behind the point.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto nearest(V x) -> integral<V> {
  using T = scalar_of<V>;
  auto const shift = constant<V>(std::is_same_v<T, float> ? 0x1.8p23 : 0x1.8p52);
  auto const shifted = x + shift;
  return {shifted - shift, as_bits(shifted)};
}

/// The same for |x| < 2^12, for which some vectors have an instruction.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto nearest_small(V x) -> integral<V> {
  return nearest(x);
}

/// min(|x|, most) and its negative, for which some vectors have an instruction: of a NaN, a NaN or
/// `most`.
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto limited_magnitude(V x, scalar_of<V> most) -> V {
  return min(V(most), abs(x));
}
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto limited_negative(V x, scalar_of<V> most) -> V {
  auto const sign = static_cast<bits_of<scalar_of<V>>>(sign_bit<scalar_of<V>>);
  return max(V(-most), from_bits(as_bits(x) | bits_of<V>(sign)));
}

/// 2 to the power of n, from the bits that `nearest` gives, for exponents of normal numbers.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto with_exponent(bits_of<V> n) -> V {
  using T = scalar_of<V>;
  using B = lane::bits_of<T>;
  return from_bits((n + bits_of<V>(static_cast<B>(format<T>::bias))) << format<T>::mantissa);
}

template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto power_of_two(integral<V> n) -> V {
  return with_exponent<V>(n.bits);
}

/// Integers 0 <= n < 2^23 as scalars.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto small_to_float(bits_of<V> n) -> V {
  using T = scalar_of<V>;
  auto const base = constant<V>(std::is_same_v<T, float> ? 0x1p23 : 0x1p52);
  return from_bits(n | as_bits(base)) - base;
}

}  // namespace tessera::lane
