// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>

#include <array>
#include <cstddef>

/// Which memory is alive when, decided by the compiler.
namespace tessera {

[[nodiscard]] constexpr auto more_bytes(std::size_t a, std::size_t b) -> std::size_t {
  return a > b ? a : b;
}

/// Bytes that must stay intact from call `first` to call `last`.
struct plan_piece {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

template <std::size_t N> struct placement {
  std::array<std::size_t, N> offset{};
  std::size_t bytes = 0;
};

/// Places the largest piece first, each at the lowest offset where nothing alive meanwhile is in
/// its way. Pieces without bytes are not placed, so that they cost nothing.
template <std::size_t N>
[[nodiscard]] constexpr auto place_pieces(std::array<plan_piece, N> const& pieces) -> placement<N> {
  auto result = placement<N>{};
  auto order = std::array<std::size_t, N>{};
  auto count = std::size_t{0};
  for (auto i = std::size_t{0}; i < N; ++i) {
    if (pieces[i].bytes == 0) continue;
    auto at = count++;
    for (; at > 0 && pieces[order[at - 1]].bytes < pieces[i].bytes; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  for (auto n = std::size_t{0}; n < count; ++n) {
    auto const& p = pieces[order[n]];
    auto& offset = result.offset[order[n]];
    auto const bytes = aligned(p.bytes);
    for (auto moved = true; moved;) {
      moved = false;
      for (auto k = std::size_t{0}; k < n; ++k) {
        auto const& q = pieces[order[k]];
        auto const start = result.offset[order[k]];
        auto const end = start + aligned(q.bytes);
        if (q.first <= p.last && p.first <= q.last && offset < end && start < offset + bytes) {
          offset = end;
          moved = true;
        }
      }
    }
    if (offset + bytes > result.bytes) result.bytes = offset + bytes;
  }
  return result;
}

namespace detail {

template <class U> [[nodiscard]] auto lent_at(std::byte* memory) -> U& {
  static_assert(__is_trivially_copyable(U), "arena: it lends plain objects");
  return *__builtin_launder(reinterpret_cast<U*>(memory));
}

}  // namespace detail

/// Memory in which objects follow one another.
///
/// What it lends are objects of implicit lifetime: trivially copyable, so that lending one writes
/// nothing, and what it holds is whatever was written there last.
template <std::size_t Bytes> struct work_arena {
  alignas(storage_alignment) std::byte memory[Bytes];
  template <class U> [[nodiscard]] auto at(std::size_t offset) -> U& {
    return detail::lent_at<U>(memory + offset);
  }
};
template <> struct work_arena<0> {
  static constexpr std::byte* memory = nullptr;
};

}  // namespace tessera
