// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/random/philox.hpp>
#include <tessera/tensor/tensor.hpp>

namespace tessera {

namespace detail {

/// Which elements a call drops, and by what the others are multiplied.
struct dropout_draw {
  philox_stream stream;
  std::uint64_t first_block;  ///< of the stream: element i is word i of it and what follows
  std::uint32_t threshold;    ///< words below it are dropped
  double scale;
};

/// kernel<dropout_fn, Backend>::run(draw, x, y)
struct dropout_fn {
  constexpr void operator()(dropout_draw const& draw, auto x, auto y) const {
    kernel<dropout_fn, backend_of<decltype(y)>>::run(draw, x, y);
  }
};

}  // namespace detail

/// y = x·scale where the word of an element is not below the threshold, else 0. y may be x.
///
/// Cost  one Philox block for four elements
inline constexpr auto apply_dropout = detail::dropout_fn{};

template <> struct kernel<detail::dropout_fn, reference> {
  static constexpr void run(detail::dropout_draw const& draw, auto x, auto y) {
    using T = scalar_of<decltype(y)>;
    auto const scale = static_cast<T>(draw.scale);
    auto const n = y.size();
    for (auto i = std::size_t{0}; i < n; i += 4) {
      auto const words = draw.stream.block(draw.first_block + i / 4);
      for (auto k = std::size_t{0}; k < 4 && i + k < n; ++k)
        y.data()[i + k] = words[k] < draw.threshold ? T{0} : x.data()[i + k] * scale;
    }
  }
};

}  // namespace tessera
