// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/rotary.hpp>

namespace tessera {

namespace detail {

/// One pair of one vector.
template <class T> struct rotary_pair {
  rotary_geometry g;
  std::size_t half;
  T const* frequency;
  T* x;
  bool back;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const i = at % half;
    auto const v = at / half % (g.lanes * g.vectors);
    auto const t = at / half / (g.lanes * g.vectors);
    auto const angle = static_cast<T>(g.first + t) * frequency[i];
    auto const c = lane::cos(angle);
    auto const s = back ? -lane::sin(angle) : lane::sin(angle);
    auto* const a =
        x + t * g.time_distance + v / g.vectors * g.lane_distance + v % g.vectors * 2 * half;
    auto const neighbours = g.pairs == rotary_pairs::neighbours;
    auto& first = a[neighbours ? 2 * i : i];
    auto& second = a[neighbours ? 2 * i + 1 : half + i];
    auto const u = first;
    auto const w = second;
    first = lane::fma(u, c, -(w * s));
    second = lane::fma(w, c, u * s);
  }
};

}  // namespace detail

template <> struct kernel_for<detail::rotary_fn, cuda> {
  template <std::size_t Width, class T>
  static void run(detail::rotary_geometry const& g, T const* frequency, T* x, bool back) {
    constexpr auto half = Width / 2;
    device::for_each(
        g.times * g.lanes * g.vectors * half,
        detail::rotary_pair<T>{g, half, device::current().constant(frequency, half), x, back});
  }
};

}  // namespace tessera
