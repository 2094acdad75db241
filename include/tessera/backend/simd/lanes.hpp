// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pack.hpp>

#include <cstdint>

namespace tessera::inline TESSERA_TARGET {

/// How a row is read and written a vector at a time: the vector counterpart of `one_lane`.
template <class T> struct whole_lanes {
  using scalar_type = T;
  static constexpr std::size_t width = lane::pack<T>::width;
  [[nodiscard]] static constexpr auto count() -> std::size_t { return width; }

  template <class U> [[nodiscard]] TESSERA_INLINE static auto load(U const* p) {
    if constexpr (std::same_as<U, bool>)
      return lane::mask<T>::load(p);
    else
      return lane::load(p);
  }
  template <class U, class V> TESSERA_INLINE static void store(U* p, V v) { lane::store(p, v); }
  [[nodiscard]] TESSERA_INLINE static auto splat(T v) { return lane::pack<T>(v); }
  [[nodiscard]] TESSERA_INLINE static auto splat(bool v) { return lane::mask<T>(v); }
  template <class U>
  [[nodiscard]] TESSERA_INLINE static auto gather(U const* p, std::ptrdiff_t stride) {
    return gather_first(p, stride, width);
  }
  template <class U>
  [[nodiscard]] TESSERA_INLINE static auto gather_first(U const* p, std::ptrdiff_t stride,
                                                        std::size_t n) {
    U buffer[width] = {};
    for (auto k = std::size_t{0}; k < n; ++k)
      buffer[k] = p[static_cast<std::ptrdiff_t>(k) * stride];
    return load(buffer);
  }
  [[nodiscard]] TESSERA_INLINE static auto at(lane::pack<T> v, std::size_t k) -> T {
    T buffer[width];
    lane::store(buffer, v);
    return buffer[k];
  }
};

/// The same for a row from memory that is only read: it is asked for a page ahead, since a
/// processor that asks for the next lines itself stops at the end of a page.
template <class T> struct lanes_from_memory : whole_lanes<T> {
  template <class U> [[nodiscard]] TESSERA_INLINE static auto load(U const* p) {
    lane::fetch(p + 4096 / sizeof(U));
    return whole_lanes<T>::load(p);
  }
};

/// The same with stores past the caches.
template <class T> struct nontemporal_lanes : whole_lanes<T> {
  TESSERA_INLINE static void store(T* p, lane::pack<T> v) { lane::store_nontemporal(p, v); }
};

/// A result of at least as many bytes is larger than what a cache would keep of it for its reader,
/// and is not read before it is written where stores go past the caches. An operand of as many
/// comes from memory.
inline constexpr std::size_t nontemporal_bytes = std::size_t{32} << 20;

/// The first n lanes of a vector: the tail of a row. Nothing beyond it is touched.
template <class T> struct first_lanes {
  using scalar_type = T;
  static constexpr std::size_t width = lane::pack<T>::width;
  std::size_t n;
  [[nodiscard]] constexpr auto count() const -> std::size_t { return n; }

  template <class U> [[nodiscard]] TESSERA_INLINE auto load(U const* p) const {
    if constexpr (std::same_as<U, bool>)
      return lane::mask<T>::load_first(p, n);
    else
      return lane::load_first(p, n);
  }
  template <class U, class V> TESSERA_INLINE void store(U* p, V v) const {
    lane::store_first(p, v, n);
  }
  [[nodiscard]] TESSERA_INLINE static auto splat(T v) { return lane::pack<T>(v); }
  [[nodiscard]] TESSERA_INLINE static auto splat(bool v) { return lane::mask<T>(v); }
  template <class U>
  [[nodiscard]] TESSERA_INLINE auto gather(U const* p, std::ptrdiff_t stride) const {
    return whole_lanes<T>::gather_first(p, stride, n);
  }
  [[nodiscard]] TESSERA_INLINE static auto at(lane::pack<T> v, std::size_t k) -> T {
    return whole_lanes<T>::at(v, k);
  }
};

/// Calls f(lanes, i) for the whole vectors of n elements, and once more for what is left.
template <class T, class F> TESSERA_INLINE inline void for_each_vector(std::size_t n, F&& f) {
  constexpr auto width = whole_lanes<T>::width;
  auto i = std::size_t{0};
  for (; i + width <= n; i += width) f(whole_lanes<T>{}, i);
  if (i < n) f(first_lanes<T>{n - i}, i);
}

/// The same for n elements that f stores at `to`, past the caches but for those before the first
/// whole cache line and behind the last vector; `nontemporal_end` is left to the caller.
template <class T, class F>
TESSERA_INLINE inline void for_each_vector_nontemporal(T const* to, std::size_t n, F&& f) {
  constexpr auto width = whole_lanes<T>::width;
  constexpr auto line = std::size_t{64} / sizeof(T);
  auto const past = reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % line;
  auto const to_line = (line - past) % line;
  auto const before = to_line < n ? to_line : n;
  auto i = std::size_t{0};
  for (auto count = width; i < before; i += count) {
    count = before - i < width ? before - i : width;
    f(first_lanes<T>{count}, i);
  }
  for (; i + width <= n; i += width) f(nontemporal_lanes<T>{}, i);
  if (i < n) f(first_lanes<T>{n - i}, i);
}

}  // namespace tessera::inline TESSERA_TARGET
