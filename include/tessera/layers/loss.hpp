// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/reduction.hpp>

/// Losses: what a training step makes smaller.
///
/// A loss names terms(y), the number of terms that its mean divides by, and
///   value_and_slope(y, target, dy, scale)
/// which returns the sum of its terms times `scale` and writes to dy its derivative. A whole batch
/// has scale = 1 / terms(y); a chunk of one divides by the terms of the whole batch.
namespace tessera {

/// Mean of the squared differences, as torch.nn.MSELoss.
struct mse {
  [[nodiscard]] static constexpr auto terms(auto y) -> std::size_t { return y.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    assign(dy, (y - target) * (2 * scale));
    return evaluate(sum(square(y - target)) * scale).values[0];
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return evaluate(sum(square(y - target)) * scale).values[0];
  }
};

/// Mean of the distances, as torch.nn.L1Loss: the slope at 0 is 0.
struct l1 {
  [[nodiscard]] static constexpr auto terms(auto y) -> std::size_t { return y.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    assign(dy, where(y > target, scale, where(y < target, -scale, scalar_of<Y>{0})));
    return value(y, target, scale);
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return evaluate(sum(abs(y - target)) * scale).values[0];
  }
};

}  // namespace tessera
