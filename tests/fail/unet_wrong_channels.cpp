// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<1, 4, 4, 24>
// EXPECT: got<tessera::shape<1, 4, 4, 16>
// EXPECT: middle
// LINES: 8
#include <tessera/layers/conv2d.hpp>
#include <tessera/layers/identity.hpp>
#include <tessera/layers/upsample.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

// A U-Net of three levels written by hand; Wrong is what the layer in the third says it takes.
template <std::size_t In, std::size_t Out, std::size_t Stride = 1>
using conv = conv2d<In, Out, 3, conv2d_options{.stride = Stride, .padding = 1}>;
template <std::size_t C, std::size_t Below, class Inner>
using level = sequential<
    named<"around", parallel<named<"below", sequential<named<"down", conv<C, Below, 2>>,
                                                       named<"inner", Inner>, upsample<2>>>,
                             identity>>,
    named<"up", conv<Below + C, C>>>;
template <std::size_t Wrong>
using network = level<4, 8, level<8, 16, sequential<named<"middle", conv<Wrong, 16>>, relu_layer>>>;

auto main() -> int {
  using X = tensor<float, shape<1, 16, 16, 4>>;
  static inference<network<16>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<network<24>, X> bad;
  (void)bad;
#endif
}
