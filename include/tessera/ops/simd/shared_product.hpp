// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/ops/simd/multiply.hpp>

#include <cstddef>

/// One product by several threads.
namespace tessera::detail::inline TESSERA_TARGET {

/// Multiply-adds that one thread takes some microseconds for, several times as long as others need
/// to begin; a share has half of them at least, or about.
inline constexpr std::size_t worth_sharing = std::size_t{1} << 19U;

/// True where the team of this thread, if it has one, shares a product of so many multiply-adds.
[[nodiscard]] TESSERA_INLINE inline auto is_shared(std::size_t rows, std::size_t columns,
                                                   std::size_t depth) -> bool {
  return rows * columns * depth >= worth_sharing && current_team != nullptr;
}

/// The threads of this thread's team, `most` at most, that so many multiply-adds are worth.
[[nodiscard]] inline auto threads_for(std::size_t multiply_adds, std::size_t most) -> std::size_t {
  auto const threads = threads_worth(multiply_adds, worth_sharing);
  return threads < most ? threads : most;
}

/// Calls f(rows, columns) with shares of C (rows, columns) for the team of this thread, which
/// shares it: of rows, in multiples of `unit`, or of columns, of `column_unit`, whichever gives
/// more; where sums of A go along, of rows.
template <class T, class F>
void in_shares(std::size_t rows, std::size_t columns, std::size_t depth, F const& f,
               std::size_t unit = tiles::rows, bool rows_only = false,
               std::size_t column_unit = tiles::panel<T>) {
  auto const most = threads_for(rows * columns * depth, current_team->threads);
  // A share of rows reads all of B: it has more than one tile of them.
  auto const of_rows = shares(rows, unit == tiles::rows ? 2 * unit : unit, most);
  auto const of_columns = shares(columns, column_unit, most);
  auto const by_rows = rows_only || of_rows.count > of_columns.count ||
                       (of_rows.count == of_columns.count && rows / unit >= columns / column_unit);
  in_parts(by_rows ? of_rows.count : of_columns.count, [&](std::size_t i) {
    f(by_rows ? of_rows[i] : share{0, rows}, by_rows ? share{0, columns} : of_columns[i]);
  });
}

}  // namespace tessera::detail::inline TESSERA_TARGET
