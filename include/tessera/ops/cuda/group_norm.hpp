// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/ops/group_norm.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

namespace tessera {

namespace detail {

/// A block for each group of each image: `lanes` threads for each channel, which share its pixels.
/// What they sum is added channel by channel, over the lanes ascending.
template <class T> struct group_norm_block {
  static constexpr std::size_t threads = 128;
  static constexpr std::size_t most_channels = 1024;  ///< of a group
  using registers = device::empty;

  group_norm_geometry geometry;

  /// The first number of the group, over all images.
  [[nodiscard]] TESSERA_DEVICE auto first(std::size_t block) const -> std::size_t {
    return block / geometry.groups * geometry.pixels * geometry.channels + first_channel(block);
  }
  [[nodiscard]] TESSERA_DEVICE auto first_channel(std::size_t block) const -> std::size_t {
    return block % geometry.groups * geometry.group_size();
  }
  [[nodiscard]] TESSERA_DEVICE auto count() const -> T {
    return static_cast<T>(geometry.pixels * geometry.group_size());
  }
  [[nodiscard]] TESSERA_DEVICE auto lanes() const -> std::size_t {
    auto const n = geometry.group_size();
    return n < threads ? threads / n : 1;
  }
  /// f(lane · channels of a group + channel, channel, lane) for what a thread sums.
  TESSERA_DEVICE void for_sums(std::size_t thread, auto const& f) const {
    auto const n = geometry.group_size();
    for (auto i = thread; i < lanes() * n; i += threads) f(i, i % n, i / n);
  }
  /// The sum of f(pixel) over a lane's pixels, by blocks as on the host.
  [[nodiscard]] TESSERA_DEVICE auto sum_of_pixels(std::size_t lane, auto const& f) const {
    auto const step = lanes();
    auto const n = rows_added_at_once * step;
    auto total = decltype(f(lane)){};
    for (auto first = lane; first < geometry.pixels; first += n) {
      auto const end = first + n < geometry.pixels ? first + n : geometry.pixels;
      auto block = decltype(f(lane)){};
      for (auto p = first; p < end; p += step) block += f(p);
      total += block;
    }
    return total;
  }
  /// Adds what the lanes of each channel have summed to that of the first.
  TESSERA_DEVICE void join_lanes(std::size_t thread, T* sums) const {
    auto const n = geometry.group_size();
    for (auto c = thread; c < n; c += threads)
      for (auto lane = std::size_t{1}; lane < lanes(); ++lane) sums[c] += sums[lane * n + c];
  }
};

template <class T> struct group_norm_forward : group_norm_block<T> {
  using base = group_norm_block<T>;
  struct shared {
    T sums[base::most_channels];
    T mean;
    T scale;
  };
  T const* x;
  T const* weight;
  T const* bias;
  T epsilon;
  T* y;
  T* mean;
  T* scale;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 7; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          device::empty&) const {
    auto const& g = this->geometry;
    auto const* const from = x + this->first(block);
    auto const n = g.group_size();
    auto const squares = phase >= 3;
    if (phase == 6) {
      for (auto i = thread; i < g.pixels * n; i += base::threads) {
        auto const c = this->first_channel(block) + i % n;
        auto const a = weight == nullptr ? s.scale : s.scale * weight[c];
        auto const b = lane::fma(-s.mean, a, bias == nullptr ? T{0} : bias[c]);
        auto const at = i / n * g.channels + i % n;
        y[this->first(block) + at] = lane::fma(from[at], a, b);
      }
    } else if (phase % 3 == 0) {
      this->for_sums(thread, [&](std::size_t i, std::size_t c, std::size_t lane) {
        s.sums[i] = this->sum_of_pixels(lane, [&](std::size_t p) -> T {
          auto const v = from[p * g.channels + c] - (squares ? s.mean : T{0});
          return squares ? v * v : v;
        });
      });
    } else if (phase % 3 == 1) {
      this->join_lanes(thread, s.sums);
    } else if (thread == 0) {
      auto sum = T{0};
      for (auto c = std::size_t{0}; c < n; ++c) sum += s.sums[c];
      if (squares)
        scale[block] = s.scale = T{1} / lane::sqrt(sum / this->count() + epsilon);
      else
        mean[block] = s.mean = sum / this->count();
    }
  }
};

/// The sums over an image's pixels of dy and of dy·(x - mean)·scale, for one channel: what it adds
/// to the slopes of bias and weight.
template <class T> struct channel_sums {
  T slope;
  T product;

  TESSERA_DEVICE void operator+=(channel_sums const& other) {
    slope += other.slope;
    product += other.product;
  }
};

template <class T> struct group_norm_input : group_norm_block<T> {
  using base = group_norm_block<T>;
  struct shared {
    T sums[base::most_channels];
    T products[base::most_channels];
    T of_x;
    T constant;
  };
  T const* x;
  T const* weight;
  T const* mean;
  T const* scale;
  T const* dy;
  T* dx;                   ///< or null
  channel_sums<T>* parts;  ///< (batch, channels), or null

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 4; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          device::empty&) const {
    auto const& g = this->geometry;
    auto const first = this->first(block);
    auto const n = g.group_size();
    auto const m = mean[block];
    auto const k = scale[block];
    if (phase == 0) {
      this->for_sums(thread, [&](std::size_t i, std::size_t c, std::size_t lane) {
        auto const sums = this->sum_of_pixels(lane, [&](std::size_t p) -> channel_sums<T> {
          auto const at = first + p * g.channels + c;
          return {dy[at], dy[at] * (x[at] - m)};
        });
        s.sums[i] = sums.slope;
        s.products[i] = sums.product * k;
      });
    } else if (phase == 1) {
      this->join_lanes(thread, s.sums);
      this->join_lanes(thread, s.products);
      if (parts == nullptr) return;
      auto* const to = parts + block / g.groups * g.channels + this->first_channel(block);
      for (auto c = thread; c < n; c += base::threads) to[c] = {s.sums[c], s.products[c]};
    } else if (phase == 2) {
      if (thread != 0) return;
      auto of_slope = T{0};
      auto of_product = T{0};
      for (auto c = std::size_t{0}; c < n; ++c) {
        auto const w = weight == nullptr ? T{1} : weight[this->first_channel(block) + c];
        of_slope = lane::fma(w, s.sums[c], of_slope);
        of_product = lane::fma(w, s.products[c], of_product);
      }
      s.of_x = -k * k * (of_product / this->count());
      s.constant = lane::fma(-m, s.of_x, -k * (of_slope / this->count()));
    } else if (dx != nullptr) {
      for (auto i = thread; i < g.pixels * n; i += base::threads) {
        auto const c = this->first_channel(block) + i % n;
        auto const at = first + i / n * g.channels + i % n;
        auto const a = weight == nullptr ? k : k * weight[c];
        dx[at] = lane::fma(dy[at], a, lane::fma(x[at], s.of_x, s.constant));
      }
    }
  }
};

