// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/io/mapped_file.hpp>

using namespace tessera;

namespace {
[[nodiscard]] auto text_of(mapped_file const& file) -> std::string {
  auto const bytes = file.bytes();
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
}  // namespace

TEST_CASE("mapped_file: the content of a file, also after another took its name") {
  auto const folder = test::folder{};
  auto const content = std::string(10'000, 'x') + "end";
  write_file(folder / "a", content);
  auto file = mapped_file(folder / "a");
  CHECK(text_of(file) == content);
  write_file(folder / "a", "another");
  CHECK(text_of(file) == content);
  auto const moved = std::move(file);
  CHECK(text_of(moved) == content);
  auto other = mapped_file(folder / "a");
  other = mapped_file(folder / "a");
  CHECK(text_of(other) == "another");
}
TEST_CASE("mapped_file: an empty file has no bytes, and what is no file is refused") {
  auto const folder = test::folder{};
  write_file(folder / "empty", "");
  CHECK(mapped_file(folder / "empty").path() == folder / "empty");
  auto const file = mapped_file(folder / "empty");
  CHECK(file.bytes().empty());
  CHECK_THROWS_WITH(mapped_file(folder / "none"), Catch::Contains("none: cannot be read"));
  CHECK_THROWS_WITH(mapped_file(folder.path()), Catch::Contains("is a folder"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK_THROWS_WITH(mapped_file(folder / "pipe"), Catch::Contains("is a pipe"));
}
