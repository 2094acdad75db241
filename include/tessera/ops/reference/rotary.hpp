// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

namespace tessera {

namespace detail {

template <class Numbers> struct rotary_pass {
  template <std::size_t Width, class T>
  static constexpr void run(rotary_geometry const& g, T const* frequency, T* x, bool back) {
    constexpr auto half = Width / 2;
    for (auto t = std::size_t{0}; t < g.times; ++t) {
      T cosine[half] = {};
      T sine[half] = {};
      for (auto i = std::size_t{0}; i < half; ++i) {
        auto const angle = static_cast<T>(g.first + t) * frequency[i];
        cosine[i] = lane::cos(angle);
        sine[i] = back ? -lane::sin(angle) : lane::sin(angle);
      }
      for (auto v = std::size_t{0}; v < g.lanes * g.vectors; ++v) {
        auto* const a =
            x + t * g.time_distance + v / g.vectors * g.lane_distance + v % g.vectors * Width;
        auto* const b = a + half;
        Numbers::template each<T>(half, [&](auto lanes, std::size_t i) TESSERA_INLINE {
          using lane::fma;
          auto const u = lanes.load(a + i);
          auto const w = lanes.load(b + i);
          auto const c = lanes.load(cosine + i);
          auto const s = lanes.load(sine + i);
          lanes.store(a + i, fma(u, c, -(w * s)));
          lanes.store(b + i, fma(w, c, u * s));
        });
      }
    }
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::rotary_fn, reference> : detail::rotary_pass<detail::in_numbers> {};

}  // namespace tessera
