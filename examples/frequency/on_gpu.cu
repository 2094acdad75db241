// SPDX-License-Identifier: MIT
// The trainings that a GPU does, compiled by nvcc: those of 64 hidden values. See
// on_gpu_variants.cu, too.
#include <tessera/cuda.hpp>

#include "training_of.hpp"

namespace frequency {

[[nodiscard]] auto variant_on_gpu(settings const& s) -> training_function;  // compiled beside this

namespace {

using stateful = stateful_mode_on<tessera::cuda>;
using windowed = windowed_mode_on<tessera::cuda>;

// A struct of its own keeps the name of a network short.
template <std::size_t Layers> struct plain_net : plain<64, Layers> {};

struct compiled_training {
  char const* mode;
  std::uint64_t layers;
  training_function train;
};
constexpr compiled_training table[] = {
    {"stateful", 1, train_model<stateful, plain_net<1>>},
    {"stateful", 2, train_model<stateful, plain_net<2>>},
    {"windowed", 1, train_model<windowed, plain_net<1>>},
    {"windowed", 2, train_model<windowed, plain_net<2>>},
};

}  // namespace

auto on_gpu(settings const& s) -> gpu_training {
  auto result = gpu_training{.answers = tessera::device::is_present};
  if (s.hidden != 64) return result;
  if (s.variant != "plain") result.train = variant_on_gpu(s);
  for (auto const& one : table)
    if (s.variant == "plain" && one.mode == s.mode && one.layers == s.layers)
      result.train = one.train;
  return result;
}

}  // namespace frequency
