// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/core/scalar.hpp>
#include <tessera/tensor/node/items.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tessera {

/// A constant of any backend.
struct any_backend {};

template <std::size_t Rank> using leading_index = std::array<std::size_t, Rank == 0 ? 0 : Rank - 1>;

inline namespace TESSERA_TARGET {

/// One number at a time, of whatever scalar type an operand has.
struct one_lane {
  static constexpr std::size_t width = 1;
  [[nodiscard]] static constexpr auto count() -> std::size_t { return 1; }
  template <class V> [[nodiscard]] TESSERA_INLINE static constexpr auto at(V v, std::size_t) -> V {
    return v;
  }
  template <class U> [[nodiscard]] TESSERA_INLINE static constexpr auto load(U const* p) {
    return static_cast<compute_of<U>>(*p);
  }
  template <class U, class V> TESSERA_INLINE static constexpr void store(U* p, V v) {
    *p = static_cast<U>(v);
  }
  template <class U> [[nodiscard]] TESSERA_INLINE static constexpr auto splat(U v) -> U {
    return v;
  }
};

}  // namespace TESSERA_TARGET

/// The memory that an assignment writes.
struct written_memory {
  void const* begin;
  void const* end;

  [[nodiscard]] static auto address(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }
  /// True where [p, q) shares a byte with it. Unrelated addresses have no order in a constant
  /// expression: there the answer is yes, and costs a temporary.
  [[nodiscard]] constexpr auto overlaps(void const* p, void const* q) const -> bool {
    if (std::is_constant_evaluated()) return true;
    return address(p) < address(end) && address(begin) < address(q);
  }
};

namespace nodes {

template <class E>
concept has_temporaries = not is_empty<typename E::temporaries>;

}  // namespace nodes

}  // namespace tessera
