// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/reduction.hpp>

#include <cmath>
#include <cstdint>

/// Scores: figures of a validation besides the loss.
///
/// A score has a `name`; terms(target); and value(y, target), the sum of its terms. What is
/// reported is their mean over the source, or finish(mean) where it has that. Less is better unless
/// it says more_is_better = true. y and target are views, the target as the loss takes it.
namespace tessera {

/// The share of rows whose largest value is that of the target's class. Targets of the loss's
/// default ignore_index (-100) are no terms.
///
/// Shapes  y (..., Classes); target (...), integers
struct accuracy {
  static constexpr auto name = "accuracy";
  static constexpr bool more_is_better = true;

  static constexpr auto ignored = std::int64_t{-100};

  [[nodiscard]] static auto terms(auto target) -> std::size_t {
    auto count = std::size_t{0};
    for (auto r = std::size_t{0}; r < target.size(); ++r)
      count += static_cast<std::int64_t>(target.data()[r]) != ignored;
    return count;
  }
  template <class Y> [[nodiscard]] static auto value(Y y, auto target) -> double {
    constexpr auto classes = last_of<shape_of<Y>>;
    require(target.size() * classes == y.size(), "accuracy: target has an element a row of y");
    auto right = std::size_t{0};
    for (auto r = std::size_t{0}; r < target.size(); ++r) {
      auto const* const row = y.data() + r * classes;
      auto best = std::size_t{0};
      for (auto c = std::size_t{1}; c < classes; ++c)
        if (row[c] > row[best]) best = c;
      right += static_cast<std::int64_t>(target.data()[r]) == static_cast<std::int64_t>(best);
    }
    return static_cast<double>(right);
  }
};

/// The mean distance of y and target, which are alike.
struct mean_absolute_error {
  static constexpr auto name = "mean_absolute_error";

  [[nodiscard]] static auto terms(auto target) -> std::size_t { return target.size(); }
  [[nodiscard]] static auto value(auto y, auto target) -> double {
    return static_cast<double>(detail::number_of(sum(abs(y - target))));
  }
};

/// The root of the mean squared difference of y and target, which are alike.
struct root_mean_squared_error {
  static constexpr auto name = "root_mean_squared_error";

  [[nodiscard]] static auto terms(auto target) -> std::size_t { return target.size(); }
  [[nodiscard]] static auto value(auto y, auto target) -> double {
    return static_cast<double>(detail::number_of(sum(square(y - target))));
  }
  [[nodiscard]] static auto finish(double mean) -> double { return std::sqrt(mean); }
};

template <class Score>
inline constexpr bool more_is_better = requires { requires Score::more_is_better; };

/// What a score makes of the mean of its terms.
template <class Score> [[nodiscard]] auto finished(Score const& score, double mean) -> double {
  if constexpr (requires { score.finish(mean); })
    return score.finish(mean);
  else
    return mean;
}

}  // namespace tessera
