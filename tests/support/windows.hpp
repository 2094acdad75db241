// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/random/torch.hpp>

namespace test {

/// Windows of a pooling over random images.
[[nodiscard]] inline auto random_windows(tessera::torch_generator& r)
    -> tessera::detail::max_pool2d_geometry {
  using tessera::size2;
  auto const up_to = [&](std::uint32_t n) { return std::size_t{1} + r.randint(n); };
  auto const window = size2(up_to(4), up_to(4));
  auto const stride = size2(up_to(4), up_to(4));
  auto const padding = size2(r.randint(static_cast<std::uint32_t>(window.height / 2 + 1)),
                             r.randint(static_cast<std::uint32_t>(window.width / 2 + 1)));
  auto const in = size2(window.height + up_to(5), window.width + up_to(5));
  auto const out = size2((in.height + 2 * padding.height - window.height) / stride.height + 1,
                         (in.width + 2 * padding.width - window.width) / stride.width + 1);
  return {.images = up_to(3),
          .in = in,
          .out = out,
          .channels = up_to(20),
          .window = window,
          .stride = stride,
          .padding = padding};
}

}  // namespace test
