// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/bytes.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Numbers of bf16 in pairs, a word each: the even one lies in the low half of a lane.
namespace tessera::lane::inline TESSERA_TARGET {

/// The low halves of words, one after another in memory.
template <std::same_as<words> Words>
TESSERA_INLINE inline void store_low_halves(bf16* to, Words v) {
#if defined(__AVX2__)
  auto const halves = packed_low_halves(v);
  std::memcpy(to, &halves, sizeof halves);
#else
  auto const from = words_in_memory(v);
  std::uint16_t halves[word_lanes];
  for (auto r = std::size_t{0}; r < word_lanes; ++r)
    halves[r] = static_cast<std::uint16_t>(from.lane[r] & 0xFFFFU);
  std::memcpy(to, halves, sizeof halves);
#endif
}

/// Numbers to the nearest of bf16, ties to even; those below 2^-126 are zeros.
template <std::same_as<pack<float>> V>
[[nodiscard]] TESSERA_INLINE inline auto nearest_normal(V v) -> V {
  auto const bits = as_bits(v);
  auto const high = words(0xFFFF0000U);
  auto const rounded = (bits + words(0x7FFFU) + ((bits >> 16) & words(1U))) & high;
  auto const number =
      select(v == v, from_bits(rounded), from_bits((bits | words(1U << 22U)) & high));
  return select(abs(v) < V(0x1p-126F), from_bits(bits & words(0x80000000U)), number);
}
/// The numbers of pairs, widened: the even ones, and the odd ones.
template <std::same_as<words> Words>
[[nodiscard]] TESSERA_INLINE inline auto even_of_pairs(Words w) -> pack<float> {
  return from_bits(w << 16);
}
template <std::same_as<words> Words>
[[nodiscard]] TESSERA_INLINE inline auto odd_of_pairs(Words w) -> pack<float> {
  return from_bits(w & words(0xFFFF0000U));
}

#if defined(__AVX512BF16__) && defined(__AVX512VNNI__) && defined(__AVX512BW__) && \
    defined(__AVX512DQ__) && defined(__AVX512CD__)
inline constexpr bool multiplies_pairs = true;

/// sum and the products of pairs, the odd number first. Factors and sums below 2^-126 are zero.
[[nodiscard]] TESSERA_INLINE inline auto add_pairs(pack<float> sum, words w, words x)
    -> pack<float> {
  return detail::batch<float>(_mm512_dpbf16_ps(sum.value.data,
                                               std::bit_cast<__m512bh>(w.value.data),
                                               std::bit_cast<__m512bh>(x.value.data)));
}
/// Numbers to the nearest of bf16, ties to even, one after another in memory; those below 2^-126 as
/// zeros.
TESSERA_INLINE inline void store_normal(bf16* to, pack<float> v) {
  auto const halves = _mm512_cvtneps_pbh(v.value.data);
  std::memcpy(to, &halves, sizeof halves);
}
/// Whether multiply-adds of floats are faster than those of pairs: where AMD's processors begin one
/// of the instruction, they begin one of floats, Intel's four.
///
/// Source  loops in registers on a Zen 4, and an Emerald Rapids (77 GFLOP/s beside 158), which
///         stands for all of Intel's here
[[nodiscard]] inline auto widens_pairs() -> bool {
  static bool const is_intel = __builtin_cpu_is("intel") != 0;
  return is_intel;
}
#else
inline constexpr bool multiplies_pairs = false;
[[nodiscard]] constexpr auto widens_pairs() -> bool { return true; }

// The same without the instructions; its bits, where `zero_subnormals` lives. Templates, so that
// only who uses them compiles what they are made of.
template <std::same_as<words> Words>
[[nodiscard]] TESSERA_INLINE inline auto add_pairs(pack<float> sum, Words w, Words x)
    -> pack<float> {
  sum = fma(odd_of_pairs(w), odd_of_pairs(x), sum);
  return fma(even_of_pairs(w), even_of_pairs(x), sum);
}
template <std::same_as<bf16> Number>
TESSERA_INLINE inline void store_normal(Number* to, pack<float> v) {
  store_low_halves(to, as_bits(nearest_normal(v)) >> 16);
}
#endif

/// A sum of products of pairs.
struct sum_of_pairs {
  pack<float> value;

  template <std::same_as<words> Words> TESSERA_INLINE void add(Words w, Words x) {
    value = add_pairs(value, w, x);
  }
  /// The pair at x with those of every lane.
  template <std::same_as<words> Words> TESSERA_INLINE void add_splat(Words w, void const* x) {
    add(w, splat_word(x));
  }
};

/// As long as one lives, this thread takes numbers below 2^-126 for zeros, and has zeros for
/// results below it, where it is `possible`. Compilers do not know of it: what depends on it is in
/// functions that they do not inline. What multiplies pairs by an instruction needs none.
class zero_subnormals {
 public:
  zero_subnormals(zero_subnormals const&) = delete;
  auto operator=(zero_subnormals const&) -> zero_subnormals& = delete;
#if defined(__SSE2__)
  static constexpr bool possible = true;
  zero_subnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | flush_to_zero | take_as_zero); }
  ~zero_subnormals() { _mm_setcsr(before_ | (_mm_getcsr() & raised)); }

 private:
  static constexpr auto flush_to_zero = 0x8000U;
  static constexpr auto take_as_zero = 0x0040U;
  static constexpr auto raised = 0x003FU;  // what happened meanwhile
  unsigned before_;
#else
  static constexpr bool possible = false;
  zero_subnormals() = default;
#endif
};

}  // namespace tessera::lane::inline TESSERA_TARGET
