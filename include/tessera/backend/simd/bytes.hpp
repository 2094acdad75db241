// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pack.hpp>
#include <tessera/core/block_format.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Bytes in vectors: words of four, a lane of pack<float> each, and their products, which add as
/// whole numbers.
///
/// xsimd 8.1 has none of this: it stands here by intrinsics, and for other targets in plain loops.
namespace tessera::lane::inline TESSERA_TARGET {

/// Words of 32 bits, a lane each: four bytes, or a whole number with a sign.
using words = bit_pack<float>;
inline constexpr auto word_lanes = pack<float>::width;

/// The same in memory, for what a target has no instruction for.
struct words_in_memory {
  std::uint32_t lane[word_lanes];

  words_in_memory() = default;
  explicit words_in_memory(words v) { v.value.store_unaligned(lane); }
  [[nodiscard]] auto load() const -> words {
    return detail::batch<std::uint32_t>::load_unaligned(lane);
  }
};
template <class Register> [[nodiscard]] TESSERA_INLINE inline auto as_words(Register v) -> words {
  return detail::batch<std::uint32_t>(v);
}
[[nodiscard]] TESSERA_INLINE inline auto word_at(void const* from) -> std::uint32_t {
  auto result = std::uint32_t{};
  std::memcpy(&result, from, sizeof result);
  return result;
}
/// The word at an address, in every lane.
[[nodiscard]] TESSERA_INLINE inline auto splat_word(void const* from) -> words {
  return words(word_at(from));
}

/// Whole numbers with a sign as numbers.
[[nodiscard]] TESSERA_INLINE inline auto to_float(words v) -> pack<float> {
#if defined(__AVX512F__)
  return detail::batch<float>(_mm512_maskz_cvtepi32_ps(0xFFFF, v.value.data));
#elif defined(__AVX2__)
  return detail::batch<float>(_mm256_cvtepi32_ps(v.value.data));
#elif defined(__SSE2__) && not defined(__AVX__)
  return detail::batch<float>(_mm_cvtepi32_ps(v.value.data));
#else
  auto const from = words_in_memory(v);
  float to[word_lanes];
  for (auto r = std::size_t{0}; r < word_lanes; ++r)
    to[r] = static_cast<float>(static_cast<std::int32_t>(from.lane[r]));
  return load(to);
#endif
}

/// The low byte of each word, one after another in memory.
TESSERA_INLINE inline void store_low_bytes(std::int8_t* to, words v) {
#if defined(__AVX512F__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm512_maskz_cvtepi32_epi8(0xFFFF, v.value.data));
#elif defined(__AVX2__)
  auto const low = _mm256_set1_epi32(0x0C'08'04'00);
  auto const of_half = _mm256_shuffle_epi8(v.value.data, low);
  auto const both =
      _mm_unpacklo_epi32(_mm256_castsi256_si128(of_half), _mm256_extracti128_si256(of_half, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), both);
#else
  auto const from = words_in_memory(v);
  for (auto r = std::size_t{0}; r < word_lanes; ++r)
    to[r] = static_cast<std::int8_t>(from.lane[r] & 0xFFU);
#endif
}

#if defined(__AVX512F__)
/// The low halves of words, side by side.
[[nodiscard]] TESSERA_INLINE inline auto packed_low_halves(words v) -> __m256i {
  return _mm512_maskz_cvtepi32_epi16(0xFFFF, v.value.data);
}
#elif defined(__AVX2__)
[[nodiscard]] TESSERA_INLINE inline auto packed_low_halves(words v) -> __m128i {
  auto const low = _mm256_set1_epi64x(0x0D0C'0908'0504'0100);
  return _mm256_castsi256_si128(
      _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v.value.data, low), 0b1000));
}
#endif

/// The low halves of words, which are of IEEE binary16.
[[nodiscard]] TESSERA_INLINE inline auto low_halves(words v) -> pack<float> {
#if defined(__AVX512F__)
  return detail::batch<float>(_mm512_maskz_cvtph_ps(0xFFFF, packed_low_halves(v)));
#elif defined(__AVX2__) && defined(__F16C__)
  return detail::batch<float>(_mm256_cvtph_ps(packed_low_halves(v)));
#else
  auto const from = words_in_memory(v);
  float to[word_lanes];
  for (auto r = std::size_t{0}; r < word_lanes; ++r)
    to[r] = half_value(static_cast<std::uint16_t>(from.lane[r]));
  return load(to);
#endif
}

/// The low and the high halves of words, which are of IEEE binary16. A template, so that only who
/// uses it compiles what it is made of.
struct pair_of_halves {
  pack<float> low;
  pack<float> high;
};
template <std::same_as<words> Words>
[[nodiscard]] TESSERA_INLINE inline auto both_halves(Words v) -> pair_of_halves {
#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512CD__)
  alignas(64) static constexpr std::uint16_t low_first[32] = {
      0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
      1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  auto const in_order =
      _mm512_maskz_permutexvar_epi16(0xFFFF'FFFFU, _mm512_load_si512(low_first), v.value.data);
  auto const widened_half = [](__m256i half) TESSERA_INLINE {
    return detail::batch<float>(_mm512_maskz_cvtph_ps(0xFFFF, half));
  };
  return {widened_half(_mm512_maskz_extracti64x4_epi64(0xF, in_order, 0)),
          widened_half(_mm512_maskz_extracti64x4_epi64(0xF, in_order, 1))};
#else
  return {low_halves(v), low_halves(v >> 16)};
#endif
}

// -- products -------------------------------------------------------------------------------------

/// Keeps a sum what it is: g++ 12 else adds all products at the end, and has no registers for them.
TESSERA_INLINE inline void keep_order([[maybe_unused]] words& sum) {
#if defined(__AVX512F__) && not defined(__clang__) && not defined(__CUDACC__)
  asm("" : "+v"(sum.value.data));
#elif defined(__x86_64__) && not defined(__clang__) && not defined(__CUDACC__)
  asm("" : "+x"(sum.value.data));
#endif
}

/// sum + the products of four bytes in each lane, where there is no instruction for them.
[[nodiscard]] inline auto add_products_of_bytes(words sum, words w, words x, bool is_w_signed)
    -> words {
  auto const of_w = words_in_memory(w);
  auto const of_x = words_in_memory(x);
  auto result = words_in_memory(sum);
  for (auto r = std::size_t{0}; r < word_lanes; ++r)
    for (auto shift = 0U; shift < 32; shift += 8) {
      auto const a = of_w.lane[r] >> shift & 0xFFU;
      auto const b = static_cast<std::int8_t>(of_x.lane[r] >> shift & 0xFFU);
      auto const value = is_w_signed ? int{static_cast<std::int8_t>(a)} : static_cast<int>(a);
      result.lane[r] += static_cast<std::uint32_t>(value * b);
    }
  return result.load();
}

/// Sums over eight words of the products of their bytes, those of w without a sign and below 16,
/// those of x in -127 .. 127. Without an instruction for it there are two sums of 16 bits in a
/// lane, which do not overflow: 16·15·127 < 2^15.
struct sums_of_4_bits {
  static constexpr int raised = 0;
  words value;  ///< 0 before the first: by its user, or arrays of them are cleared by loops

  static TESSERA_INLINE auto prepared(words w) -> words { return w; }

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512CD__)
  TESSERA_INLINE void add(words w, words x) {
    value = as_words(_mm512_dpbusd_epi32(value.value.data, w.value.data, x.value.data));
  }
  [[nodiscard]] TESSERA_INLINE auto total() const -> words { return value; }
#elif defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512CD__)
  TESSERA_INLINE void add(words w, words x) {
    value = as_words(
        _mm512_add_epi16(value.value.data, _mm512_maddubs_epi16(w.value.data, x.value.data)));
    keep_order(value);
  }
  [[nodiscard]] TESSERA_INLINE auto total() const -> words {
    return as_words(_mm512_madd_epi16(value.value.data, _mm512_set1_epi16(1)));
  }
#elif defined(__AVXVNNI__) && defined(__FMA__) && not defined(__AVX512F__)
  TESSERA_INLINE void add(words w, words x) {
    value = as_words(_mm256_dpbusd_avx_epi32(value.value.data, w.value.data, x.value.data));
  }
  [[nodiscard]] TESSERA_INLINE auto total() const -> words { return value; }
#elif defined(__AVX2__) && not defined(__AVX512F__)
  TESSERA_INLINE void add(words w, words x) {
    value = as_words(
        // NOLINTNEXTLINE(portability-simd-intrinsics)
        _mm256_add_epi16(value.value.data, _mm256_maddubs_epi16(w.value.data, x.value.data)));
    keep_order(value);
  }
  [[nodiscard]] TESSERA_INLINE auto total() const -> words {
    return as_words(_mm256_madd_epi16(value.value.data, _mm256_set1_epi16(1)));
  }
#elif defined(__SSE4_2__) && not defined(__AVX__)
  TESSERA_INLINE void add(words w, words x) {
    value =
        as_words(_mm_add_epi16(value.value.data, _mm_maddubs_epi16(w.value.data, x.value.data)));
    keep_order(value);
  }
  [[nodiscard]] TESSERA_INLINE auto total() const -> words {
    return as_words(_mm_madd_epi16(value.value.data, _mm_set1_epi16(1)));
  }
#else
  void add(words w, words x) { value = add_products_of_bytes(value, w, x, false); }
  [[nodiscard]] auto total() const -> words { return value; }
#endif
  /// The four bytes at x with those of every lane.
  TESSERA_INLINE void add_splat(words w, void const* x) { add(w, splat_word(x)); }
};

/// The same of bytes of w with a sign. Where the instruction takes none, w is `prepared`: raised by
/// 128, which the sum has to lose again; or the magnitudes of w meet an x with the signs of w.
struct sums_of_8_bits {
  words value;  ///< 0 before the first: by its user, or arrays of them are cleared by loops

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512CD__)
  static constexpr int raised = 128;
  static TESSERA_INLINE auto prepared(words w) -> words { return w ^ words(0x80808080U); }
  TESSERA_INLINE void add(words w, words x) {
    value = as_words(_mm512_dpbusd_epi32(value.value.data, w.value.data, x.value.data));
  }
#elif defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512CD__)
  static constexpr int raised = 0;
  static TESSERA_INLINE auto prepared(words w) -> words { return w; }
  TESSERA_INLINE void add(words w, words x) {
    auto const zero = _mm512_setzero_si512();
    auto const with_sign =
        _mm512_mask_sub_epi8(x.value.data, _mm512_movepi8_mask(w.value.data), zero, x.value.data);
    auto const pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(w.value.data), with_sign);
    value = value + as_words(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
    keep_order(value);
  }
#elif defined(__AVXVNNI__) && defined(__FMA__) && not defined(__AVX512F__)
  static constexpr int raised = 128;
  static TESSERA_INLINE auto prepared(words w) -> words { return w ^ words(0x80808080U); }
  TESSERA_INLINE void add(words w, words x) {
    value = as_words(_mm256_dpbusd_avx_epi32(value.value.data, w.value.data, x.value.data));
  }
#elif defined(__AVX2__) && not defined(__AVX512F__)
  static constexpr int raised = 0;
  static TESSERA_INLINE auto prepared(words w) -> words { return w; }
  TESSERA_INLINE void add(words w, words x) {
    auto const with_sign = _mm256_sign_epi8(x.value.data, w.value.data);
    auto const pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w.value.data), with_sign);
    value = value + as_words(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    keep_order(value);
  }
#elif defined(__SSE4_2__) && not defined(__AVX__)
  static constexpr int raised = 0;
  static TESSERA_INLINE auto prepared(words w) -> words { return w; }
  TESSERA_INLINE void add(words w, words x) {
    auto const with_sign = _mm_sign_epi8(x.value.data, w.value.data);
    auto const pairs = _mm_maddubs_epi16(_mm_abs_epi8(w.value.data), with_sign);
    value = value + as_words(_mm_madd_epi16(pairs, _mm_set1_epi16(1)));
    keep_order(value);
  }
#else
  static constexpr int raised = 0;
  static auto prepared(words w) -> words { return w; }
  void add(words w, words x) { value = add_products_of_bytes(value, w, x, true); }
#endif
  /// The four bytes at x with those of every lane. The instruction reads them itself, but g++ 12
  /// gives it a register, and a step of Q8_0 takes a twentieth to a seventh longer.
  TESSERA_INLINE void add_splat(words w, void const* x) {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512CD__) && not defined(__clang__) && not defined(__CUDACC__)
    using bytes = std::int8_t const[4];
    asm("{vpdpbusd %2%{1to16%}, %1, %0|vpdpbusd %0, %1, %2%{1to16%}}"
        : "+v"(value.value.data)
        : "v"(w.value.data), "m"(*static_cast<bytes*>(x)));
#else
    add(w, splat_word(x));
#endif
  }
  [[nodiscard]] TESSERA_INLINE auto total() const -> words { return value; }
};

}  // namespace tessera::lane::inline TESSERA_TARGET
