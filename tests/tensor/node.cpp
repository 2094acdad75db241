// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/tensor/reduction.hpp>

using namespace tessera;

using X = tensor<float, shape<2, 3>>;
using B = tensor<float, shape<3>>;
extern X x;
extern B b;
using flat_sum = decltype(x + x);
using row_sum = decltype(x + b);
static_assert(flat_sum::flat && not row_sum::flat, "operands of one shape are one run");
static_assert(decltype(x * 2)::flat, "a number goes anywhere");
static_assert(std::same_as<shape_of<row_sum>, shape<2, 3>> &&
              std::same_as<backend_of<row_sum>, simd>);
static_assert(std::is_empty_v<row_sum::temporaries>, "elementwise work needs no memory");
static_assert(not std::is_empty_v<decltype(x - mean(x))::temporaries>);
static_assert(std::is_trivially_copyable_v<row_sum>, "a tree is a value");
static_assert(sizeof(flat_sum) <= 4 * sizeof(void*), "operands by address");

constexpr auto overlap() -> bool {
  return written_memory{nullptr, nullptr}.overlaps(nullptr,
                                                   nullptr);  // unknown in a constant expression
}
static_assert(overlap());
TEST_CASE("node: what is written, and what overlaps it") {
  float memory[10];
  auto const w = written_memory{memory + 2, memory + 5};
  CHECK(w.overlaps(memory, memory + 3));
  CHECK(w.overlaps(memory + 4, memory + 9));
  CHECK_FALSE(w.overlaps(memory, memory + 2));
  CHECK_FALSE(w.overlaps(memory + 5, memory + 9));
}
