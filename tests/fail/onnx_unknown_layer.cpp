// SPDX-License-Identifier: MIT
// EXPECT: save_onnx: a layer of this kind, or with these options, has no to_onnx\(layer, place, x\) that writes it
// EXPECT: doubled
// LINES: 10
#include <tessera/io/onnx.hpp>

using namespace tessera;

struct doubled : without_parameters {
  static constexpr auto forward(auto const&, auto x) { return x + x; }
};
#ifndef TESSERA_MUST_FAIL
auto to_onnx(doubled const&, auto& at, onnx_value const& x) -> onnx_value {
  return at.like("Add", x, {x.name});
}
#endif

auto main() -> int {
  using model = sequential<linear<3, 2>, doubled>;
  static parameters_of<model, owned<float>> p;
  return onnx_bytes<model, tensor<float, shape<4, 3>>>(p).empty() ? 1 : 0;
}
