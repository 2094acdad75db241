// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/core/scalar.hpp>

#include <xsimd/xsimd.hpp>

#include <cstring>

/// Vectors of lanes: a thin wrapper of xsimd, for the instruction set that the translation unit is
/// compiled for.
///
/// What xsimd 8.1 lacks or does slowly stands here by intrinsics: the fused multiply-add of
/// AVX-512, loads and stores of the first n lanes, and those functions for which g++ 12 warns about
/// its own header.
namespace tessera::lane {

namespace detail {
template <class T> using batch = xsimd::batch<T, xsimd::default_arch>;
template <class T> using batch_mask = typename batch<T>::batch_bool_type;
template <class To, class From> [[nodiscard]] TESSERA_INLINE inline auto same_bits(From x) -> To {
  static_assert(sizeof(To) == sizeof(From));
  auto y = To{};
  std::memcpy(&y, &x, sizeof(To));
  return y;
}
}  // namespace detail

inline namespace TESSERA_TARGET {

template <class T> struct pack;
template <class T> struct mask;

/// Asks memory for a line that is needed later, into the second level. A first level waits for few
/// lines at a time (24 on a Zen 4, of 64 bytes: 16 GB/s, where memory gives 28 to the second).
TESSERA_INLINE inline void fetch(void const* place) { __builtin_prefetch(place, 0, 2); }

/// Asks for a line that is written soon, into the first level.
TESSERA_INLINE inline void fetch_first(void const* place) { __builtin_prefetch(place, 1); }

/// Loads from a line that is needed later. Unlike what `fetch` asks for, a processor that waits for
/// other lines cannot drop it.
template <class T> TESSERA_INLINE inline void read(T const* place) {
  asm volatile("" : : "r"(*place));
}

/// A yes or no for each lane of pack<T>.
template <class T> struct mask {
  detail::batch_mask<T> value;

  mask() = default;
  TESSERA_INLINE mask(detail::batch_mask<T> m) : value(m) {}
  TESSERA_INLINE explicit mask(bool m) : value(m) {}

  [[nodiscard]] TESSERA_INLINE friend auto operator&&(mask a, mask b) -> mask {
    return a.value & b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator||(mask a, mask b) -> mask {
    return a.value | b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator!(mask a) -> mask { return ~a.value; }

  [[nodiscard]] static auto load(bool const* p) -> mask {
    return detail::batch_mask<T>::load_unaligned(p);
  }
  [[nodiscard]] static auto load_first(bool const* p, std::size_t n) -> mask {
    bool buffer[pack<T>::width] = {};
    std::memcpy(buffer, p, n);
    return load(buffer);
  }
};

/// Unsigned integers as wide as the scalars of T: the bits of pack<T>.
template <class T> struct bit_pack {
  using word = typename traits<T>::bits;
  detail::batch<word> value;

  bit_pack() = default;
  TESSERA_INLINE bit_pack(detail::batch<word> v) : value(v) {}
  TESSERA_INLINE explicit bit_pack(word w) : value(w) {}

  [[nodiscard]] TESSERA_INLINE friend auto operator+(bit_pack a, bit_pack b) -> bit_pack {
    return a.value + b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator&(bit_pack a, bit_pack b) -> bit_pack {
    return a.value & b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator|(bit_pack a, bit_pack b) -> bit_pack {
    return a.value | b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator^(bit_pack a, bit_pack b) -> bit_pack {
    return a.value ^ b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator<<(bit_pack a, int n) -> bit_pack {
#if defined(__AVX512F__)
    if constexpr (sizeof(word) == 4)
      return detail::batch<word>(
          _mm512_maskz_slli_epi32(0xFFFF, a.value.data, static_cast<unsigned>(n)));
    else
      return detail::batch<word>(
          _mm512_maskz_slli_epi64(0xFF, a.value.data, static_cast<unsigned>(n)));
#else
    return a.value << n;
#endif
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator>>(bit_pack a, int n) -> bit_pack {
#if defined(__AVX512F__)
    if constexpr (sizeof(word) == 4)
      return detail::batch<word>(
          _mm512_maskz_srli_epi32(0xFFFF, a.value.data, static_cast<unsigned>(n)));
    else
      return detail::batch<word>(
          _mm512_maskz_srli_epi64(0xFF, a.value.data, static_cast<unsigned>(n)));
#else
    return a.value >> n;
#endif
  }
};

template <class T> [[nodiscard]] TESSERA_INLINE inline auto from_bits(bit_pack<T> b) -> pack<T>;
template <class T> [[nodiscard]] TESSERA_INLINE inline auto as_bits(pack<T> a) -> bit_pack<T>;

/// A vector of float or double.
template <class T> struct pack {
  using scalar = T;
  static constexpr std::size_t width = detail::batch<T>::size;

  detail::batch<T> value;

  pack() = default;
  TESSERA_INLINE pack(detail::batch<T> v) : value(v) {}
  TESSERA_INLINE explicit pack(T each) : value(each) {}

  [[nodiscard]] TESSERA_INLINE friend auto operator+(pack a, pack b) -> pack {
    return a.value + b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator-(pack a, pack b) -> pack {
    return a.value - b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator*(pack a, pack b) -> pack {
    return a.value * b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator/(pack a, pack b) -> pack {
    return a.value / b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator-(pack a) -> pack {
    return from_bits(as_bits(a) ^ bit_pack<T>(sign_bit<T>));
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator<(pack a, pack b) -> mask<T> {
    return a.value < b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator>(pack a, pack b) -> mask<T> {
    return b.value < a.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator<=(pack a, pack b) -> mask<T> {
    return a.value <= b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator>=(pack a, pack b) -> mask<T> {
    return b.value <= a.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator==(pack a, pack b) -> mask<T> {
    return a.value == b.value;
  }
  [[nodiscard]] TESSERA_INLINE friend auto operator!=(pack a, pack b) -> mask<T> {
    return !(a == b);
  }

  [[nodiscard]] TESSERA_INLINE friend auto abs(pack a) -> pack {
    return from_bits(as_bits(a) &
                     bit_pack<T>(static_cast<typename bit_pack<T>::word>(~sign_bit<T>)));
  }
  [[nodiscard]] TESSERA_INLINE friend auto copysign(pack a, pack s) -> pack {
    return from_bits(as_bits(abs(a)) | (as_bits(s) & bit_pack<T>(sign_bit<T>)));
  }
  [[nodiscard]] TESSERA_INLINE friend auto select(mask<T> m, pack a, pack b) -> pack {
    return xsimd::select(m.value, a.value, b.value);
  }
  [[nodiscard]] TESSERA_INLINE friend auto any(mask<T> m) -> bool { return xsimd::any(m.value); }
  [[nodiscard]] TESSERA_INLINE friend auto all(mask<T> m) -> bool { return xsimd::all(m.value); }

  [[nodiscard]] TESSERA_INLINE friend auto min(pack a, pack b) -> pack {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return detail::batch<T>(_mm512_maskz_min_ps(0xFFFF, a.value.data, b.value.data));
    else
      return detail::batch<T>(_mm512_maskz_min_pd(0xFF, a.value.data, b.value.data));
#elif defined(__SSE2__)
    return xsimd::min(a.value, b.value);
#else
    return select(a < b, a, b);
#endif
  }
  [[nodiscard]] TESSERA_INLINE friend auto max(pack a, pack b) -> pack {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return detail::batch<T>(_mm512_maskz_max_ps(0xFFFF, a.value.data, b.value.data));
    else
      return detail::batch<T>(_mm512_maskz_max_pd(0xFF, a.value.data, b.value.data));
#elif defined(__SSE2__)
    return xsimd::max(a.value, b.value);
#else
    return select(a > b, a, b);
#endif
  }
  [[nodiscard]] TESSERA_INLINE friend auto fma(pack a, pack b, pack c) -> pack {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return detail::batch<T>(_mm512_fmadd_ps(a.value.data, b.value.data, c.value.data));
    else
      return detail::batch<T>(_mm512_fmadd_pd(a.value.data, b.value.data, c.value.data));
#elif TESSERA_FMA
    return xsimd::fma(a.value, b.value, c.value);
#else
    return a * b + c;
#endif
  }
  [[nodiscard]] TESSERA_INLINE friend auto sqrt(pack a) -> pack {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return detail::batch<T>(_mm512_maskz_sqrt_ps(0xFFFF, a.value.data));
    else
      return detail::batch<T>(_mm512_maskz_sqrt_pd(0xFF, a.value.data));
#else
    return xsimd::sqrt(a.value);
#endif
  }
};

template <class T> inline auto from_bits(bit_pack<T> b) -> pack<T> {
  using B = detail::batch<T>;
  return B(detail::same_bits<typename B::register_type>(b.value.data));
}
template <class T> inline auto as_bits(pack<T> a) -> bit_pack<T> {
  using B = detail::batch<typename bit_pack<T>::word>;
  return B(detail::same_bits<typename B::register_type>(a.value.data));
}

}  // namespace TESSERA_TARGET

#if defined(__AVX512F__)
/// One instruction each, with the bits of the sequences in core/.
template <class T>
[[nodiscard]] TESSERA_INLINE inline auto nearest_small(pack<T> x) -> integral<pack<T>> {
  auto const shift = constant<pack<T>>(sizeof(T) == 4 ? 0x1.8p23 : 0x1.8p52);
  auto const bits = as_bits(x + shift);
  if constexpr (sizeof(T) == 4)
    return {detail::batch<T>(_mm512_maskz_roundscale_ps(0xFFFF, x.value.data, 0)), bits};
  else
    return {detail::batch<T>(_mm512_maskz_roundscale_pd(0xFF, x.value.data, 0)), bits};
}
template <class T> [[nodiscard]] TESSERA_INLINE inline auto scale(pack<T> x, pack<T> n) -> pack<T> {
  if constexpr (sizeof(T) == 4)
    return detail::batch<T>(_mm512_maskz_scalef_ps(0xFFFF, x.value.data, n.value.data));
  else
    return detail::batch<T>(_mm512_maskz_scalef_pd(0xFF, x.value.data, n.value.data));
}
template <class T>
[[nodiscard]] TESSERA_INLINE inline auto power_of_two(integral<pack<T>> n) -> pack<T> {
  return scale(pack<T>(T{1}), n.value);
}
#endif
#if defined(__AVX512DQ__)
namespace detail {
/// The smaller magnitude with the sign that Sign says: 2 for none, 3 for a minus.
template <int Sign, class T>
[[nodiscard]] TESSERA_INLINE inline auto smaller_magnitude(pack<T> x, pack<T> most) -> pack<T> {
  constexpr auto what = Sign << 2 | 2;
  if constexpr (sizeof(T) == 4)
    return batch<T>(_mm512_maskz_range_ps(0xFFFF, x.value.data, most.value.data, what));
  else
    return batch<T>(_mm512_maskz_range_pd(0xFF, x.value.data, most.value.data, what));
}
}  // namespace detail
template <class T>
[[nodiscard]] TESSERA_INLINE inline auto limited_magnitude(pack<T> x, T most) -> pack<T> {
  return detail::smaller_magnitude<2>(x, pack<T>(most));
}
template <class T>
[[nodiscard]] TESSERA_INLINE inline auto limited_negative(pack<T> x, T most) -> pack<T> {
  return detail::smaller_magnitude<3>(x, pack<T>(most));
}
#endif

template <class T> struct traits<pack<T>> {
  using scalar = T;
  using bits = bit_pack<T>;
  using mask = lane::mask<T>;
};
template <class T> struct traits<mask<T>> {
  using chosen = pack<T>;  ///< what it picks the lanes of
};

// -- memory ---------------------------------------------------------------------------------------
namespace detail {

#if defined(__AVX512F__)
[[nodiscard]] TESSERA_INLINE inline auto first_lanes(std::size_t n) -> unsigned {
  return (1U << n) - 1U;
}
#elif defined(__AVX2__)
/// Lanes below n have all bits.
template <class T> [[nodiscard]] TESSERA_INLINE inline auto first_lanes(std::size_t n) -> __m256i {
  alignas(32) static constexpr std::int32_t steps[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<__m256i const*>(steps + 8 - n * (sizeof(T) / 4)));
}
#endif

}  // namespace detail

inline namespace TESSERA_TARGET {

template <number T> [[nodiscard]] TESSERA_INLINE inline auto load(T const* p) -> pack<T> {
  return detail::batch<T>::load_unaligned(p);
}
template <number T> TESSERA_INLINE inline void store(T* p, pack<T> v) {
  v.value.store_unaligned(p);
}

/// The same to where a vector is aligned, past the caches (a non-temporal store): whoever reads it
/// from another thread must see `nontemporal_end` before.
template <number T> TESSERA_INLINE inline void store_nontemporal(T* p, pack<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    _mm512_stream_ps(p, v.value.data);
  else
    _mm512_stream_pd(p, v.value.data);
#elif defined(__AVX__)
  if constexpr (sizeof(T) == 4)
    _mm256_stream_ps(p, v.value.data);
  else
    _mm256_stream_pd(p, v.value.data);
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4)
    _mm_stream_ps(p, v.value.data);
  else
    _mm_stream_pd(p, v.value.data);
#else
  store(p, v);
#endif
}
TESSERA_INLINE inline void nontemporal_end() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// The first n lanes from memory, zeros beyond; nothing beyond p + n is touched.
template <number T>
[[nodiscard]] TESSERA_INLINE inline auto load_first(T const* p, std::size_t n) -> pack<T> {
#if defined(__AVX512F__)
  auto const m = detail::first_lanes(n);
  if constexpr (sizeof(T) == 4)
    return detail::batch<T>(_mm512_maskz_loadu_ps(static_cast<__mmask16>(m), p));
  else
    return detail::batch<T>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(m), p));
#elif defined(__AVX2__)
  auto const m = detail::first_lanes<T>(n);
  if constexpr (sizeof(T) == 4)
    return detail::batch<T>(_mm256_maskload_ps(p, m));
  else
    return detail::batch<T>(_mm256_maskload_pd(p, m));
#else
  T buffer[pack<T>::width] = {};
  std::memcpy(buffer, p, n * sizeof(T));
  return load(buffer);
#endif
}
template <number T> TESSERA_INLINE inline void store_first(T* p, pack<T> v, std::size_t n) {
#if defined(__AVX512F__)
  auto const m = detail::first_lanes(n);
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(m), v.value.data);
  else
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>(m), v.value.data);
#elif defined(__AVX2__)
  auto const m = detail::first_lanes<T>(n);
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_ps(p, m, v.value.data);
  else
    _mm256_maskstore_pd(p, m, v.value.data);
#else
  T buffer[pack<T>::width];
  store(buffer, v);
  std::memcpy(p, buffer, n * sizeof(T));
#endif
}

/// The same for a number of lanes that the compiler knows. Half a vector has no mask: what loads
/// from it next need not wait for one.
template <std::size_t N, number T>
[[nodiscard]] TESSERA_INLINE inline auto load_first(T const* p) -> pack<T> {
  static_assert(0 < N && N <= pack<T>::width);
  if constexpr (N == pack<T>::width) return load(p);
#if defined(__AVX512F__)
  if constexpr (N == 8 && sizeof(T) == 4)
    return detail::batch<T>(_mm512_castpd_ps(_mm512_maskz_insertf64x4(
        0xFF, _mm512_setzero_pd(), _mm256_castps_pd(_mm256_loadu_ps(p)), 0)));
  if constexpr (N == 4 && sizeof(T) == 8)
    return detail::batch<T>(
        _mm512_maskz_insertf64x4(0xFF, _mm512_setzero_pd(), _mm256_loadu_pd(p), 0));
#elif defined(__AVX2__)
  if constexpr (N == 4 && sizeof(T) == 4)
    return detail::batch<T>(_mm256_zextps128_ps256(_mm_loadu_ps(p)));
  if constexpr (N == 2 && sizeof(T) == 8)
    return detail::batch<T>(_mm256_zextpd128_pd256(_mm_loadu_pd(p)));
#endif
  return load_first(p, N);
}
template <std::size_t N, number T> TESSERA_INLINE inline void store_first(T* p, pack<T> v) {
  static_assert(0 < N && N <= pack<T>::width);
  if constexpr (N == pack<T>::width) return store(p, v);
#if defined(__AVX512F__)
  if constexpr (N == 8 && sizeof(T) == 4)
    return _mm256_storeu_ps(
        p, _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xF, _mm512_castps_pd(v.value.data), 0)));
  if constexpr (N == 4 && sizeof(T) == 8)
    return _mm256_storeu_pd(p, _mm512_maskz_extractf64x4_pd(0xF, v.value.data, 0));
#elif defined(__AVX2__)
  if constexpr (N == 4 && sizeof(T) == 4)
    return _mm_storeu_ps(p, _mm256_castps256_ps128(v.value.data));
  if constexpr (N == 2 && sizeof(T) == 8)
    return _mm_storeu_pd(p, _mm256_castpd256_pd128(v.value.data));
#endif
  store_first(p, v, N);
}

/// Numbers that are stored narrower than T, a vector of them; those beyond n are zeros.
template <number T, class U>
[[nodiscard]] TESSERA_INLINE inline auto widen_first(U const* p, std::size_t n) -> pack<T> {
  if constexpr (std::is_same_v<T, U>) {
    return load_first(p, n);
  } else {
    T buffer[pack<T>::width] = {};
    for (auto i = std::size_t{0}; i < n; ++i) buffer[i] = widened<T>(p[i]);
    return load(buffer);
  }
}
template <number T, class U> [[nodiscard]] TESSERA_INLINE inline auto widen(U const* p) -> pack<T> {
  if constexpr (std::is_same_v<T, U>) return load(p);
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float> && std::is_same_v<U, bf16>)
    return detail::batch<T>(_mm512_castsi512_ps(_mm512_maskz_slli_epi32(
        0xFFFF,
        _mm512_maskz_cvtepu16_epi32(0xFFFF,
                                    _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p))),
        16)));
  if constexpr (std::is_same_v<T, float> && std::is_same_v<U, f16>)
    return detail::batch<T>(
        _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p))));
  if constexpr (std::is_same_v<T, float> && std::is_same_v<U, std::int8_t>)
    return detail::batch<T>(_mm512_maskz_cvtepi32_ps(
        0xFFFF,
        _mm512_maskz_cvtepi8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<__m128i const*>(p)))));
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float> && std::is_same_v<U, bf16>)
    return detail::batch<T>(_mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<__m128i const*>(p))), 16)));
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, float> && std::is_same_v<U, f16>)
    return detail::batch<T>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(p))));
