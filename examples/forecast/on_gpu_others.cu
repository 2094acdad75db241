// SPDX-License-Identifier: MIT
#include <tessera/cuda.hpp>

#include "training_of.hpp"

namespace forecast {

namespace {

struct lstm_net : lstm_model<64> {};
struct gru_net : gru_model<64> {};
struct tcn_net : tcn_model<64> {};

}  // namespace

auto other_on_gpu(std::string const& kind) -> training_function {
  if (kind == "lstm") return train_model<tessera::cuda, lstm_net>;
  if (kind == "gru") return train_model<tessera::cuda, gru_net>;
  return kind == "tcn" ? train_model<tessera::cuda, tcn_net> : nullptr;
}

}  // namespace forecast
