// SPDX-License-Identifier: MIT
// A program for a microcontroller: it streams an LSTM whose weights are constants in flash.
#include <tessera/embedded.hpp>

using namespace tessera;

using model = sequential<lstm<5, 16>, linear<16, 1>>;
using sample = tensor<float, shape<1, 5>>;

namespace {

/// Weights as a table of constants: here a formula, from a converter in earnest.
constexpr auto weights = [] {
  auto p = parameters_of<model, owned<float>>{};
  auto seed = 1U;
  for_each_parameter(
      [&](path_name const&, auto& w) {
        for (auto i = std::size_t{0}; i < w.size(); ++i) {
          seed = seed * 1664525U + 1013904223U;
          w.values[i] = (static_cast<float>(seed >> 8U) / 16777216.0F - 0.5F) * 0.5F;
        }
      },
      p);
  return p;
}();
streaming<model, sample> stream;

}  // namespace

float volatile input[5];
float volatile output;

extern "C" auto _start() -> void {
  for (;;) {
    auto x = sample{};
    for (auto i = 0; i < 5; ++i) x.data()[i] = input[i];
    output = stream.step(weights, x).data()[0];
  }
}
