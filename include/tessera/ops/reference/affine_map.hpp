// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/core/scalar.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/add_products.hpp>
#include <tessera/ops/reference/block_product.hpp>
#include <tessera/tensor/node.hpp>

namespace tessera {

template <> struct kernel_for<detail::affine_map_fn, reference> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Out> using packed = nothing;
  static constexpr void prepare(auto const&, auto&) {}

  static constexpr void run(auto x, auto const& weight, auto const* bias, auto y, auto&) {
    using T = compute_of<scalar_of<decltype(x)>>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(y)>>;
    auto const rows = detail::rows_of(x);
    auto const weights = weights_of<T>(weight);
    if constexpr (is_as_stored<stored_of<decltype(weight)>>)
      return detail::block_product{rows, in, out, x.data(), bias, y.data(), out}.run(weights);
    else
      run_in_floats<in, out>(rows, x, weight, weights, bias, y);
  }

 private:
  template <std::size_t in, std::size_t out>
  static constexpr void run_in_floats(std::size_t rows, auto x, auto const& weight,
                                      auto const& weights, auto const* bias, auto y) {
    using T = compute_of<scalar_of<decltype(x)>>;
    for (auto r = std::size_t{0}; r < rows; ++r) {
      auto o = std::size_t{0};
      for (; o + 4 <= out; o += 4) {
        T sum[4] = {};
        for (auto k = std::size_t{0}; k < 4 && bias != nullptr; ++k)
          sum[k] = one_lane::load(bias + o + k);
        detail::add_products<in>(
            x.data() + r * in, weight, [&](std::size_t k) { return o + k; }, sum);
        for (auto k = std::size_t{0}; k < 4; ++k)
          one_lane::store(y.data() + r * out + o + k, sum[k]);
      }
      for (auto n = out % 4; n > 0; --n, ++o) {
        auto sum = bias == nullptr ? T{0} : one_lane::load(bias + o);
        for (auto i = std::size_t{0}; i < in; ++i)
          sum = lane::fma(one_lane::load(x.data() + r * in + i), weights.at(o, i), sum);
        one_lane::store(y.data() + r * out + o, sum);
      }
    }
  }
};

}  // namespace tessera
