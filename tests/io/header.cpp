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
  for (auto const* wrong : {"", "3d", "a-b", "a::b"})
    CHECK_THROWS_WITH(write_header(folder / "w.hpp", wrong, p),
                      Catch::Matchers::Contains("expected the name of a namespace"));
  CHECK_THROWS_AS(write_header(folder / "no/w.hpp", "w", p), file_error);
}
TEST_CASE("write_header: a number that is not finite is no number of C++, and is refused by name") {
  auto const folder = test::folder{};
  auto p = parameters_of<linear<2, 2>, owned<float>>{};
  p.bias(1) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(write_header(folder / "w.hpp", "net", p),
                    Catch::Contains("expected finite numbers, got nan in bias"));
  CHECK(folder.files() == 0);
}
