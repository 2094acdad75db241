// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/simd/first_level.hpp>

using namespace tessera;

TEST_CASE("first_level: waits for many lines on processors of which it is known") {
  auto const many = lane::first_level_waits_for_many();
  CHECK(many == lane::first_level_waits_for_many());
#if TESSERA_MATRIX_UNIT
  if (__builtin_cpu_is("intel") != 0) CHECK(not many);
  if (__builtin_cpu_is("znver3") != 0) CHECK(not many);
#else
  CHECK(not many);
#endif
  lane::fetch_near(&many);
  lane::fetch_near(nullptr);  // asks for nothing, and fails at nothing
}
