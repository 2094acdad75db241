// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

namespace {

template <class Backend> struct pair_of_tensors {
  tensor<float, shape<3>, Backend> first;
  tensor<float, shape<2, 2>, Backend> second;
};
template <class Backend> void clears_and_copies(auto& a, auto& b) {
  a.first.values[2] = 5;
  a.second.values[3] = 7;
  copy_on<Backend>(b, a);
  CHECK(b.first.values[2] == 5);
  CHECK(b.second.values[3] == 7);
  clear_on<Backend>(a);
  CHECK(a.first.values[2] == 0);
  CHECK(a.second.values[3] == 0);
  CHECK(b.second.values[3] == 7);
}

}  // namespace

TEST_CASE("whole: objects of numbers are cleared and copied where they are") {
  auto a = pair_of_tensors<simd>{};
  auto b = pair_of_tensors<simd>{};
  clears_and_copies<simd>(a, b);
  auto const c = device::make<pair_of_tensors<cuda>>();
  auto const d = device::make<pair_of_tensors<cuda>>();
  clears_and_copies<cuda>(*c, *d);
  auto none = nothing{};
  clear_on<cuda>(none);
}
