// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/bytes.hpp>

#include <cstddef>
#include <cstdint>

/// Rows of bytes turned by words of four, one row to a lane of pack<float>, in steps that other
/// work can come between.
namespace tessera::lane::inline TESSERA_TARGET {

/// Has a step's result where the step is: g++ 12 else computes it where it is used. Where registers
/// are few, that is better.
template <class Register> TESSERA_INLINE inline void end_of_step([[maybe_unused]] Register& v) {
#if defined(__AVX512F__) && not defined(__clang__) && not defined(__CUDACC__)
  asm volatile("" : "+x"(v));
#endif
}

/// The first word of rows, a row to a lane: read in four steps.
struct first_word_of_rows {
#if defined(__SSE2__) && (defined(__AVX2__) || not defined(__AVX__))
  __m128i fours[word_lanes / 4];
#else
  words_in_memory all;
#endif

  /// Step k of 0 .. 3, of rows that are `distance` bytes apart.
  TESSERA_INLINE void read(std::byte const* first, std::size_t distance, std::size_t k) {
    auto const row = [&](std::size_t r)
                         TESSERA_INLINE { return static_cast<int>(word_at(first + r * distance)); };
#if defined(__SSE2__) && (defined(__AVX2__) || not defined(__AVX__))
    if (k >= word_lanes / 4) return;
    fours[k] = _mm_set_epi32(row(4 * k + 3), row(4 * k + 2), row(4 * k + 1), row(4 * k));
    end_of_step(fours[k]);
#else
    for (auto r = k; r < word_lanes; r += 4) all.lane[r] = static_cast<std::uint32_t>(row(r));
#endif
  }
  [[nodiscard]] TESSERA_INLINE auto turned() const -> words {
#if defined(__AVX512F__)
    auto v = _mm512_zextsi128_si512(fours[0]);
    v = _mm512_maskz_inserti32x4(0xFFFF, v, fours[1], 1);
    v = _mm512_maskz_inserti32x4(0xFFFF, v, fours[2], 2);
    return as_words(_mm512_maskz_inserti32x4(0xFFFF, v, fours[3], 3));
#elif defined(__AVX2__)
    return as_words(_mm256_inserti128_si256(_mm256_castsi128_si256(fours[0]), fours[1], 1));
#elif defined(__SSE2__) && not defined(__AVX__)
    return as_words(fours[0]);
#else
    return all.load();
#endif
  }
};

/// The first four words of rows, a row to a lane: read in four steps, and turned in three.
struct four_words_of_rows {
  words part[4];

  /// Step k of 0 .. 3, of rows that are `distance` bytes apart.
  TESSERA_INLINE void read(std::byte const* first, std::size_t distance, std::size_t k) {
#if defined(__AVX2__)
    auto const row = [&](std::size_t r) TESSERA_INLINE {
      return _mm_loadu_si128(reinterpret_cast<__m128i const*>(first + r * distance));
    };
#endif
#if defined(__AVX512F__)
    auto v = _mm512_zextsi128_si512(row(k));
    v = _mm512_maskz_inserti32x4(0xFFFF, v, row(k + 4), 1);
    v = _mm512_maskz_inserti32x4(0xFFFF, v, row(k + 8), 2);
    part[k] = as_words(_mm512_maskz_inserti32x4(0xFFFF, v, row(k + 12), 3));
#elif defined(__AVX2__)
    part[k] = as_words(_mm256_inserti128_si256(_mm256_castsi128_si256(row(k)), row(k + 4), 1));
#else
    auto word = first_word_of_rows();
    for (auto i = std::size_t{0}; i < 4; ++i) word.read(first + 4 * k, distance, i);
    part[k] = word.turned();
#endif
    end_of_step(part[k].value.data);
  }
  /// Step k of 0 .. 2; the first uses all that was read, the others give two words each.
  TESSERA_INLINE void turn([[maybe_unused]] std::size_t k) {
#if defined(__AVX2__)
    auto const a = part[0].value.data;
    auto const b = part[1].value.data;
    auto const c = part[2].value.data;
    auto const d = part[3].value.data;
#endif
#if defined(__AVX512F__)
    if (k == 0) {
      set(0, _mm512_maskz_unpacklo_epi32(0xFFFF, a, b), _mm512_maskz_unpacklo_epi32(0xFFFF, c, d));
      set(2, _mm512_maskz_unpackhi_epi32(0xFFFF, a, b), _mm512_maskz_unpackhi_epi32(0xFFFF, c, d));
    } else if (k == 1) {
      set(0, _mm512_maskz_unpacklo_epi64(0xFF, a, b), _mm512_maskz_unpackhi_epi64(0xFF, a, b));
    } else {
      set(2, _mm512_maskz_unpacklo_epi64(0xFF, c, d), _mm512_maskz_unpackhi_epi64(0xFF, c, d));
    }
#elif defined(__AVX2__)
    if (k == 0) {
      set(0, _mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
      set(2, _mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    } else if (k == 1) {
      set(0, _mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    } else {
      set(2, _mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    }
#endif
  }

#if defined(__AVX2__)
 private:
  TESSERA_INLINE void set(std::size_t at, auto first, auto second) {
    part[at] = as_words(first);
    part[at + 1] = as_words(second);
    end_of_step(part[at].value.data);
    end_of_step(part[at + 1].value.data);
  }
#endif
};

}  // namespace tessera::lane::inline TESSERA_TARGET
