// SPDX-License-Identifier: MIT
// What two models need, by memory_of, beside the size of the objects that were made of them.
#include <tessera/models/gpt.hpp>
#include <tessera/models/unet.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <cstdio>

namespace {

using namespace tessera;

template <bool Recompute>
using four_levels = unet<unet_options{.in = 3,
                                      .out = 3,
                                      .levels = 4,
                                      .channels = {32, 64, 96, 128},
                                      .blocks = 2,
                                      .attention_from = 1,
                                      .head_width = 16,
                                      .groups = 8,
                                      .recompute = Recompute}>;
template <bool Recompute>
using small_gpt = gpt<gpt_options{
    .vocabulary = 128, .width = 128, .blocks = 12, .heads = 4, .recompute = Recompute}>;

using images = tensor<float, shape<4, 32, 32, 3>>;
using steps = given_as<tag::condition, tensor<float, shape<4, 1>>>;
using tokens = tensor<float, shape<128, 4>>;

void print(char const* name, char const* mode, memory_report const& m, std::size_t used) {
  auto const kib = [](std::size_t bytes) { return static_cast<double>(bytes) / 1024; };
  std::printf("%-22s %-10s %10.0f %9.0f %9.0f %9.0f %9.0f %9.0f %10.0f %10.0f%s\n", name, mode,
              kib(m.parameters), kib(m.gradient), kib(m.moments), kib(m.state), kib(m.kept),
              kib(m.scratch), kib(m.total), kib(used), m.total <= used ? "" : "  (more!)");
}
template <class Model, class X, class... Inputs> void print_model(char const* name) {
  using trained = training<Model, X, adam, 1, Inputs...>;
  using called = inference<Model, X, Inputs...>;
  print(name, "training", memory_of<Model, X, call_mode::training, adam, Inputs...>,
        sizeof(trained));
  print(name, "inference",
        memory_of<Model, X, call_mode::inference, detail::no_optimizer, Inputs...>,
        sizeof(called) + sizeof(parameters_of<Model, owned<float>>));
}

}  // namespace

auto main() -> int {
  std::printf(
      "KiB; batch 4; images of 32x32x3, 128 tokens\n%-22s %-10s %10s %9s %9s %9s %9s %9s "
      "%10s %10s\n",
      "model", "mode", "parameters", "gradient", "moments", "state", "kept", "scratch", "total",
      "sizeof");
  print_model<four_levels<false>, images, steps>("unet, four levels");
  print_model<four_levels<true>, images, steps>("unet, recompute");
  print_model<small_gpt<false>, tokens>("gpt, 12 blocks");
  print_model<small_gpt<true>, tokens>("gpt, recompute");
}
