// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// The last sample of a sequence; zeros of one that has none.
///
/// Shapes  x (time, ..., F) -> y (..., F)
/// Cost    a copy of one sample
/// Errors  an input of one axis: tests/fail/last_step_wrong_rank.cpp
struct last_step : without_parameters {
  static constexpr auto about = facts{.adds_dx = true};
  template <class S> using expected_shape = with_rank_at_least<S, 2>;
  template <class S> using output_shape = without_first<S>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) { return of_sample(actual); }

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    auto const time = x.template extent_of<0>();
    if (time == 0)
      assign(y, scalar_of<decltype(y)>{0});
    else
      assign(y, x[time - 1]);
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (not dx.has_memory()) return;
    auto const time = dx.view.template extent_of<0>();
    if constexpr (not dx.adds) assign(dx.view, scalar_of<decltype(dx)>{0});
    if (time > 0) assign(dx.view[time - 1], dx.view[time - 1] + dy);
  }

 private:
  template <class S> [[nodiscard]] static constexpr auto of_sample(actual_extents<S> actual) {
    auto const extents = actual.full();
    auto result = std::array<std::size_t, S::rank - 1>{};
    for (auto i = std::size_t{0}; i + 1 < S::rank; ++i) result[i] = extents[i + 1];
    return actual_extents<output_shape<S>>::from(result);
  }
};

}  // namespace tessera
