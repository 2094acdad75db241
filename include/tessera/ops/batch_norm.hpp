// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>
#include <type_traits>

namespace tessera::detail {

/// Rows of features, normalized by groups of rows: mean and scale have a number for each group and
/// feature. The last group may have fewer rows.
struct batch_norm_geometry {
  std::size_t rows;
  std::size_t group;  ///< rows of one
  std::size_t features;

  [[nodiscard]] constexpr auto groups() const -> std::size_t {
    return rows == 0 ? 0 : (rows - 1) / group + 1;
  }
  [[nodiscard]] constexpr auto first_row(std::size_t g) const -> std::size_t { return g * group; }
  [[nodiscard]] constexpr auto rows_of(std::size_t g) const -> std::size_t {
    auto const left = rows - first_row(g);
    return left < group ? left : group;
  }
};
/// What rows showed: how many there were, the mean of each feature and the sum of the squared
/// distances from it.
template <class T> struct batch_norm_seen {
  T* count;
  T* mean;
  T* squares;

  [[nodiscard]] constexpr auto of_group(std::size_t g, std::size_t features) const
      -> batch_norm_seen {
    return {count + g, mean + g * features, squares + g * features};
  }
  constexpr operator batch_norm_seen<T const>() const
    requires(not std::is_const_v<T>)
  {
    return {count, mean, squares};
  }
};
template <class T> struct batch_norm_slopes {
  T* dx;       ///< or null
  T* dweight;  ///< or null, and so dbias
  T* dbias;
};

/// kernel<batch_norm_fn, Backend> has, by pointers,
///   observe(geometry, x, epsilon, mean, scale, groups, seen)  mean and scale of every group, and
///     what all of them showed; groups is memory for what each did
///   recall(features, running_mean, running_var, epsilon, mean, scale)
///   forward(geometry, x, weight, bias, mean, scale, y)        weight and bias may be null
///   backward(geometry, learns, x, weight, mean, scale, dy, slopes, sums, products)
///     learns where mean and scale are those of x; sums and products have the size of mean
///   fold(features, to, from)          what two sets of rows showed, together
///   absorb(features, momentum, running_mean, running_var, batches, seen)
/// Groups are folded by halves (0 + 1, 2 + 3, then 0 + 2), as the chunks of a batch are, and so are
/// their slopes: a batch in one chunk has the bits of a batch in several.
struct batch_norm_fn {};

}  // namespace tessera::detail

#include <tessera/ops/reference/batch_norm.hpp>  // IWYU pragma: keep
