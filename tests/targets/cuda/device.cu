// SPDX-License-Identifier: MIT
// What fake.cpp runs on the host, on a GPU, against `reference` on the host. Exit status: 77 where
// there is no GPU.
#include "beside.hpp"
#include "models.hpp"

namespace {

/// What was refused is not what the next launch, which asks for the last error, tells.
[[nodiscard]] auto forgets_what_was_refused() -> bool {
  auto refused = false;
  try {
    (void)tessera::device::allocate(~std::size_t{0} >> 1);
  } catch (tessera::device::device_error const&) {
    refused = true;
  }
  return refused && cudaGetLastError() == cudaSuccess;
}

}  // namespace

auto main() -> int {
  static_assert(not tessera::device::is_fake);
  if (beside::sum_of_first(5) != 10) {
    std::printf("the fake device of another file is not its own  FAILED\n");
    return 1;
  }
  if (not tessera::device::is_present()) {
    std::printf("skipped: no device\n");
    return 77;
  }
  if (not forgets_what_was_refused()) {
    std::printf("a call that was refused is what the next launch tells  FAILED\n");
    return 1;
  }
  auto failed = 0;
  auto const check = [&](char const* name, auto train) {
    for (auto const as_graph : {false, true}) {
      auto const d = train(3, as_graph);
      auto const holds = d.loss < 1e-5 && d.parameters < 1e-4;
      std::printf("%-15s %4zu kernels in a graph, loss within %.1e, parameters within %.1e%s\n",
                  name, d.kernels, d.loss, d.parameters, holds ? "" : "  FAILED");
      failed += holds ? 0 : 1;
    }
  };
  check("filter", on_cuda::train_filter);
  check("gated units", on_cuda::train_gated);
  check("wide", on_cuda::train_wide);
  check("language model", on_cuda::train_language_model);
  check("llama", on_cuda::train_llama);
  check("gpt2", on_cuda::train_gpt2);
  check("denoiser", on_cuda::train_denoiser);
  check("convolutions", on_cuda::train_convolutions);
  check("remembering", on_cuda::train_remembering);
  check("traced layers", on_cuda::train_traced_layers);
  auto const far = on_cuda::largest_distance_of_expressions();
  auto const holds = far < 1e-5;
  std::printf("%-15s within %.1e%s\n", "expressions", far, holds ? "" : "  FAILED");
  return failed == 0 && holds ? 0 : 1;
}
