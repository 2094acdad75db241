// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/random/mt19937.hpp>

#include <numbers>
#include <type_traits>

namespace tessera::inline TESSERA_TARGET {

/// The random stream of torch's CPU generator: what torch.manual_seed(seed) starts.
///
/// State     the engine and one kept normal number; a plain struct for checkpoints
/// Accuracy  rand, uniform, randint, randperm and bernoulli: the bits of torch; normal: within
///           1e-6 of torch, whose vector loops round their logarithms and cosines otherwise
/// Source    torch 2.15 (ATen/core/DistributionsHelper.h), read off by
/// tests/reference/random_streams.py
class torch_generator {
 public:
  constexpr torch_generator() : torch_generator(67280421310721ULL) {}
  /// The low 32 bits of the seed count, as in torch.
  constexpr explicit torch_generator(std::uint64_t seed)
      : engine_{static_cast<std::uint32_t>(seed)} {}

  friend constexpr auto operator==(torch_generator const&, torch_generator const&)
      -> bool = default;

  [[nodiscard]] constexpr auto random() -> std::uint32_t { return engine_(); }
  [[nodiscard]] constexpr auto random64() -> std::uint64_t {
    auto const high = static_cast<std::uint64_t>(engine_());
    return high << 32 | engine_();
  }
  /// A number of [0, 1): 24 bits in float, 53 in double.
  template <class T> [[nodiscard]] constexpr auto rand() -> T {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(random() & 0xFFFFFFU) * 0x1p-24F;
    else
      return static_cast<double>(random64() & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53;
  }
  /// A number of 0 .. n - 1; from 2^28 on by 64 bits.
  [[nodiscard]] constexpr auto randint(std::uint32_t n) -> std::uint32_t {
    return n < 1U << 28U ? random() % n : static_cast<std::uint32_t>(random64() % n);
  }

  /// n numbers from low to high, by one rounding each.
  template <class T> constexpr void uniform(T* to, std::size_t n, double low, double high) {
    auto const from = static_cast<T>(low);
    auto const width = static_cast<T>(high) - from;
    for (auto i = std::size_t{0}; i < n; ++i) to[i] = once(rand<T>(), width, from);
  }
  /// 1 with probability p, else 0.
  template <class T> constexpr void bernoulli(T* to, std::size_t n, double p) {
    for (auto i = std::size_t{0}; i < n; ++i) to[i] = rand<double>() < p ? T{1} : T{0};
  }
  /// The numbers 0 .. n - 1 in random order; of very many, as torch, by draws of 64 bits.
  template <class I> constexpr void randperm(I* to, std::size_t n) {
    if (n >= 0xFFFFFFFFU / 20) {
      for (auto i = std::size_t{0}; i < n; ++i) {
        auto const z = random64() % (i + 1);
        to[i] = to[z];
        to[z] = static_cast<I>(i);
      }
      return;
    }
    for (auto i = std::size_t{0}; i < n; ++i) to[i] = static_cast<I>(i);
    for (auto i = std::size_t{0}; i + 1 < n; ++i) {
      auto const z = random() % (n - i);
      auto const kept = to[i];
      to[i] = to[i + z];
      to[i + z] = kept;
    }
  }
  /// n normal numbers: pairs in double below 16, blocks of 16 of the scalar type from there on.
  template <class T>
  constexpr void normal(T* to, std::size_t n, double mean = 0, double deviation = 1) {
    if (n < 16) {
      for (auto i = std::size_t{0}; i < n; ++i)
        to[i] = static_cast<T>(one_normal() * deviation + mean);
      return;
    }
    for (auto i = std::size_t{0}; i < n; ++i) to[i] = rand<T>();
    for (auto i = std::size_t{0}; i + 15 < n; i += 16) normal_block(to + i, mean, deviation);
    if (n % 16 != 0) {  // the last 16 are drawn anew
      auto* const last = to + n - 16;
      for (auto i = std::size_t{0}; i < 16; ++i) last[i] = rand<T>();
      normal_block(last, mean, deviation);
    }
  }

  // -- initialization of modules, by torch.nn.init

  /// 1 / sqrt(n), as Python computes it.
  [[nodiscard]] static constexpr auto reciprocal_root(std::size_t n) -> double {
    return 1.0 / lane::sqrt(static_cast<double>(n));
  }
  /// The bound of kaiming_uniform_(a=sqrt(5)), with which Linear and Conv draw their weights.
  [[nodiscard]] static constexpr auto kaiming_bound(std::size_t fan_in) -> double {
    auto const a = lane::sqrt(5.0);
    auto const gain = lane::sqrt(2.0 / (1 + a * a));
    return lane::sqrt(3.0) * (gain / lane::sqrt(static_cast<double>(fan_in)));
  }
  /// The bound of xavier_uniform_.
  [[nodiscard]] static constexpr auto xavier_bound(std::size_t fan_in, std::size_t fan_out)
      -> double {
    auto const deviation = lane::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
    return lane::sqrt(3.0) * deviation;
  }
  /// Every element of a tensor, from -bound to bound.
  template <class W>
    requires requires { typename W::shape_type; }
  constexpr void uniform(W& w, double bound) {
    uniform(w.data(), W::shape_type::capacity, -bound, bound);
  }
  template <class W>
    requires requires { typename W::shape_type; }
  constexpr void normal(W& w, double mean = 0, double deviation = 1) {
    normal(w.data(), W::shape_type::capacity, mean, deviation);
  }

 private:
  /// u·width + from with one rounding, on every target.
  template <class T> [[nodiscard]] static constexpr auto once(T u, T width, T from) -> T {
#if TESSERA_FMA
    return lane::fma(u, width, from);
#else
    return lane::detail::constant_fma(u, width, from);
#endif
  }
  [[nodiscard]] constexpr auto one_normal() -> double {
    if (has_normal_) {
      has_normal_ = false;
      return normal_;
    }
    auto const u1 = rand<double>();
    auto const u2 = rand<double>();
    auto const radius = lane::sqrt(-2.0 * lane::log1p(-u2));
    auto const angle = 2.0 * std::numbers::pi * u1;
    has_normal_ = true;
    normal_ = radius * lane::sin(angle);
    return radius * lane::cos(angle);
  }
  template <class T> static constexpr void normal_block(T* at, double mean, double deviation) {
    for (auto j = std::size_t{0}; j < 8; ++j) {
      auto const u1 = T{1} - at[j];
      auto const u2 = at[j + 8];
      auto const radius = lane::sqrt(T{-2} * lane::log(u1));
      auto const angle = static_cast<T>(2.0 * std::numbers::pi) * u2;
      at[j] = radius * lane::cos(angle) * static_cast<T>(deviation) + static_cast<T>(mean);
      at[j + 8] = radius * lane::sin(angle) * static_cast<T>(deviation) + static_cast<T>(mean);
    }
  }

  mt19937 engine_;
  bool has_normal_ = false;
  double normal_ = 0;
};

}  // namespace tessera::inline TESSERA_TARGET
