// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/product.hpp>
#include <tessera/ops/simd/multiply_by_blocks.hpp>
#include <tessera/ops/simd/shared_product.hpp>

#include <type_traits>

namespace tessera {

template <> struct kernel_for<detail::product_fn, simd> {
  /// What picks a way takes half as long as a tile of one vector does: of a size that compilers
  /// know there is nothing to pick.
  template <class T, class Stored>
  TESSERA_INLINE static constexpr void run(detail::matrix_product<T, Stored> const& p) {
    constexpr auto width = lane::pack<T>::width;
    if constexpr (not is_block<Stored>)
      if (not std::is_constant_evaluated() && p.rows <= tiles::rows_of_one_vector &&
          p.columns <= width && p.a.column == 1 && p.b.column == 1) {
        if (p.columns == width)
          tiles::columns_of<false, T, Stored, 1, false>(in_tiles(p), 0, p.rows, 0, width, 0);
        else if (p.columns > 0)
          tiles::columns_of<false, T, Stored, 1, true>(in_tiles(p), 0, p.rows, 0, p.columns, 0);
        return;
      }
    run_any(p);
  }
  template <class T>
  static constexpr void add_rows(std::size_t rows, std::size_t columns, T const* d, T* sums) {
    if (std::is_constant_evaluated())
      kernel_for<detail::product_fn, reference>::add_rows(rows, columns, d, sums);
    else
      tiles::add_rows<T>(rows, columns, d, columns, sums);
  }
  /// run(p) of a transposed A (a.row is 1), whose columns are added to `sums` while they are in a
  /// cache.
  template <class T>
  static constexpr void run_with_sums(detail::matrix_product<T> const& p, T* sums) {
    if (std::is_constant_evaluated()) {
      kernel_for<detail::product_fn, reference>::run(p);
      add_rows(p.depth, p.rows, p.a.data, sums);
    } else if (not detail::is_shared(p.rows, p.columns, p.depth)) {
      by_tiles(in_tiles(p), sums);
    } else {
      detail::in_shares<T>(
          p.rows, p.columns, p.depth,
          [&](detail::share const& rows, detail::share const& columns) {
            by_tiles(in_tiles(part(p, rows, columns)), sums + rows.first);
          },
          tiles::rows, true);
    }
  }
  /// run_with_sums of two products that have one A, which is read once where no cache holds it.
  template <class T>
  static constexpr void run_both_with_sums(detail::matrix_product<T> const& p, T* p_sums,
                                           detail::matrix_product<T> const& q, T* q_sums) {
    if (std::is_constant_evaluated()) {
      run_with_sums(p, p_sums);
      run_with_sums(q, q_sums);
    } else if (not detail::is_shared(p.rows, p.columns + q.columns, p.depth)) {
      both_by_tiles(in_tiles(p), p_sums, in_tiles(q), q_sums);
    } else {
      detail::in_shares<T>(
          p.rows, p.columns + q.columns, p.depth,
          [&](detail::share const& rows, detail::share const&) {
            both_by_tiles(in_tiles(part(p, rows, {0, p.columns})), p_sums + rows.first,
                          in_tiles(part(q, rows, {0, q.columns})), q_sums + rows.first);
          },
          tiles::rows, true);
    }
  }
  template <class T, class Stored>
  static constexpr void run_in_runs(detail::matrix_product<T, Stored> const& p,
                                    detail::product_runs const& row_runs,
                                    detail::product_runs const& depth_runs) {
    auto const in_runs = row_runs.length != 0;
    auto const run_part = [&](detail::matrix_product<T, Stored> const& part, std::size_t run) {
      auto tiles = in_tiles(part);
      tiles.row_runs = row_runs;
      tiles.depth_runs = depth_runs;
      if (run != 0) {
        tiles.a += run * row_runs.a;
        tiles.c += run * row_runs.other;
      }
      if constexpr (std::same_as<T, Stored>)
        if (not in_runs && depth_runs.first == 0 && is_narrow(tiles)) return multiply_narrow(tiles);
      tiles::multiply<T, Stored, true>(tiles);
    };
    if (not detail::is_shared(p.rows, p.columns, p.depth)) return run_part(p, 0);
    detail::in_shares<T>(
        p.rows, p.columns, p.depth,
        [&](detail::share const& rows, detail::share const& columns) {
          if (in_runs)
            run_part(part(p, {0, rows.count}, columns), rows.first / row_runs.length);
          else
            run_part(part(p, rows, columns), 0);
        },
        in_runs ? row_runs.length : +tiles::rows);
  }

 private:
  template <class T, class Stored>
  static constexpr void run_any(detail::matrix_product<T, Stored> const& p) {
    if (std::is_constant_evaluated())
      kernel_for<detail::product_fn, reference>::run(p);
    else if (not detail::is_shared(p.rows, p.columns, p.depth))
      run_alone(p);
    else
      detail::in_shares<T>(p.rows, p.columns, p.depth,
                           [&](detail::share const& rows, detail::share const& columns) {
                             run_alone(part(p, rows, columns));
                           });
  }
  /// Rows and columns of C.
  template <class T, class Stored>
  [[nodiscard]] static auto part(detail::matrix_product<T, Stored> p, detail::share const& rows,
                                 detail::share const& columns)
      -> detail::matrix_product<T, Stored> {
    if (rows.first != 0) p.a = p.a.part(rows.first, 0);
    if (columns.first != 0) p.b = p.b.part(0, columns.first);
    p.c += rows.first * p.c_row + columns.first;
    p.rows = rows.count;
    p.columns = columns.count;
    return p;
  }
  template <class T, class Stored>
  static constexpr void run_alone(detail::matrix_product<T, Stored> const& p) {
    if constexpr (not is_block<Stored>)
      if (p.b.column == 1) return by_tiles(in_tiles(p));
    if (p.adds_last) return kernel_for<detail::product_fn, reference>::run(p);
    auto const no_b = tiles::product<T>{p.rows,  p.columns, p.depth, p.a.data, p.a.row, p.a.column,
                                        nullptr, 0,         p.c,     p.c_row,  from(p), nullptr};
    if (p.b.row == 1)
      tiles::multiply_by_blocks(no_b, tiles::columns_of_b<T, Stored>{p.b});
    else
      tiles::multiply_by_blocks(no_b, tiles::elements_of_b<T, Stored>{p.b});
  }
  template <class T, class Stored>
  [[nodiscard]] static auto in_tiles(detail::matrix_product<T, Stored> const& p)
      -> tiles::product<T, Stored> {
    return {p.rows,  p.columns, p.depth, p.a.data, p.a.row, p.a.column, p.b.data,
            p.b.row, p.c,       p.c_row, from(p),  nullptr, p.b.scales};
  }
  template <class T, class Stored>
  static void by_tiles(tiles::product<T, Stored> const& p, T* sums = nullptr) {
    if constexpr (std::same_as<T, Stored>)
      by_tiles(p, sums, gains_by_blocks(p));
    else
      tiles::multiply<T, Stored>(p);
  }
  template <class T> static void by_tiles(tiles::product<T> const& p, T* sums, bool by_blocks) {
    if (is_narrow(p)) return multiply_narrow(p, sums);
    if (by_blocks) return multiply_by_blocks(p, sums);
    if (sums != nullptr) tiles::add_rows<T>(p.depth, p.rows, p.a, p.a_depth, sums);
    tiles::multiply<T>(p);
  }
  /// A part of the depth after another, of which both read the columns of A, where one of them goes
  /// by blocks. They add to C.
  template <class T>
  static void both_by_tiles(tiles::product<T> const& p, T* p_sums, tiles::product<T> const& q,
                            T* q_sums) {
    auto const p_gains = gains_by_blocks(p);
    auto const q_gains = gains_by_blocks(q);
    auto const deep = p_gains || q_gains
                          ? tiles::part(p.depth, tiles::depth_of_block(true, p.rows * sizeof(T)), 8)
                          : p.depth;
    for (auto k = std::size_t{0}; k < p.depth; k += deep) {
      auto const depth = p.depth - k < deep ? p.depth - k : deep;
      by_tiles(tiles::steps(p, k, depth), p_sums, p_gains);
      by_tiles(tiles::steps(q, k, depth), q_sums, q_gains);
    }
  }
  [[nodiscard]] static auto from(auto const& p) -> tiles::start {
    if (p.adds_last) return tiles::start::c_last;
    return p.adds ? tiles::start::c : tiles::start::zero;
  }
};

}  // namespace tessera
