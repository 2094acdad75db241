// SPDX-License-Identifier: MIT
// One step of an LSTM of 40 inputs and 64 hidden values.
#include <tessera/embedded.hpp>

#include "board/board.hpp"

using namespace tessera;

using model = lstm<40, 64>;
using sample = tensor<float, shape<1, 40>>;

static parameters_of<model, owned<float>> parameters;
static parameters_of<model, packed<float>> packed_parameters;
static streaming<model, sample> stream;
static sample x;

auto main() -> int {
  auto generator = torch_generator(1);
  model::initialize(parameters, generator);
  for (auto i = std::size_t{0}; i < 40; ++i) x.values[i] = generator.rand<float>();
  pack_parameters(parameters, packed_parameters);
  for (auto t = 0; t < 2; ++t) stream.step(parameters, x);
  auto const plain = board::ticks_of([] { stream.step(parameters, x); });
  auto const ticks = board::ticks_of([] { stream.step(packed_parameters, x); });
  board::print("y", stream.y.data(), 64);
  board::print("ticks_plain", plain);
  board::print("ticks", ticks);
  board::print("multiply_adds", 4 * 64 * (40 + 64));
  return 0;
}
