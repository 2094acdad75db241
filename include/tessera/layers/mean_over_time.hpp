// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/last_step.hpp>

namespace tessera {

/// The mean of the samples of a sequence, added in their order; zeros of one that has none.
///
/// Shapes  x (time, ..., F) -> y (..., F)
/// Cost    one addition a number of x
/// Errors  an input of one axis: tests/fail/mean_over_time_wrong_rank.cpp
struct mean_over_time : without_parameters {
  static constexpr auto about = facts{.adds_dx = true};
  template <class S> using expected_shape = with_rank_at_least<S, 2>;
  template <class S> using output_shape = without_first<S>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return last_step::output_extents(actual);
  }

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    using T = scalar_of<decltype(y)>;
    auto const time = x.template extent_of<0>();
    assign(y, T{0});
    for (auto t = std::size_t{0}; t < time; ++t) assign(y, y + x[t]);
    if (time > 0) assign(y, y / static_cast<T>(time));
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    using T = scalar_of<decltype(dx)>;
    if (not dx.has_memory()) return;
    auto const time = dx.view.template extent_of<0>();
    for (auto t = std::size_t{0}; t < time; ++t) {
      auto const part = dx.view[t];
      if constexpr (dx.adds)
        assign(part, part + dy / static_cast<T>(time));
      else
        assign(part, dy / static_cast<T>(time));
    }
  }
};

}  // namespace tessera
