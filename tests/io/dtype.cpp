// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/dtype.hpp>

using namespace tessera;

static_assert(dtype_of<float>() == dtype::f32);
static_assert(dtype_of<double>() == dtype::f64);
static_assert(dtype_of<f16>() == dtype::f16);
static_assert(dtype_of<bf16>() == dtype::bf16);
static_assert(dtype_of<bool>() == dtype::boolean);
static_assert(dtype_of<std::byte>() == dtype::u8);
static_assert(dtype_of<std::int64_t>() == dtype::i64);
static_assert(dtype_of<std::uint16_t>() == dtype::u16);

TEST_CASE("dtype: names and sizes lead there and back") {
  for (auto i = 0; i <= static_cast<int>(dtype::u64); ++i) {
    auto const type = static_cast<dtype>(i);
    CHECK(dtype_of(name_of(type)) == type);
    CHECK(bits_of(type) >= 4);
  }
  CHECK(name_of(dtype::u64) == "U64");
  CHECK(bits_of(dtype::f6_e3m2) == 6);
  CHECK(bits_of(dtype::c64) == 64);
  CHECK_FALSE(dtype_of("f32"));
  CHECK_FALSE(dtype_of(""));
}
