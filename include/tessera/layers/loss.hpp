// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/error.hpp>
#include <tessera/ops/cross_entropy.hpp>
#include <tessera/tensor/reduction.hpp>

#include <cstdint>

/// Losses: what a training step makes smaller.
///
/// A loss has terms(target), the number of terms that its mean divides by, and
///   value_and_slope(y, target, dy, scale) and value(y, target, scale)
/// which return the sum of its terms times `scale`; the first writes its derivative to dy. A whole
/// batch has scale = 1 / terms(target); a chunk of one divides by the terms of the whole batch. A
/// batch without terms has loss and slopes 0.
/// target_type<Y> is what it compares an output Y with; integers may be of any type.
namespace tessera {

namespace detail {

/// True where a target is like y; else one message says what is not. It is not broadcast: its terms
/// would not be counted rightly.
template <class Loss, class Y, class Target> [[nodiscard]] constexpr auto is_like_output() -> bool {
  constexpr auto same_shape = std::same_as<shape_of<Target>, shape_of<Y>>;
  constexpr auto same_scalar = std::same_as<scalar_of<Target>, scalar_of<Y>>;
  static_assert(complaint::shapes_match<complaint::in<Loss>, complaint::expected<shape_of<Y>>,
                                        complaint::got<shape_of<Target>>>,
                "loss: the target must have the shape of the output y");
  static_assert(complaint::holds < same_scalar || not same_shape, complaint::in<Loss>,
                complaint::expected<scalar_of<Y>>, complaint::got < scalar_of < Target >>>,
                "loss: the target must have the scalar type of the output y");
  return same_shape && same_scalar;
}

[[nodiscard]] constexpr auto same_extents(auto const& y, auto const& target) -> bool {
  return as_const(y).actual == as_const(target).actual;
}

/// Whether a target has one element for each row of y.
[[nodiscard]] constexpr auto has_rows_of(auto const& y, auto const& target) -> bool {
  auto const rows = as_const(target).actual;
  for (auto a = std::size_t{0}; a < shape_of<decltype(target)>::rank; ++a)
    if (rows[a] != as_const(y).actual[a]) return false;
  return true;
}

/// What losses of single elements share. A rule has of(y, target), the loss of an element as an
/// expression, and slope(y, target, scale).
template <class Loss, class Y, class Target>
[[nodiscard]] constexpr auto sum_of_elements(Loss const& rule, Y y, Target target,
                                             scalar_of<Y> scale) -> scalar_of<Y> {
  if constexpr (is_like_output<Loss, Y, Target>()) {
    require(same_extents(y, target), "loss: the target must have the extents of the output y");
    return number_of(sum(rule.of(y, target)) * scale);
  } else {
    return scale;
  }
}
template <class Loss, class Y, class Target>
[[nodiscard]] constexpr auto sum_and_slope(Loss const& rule, Y y, Target target, auto dy,
                                           scalar_of<Y> scale) -> scalar_of<Y> {
  if constexpr (is_like_output<Loss, Y, Target>()) {
    require(same_extents(y, target), "loss: the target must have the extents of the output y");
    assign(dy, rule.slope(y, target, scale));
    return number_of(sum(rule.of(y, target)) * scale);
  } else {
    return scale;
  }
}

}  // namespace detail

/// Mean of the squared differences, as torch.nn.MSELoss.
///
/// Shapes  y and target alike
/// Errors  a target of another shape or scalar does not compile: tests/fail/training_target.cpp,
///         tests/fail/training_target_scalar.cpp; other extents at run time break the contract
/// Source  reference values: tests/reference/loss.py
struct mse {
  template <class Y> using target_type = kind_of<Y>;
  [[nodiscard]] static constexpr auto terms(auto target) -> std::size_t { return target.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return detail::sum_of_elements(mse{}, y, target, scale);
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    return detail::sum_and_slope(mse{}, y, target, dy, scale);
  }
  [[nodiscard]] static constexpr auto of(auto y, auto target) { return square(y - target); }
  template <class Y>
  [[nodiscard]] static constexpr auto slope(Y y, auto target, scalar_of<Y> scale) {
    return (y - target) * (2 * scale);
  }
};

/// Mean of the distances, as torch.nn.L1Loss: the slope at 0 is 0.
///
/// Shapes  y and target alike
/// Errors  as mse
/// Source  reference values: tests/reference/loss.py
struct l1 {
  template <class Y> using target_type = kind_of<Y>;
  [[nodiscard]] static constexpr auto terms(auto target) -> std::size_t { return target.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return detail::sum_of_elements(l1{}, y, target, scale);
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    return detail::sum_and_slope(l1{}, y, target, dy, scale);
  }
  [[nodiscard]] static constexpr auto of(auto y, auto target) { return abs(y - target); }
  template <class Y>
  [[nodiscard]] static constexpr auto slope(Y y, auto target, scalar_of<Y> scale) {
    return where(y > target, scale, where(y < target, -scale, scalar_of<Y>{0}));
  }
};

/// Mean of half the square of a small difference, and of delta times a large one's distance less
/// delta / 2: torch.nn.HuberLoss.
///
/// Shapes  y and target alike
/// Errors  as mse; delta must be above 0
/// Source  reference values: tests/reference/loss.py
struct huber {
  double delta = 1;

