// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

/// Two gates of 17 units, two inputs: number 10·o + k.
auto counted_weights() {
  auto w = std::make_unique<tensor<float, shape<34, 2>>>();
  for (auto o = std::size_t{0}; o < 34; ++o)
    for (auto k = std::size_t{0}; k < 2; ++k) (*w)(o, k) = static_cast<float>(10 * o + k);
  return w;
}
using panels = gate_panels<float, shape<34, 2>, simd, 2>;

}  // namespace

// -- contract -------------------------------------------------------------------------------------
static_assert(by_gate_panels<panels const&>);
static_assert(not by_gate_panels<tensor<float, shape<34, 2>>>);
static_assert(not by_columns<panels>);
static_assert(panels::panels == 2 && sizeof(panels) == 2 * 2 * 2 * 64);
static_assert(std::same_as<gates_in<packed<float, float, simd>, shape<34, 2>, 2>, panels>);
static_assert(by_columns<gates_in<packed<float, bf16, simd>, shape<34, 2>, 2>>);
static_assert(by_columns<gates_in<packed<float, float, reference>, shape<34, 2>, 2>>);
static_assert(
    std::same_as<gates_in<owned<float, simd>, shape<34, 2>, 2>, tensor<float, shape<34, 2>, simd>>);

TEST_CASE("gate_panels: panel, input, gate, unit, and zeros beyond the last unit") {
  auto const w = counted_weights();
  auto const p = std::make_unique<panels>();
  test::poison(*p);
  p->pack(weights_of<float>(*w));
  CHECK(p->values[0] == 0);                        // gate 0, unit 0, input 0
  CHECK(p->values[15] == 150);                     // its unit 15
  CHECK(p->values[16] == 170);                     // gate 1 begins with output 17
  CHECK(p->values[32] == 1);                       // input 1
  CHECK(p->values[panels::size_of_panel] == 160);  // unit 16 is the first of the second panel
  CHECK(p->values[panels::size_of_panel + 1] == 0);
  CHECK(p->values[panels::size_of_panel + 16] == 330);
  CHECK(p->values[2 * panels::size_of_panel - 1] == 0);
}
TEST_CASE("gate_panels: numbers and parts are the weights that were packed") {
  auto const w = counted_weights();
  auto const p = std::make_unique<panels>();
  p->pack(weights_of<float>(*w));
  auto const numbers = weights_of<float>(*p);
  auto seen = std::size_t{0};
  p->for_each_part([&](std::size_t first, std::size_t count, weight_matrix<float> const& part) {
    CHECK(first == seen);
    for (auto o = std::size_t{0}; o < count; ++o, ++seen)
      for (auto k = std::size_t{0}; k < 2; ++k) {
        CHECK(part.at(o, k) == (*w)(seen, k));
        CHECK(numbers.at(seen, k) == (*w)(seen, k));
      }
  });
  CHECK(seen == 34);
}
TEST_CASE("gate_panels: a cell's weights go from storage to storage and stay") {
  using model = sequential<lstm<3, 17>, linear<17, 1>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const back = std::make_unique<parameters_of<model, owned<float>>>();
  auto const q = std::make_unique<parameters_of<model, packed<float>>>();
  auto const r = std::make_unique<parameters_of<model, packed<float>>>();
  auto const narrow = std::make_unique<parameters_of<model, compact<float, bf16>>>();
  auto const narrow_too = std::make_unique<parameters_of<model, compact<float, bf16>>>();
  test::fill_parameters(*p, 1);
  pack_parameters(*p, *q);
  pack_parameters(*q, *r);
  pack_parameters(*r, *back);
  CHECK(test::same_parameters(*p, *back));
  pack_parameters(*p, *narrow);
  pack_parameters(*q, *narrow_too);
  CHECK(std::memcmp(narrow.get(), narrow_too.get(), sizeof *narrow) == 0);
}
