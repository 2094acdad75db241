// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/core/scalar.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/tensor/node.hpp>
#include <tessera/tensor/packed.hpp>

namespace tessera {

template <> struct kernel<detail::affine_map_fn, reference> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Out> using packed = nothing;
  static constexpr void prepare(auto const&, auto&) {}

  static constexpr void run(auto x, auto const& weight, auto const* bias, auto y, auto&) {
    using T = compute_of<scalar_of<decltype(x)>>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(y)>>;
    auto const rows = detail::rows_of(x);
    for (auto r = std::size_t{0}; r < rows; ++r) {
      auto o = std::size_t{0};
      for (; o + 4 <= out; o += 4) {
        T sum[4] = {};
        for (auto k = std::size_t{0}; k < 4 && bias != nullptr; ++k)
          sum[k] = one::load(bias + o + k);
        detail::add_products<in>(
            x.data() + r * in, weight, [&](std::size_t k) { return o + k; }, sum);
        for (auto k = std::size_t{0}; k < 4; ++k) one::store(y.data() + r * out + o + k, sum[k]);
      }
      for (; o < out; ++o) {
        auto sum = bias == nullptr ? T{0} : one::load(bias + o);
        for (auto i = std::size_t{0}; i < in; ++i)
          sum = lane::fma(one::load(x.data() + r * in + i), detail::weight_at(weight, o, i), sum);
        one::store(y.data() + r * out + o, sum);
      }
    }
  }
};

template <> struct kernel<detail::affine_map_input_fn, reference> {
  static constexpr void run(auto const& weight, auto dy, auto dx, bool adds = false) {
    constexpr auto in = last_of<shape_of<decltype(dx)>>;
    constexpr auto out = last_of<shape_of<decltype(dy)>>;
    if (dx.data() == nullptr) return;
    auto const rows = detail::rows_of(dy);
    for (auto r = std::size_t{0}; r < rows; ++r) {
      auto* const to = dx.data() + r * in;
      if (adds) {
        for (auto i = std::size_t{0}; i < in; ++i) to[i] = to[i] + product(weight, dy, r, i);
        continue;
      }
      for (auto i = std::size_t{0}; i < in; ++i) to[i] = {};
      for (auto o = std::size_t{0}; o < out; ++o)
        for (auto i = std::size_t{0}; i < in; ++i)
          to[i] = lane::fma(dy.data()[r * out + o], weight.data()[o * in + i], to[i]);
    }
  }

 private:
  [[nodiscard]] static constexpr auto product(auto const& weight, auto dy, std::size_t r,
                                              std::size_t i) {
    constexpr auto in = last_of<shape_of<decltype(weight)>>;
    constexpr auto out = last_of<shape_of<decltype(dy)>>;
    auto sum = scalar_of<decltype(dy)>{};
    for (auto o = std::size_t{0}; o < out; ++o)
      sum = lane::fma(dy.data()[r * out + o], weight.data()[o * in + i], sum);
    return sum;
  }
};

template <> struct kernel<detail::affine_map_parameters_fn, reference> {
  static constexpr void run(auto x, auto dy, auto* dweight, auto* dbias) {
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(dy)>>;
    auto const rows = detail::rows_of(x);
    for (auto r = std::size_t{0}; r < rows; ++r) {
      for (auto o = std::size_t{0}; o < out; ++o) {
        auto const d = dy.data()[r * out + o];
        if (dbias != nullptr) dbias[o] += d;
        if (dweight == nullptr) continue;
        for (auto i = std::size_t{0}; i < in; ++i)
          dweight[o * in + i] = lane::fma(d, x.data()[r * in + i], dweight[o * in + i]);
      }
    }
  }
};

}  // namespace tessera
