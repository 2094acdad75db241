// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
using X = tensor<float, shape<2, 3>>;
static_assert(std::is_trivially_copyable_v<X> && std::is_trivially_default_constructible_v<X>);
static_assert(alignof(X) == 64 && sizeof(X) == 64, "padded at its end, to 64 bytes on a host");
static_assert(sizeof(tensor<float, shape<17>>) == 128 && sizeof(tensor<double, shape<>>) == 64);
static_assert(sizeof(view<float, shape<2, 3>>) == sizeof(float*), "fixed extents take no memory");
static_assert(sizeof(view<float, shape<at_most(2), 3>>) == 2 * sizeof(void*));
static_assert(std::is_trivially_copyable_v<view<float, shape<2>>>);
static_assert(std::convertible_to<view<float, shape<2>>, view<float const, shape<2>>>);
static_assert(not std::convertible_to<view<float const, shape<2>>, view<float, shape<2>>>);

// -- values by hand -------------------------------------------------------------------------------
constexpr auto elements() -> bool {
  auto x = X{{1, 2, 3, 4, 5}};
  x(0, 1) = 20;
  x[1][0] = 40;
  auto const& c = x;
  return c(0, 1) == 20 && c[1](0) == 40 && c(1, 2) == 0 && c.size() == 6 && *(c.end() - 1) == 0;
}
static_assert(elements());
constexpr auto from_an_array() -> bool {
  constexpr auto weights = X{{1, 2, 3, 4, 5, 6}};  // in flash on a small machine
  return weights(1, 2) == 6;
}
static_assert(from_an_array());
TEST_CASE("tensor: elements, rows, missing values") { CHECK((elements() && from_an_array())); }

TEST_CASE("view: bounded extents are contiguous at what they are") {
  auto x = tensor<float, shape<at_most(4), at_most(5), 2>>{};
  auto const v = x.sized(3, 2);
  CHECK(v.size() == 12);
  CHECK(v.rows() == 6);
  CHECK(v.extent_of<1>() == 2);
  v(2, 1, 1) = 7;
  CHECK(x.values[11] == 7);
  CHECK(v[2].data() == x.data() + 8);
  CHECK(x.sized_like(v).size() == 12);
}
TEST_CASE("view: a part of nothing is nothing") {
  auto const none = view<float, shape<4, 3>>{};
  CHECK_FALSE(none.has_memory());
  CHECK_FALSE(none[2].has_memory());
}
TEST_CASE("view: a named one is pointed elsewhere, an unnamed one is written") {
  auto x = X{{1, 2, 3, 4, 5, 6}};
  auto v = x[0];
  v = x[1];
  CHECK(v.data() == x.data() + 3);
  x[0] = x[1];
  CHECK(x(0, 0) == 4);
  CHECK(x(0, 2) == 6);
  x[1] = 9;
  CHECK(x(1, 1) == 9);
}
TEST_CASE("tensor: an uninitialized one is not written, a braced one is zero") {
  alignas(X) std::byte memory[sizeof(X)];
  std::memset(memory, 0xFF, sizeof memory);
  auto* const x = ::new (memory) X;
  auto bits = std::uint32_t{};
  std::memcpy(&bits, &x->values[0], sizeof bits);
  CHECK(bits == 0xFFFFFFFFU);
  *x = {};
  for (auto const value : x->values) CHECK(value == 0);
}
TEST_CASE("tensor: an extent above its bound breaks the contract") {
  auto x = tensor<float, shape<at_most(4), 3>>{};
  auto const& fixed = x;
  CHECK(x.sized(4).size() == 12);
  CHECK(x.sized(0).size() == 0);
  CHECK_THROWS_AS(x.sized(5), std::invalid_argument);
  CHECK_THROWS_AS(fixed.sized(9), std::invalid_argument);
  CHECK_THROWS_AS(x.sized(-1), std::invalid_argument);
  using V = view<float, shape<at_most(4), 3>>;
  CHECK_THROWS_AS(V(x.values, {{{16}}}), std::invalid_argument);
  auto larger = tensor<float, shape<at_most(8), 3>>{};
  CHECK_THROWS_AS(x.sized_like(larger.sized(6)), std::invalid_argument);
  CHECK_THROWS_AS(at_most(static_cast<extent>(fixed.sized(3).size()) - 10), std::invalid_argument);
}
TEST_CASE("tensor: an element of a temporary is a number, and expressions keep temporaries") {
  auto const make = [] { return tensor<float, shape<2, 2>>{{1, 2, 3, 4}}; };
  static_assert(std::same_as<decltype(make()(1, 0)), float>);
  CHECK(make()(1, 0) == 3);
  auto const e = make() * make();
  CHECK(evaluate(e)(1, 1) == 16);
}
