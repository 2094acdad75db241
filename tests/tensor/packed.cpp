// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

/// A stream with packed weights has the bits of one with weights as they are.
template <class Model, class Backend> void streams_alike() {
  using X = tensor<float, shape<3, 5>, Backend>;
  auto const p = std::make_unique<parameters_of<Model, owned<float, Backend>>>();
  auto const q = std::make_unique<parameters_of<Model, packed<float, Backend>>>();
  test::fill_parameters(*p, 1, 0.5);
  test::poison(*q);
  pack_parameters(*p, *q);
  auto const a = std::make_unique<streaming<Model, X>>();
  auto const b = std::make_unique<streaming<Model, X>>();
  a->state = {};
  b->state = {};
  auto x = X{};
  for (auto t = 0U; t < 5; ++t) {
    test::fill(x, t);
    CHECK(test::same_bits(a->step(*p, x), b->step(*q, x)));
  }
  using sequence = tensor<float, shape<4, 3, 5>, Backend>;
  auto xs = sequence{};
  test::fill(xs, 9);
  auto const whole_a = std::make_unique<inference<Model, sequence>>();
  auto const whole_b = std::make_unique<inference<Model, sequence>>();
  CHECK(test::same_bits((*whole_a)(*p, xs), (*whole_b)(*q, xs)));
}
template <class Model> void streams_alike_everywhere() {
  streams_alike<Model, simd>();
  streams_alike<Model, reference>();
}

}  // namespace

TEST_CASE("packed: by columns, each on an aligned address") {
  auto w = tensor<float, shape<3, 2>>{{1, 2, 3, 4, 5, 6}};
  auto m = packed_matrix<float, shape<3, 2>, simd>{};
  m.pack(w.data());
  CHECK(m.values[0] == 1);
  CHECK(m.values[1] == 3);
  CHECK(m.values[2] == 5);
  CHECK(m.values[3] == 0);
  CHECK(m.values[m.stride + 1] == 4);
  CHECK(m.stride * sizeof(float) % storage_alignment == 0);
}
TEST_CASE("packed: streams and sequences have the same bits, whatever the size") {
  streams_alike_everywhere<sequential<lstm<5, 64>, linear<64, 1>>>();
  streams_alike_everywhere<sequential<lstm<5, 7>, linear<7, 3>>>();
  streams_alike_everywhere<sequential<lstm<5, 100, lstm_options{.layers = 2}>, linear<100, 17>>>();
  streams_alike_everywhere<
      sequential<lstm<5, 24, lstm_options{.bias = false, .projection = 9}>, layer_norm<9>,
                 linear<9, 2, linear_options{.bias = false}>>>();
}