#endif
  if constexpr (std::is_same_v<T, float> && std::is_same_v<U, std::int8_t>)
    return detail::batch<T>(_mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(p)))));
#endif
  return widen_first<T>(p, pack<T>::width);
}

// Storage scalars: loaded and stored as float.
template <class U>
  requires is_storage_scalar<U>
[[nodiscard]] inline auto load_first(U const* p, std::size_t n) -> pack<float> {
  return widen_first<float>(p, n);
}
template <class U>
  requires is_storage_scalar<U>
[[nodiscard]] inline auto load(U const* p) -> pack<float> {
  return widen<float>(p);
}
template <class U>
  requires is_storage_scalar<U>
inline void store_first(U* p, pack<float> v, std::size_t n) {
  float buffer[pack<float>::width];
  store(buffer, v);
  for (auto i = std::size_t{0}; i < n; ++i) p[i] = U(buffer[i]);
}
template <class U>
  requires is_storage_scalar<U>
inline void store(U* p, pack<float> v) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<U, f16>) {
    auto const halves = _mm512_maskz_cvtps_ph(0xFFFF, v.value.data, _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(p, &halves, sizeof halves);
    return;
  }
#elif defined(__AVX2__) && defined(__F16C__)
  if constexpr (std::is_same_v<U, f16>) {
    auto const halves = _mm256_cvtps_ph(v.value.data, _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(p, &halves, sizeof halves);
    return;
  }
#endif
  store_first(p, v, pack<float>::width);
}

// Masks, as bools of one byte.
template <class T> inline void store_first(bool* p, mask<T> m, std::size_t n) {
  bool buffer[pack<T>::width];
  m.value.store_unaligned(buffer);
  std::memcpy(p, buffer, n);
}
template <class T> inline void store(bool* p, mask<T> m) { store_first(p, m, pack<T>::width); }

}  // namespace TESSERA_TARGET

}  // namespace tessera::lane
