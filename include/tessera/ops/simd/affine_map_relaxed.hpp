// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/simd/affine_map.hpp>
#include <tessera/tensor/simd/reduction.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// x·w in sixteen sums, of which each has every sixteenth number; these by halves.
template <std::size_t In>
[[nodiscard]] TESSERA_INLINE inline auto relaxed_dot(float const* x, float const* w) -> float {
  using V = lane::pack<float>;
  using adds = reductions::adds;
  constexpr auto lanes = std::size_t{16};
  constexpr auto vectors = lanes / V::width;
  constexpr auto rest = In % V::width == 0 ? V::width : In % V::width;
  V sum[vectors];
#pragma GCC unroll 4
  for (auto& one : sum) one = V(0.0F);
#pragma GCC unroll 8
  for (auto k = std::size_t{0}; k < In; k += lanes) {
#pragma GCC unroll 4
    for (auto v = std::size_t{0}; v < vectors; ++v) {
      auto const at = k + v * V::width;
      // By its constant length, a part may be what was just stored; a masked load waits for that.
      if (at + V::width <= In)
        sum[v] = fma(lane::load(x + at), lane::load(w + at), sum[v]);
      else if (at < In)
        sum[v] = fma(lane::load_first<rest>(x + at), lane::load_first<rest>(w + at), sum[v]);
    }
  }
  if constexpr (vectors > 1)
    return folded_vectors<adds>(sum);
  else
    return folded_lanes<adds, lanes / 2>(sum[0]);
}

}  // namespace detail::inline TESSERA_TARGET

/// The one output of one row, of eight numbers or more and weights in float, for which a stream
/// waits: an ordered sum is a chain of In multiply-adds. The same bits for every instruction set
/// from x86-64-v3 on, which are not those of `reference`, in a stream or not. All else is what
/// `simd` does.
///
/// Accuracy  error at most (In/16 + 6)·eps·(sum|x·w| + |bias|); without fma, twice that
template <>
struct kernel_for<detail::affine_map_fn, relaxed> : kernel_for<detail::affine_map_fn, simd> {
  static constexpr void run(auto x, auto const& weight, auto const* bias, auto y, auto& packed) {
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    if constexpr (std::same_as<scalar_of<decltype(x)>, float> &&
                  std::same_as<stored_of<decltype(weight)>, float> &&
                  last_of<shape_of<decltype(y)>> == 1 && in >= 8) {
      auto const w = weights_of<float>(weight);
      if (not std::is_constant_evaluated() && detail::rows_of(x) == 1 && w.column == 1) {
        auto const sum = detail::relaxed_dot<in>(x.data(), w.data);
        *y.data() = bias == nullptr ? sum : *bias + sum;
        return;
      }
    }
    kernel_for<detail::affine_map_fn, simd>::run(x, weight, bias, y, packed);
  }
};

}  // namespace tessera
