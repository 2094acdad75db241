// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>

#include <limits>

/// How reductions add: a defined order, the same on every backend and instruction set.
///
/// Element i of a run goes to lane i mod 64; the lanes are then folded in halves, lane j with lane
/// j + 32, then j + 16, and so on. Vector kernels of any width reach the same bits.
namespace tessera {

inline constexpr std::size_t reduction_lanes = 64;

namespace reductions::inline TESSERA_TARGET {

/// Sum. -0 is its neutral element: x + -0 is x, whatever the sign of a zero.
struct adds {
  template <class T> static constexpr auto neutral() -> T { return -T{0}; }
  template <class V> TESSERA_INLINE static constexpr auto join(V a, V b) -> V { return a + b; }
};
/// Maximum; NaN wins.
struct takes_larger {
  template <class T> static constexpr auto neutral() -> T {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  template <class V> TESSERA_INLINE static constexpr auto join(V a, V b) -> V {
    using namespace lane;
    if constexpr (std::is_integral_v<V>)
      return b > a ? b : a;
    else
      return select(a != a, a, select(b > a, b, select(b != b, b, a)));
  }
  /// The same where b is no NaN.
  template <class V> TESSERA_INLINE static constexpr auto join_number(V a, V b) -> V {
    using namespace lane;
    return max(b, a);
  }
};
struct takes_smaller {
  template <class T> static constexpr auto neutral() -> T {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
  template <class V> TESSERA_INLINE static constexpr auto join(V a, V b) -> V {
    using namespace lane;
    if constexpr (std::is_integral_v<V>)
      return b < a ? b : a;
    else
      return select(a != a, a, select(b < a, b, select(b != b, b, a)));
  }
  /// The same where b is no NaN.
  template <class V> TESSERA_INLINE static constexpr auto join_number(V a, V b) -> V {
    using namespace lane;
    return min(b, a);
  }
};

/// The lanes of one sum in the making. Rows of any length follow one another; `filled` says where
/// in the 64 the next element goes.
template <class Join, class T> struct lanes {
  T at[reduction_lanes];
  std::size_t filled = 0;
  std::size_t used = 0;

  constexpr lanes() {
    for (auto& lane : at) lane = Join::template neutral<T>();
  }
  TESSERA_INLINE constexpr void add(T x) {
    at[filled] = Join::join(at[filled], x);
    filled = (filled + 1) % reduction_lanes;
    if (used < reduction_lanes) ++used;
  }
  /// Lanes that nothing went to are neutral, so that only a power of two above `used` is folded.
  [[nodiscard]] constexpr auto total() -> T {
    auto n = reduction_lanes;
    while (n / 2 >= used && n > 1) n /= 2;
    for (n /= 2; n > 0; n /= 2)
      for (auto j = std::size_t{0}; j < n; ++j) at[j] = Join::join(at[j], at[j + n]);
    return at[0];
  }
};

}  // namespace reductions::inline TESSERA_TARGET

}  // namespace tessera
