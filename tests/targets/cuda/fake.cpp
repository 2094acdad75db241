// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include "models.hpp"

using namespace on_cuda;

TEST_CASE("cuda: models train as on the reference, launched singly or as one graph") {
  static_assert(device::is_fake);
  auto const check = [](char const* name, auto const& train, double bound = 1e-6) {
    for (auto const as_graph : {false, true}) {
      auto const d = train(4, as_graph);
      INFO(name << (as_graph ? ", a graph of " : ", no graph, ") << d.kernels << " kernels");
      CHECK(d.loss < 1e-6);
      CHECK(d.parameters < bound);
      CHECK((d.kernels > 5) == as_graph);
    }
  };
  check("filter", train_filter);
  check("gated units", train_gated);
  check("wide", train_wide);
  // The slope of a key's bias is zero, and Adam makes a step of what rounding leaves of it.
  check("language model", train_language_model, 1e-4);
  check("llama", train_llama);
  check("gpt2", train_gpt2);
  check("denoiser", train_denoiser);
  check("convolutions", train_convolutions);
  check("remembering", train_remembering);
  check("traced layers", train_traced_layers);
}

TEST_CASE("cuda: expressions have the numbers of the reference") {
  CHECK(largest_distance_of_expressions() < 1e-6);
}
