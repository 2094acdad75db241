// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/program/device.hpp>

using namespace tessera;

namespace {
auto const answers = [] { return true; };
auto const does_not = [] { return false; };
}  // namespace

TEST_CASE("device: auto takes what is there, and says why") {
  CHECK(choose_device("auto", answers).cuda);
  CHECK(choose_device("auto", answers).line == "device: cuda");
  CHECK_FALSE(choose_device("auto", does_not).cuda);
  CHECK(choose_device("auto", does_not).line == "device: cpu, as no CUDA device answers");
  CHECK_FALSE(choose_device("auto").cuda);
  CHECK(choose_device("auto").line == "device: cpu, as this program is built without CUDA");
}
TEST_CASE("device: what is not compiled for CUDA stays on the cpu, or is refused by name") {
  CHECK(choose_device("auto", answers, "the model gru of 32").line ==
        "device: cpu, as the model gru of 32 is not compiled for CUDA");
  CHECK_FALSE(choose_device("auto", answers, "the model gru of 32").cuda);
  CHECK_THROWS_WITH(choose_device("cuda", answers, "the model gru of 32"),
                    "--device: cuda was asked for, and the model gru of 32 is not compiled for "
                    "CUDA");
  CHECK_THROWS_WITH(choose_device("cuda", does_not, "the model gru of 32"),
                    "--device: cuda was asked for, and no CUDA device answers");
}
TEST_CASE("device: what is asked for is what it comes to, or a refusal") {
  CHECK_FALSE(choose_device("cpu", answers).cuda);
  CHECK(choose_device("cpu", answers).line == "device: cpu");
  CHECK(choose_device("cuda", answers).cuda);
  CHECK_THROWS_WITH(choose_device("cuda", does_not),
                    "--device: cuda was asked for, and no CUDA device answers");
  CHECK_THROWS_WITH(choose_device("cuda"),
                    "--device: cuda was asked for, and this program is built without CUDA");
  CHECK_THROWS_WITH(choose_device("tpu"), "--device: expected one of auto, cpu, cuda, got tpu");
}