/// A block for each channel: the slopes of its weight and bias, from those of all images.
template <class T> struct group_norm_weight {
  static constexpr std::size_t threads = 64;
  struct shared {
    channel_sums<T> sums[threads];
  };
  using registers = device::empty;

  group_norm_geometry g;
  channel_sums<T> const* parts;
  T* dweight;
  T* dbias;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 2; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t c, std::size_t thread, shared& s,
                          device::empty&) const {
    if (phase == 0) {
      auto sum = channel_sums<T>{};
      for (auto b = thread; b < g.batch; b += threads) sum += parts[b * g.channels + c];
      s.sums[thread] = sum;
    } else if (thread == 0) {
      auto sum = channel_sums<T>{dbias[c], dweight[c]};
      for (auto const& part : s.sums) sum += part;
      dbias[c] = sum.slope;
      dweight[c] = sum.product;
    }
  }
};

}  // namespace detail

template <> struct kernel_for<detail::group_norm_fn, cuda> {
  using geometry = detail::group_norm_geometry;

  template <class T>
  static void forward(geometry const& g, T const* x, T const* weight, T const* bias, T epsilon,
                      T* y, T* mean, T* scale, T*) {
    check(g);
    if (g.pixels == 0) return;
    auto body = detail::group_norm_forward<T>{};
    body.geometry = g;
    body.x = x, body.weight = weight, body.bias = bias, body.epsilon = epsilon;
    body.y = y, body.mean = mean, body.scale = scale;
    device::current().launch(body, g.batch * g.groups);
  }
  template <class T>
  static void backward(geometry const& g, T const* x, T const* weight, T const*, T const* mean,
                       T const* scale, T const* dy, detail::group_norm_slopes<T> slopes, T*) {
    check(g);
    auto const learns = slopes.dweight != nullptr;
    if (g.pixels == 0 || (not learns && slopes.dx == nullptr)) return;
    auto const parts =
        device::scratch<detail::channel_sums<T>>(learns ? g.batch * g.channels : std::size_t{0});
    auto body = detail::group_norm_input<T>{};
    body.geometry = g;
    body.x = x, body.weight = weight, body.mean = mean, body.scale = scale;
    body.dy = dy, body.dx = slopes.dx, body.parts = learns ? parts.data() : nullptr;
    device::current().launch(body, g.batch * g.groups);
    if (learns)
      device::current().launch(
          detail::group_norm_weight<T>{g, parts.data(), slopes.dweight, slopes.dbias}, g.channels);
  }

 private:
  static void check(geometry const& g) {
    if (g.group_size() > detail::group_norm_block<float>::most_channels)
      throw device::device_error("group_norm: a group of " + std::to_string(g.group_size()) +
                                 " channels, where a block shares at most 1024");
  }
};

}  // namespace tessera
