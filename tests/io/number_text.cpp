// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/number_text.hpp>

#include <cstdio>

using namespace tessera;

TEST_CASE("number_text: the letters of printf, where the locale is C's") {
  for (auto const value : {0.0, -0.0, 1.0, 0.001, -2.5e-7, 1.0 / 3, 123456789.0, 1234567890.0,
                           6.02e23, 5e-324, 1.7976931348623157e308, HUGE_VAL, -HUGE_VAL}) {
    char letters[64];
    (void)std::snprintf(letters, sizeof letters, "%.9g", value);
    CHECK(number_text(value, 9) == letters);
    (void)std::snprintf(letters, sizeof letters, "%.7g", value);
    CHECK(number_text(value, 7) == letters);
  }
  for (auto const value : {0.0, -0.0, 1.5, -2.5e-7, 1.0 / 3, 123456789.0625, 6.02e23}) {
    char letters[64];
    (void)std::snprintf(letters, sizeof letters, "%.3f", value);
    CHECK(fixed_number_text(value, 3) == letters);
  }
  for (auto const value : {0.0, -0.0, 1.0, 1.5, -0.1, 1.0 / 3, 6.02e23, 1e-300}) {
    char letters[64];
    (void)std::snprintf(letters, sizeof letters, "%a", value);
    CHECK(binary_number_text(value) == letters);
  }
}
