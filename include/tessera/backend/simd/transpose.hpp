// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pack.hpp>

#include <cstddef>

namespace tessera::lane::inline TESSERA_TARGET {

/// The columns that `load_columns` makes at a time: those of 16 bytes of a row.
template <class T> inline constexpr std::size_t columns_at_once = 16 / sizeof(T);

/// Columns of as many rows as a vector has lanes: to[c] has number c of each row, which begin at
/// `from` and are `row` apart.
template <number T>
TESSERA_INLINE inline void load_columns(T const* from, std::size_t row,
                                        pack<T> (&to)[columns_at_once<T>]) {
  constexpr auto count = columns_at_once<T>;
#if defined(__AVX__)
  // Lane i of 16 bytes of vector r has those of row i·count + r.
  auto const piece = [&](std::size_t lane, std::size_t r) TESSERA_INLINE {
    auto x = __m128{};
    std::memcpy(&x, from + (lane * count + r) * row, sizeof(x));
    return x;
  };
#if defined(__AVX512F__)
  auto const pieces = [&](std::size_t r) TESSERA_INLINE {
    auto v = _mm512_zextps128_ps512(piece(0, r));
    v = _mm512_maskz_insertf32x4(0xFFFF, v, piece(1, r), 1);
    v = _mm512_maskz_insertf32x4(0xFFFF, v, piece(2, r), 2);
    return _mm512_maskz_insertf32x4(0xFFFF, v, piece(3, r), 3);
  };
  auto const low = [](__m512 a, __m512 b)
                       TESSERA_INLINE { return _mm512_maskz_unpacklo_ps(0xFFFF, a, b); };
  auto const high = [](__m512 a, __m512 b)
                        TESSERA_INLINE { return _mm512_maskz_unpackhi_ps(0xFFFF, a, b); };
  auto const low_pair = [](__m512 a, __m512 b) TESSERA_INLINE {
    return _mm512_maskz_unpacklo_pd(0xFF, _mm512_castps_pd(a), _mm512_castps_pd(b));
  };
  auto const high_pair = [](__m512 a, __m512 b) TESSERA_INLINE {
    return _mm512_maskz_unpackhi_pd(0xFF, _mm512_castps_pd(a), _mm512_castps_pd(b));
  };
#else
  auto const pieces = [&](std::size_t r) TESSERA_INLINE {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(piece(0, r)), piece(1, r), 1);
  };
  auto const low = [](__m256 a, __m256 b) TESSERA_INLINE { return _mm256_unpacklo_ps(a, b); };
  auto const high = [](__m256 a, __m256 b) TESSERA_INLINE { return _mm256_unpackhi_ps(a, b); };
  auto const low_pair = [](__m256 a, __m256 b) TESSERA_INLINE {
    return _mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b));
  };
  auto const high_pair = [](__m256 a, __m256 b) TESSERA_INLINE {
    return _mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b));
  };
#endif
  auto const column = [](auto v) TESSERA_INLINE -> pack<T> {
    using B = detail::batch<T>;
    return B(detail::same_bits<typename B::register_type>(v));
  };
  auto const first = pieces(0);
  auto const second = pieces(1);
  if constexpr (count == 2) {
    to[0] = column(low_pair(first, second));
    to[1] = column(high_pair(first, second));
  } else {
    auto const third = pieces(2);
    auto const fourth = pieces(3);
    to[0] = column(low_pair(low(first, second), low(third, fourth)));
    to[1] = column(high_pair(low(first, second), low(third, fourth)));
    to[2] = column(low_pair(high(first, second), high(third, fourth)));
    to[3] = column(high_pair(high(first, second), high(third, fourth)));
  }
#else
  for (auto c = std::size_t{0}; c < count; ++c) {
    T column[pack<T>::width];
    for (auto r = std::size_t{0}; r < pack<T>::width; ++r) column[r] = from[r * row + c];
    to[c] = load(column);
  }
#endif
}

/// A cache line of each of as many rows as a vector has lanes: f(c, columns) for its numbers c,
/// columns_at_once at a time.
template <number T>
TESSERA_INLINE inline void for_columns_of_near_line(T const* from, std::size_t row, auto const& f) {
#pragma GCC unroll 8
  for (auto c = std::size_t{0}; c < 64 / sizeof(T); c += columns_at_once<T>) {
    pack<T> columns[columns_at_once<T>];
    load_columns(from + c, row, columns);
    f(c, columns);
  }
}

/// The same of rows that lie anywhere. They are read a line at a time, as more rows than a small
/// cache has ways, a power of two apart, would drive each other out.
template <number T>
TESSERA_INLINE inline void for_columns_of_line(T const* from, std::size_t row, auto const& f) {
  constexpr auto width = pack<T>::width;
  constexpr auto line = std::size_t{64} / sizeof(T);
  if constexpr (width * sizeof(T) > 32) {
    alignas(64) T lines[width * line];
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < width; ++r) store(lines + r * line, load(from + r * row));
    for_columns_of_near_line(lines, line, f);
  } else {
    for_columns_of_near_line(from, row, f);
  }
}

/// to[c·to_row + r] = from[r·row + c]: `rows` rows of `columns` numbers, turned.
template <number T>
void copy_turned(std::size_t rows, std::size_t columns, T const* from, std::size_t row, T* to,
                 std::size_t to_row) {
  constexpr auto width = pack<T>::width;
  constexpr auto line = std::size_t{64} / sizeof(T);
  auto r = std::size_t{0};
  for (; r + width <= rows; r += width, from += width * row) {
    auto c = std::size_t{0};
    for (; c + line <= columns; c += line) {
#pragma GCC unroll 16
      for (auto i = std::size_t{0}; i < width; ++i)
        __builtin_prefetch(from + (width + i) * row + c);
      for_columns_of_line(from + c, row, [&](std::size_t first, auto const& turned) TESSERA_INLINE {
#pragma GCC unroll 4
        for (auto i = std::size_t{0}; i < columns_at_once<T>; ++i)
          store(to + (c + first + i) * to_row + r, turned[i]);
      });
    }
    for (; c < columns; ++c)
      for (auto i = std::size_t{0}; i < width; ++i) to[c * to_row + r + i] = from[i * row + c];
  }
  for (; r < rows; ++r, from += row)
    for (auto c = std::size_t{0}; c < columns; ++c) to[c * to_row + r] = from[c];
}

}  // namespace tessera::lane::inline TESSERA_TARGET
