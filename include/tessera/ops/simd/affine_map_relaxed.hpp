// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/simd/affine_map.hpp>
#include <tessera/ops/simd/pair_product_by_tiles.hpp>
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

/// What `simd` does, but for two sums in an order of their own:
///
/// - The one output of one row, of eight numbers or more and weights in float, for which a stream
///   waits: an ordered sum is a chain of In multiply-adds. The same bits for every instruction set
///   from x86-64-v3 on, which are not those of `reference`, in a stream or not.
/// - Weights that are as_stored<bf16>, where the processor has a matrix unit: all rows go by it
///   (pair_product_by_tiles.hpp), whatever a file is compiled for. Without one, the bits of `simd`.
///
/// Accuracy  of one output, error at most (In/16 + 6)·eps·(sum|x·w| + |bias|); without fma, twice
///           that. Of bf16, (In/32 + 18)·eps of it, and that of rounding x to bf16
template <>
struct kernel_for<detail::affine_map_fn, relaxed> : kernel_for<detail::affine_map_fn, simd> {
  static constexpr void run(auto x, auto const& weight, auto const* bias, auto y, auto& packed) {
    if (not std::is_constant_evaluated() && run_otherwise(x, weight, bias, y)) return;
    kernel_for<detail::affine_map_fn, simd>::run(x, weight, bias, y, packed);
  }

 private:
  /// True where it has done so.
  [[nodiscard]] TESSERA_INLINE static auto run_otherwise([[maybe_unused]] auto x,
                                                         [[maybe_unused]] auto const& weight,
                                                         [[maybe_unused]] auto const* bias,
                                                         [[maybe_unused]] auto y) -> bool {
    using stored = stored_of<decltype(weight)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    if constexpr (std::same_as<scalar_of<decltype(x)>, float> && std::same_as<stored, float> &&
                  last_of<shape_of<decltype(y)>> == 1 && in >= 8) {
      auto const w = weights_of<float>(weight);
      if (detail::rows_of(x) != 1 || w.column != 1) return false;
      auto const sum = detail::relaxed_dot<in>(x.data(), w.data);
      *y.data() = bias == nullptr ? sum : *bias + sum;
      return true;
    }
#if TESSERA_MATRIX_UNIT
    if constexpr (is_pairs<stored>) {
      if (not lane::has_matrix_unit()) return false;
      auto const weights = weights_of<float>(weight);
      detail::pair_product_by_tiles{detail::whole_product(x, bias, y), weights}.run();
      return true;
    }
#endif
    return false;
  }
};

}  // namespace tessera
