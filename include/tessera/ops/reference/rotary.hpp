// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

namespace tessera {

namespace detail {

/// Pairs by numbers or by vectors. `Numbers` may have turn_neighbours(n, x, cosine, sine), for rows
/// of both where every number of x has its own, the sines of even places negative.
template <class Numbers> struct rotary_pass {
  template <std::size_t Width, class T>
  static constexpr void run(rotary_geometry const& g, T const* frequency, T* x, bool back) {
    auto const neighbours = g.pairs == rotary_pairs::neighbours;
    constexpr auto half = Width / 2;
    for (auto t = std::size_t{0}; t < g.times; ++t) {
      T cosine[Width] = {};
      T sine[Width] = {};
      Numbers::template each<T>(half, [&](auto lanes, std::size_t i) TESSERA_INLINE {
        using lane::cos;
        using lane::sin;
        auto const angle = lanes.splat(static_cast<T>(g.first + t)) * lanes.load(frequency + i);
        lanes.store(cosine + i, cos(angle));
        lanes.store(sine + i, back ? -sin(angle) : sin(angle));
      });
      for (auto i = half; neighbours && i-- > 0;) {
        cosine[2 * i] = cosine[2 * i + 1] = cosine[i];
        sine[2 * i + 1] = sine[i];
        sine[2 * i] = -sine[i];
      }
      for (auto v = std::size_t{0}; v < g.lanes * g.vectors; ++v) {
        auto* const a =
            x + t * g.time_distance + v / g.vectors * g.lane_distance + v % g.vectors * Width;
        if (neighbours)
          Numbers::turn_neighbours(Width, a, cosine, sine);
        else
          turn_halves(Width / 2, a, cosine, sine);
      }
    }
  }

 private:
  template <class T>
  static constexpr void turn_halves(std::size_t half, T* a, T const* cosine, T const* sine) {
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
};

struct rotary_in_numbers : in_numbers {
  template <class T>
  static constexpr void turn_neighbours(std::size_t n, T* x, T const* cosine, T const* sine) {
    for (auto i = std::size_t{0}; i < n; i += 2) {
      auto const u = x[i];
      auto const w = x[i + 1];
      x[i] = lane::fma(u, cosine[i], w * sine[i]);
      x[i + 1] = lane::fma(w, cosine[i + 1], u * sine[i + 1]);
    }
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::rotary_fn, reference> : detail::rotary_pass<detail::rotary_in_numbers> {};

}  // namespace tessera
