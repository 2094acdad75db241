// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/elementary.hpp>
#include <tessera/tensor/assign.hpp>

#include <array>

namespace tessera::inline TESSERA_TARGET {

/// The noise of a diffusion in Steps steps, by the cosine schedule: what is left of the image after
/// step t is sqrt(alpha_bar[t]), the noise sqrt(1 - alpha_bar[t]).
///
/// Source  Nichol and Dhariwal, Improved denoising diffusion probabilistic models, 2021; as
///         diffusers' squaredcos_cap_v2; reference values: tests/reference/diffusion.py
template <std::size_t Steps> struct cosine_diffusion {
  static constexpr std::size_t steps = Steps;
  std::array<double, Steps> beta{};
  std::array<double, Steps> alpha_bar{};

  constexpr cosine_diffusion() {
    auto const left = [](std::size_t t) {
      auto const angle = (static_cast<double>(t) / static_cast<double>(Steps) + 0.008) / 1.008;
      auto const c = lane::cos(angle * 1.5707963267948966);
      return c * c;
    };
    auto product = 1.0;
    for (auto t = std::size_t{0}; t < Steps; ++t) {
      auto const b = 1 - left(t + 1) / left(t);
      beta[t] = b < 0.999 ? b : 0.999;
      product *= 1 - beta[t];
      alpha_bar[t] = product;
    }
  }

  /// x = sqrt(alpha_bar)·image + sqrt(1 - alpha_bar)·noise: the image after step t.
  template <class X>
  constexpr void add_noise(std::size_t t, auto const& image, auto const& noise, X x) const {
    require(t < Steps, "cosine_diffusion: there is no such step");
    using T = scalar_of<X>;
    assign(x, image * static_cast<T>(lane::sqrt(alpha_bar[t])) +
                  noise * static_cast<T>(lane::sqrt(1 - alpha_bar[t])));
  }
  /// One step of the way back, in place: x after step t becomes x after step t - 1, drawn with
  /// `noise` around what the predicted noise says. The image that it says is kept within [-1, 1].
  ///
  /// Source  Ho et al., Denoising diffusion probabilistic models, 2020, equation 7
  template <class X>
  constexpr void denoise(std::size_t t, X x, auto const& predicted, auto const& noise) const {
    require(t < Steps, "cosine_diffusion: there is no such step");
    using T = scalar_of<X>;
    auto const now = alpha_bar[t];
    auto const before = t > 0 ? alpha_bar[t - 1] : 1.0;
    auto const of_image = static_cast<T>(lane::sqrt(before) * beta[t] / (1 - now));
    auto const of_x = static_cast<T>(lane::sqrt(1 - beta[t]) * (1 - before) / (1 - now));
    auto const deviation = static_cast<T>(lane::sqrt(beta[t] * (1 - before) / (1 - now)));
    auto const image = clamp(
        (x - predicted * static_cast<T>(lane::sqrt(1 - now))) * static_cast<T>(1 / lane::sqrt(now)),
        T{-1}, T{1});
    assign(x, image * of_image + x * of_x + noise * deviation);
  }
};

}  // namespace tessera::inline TESSERA_TARGET
