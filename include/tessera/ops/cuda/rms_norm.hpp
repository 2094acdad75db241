// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/ops/rms_norm.hpp>

namespace tessera {

namespace detail {

/// A block for each row; what its threads add is joined by the first one.
template <class T> struct rms_norm_block {
  static constexpr std::size_t threads = 128;
  using registers = device::empty;
  struct shared {
    T sums[threads];
    T factor;
  };
  layer_norm_geometry geometry;
  T const* x;
  T const* weight;

  /// f(i) for this thread's places in a row, added.
  [[nodiscard]] TESSERA_DEVICE auto part(std::size_t thread, auto const& f) const -> T {
    auto sum = T{0};
    for (auto i = thread; i < geometry.features; i += threads) sum += f(i);
    return sum;
  }
  /// The mean of a row's places.
  [[nodiscard]] TESSERA_DEVICE auto joined(shared const& s) const -> T {
    auto sum = T{0};
    for (auto i = std::size_t{0}; i < threads; ++i) sum += s.sums[i];
    return sum / static_cast<T>(geometry.features);
  }
  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 3; }
};

template <class T> struct rms_norm_forward : rms_norm_block<T> {
  using base = rms_norm_block<T>;
  T epsilon;
  T* y;
  T* scale;

  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread,
                          typename base::shared& s, device::empty&) const {
    auto const first = block * this->geometry.features;
    auto const* const from = this->x + first;
    if (phase == 0) {
      s.sums[thread] = this->part(thread, [&](std::size_t i) { return from[i] * from[i]; });
    } else if (phase == 1) {
      if (thread == 0) scale[block] = s.factor = T{1} / lane::sqrt(this->joined(s) + epsilon);
    } else {
      for (auto i = thread; i < this->geometry.features; i += base::threads)
        y[first + i] = from[i] * s.factor * this->weight[i];
    }
  }
};

template <class T> struct rms_norm_input : rms_norm_block<T> {
  using base = rms_norm_block<T>;
  T const* scale;
  T const* dy;
  T* dx;
  bool adds;

  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread,
                          typename base::shared& s, device::empty&) const {
    auto const first = block * this->geometry.features;
    auto const d = [&](std::size_t i) { return dy[first + i] * this->weight[i]; };
    auto const normal = [&](std::size_t i) { return this->x[first + i] * scale[block]; };
    if (phase == 0) {
      s.sums[thread] = this->part(thread, [&](std::size_t i) { return d(i) * normal(i); });
    } else if (phase == 1) {
      if (thread == 0) s.factor = this->joined(s);
    } else {
      for (auto i = thread; i < this->geometry.features; i += base::threads) {
        auto const slope = (d(i) - normal(i) * s.factor) * scale[block];
        dx[first + i] = adds ? dx[first + i] + slope : slope;
      }
    }
  }
};

/// The slope of one number of the weight, over the rows ascending.
template <class T> struct rms_norm_weight {
  layer_norm_geometry g;
  T const* x;
  T const* scale;
  T const* dy;
  T* sums;

  TESSERA_DEVICE void operator()(std::size_t i) const {
    auto sum = T{0};
    for (auto r = std::size_t{0}; r < g.rows; ++r)
      sum += dy[r * g.features + i] * (x[r * g.features + i] * scale[r]);
    sums[i] = sum;
  }
};
template <class T> struct rms_norm_add {
  T const* sums;
  T* dweight;

  TESSERA_DEVICE void operator()(std::size_t i) const { dweight[i] += sums[i]; }
};

}  // namespace detail

template <> struct kernel_for<detail::rms_norm_fn, cuda> {
  template <class T>
  static void forward(detail::layer_norm_geometry const& g, T const* x, T const* weight, T epsilon,
                      T* y, T* scale) {
    auto body = detail::rms_norm_forward<T>{};
    body.geometry = g;
    body.x = x, body.weight = weight, body.epsilon = epsilon;
    body.y = y, body.scale = scale;
    device::current().launch(body, g.rows);
  }
  /// dx may be dy, and dweight the weight: the sums come first and are added last.
  template <class T>
  static void backward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                       T const* scale, T const* dy, detail::rms_norm_slopes<T> slopes, T* sums) {
    if (slopes.dweight != nullptr)
      device::for_each(g.features, detail::rms_norm_weight<T>{g, x, scale, dy, sums});
    if (slopes.dx != nullptr) {
      auto body = detail::rms_norm_input<T>{};
      body.geometry = g;
      body.x = x, body.weight = weight, body.scale = scale;
      body.dy = dy, body.dx = slopes.dx, body.adds = slopes.adds;
      device::current().launch(body, g.rows);
    }
    if (slopes.dweight != nullptr)
      device::for_each(g.features, detail::rms_norm_add<T>{sums, slopes.dweight});
  }
};

}  // namespace tessera
