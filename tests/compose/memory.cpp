// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

using X = tensor<float, shape<50, 32, 5>>;
using small = sequential<lstm<5, 64>, linear<64, 1>>;

// PyTorch's counts.
static_assert(parameter_count<small> == 18'241);
static_assert(parameter_count<sequential<lstm<5, 64, lstm_options{.layers = 2}>, linear<64, 1>>> ==
              51'521);
static_assert(
    parameter_count<sequential<lstm<5, 128, lstm_options{.layers = 2}>, linear<128, 1>>> ==
    201'345);
static_assert(
    parameter_count<sequential<lstm<5, 256, lstm_options{.layers = 2}>, linear<256, 1>>> ==
    795'905);
static_assert(parameter_count<relu_layer> == 0);

// The constants are the sizes of what is really used.
template <class Model, class Input> constexpr auto honest() -> bool {
  constexpr auto i = memory_of<Model, Input, call_mode::inference>;
  constexpr auto t = memory_of<Model, Input, call_mode::training>;
  constexpr auto s = memory_of<Model, sample_of<Input>, call_mode::streaming>;
  return i.object == sizeof(inference<Model, Input>) &&
         t.object == sizeof(differentiation<Model, Input>) &&
         s.object == sizeof(streaming<Model, sample_of<Input>>) &&
         t.kept == bytes_of<decltype(differentiation<Model, Input>::kept)> &&
         i.parameters == sizeof(parameters_of<Model, owned<float>>) && t.gradient == i.parameters &&
         i.total == i.object + i.parameters;
}
static_assert(honest<small, X>());
static_assert(honest<sequential<linear<5, 16>, relu_layer, residual<linear<16, 16>>, layer_norm<16>,
                                lstm<16, 8>, linear<8, 1>>,
                     X>());
static_assert(
    honest<sequential<parallel<linear<5, 8>, lstm<5, 8>>, repeat<linear<16, 16>, 4>>, X>());

// Inference overlays what no one needs any more: two buffers carry any number of layers.
template <std::size_t N> using deep = sequential<repeat<sequential<linear<64, 64>, relu_layer>, N>>;
using wide = tensor<float, shape<32, 64>>;
template <class... L> using chain = sequential<L...>;
using l = linear<64, 64>;
static_assert(memory_of<chain<l, l, l, l, l, l, l, l>, wide, call_mode::inference>.scratch <=
              memory_of<chain<l, l, l>, wide, call_mode::inference>.scratch);
static_assert(memory_of<chain<l, l, l, l>, wide, call_mode::training>.kept >
              memory_of<chain<l, l>, wide, call_mode::training>.kept);
static_assert(memory_of<deep<12>, wide, call_mode::inference>.scratch ==
              memory_of<deep<3>, wide, call_mode::inference>.scratch);

TEST_CASE("memory: nothing is written outside of the object") {
  // Bytes before and behind an object stay what they were.
  struct guarded {
    alignas(64) unsigned char before[64];
    inference<small, X> run;
    alignas(64) unsigned char behind[64];
  };
  auto const g = std::make_unique<guarded>();
  std::memset(static_cast<void*>(g.get()), 0xA5, sizeof *g);
  auto const p = std::make_unique<parameters_of<small, owned<float>>>();
  auto const x = std::make_unique<X>();
  test::fill_parameters(*p, 1);
  test::fill(*x, 2);
  (void)g->run(*p, *x);
  for (auto const b : g->before) CHECK(b == 0xA5);
  for (auto const b : g->behind) CHECK(b == 0xA5);
}
