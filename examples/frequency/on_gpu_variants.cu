// SPDX-License-Identifier: MIT
#include <tessera/cuda.hpp>

#include "training_of.hpp"

namespace frequency {

namespace {

using stateful = stateful_mode_on<tessera::cuda>;
using windowed = windowed_mode_on<tessera::cuda>;

struct attention_net : with_attention<64> {};
struct film_net : film<64> {};

}  // namespace

auto variant_on_gpu(settings const& s) -> training_function {
  if (s.variant == "attention") return train_model<windowed, attention_net>;
  return s.windowed() ? train_model<windowed, film_net> : train_model<stateful, film_net>;
}

}  // namespace frequency
