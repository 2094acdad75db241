// SPDX-License-Identifier: MIT
// EXPECT: described: a type that is no plain struct needs settings
// EXPECT: secret
// LINES: 8
#include <tessera/train/described.hpp>

class secret {
 public:
  secret() = default;
  [[nodiscard]] auto number() const -> int { return number_; }
#ifndef TESSERA_MUST_FAIL
  [[nodiscard]] auto settings() const -> int { return number_; }
#endif

 private:
  int number_ = 3;
};

auto main() -> int { return tessera::described(secret{}).empty() ? 1 : 0; }
