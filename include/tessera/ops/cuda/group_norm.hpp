// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/ops/group_norm.hpp>

namespace tessera {

namespace detail {

/// A block for each group of each image; its channels' sums are shared.
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

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 5; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          device::empty&) const {
    auto const& g = this->geometry;
    auto const* const from = x + this->first(block);
    auto const n = g.group_size();
    if (phase == 0 || phase == 2) {
      for (auto c = thread; c < n; c += base::threads) {
        auto const part = [&](std::size_t p) {
          auto const d = phase == 0 ? T{0} : s.mean;
          auto const v = from[p * g.channels + c] - d;
          return phase == 0 ? v : v * v;
        };
        auto sum = part(0);
        for (auto p = std::size_t{1}; p < g.pixels; ++p) sum = sum + part(p);
        s.sums[c] = sum;
      }
    } else if (phase == 1 || phase == 3) {
      if (thread != 0) return;
      auto sum = T{0};
      for (auto c = std::size_t{0}; c < n; ++c) sum += s.sums[c];
      if (phase == 1)
        mean[block] = s.mean = sum / this->count();
      else
        scale[block] = s.scale = T{1} / lane::sqrt(sum / this->count() + epsilon);
    } else {
      for (auto i = thread; i < g.pixels * n; i += base::threads) {
        auto const c = this->first_channel(block) + i % n;
        auto const a = weight == nullptr ? s.scale : s.scale * weight[c];
        auto const b = lane::fma(-s.mean, a, bias == nullptr ? T{0} : bias[c]);
        auto const at = i / n * g.channels + i % n;
        y[this->first(block) + at] = lane::fma(from[at], a, b);
      }
    }
  }
};

/// The sums over an image's pixels of dy and of dy·(x - mean), for one channel.
template <class T> struct channel_sums {
  T slope;
  T product;
};
template <class T>
[[nodiscard]] TESSERA_DEVICE auto sums_of_channel(std::size_t pixels, std::size_t channels,
                                                  T const* x, T const* dy, T mean)
    -> channel_sums<T> {
  auto slope = dy[0];
  auto product = dy[0] * (x[0] - mean);
  for (auto p = std::size_t{1}; p < pixels; ++p) {
    slope = slope + dy[p * channels];
    product = product + dy[p * channels] * (x[p * channels] - mean);
  }
  return {slope, product};
}

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
  T* dx;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 3; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          device::empty&) const {
    auto const& g = this->geometry;
    auto const first = this->first(block);
    auto const n = g.group_size();
    auto const m = mean[block];
    auto const k = scale[block];
    if (phase == 0) {
      for (auto c = thread; c < n; c += base::threads) {
        auto const sums = sums_of_channel(g.pixels, g.channels, x + first + c, dy + first + c, m);
        s.sums[c] = sums.slope;
        s.products[c] = sums.product * k;
      }
    } else if (phase == 1) {
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
    } else {
      for (auto i = thread; i < g.pixels * n; i += base::threads) {
        auto const c = this->first_channel(block) + i % n;
        auto const at = first + i / n * g.channels + i % n;
        auto const a = weight == nullptr ? k : k * weight[c];
        dx[at] = lane::fma(dy[at], a, lane::fma(x[at], s.of_x, s.constant));
      }
    }
  }
};

/// What one channel of one image adds to the slopes of weight and bias.
template <class T> struct group_norm_part {
  group_norm_geometry g;
  T const* x;
  T const* mean;
  T const* scale;
  T const* dy;
  channel_sums<T>* parts;  ///< (batch, channels)

  TESSERA_DEVICE void operator()(std::size_t i) const {
    auto const b = i / g.channels;
    auto const c = i % g.channels;
    auto const first = b * g.pixels * g.channels + c;
    auto const group = b * g.groups + c / g.group_size();
    auto const sums = sums_of_channel(g.pixels, g.channels, x + first, dy + first, mean[group]);
    parts[i] = {sums.slope, sums.product * scale[group]};
  }
};
/// One channel of the weight and bias, over the images ascending.
template <class T> struct group_norm_weight {
  group_norm_geometry g;
  channel_sums<T> const* parts;
  T* dweight;
  T* dbias;

  TESSERA_DEVICE void operator()(std::size_t c) const {
    auto weight = dweight[c];
    auto bias = dbias[c];
    for (auto b = std::size_t{0}; b < g.batch; ++b) {
      auto const part = parts[b * g.channels + c];
      weight += part.product;
      bias += part.slope;
    }
    dweight[c] = weight;
    dbias[c] = bias;
  }
};

}  // namespace detail

template <> struct kernel_for<detail::group_norm_fn, cuda> {
  using geometry = detail::group_norm_geometry;

  template <class T>
  static void forward(geometry const& g, T const* x, T const* weight, T const* bias, T epsilon,
                      T* y, T* mean, T* scale, T*) {
    check(g);
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
    if (slopes.dweight != nullptr) {
      auto const parts = device::scratch<detail::channel_sums<T>>(g.batch * g.channels);
      device::for_each(g.batch * g.channels,
                       detail::group_norm_part<T>{g, x, mean, scale, dy, parts.data()});
      device::for_each(g.channels,
                       detail::group_norm_weight<T>{g, parts.data(), slopes.dweight, slopes.dbias});
    }
    if (slopes.dx == nullptr) return;
    auto body = detail::group_norm_input<T>{};
    body.geometry = g;
    body.x = x, body.weight = weight, body.mean = mean, body.scale = scale;
    body.dy = dy, body.dx = slopes.dx;
    device::current().launch(body, g.batch * g.groups);
  }

 private:
  static void check(geometry const& g) {
    if (g.group_size() > detail::group_norm_block<float>::most_channels)
      throw device::device_error("group_norm: a group of " + std::to_string(g.group_size()) +
                                 " channels, where a block shares at most 1024");
  }
};

}  // namespace tessera
