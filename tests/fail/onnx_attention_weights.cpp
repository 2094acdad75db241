// SPDX-License-Identifier: MIT
// EXPECT: save_onnx: attention_weights are written, not read: a graph does not give them
// LINES: 10
#include <tessera/io/onnx.hpp>

using namespace tessera;

auto main() -> int {
  using model = attention_layer<2, attention_options{.weights = true}>;
  using X = tensor<float, shape<3, 1, 2>>;
  static parameters_of<model, owned<float>> p;
#ifdef TESSERA_MUST_FAIL
  using weights = given_as<tag::attention_weights, tensor<float, shape<1, 1, 3, 3>>>;
  return onnx_bytes<model, X, weights>(p).empty() ? 1 : 0;
#else
  return onnx_bytes<model, X>(p).empty() ? 1 : 0;
#endif
}
