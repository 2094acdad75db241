// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/dropout.hpp>

namespace tessera {

namespace detail {

struct dropout_fn {
  constexpr void operator()(dropout_draw const& draw, auto x, auto y) const {
    kernel_for<dropout_fn, backend_of<decltype(y)>>::run(draw, x, y);
  }
};

}  // namespace detail

/// y = x·scale where the word of an element is not below the threshold, else 0. y may be x.
///
/// Cost  one Philox block for four elements
inline constexpr auto apply_dropout = detail::dropout_fn{};

/// Random words take the time, and they are integers.
template <>
struct kernel_for<detail::dropout_fn, simd> : kernel_for<detail::dropout_fn, reference> {};

}  // namespace tessera
