// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/io/header.hpp>

using namespace tessera;

using model = sequential<linear<2, 1>>;

TEST_CASE("header: a table of numbers, exact in binary, and the signature") {
  auto const folder = test::folder{};
  auto p = parameters_of<model, owned<float>>{};
  get<0>(p).weight = {{0.1F, -3}};
  get<0>(p).bias = 1e-30F;
  write_header(folder / "weights.hpp", "my_weights", p);
  auto const text = test::text_of(folder / "weights.hpp");
  CHECK(text.find("namespace my_weights {") != std::string::npos);
  CHECK(text.find("inline constexpr float values[3] = {") != std::string::npos);
  CHECK(text.find("// 0.weight (1, 2)\n") != std::string::npos);
  for (auto const value : {0.1F, -3.0F, 1e-30F}) {
    char number[40];
    std::snprintf(number, sizeof number, " %aF,", static_cast<double>(value));
    CHECK(text.find(number) != std::string::npos);
  }
  char signature[20];
  std::snprintf(signature, sizeof signature, "0x%016llx",
                static_cast<unsigned long long>(signature_of(parameters_of<model, counted>{})));
  CHECK(text.find(std::string{"signature = "} + signature + ";") != std::string::npos);
}
TEST_CASE("header: a name that is none, and a folder that is not there, are refused") {
  auto const folder = test::folder{};
  auto const p = parameters_of<model, owned<float>>{};
  for (auto const* wrong : {"", "3d", "a-b", "a::b", "class", "int", "xor_eq"})
    CHECK_THROWS_WITH(write_header(folder / "w.hpp", wrong, p),
                      Catch::Matchers::Contains("expected the name of a namespace"));
  CHECK_THROWS_AS(write_header(folder / "no/w.hpp", "w", p), file_error);
  CHECK_THROWS_WITH(write_header(folder / "w.hpp", "w", parameters_of<relu_layer, owned<float>>{}),
                    "write_header: expected a model with parameters, got one without");
  CHECK(folder.files() == 0);
  write_header(folder / "w.hpp", "classes", p);
}
TEST_CASE("write_header: a number that is not finite is no number of C++, and is refused by name") {
  auto const folder = test::folder{};
  auto p = parameters_of<linear<2, 2>, owned<float>>{};
  p.bias(1) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(write_header(folder / "w.hpp", "net", p),
                    Catch::Contains("expected finite numbers, got nan in bias"));
  CHECK(folder.files() == 0);
}
TEST_CASE("write_header: a name is no code") {
  auto const folder = test::folder{};
  write_header(folder / "w.hpp", "net",
               parameters_of<sequential<named<"x\nint y;//", linear<1, 1>>>, owned<float>>{});
  auto const text = test::text_of(folder / "w.hpp");
  CHECK(text.find("// x\\nint y;//.weight (1, 1)\n") != std::string::npos);
}
