// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/upsample.hpp>

namespace tessera {

/// Every pixel becomes a square of equal ones: torch.nn.Upsample(scale_factor, mode="nearest").
///
/// Shapes  x (..., height, width, channels) -> y (..., Factor·height, Factor·width, channels)
/// Cost    a copy
/// Source  torch.nn.Upsample; reference values: tests/reference/upsample.py
template <std::size_t Factor> struct upsample : without_parameters {
  static_assert(Factor > 0, "upsample: at least by one");
  static constexpr auto about = facts{};

  template <class S, class R = with_rank_at_least<S, 3>>
  using expected_shape =
      with_extent<with_extent<R, R::rank - 3, static_cast<extent>(bound_at<R, -3>)>, R::rank - 2,
                  static_cast<extent>(bound_at<R, -2>)>;
  template <class S>
  using output_shape =
      with_extent<with_extent<S, S::rank - 3, static_cast<extent>(Factor* bound_at<S, -3>)>,
                  S::rank - 2, static_cast<extent>(Factor* bound_at<S, -2>)>;

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    kernel_for<detail::upsample_fn, backend_of<decltype(x)>>::forward(geometry(x), x.data(),
                                                                      y.data());
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (dx.has_memory())
      kernel_for<detail::upsample_fn, backend_of<decltype(dx)>>::backward(geometry(dx.view),
                                                                          dy.data(), dx.data());
  }

 private:
  [[nodiscard]] static constexpr auto geometry(auto x) -> detail::upsample_geometry {
    using S = shape_of<decltype(x)>;
    constexpr auto height = bound_at<S, -3>;
    constexpr auto width = bound_at<S, -2>;
    constexpr auto channels = last_of<S>;
    return {x.size() / (height * width * channels), height, width, channels, Factor};
  }
};

}  // namespace tessera
