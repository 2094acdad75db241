// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/simd/third_level.hpp>

using namespace tessera;

TEST_CASE("third_level: is near on processors of which it is known") {
  auto const is_near = lane::third_level_is_near();
  CHECK(is_near == lane::third_level_is_near());
#if TESSERA_MATRIX_UNIT
  if (__builtin_cpu_is("intel") != 0) CHECK(not is_near);
  if (__builtin_cpu_is("amd") != 0) CHECK(is_near);
#else
  CHECK(not is_near);
#endif
}
