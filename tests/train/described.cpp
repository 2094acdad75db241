// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optim/optimizer.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/train/described.hpp>

using namespace tessera;

namespace {
enum class color { red = 3 };
struct inner {
  double share = 0.1;
  bool on = true;
};
struct outer {
  std::string word = "a";
  inner part = {};
  color c = color::red;
};
struct nothing_to_say {};
class private_one {
 public:
  [[nodiscard]] auto settings() const -> inner { return {.share = hidden_}; }

 private:
  double hidden_ = 0.25;
};
}  // namespace

TEST_CASE("described: every setting, by its value") {
  CHECK(described(adam{.rate = 0.003}) == "adam(0.003, 0.9, 0.999, 1e-08, 0)");
  CHECK(described(sgd{}) == "sgd(0.001, 0, 0, 0, false)");
  CHECK(described(sequential_lr{linear_lr{}, cosine_lr{.period = 7}, 4}) ==
        "sequential_lr(linear_lr(0.3333333333333333, 1, 5), cosine_lr(7, 0), 4)");
  CHECK(described(outer{}) == "outer(\"a\", inner(0.1, true), 3)");
  CHECK(described(nothing_to_say{}) == "nothing_to_say()");
  CHECK(described(private_one{}) == "private_one(inner(0.25, true))");
  CHECK(described(0.1F) == "0.1");
  CHECK(described(0.1) != described(0.1 + 1e-17 + 2e-17));
}
TEST_CASE("described: the extents of a shape") {
  CHECK(described_shape<shape<at_most(12), 4, 5>>() == "(<=12, 4, 5)");
  CHECK(described_shape<shape<>>() == "()");
}
