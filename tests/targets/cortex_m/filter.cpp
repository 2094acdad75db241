// SPDX-License-Identifier: MIT
// The frequency filter, trained on the host, streams from weights in flash.
#include <tessera/compose/constant.hpp>
#include <tessera/embedded.hpp>

#include "board/board.hpp"
#include "filter_weights.hpp"

using namespace tessera;

using model = sequential<lstm<5, 64>, linear<64, 1>>;
using sample = tensor<float, shape<1, 5>>;

constexpr auto weights = constant_parameters<model, filter::signature>(filter::values);
constexpr auto needed = memory_of<model, sample, call_mode::streaming>;
static_assert(sizeof(streaming<model, sample>) == needed.object);
streaming<model, sample> stream;

auto main() -> int {
  float out[64];
  auto phase = std::uint32_t{1};
  for (auto& y : out) {
    auto x = sample{};
    phase = phase * 1664525U + 1013904223U;
    x.values[0] = static_cast<float>(phase >> 8U) / 8388608.0F - 1;
    x.values[1] = 1;
    y = stream.step(weights, x).data()[0];
  }
  board::print("filter", out, 64);
  board::print("memory", needed.object);
  return 0;
}
