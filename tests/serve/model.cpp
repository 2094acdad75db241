// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/model.hpp>

using namespace tessera;

static_assert(datatype_named("FP32") == datatype::fp32);
static_assert(datatype_named("BYTES") == datatype::bytes);
static_assert(not datatype_named("fp32"));
static_assert(not datatype_named(""));

TEST_CASE("model: the type of a tensor is that of its values") {
  CHECK(name_of(served_tensor{"a", {1}, std::vector<float>{1}}.type()) == "FP32");
  CHECK(name_of(served_tensor{"a", {1}, std::vector<double>{1}}.type()) == "FP64");
  CHECK(name_of(served_tensor{"a", {1}, std::vector<std::int64_t>{1}}.type()) == "INT64");
  CHECK(name_of(served_tensor{"a", {1}, std::vector<std::string>{"x"}}.type()) == "BYTES");
}
