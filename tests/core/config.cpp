// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/config.hpp>

TEST_CASE("config: a hosted program on x86-64 has vectors") {
#if defined(__x86_64__)
  CHECK(TESSERA_HOSTED == 1);
  CHECK(TESSERA_SIMD == 1);
#endif
#if defined(__FMA__)
  CHECK(TESSERA_FMA == 1);
#endif
  CHECK((TESSERA_FMA == 0 || TESSERA_FMA == 1));
}
