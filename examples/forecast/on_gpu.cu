// SPDX-License-Identifier: MIT
// The trainings that a GPU does, compiled by nvcc: those of 64 hidden values. See on_gpu_others.cu,
// too.
#include <tessera/cuda.hpp>

#include "training_of.hpp"

namespace forecast {

[[nodiscard]] auto other_on_gpu(std::string const& kind) -> training_function;  // compiled beside

namespace {

// A struct of its own keeps the name of a network short.
struct attention_net : attention_model<64, 1> {};
struct attention_4_net : attention_model<64, 4> {};

}  // namespace

auto on_gpu(model_choice const& which) -> gpu_training {
  auto result = gpu_training{.answers = tessera::device::is_present};
  if (which.hidden != 64) return result;
  if (which.kind == "lstm-attention")
    result.train = train_model<tessera::cuda, attention_net>;
  else if (which.kind == "lstm-attention-4")
    result.train = train_model<tessera::cuda, attention_4_net>;
  else
    result.train = other_on_gpu(which.kind);
  return result;
}

}  // namespace forecast