  template <class Y> using target_type = kind_of<Y>;
  [[nodiscard]] static constexpr auto terms(auto target) -> std::size_t { return target.size(); }

  template <class Y>
  [[nodiscard]] constexpr auto value(Y y, auto target, scalar_of<Y> scale) const -> scalar_of<Y> {
    return detail::sum_of_elements(*this, y, target, scale);
  }
  template <class Y>
  [[nodiscard]] constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale) const
      -> scalar_of<Y> {
    return detail::sum_and_slope(*this, y, target, dy, scale);
  }
  [[nodiscard]] constexpr auto of(auto y, auto target) const {
    using T = scalar_of<decltype(y)>;
    require(delta > 0, "huber: delta must be above 0");
    auto const d = static_cast<T>(delta);
    auto const distance = abs(y - target);
    auto const inside = min(distance, d);
    return inside * (distance - inside * T{0.5});
  }
  template <class Y>
  [[nodiscard]] constexpr auto slope(Y y, auto target, scalar_of<Y> scale) const {
    auto const d = static_cast<scalar_of<Y>>(delta);
    return clamp(y - target, -d, d) * scale;
  }
};

/// Mean of -target·log sigmoid(y) - (1 - target)·log(1 - sigmoid(y)): torch.nn.BCEWithLogitsLoss.
///
/// Shapes  y and target alike; targets of [0, 1]
/// Errors  as mse
/// Source  reference values: tests/reference/loss.py
struct binary_cross_entropy {
  template <class Y> using target_type = kind_of<Y>;
  [[nodiscard]] static constexpr auto terms(auto target) -> std::size_t { return target.size(); }

  template <class Y>
  [[nodiscard]] static constexpr auto value(Y y, auto target, scalar_of<Y> scale) -> scalar_of<Y> {
    return detail::sum_of_elements(binary_cross_entropy{}, y, target, scale);
  }
  template <class Y>
  [[nodiscard]] static constexpr auto value_and_slope(Y y, auto target, auto dy, scalar_of<Y> scale)
      -> scalar_of<Y> {
    return detail::sum_and_slope(binary_cross_entropy{}, y, target, dy, scale);
  }
  [[nodiscard]] static constexpr auto of(auto y, auto target) {
    using T = scalar_of<decltype(y)>;
    return where(y > T{0}, T{1} - target, -target) * y + log1p(exp(-abs(y)));
  }
  template <class Y>
  [[nodiscard]] static constexpr auto slope(Y y, auto target, scalar_of<Y> scale) {
    return (sigmoid(y) - target) * scale;
  }
};

/// Mean of -log softmax(y)[target] over the rows, as torch.nn.CrossEntropyLoss.
///
/// Shapes  y (..., Classes); target (...), integers: classes, or ignore_index for a row that does
///         not count
/// Errors  a target that is no class breaks the contract; so does label_smoothing outside [0, 1]
/// Source  reference values: tests/reference/loss.py
struct cross_entropy {
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;

  template <class Y>
  using target_type = tensor<std::int32_t, without_last<shape_of<Y>>, backend_of<Y>>;

  [[nodiscard]] constexpr auto terms(auto target) const -> std::size_t {
    return kernel_for<detail::cross_entropy_fn, backend_of<decltype(target)>>::terms(
        target.size(), target.data(), ignore_index);
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
    require(label_smoothing >= 0 && label_smoothing <= 1,
            "cross_entropy: label_smoothing must be from 0 to 1");
    require(detail::has_rows_of(y, target), "cross_entropy: target has an element a row of y");
    return kernel_for<detail::cross_entropy_fn, backend_of<Y>>::rows(
        detail::cross_entropy_rows<T>{target.size(), classes, ignore_index,
                                      static_cast<T>(label_smoothing), scale},
        y.data(), target.data(), slope);
  }
};

}  // namespace tessera
