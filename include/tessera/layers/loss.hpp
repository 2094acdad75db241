// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/ops/cross_entropy.hpp>
#include <tessera/tensor/reduction.hpp>

#include <cstdint>

/// Losses: what a training step makes smaller.
///
/// A loss has terms(target), the number of terms that its mean divides by, and
///   value_and_slope(y, target, dy, scale) and value(y, target, scale)
/// which return the sum of its terms times `scale`; the first writes its derivative to dy. A whole
/// batch has scale = 1 / terms(target); a chunk of one divides by the terms of the whole batch.
namespace tessera {

/// Mean of the squared differences, as torch.nn.MSELoss.
///
/// Shapes  y and target alike
/// Source  reference values: tests/reference/loss.py
struct mse {
  [[nodiscard]] static constexpr auto terms(auto target) -> std::size_t { return target.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return detail::number_of(sum(square(y - target)) * scale);
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    assign(dy, (y - target) * (2 * scale));
    return value(y, target, scale);
  }
};

/// Mean of the distances, as torch.nn.L1Loss: the slope at 0 is 0.
///
/// Shapes  y and target alike
/// Source  reference values: tests/reference/loss.py
struct l1 {
  [[nodiscard]] static constexpr auto terms(auto target) -> std::size_t { return target.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return detail::number_of(sum(abs(y - target)) * scale);
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    assign(dy, where(y > target, scale, where(y < target, -scale, scalar_of<Y>{0})));
    return value(y, target, scale);
  }
};

/// Mean of -log softmax(y)[target] over the rows, as torch.nn.CrossEntropyLoss.
///
/// Shapes  y (..., Classes); target (...), integers: classes, or ignore_index for a row that does
///         not count
/// Errors  a target that is no class breaks the contract
/// Source  reference values: tests/reference/loss.py
struct cross_entropy {
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;

  [[nodiscard]] constexpr auto terms(auto target) const -> std::size_t {
    auto n = std::size_t{0};
    for (auto const t : target) n += static_cast<std::int64_t>(t) != ignore_index ? 1 : 0;
    return n;
  }
  template <class Y>
  [[nodiscard]] constexpr auto value(Y y, auto target, scalar_of<Y> scale) const -> scalar_of<Y> {
    return rows(y, target, static_cast<scalar_of<Y>*>(nullptr), scale);
  }
  template <class Y>
  [[nodiscard]] constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale) const
      -> scalar_of<Y> {
    return rows(y, target, dy.data(), scale);
  }

 private:
  template <class Y>
  constexpr auto rows(Y y, auto target, scalar_of<Y>* slope, scalar_of<Y> scale) const
      -> scalar_of<Y> {
    using T = scalar_of<Y>;
    constexpr auto classes = last_of<shape_of<Y>>;
    static_assert(std::same_as<shape_of<decltype(target)>, without_last<shape_of<Y>>>,
                  "cross_entropy: target has the shape of y without its last axis");
    return kernel<detail::cross_entropy_fn, backend_of<Y>>::rows(
        detail::cross_entropy_rows<T>{target.size(), classes, ignore_index,
                                      static_cast<T>(label_smoothing), scale},
        y.data(), target.data(), slope);
  }
};

}  // namespace tessera
