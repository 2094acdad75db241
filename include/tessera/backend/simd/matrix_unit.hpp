// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <cstddef>
#include <cstdint>

#if TESSERA_MATRIX_UNIT
#include <cerrno>

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// Products by a processor's matrix unit, which is AMX: eight registers, tiles of 16 rows of 64
/// bytes. Whatever a file is compiled for, it has them; what a program runs on is asked for.
///
/// Instructions stand here as text: intrinsics of compilers need another target, and g++'s do not
/// say that a tile is read from memory.
namespace tessera::lane::inline TESSERA_TARGET {

/// Rows of a tile, and its numbers of 32 bits in a row.
inline constexpr std::size_t tile_rows = 16;
inline constexpr std::size_t tile_bytes = 1024;

#if TESSERA_MATRIX_UNIT
/// True where the processor multiplies tiles of bf16 and of bytes, and the system lets this process
/// do so, which the first call asks it for. Then signals keep 11 KiB on the stack of a thread that
/// holds tiles, and alternate stacks for them have room for that, or are refused; one that has none
/// when this is asked makes it false.
[[nodiscard]] inline auto has_matrix_unit() -> bool {
  static bool const has = [] {
    constexpr auto request = 0x1023;                          // ARCH_REQ_XCOMP_PERM
    constexpr auto of_tiles = 18;                             // XFEATURE_XTILEDATA
    constexpr auto bits = 1U << 22U | 1U << 24U | 1U << 25U;  // bf16, tiles, bytes
    unsigned a{};
    unsigned b{};
    unsigned c{};
    unsigned d{};
    auto const error = errno;
    auto const granted = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & bits) == bits &&
                         syscall(SYS_arch_prctl, request, of_tiles) == 0;
    errno = error;
    return granted;
  }();
  return has;
}

/// As long as one lives, this thread's tiles 0 to 3 are 16 rows of sums, 4 and 5 16 rows of so many
/// bytes of a left factor, and 6 and 7 as many rows of words as these are, of a right one; then
/// they hold nothing.
template <std::size_t LeftBytes = tile_bytes / tile_rows> class tiles_in_use {
  static_assert(LeftBytes % 4 == 0 && LeftBytes > 0 && LeftBytes <= tile_bytes / tile_rows);

 public:
  tiles_in_use() {
    alignas(64) std::uint8_t shape[64] = {1};
    for (auto tile = std::size_t{0}; tile < 8; ++tile) {
      shape[16 + 2 * tile] = tile == 4 || tile == 5 ? LeftBytes : tile_bytes / tile_rows;
      shape[48 + tile] = tile < 6 ? tile_rows : LeftBytes / 4;
    }
    asm volatile("ldtilecfg\t%0" ::"m"(shape));
  }
  ~tiles_in_use() { asm volatile("tilerelease" ::); }
  tiles_in_use(tiles_in_use const&) = delete;
  auto operator=(tiles_in_use const&) -> tiles_in_use& = delete;
};

template <int Tile> TESSERA_INLINE inline void zero_tile() {
  asm volatile("{tilezero\t%%tmm%c0|tilezero\ttmm%c0}" ::"i"(Tile));
}
/// Rows at `from`, so many bytes apart.
template <int Tile> TESSERA_INLINE inline void load_tile(void const* from, std::size_t row) {
  asm volatile("{tileloadd\t(%0,%1,1), %%tmm%c2|tileloadd\ttmm%c2, [%0+%1*1]}" ::"r"(from),
               "r"(row), "i"(Tile)
               : "memory");
}
template <int Tile> TESSERA_INLINE inline void store_tile(void* to, std::size_t row) {
  asm volatile("{tilestored\t%%tmm%c2, (%0,%1,1)|tilestored\t[%0+%1*1], tmm%c2}" ::"r"(to),
               "r"(row), "i"(Tile)
               : "memory");
}
/// Sum[r][c] += A[r][k]·B[k][c] over 16 pairs k of bf16: the products of even numbers are added
/// ascending from zero, those of odd ones too, each by a fused multiply-add; then these two sums,
/// and that to Sum. Factors and sums below 2^-126 are zero, whatever this thread does elsewhere.
///
/// Source  Intel's manual, and measured on an Emerald Rapids: 20 million sums of numbers near and
///         beyond all bounds have these bits
template <int Sum, int A, int B> TESSERA_INLINE inline void add_tile_of_pairs() {
  asm volatile(
      "{tdpbf16ps\t%%tmm%c2, %%tmm%c1, %%tmm%c0|tdpbf16ps\ttmm%c0, tmm%c1, tmm%c2}" ::"i"(Sum),
      "i"(A), "i"(B));
}
/// Sum[r][c] += A[r][k]·B[k][c] over words k of four bytes, those of A with a sign, those of B
/// without one: whole numbers, exactly.
template <int Sum, int A, int B> TESSERA_INLINE inline void add_tile_of_bytes() {
  asm volatile("{tdpbsud\t%%tmm%c2, %%tmm%c1, %%tmm%c0|tdpbsud\ttmm%c0, tmm%c1, tmm%c2}" ::"i"(Sum),
               "i"(A), "i"(B));
}
#else
[[nodiscard]] constexpr auto has_matrix_unit() -> bool { return false; }
#endif

}  // namespace tessera::lane::inline TESSERA_TARGET
