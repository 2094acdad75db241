// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/core/file.hpp>

using namespace tessera;

TEST_CASE("file: what is written is read") {
  auto const folder = test::folder{};
  write_file(folder / "a", std::string(100'000, 'x'));
  CHECK(read_file(folder / "a").size() == 100'000);
  write_file(folder / "a", "new");
  CHECK(test::text_of(folder / "a") == "new");
  write_file(folder / "empty", "");
  CHECK(read_file(folder / "empty").empty());
  CHECK(folder.files() == 2);
}
TEST_CASE("file: errors name the file, and leave nothing") {
  auto const folder = test::folder{};
  CHECK_THROWS_WITH(read_file(folder / "none"),
                    Catch::Contains("none: cannot be read: No such file"));
  CHECK_THROWS_WITH(read_file(folder.path()), Catch::Contains("is a folder"));
  CHECK_THROWS_AS(write_file(folder / "none/a", "x"), file_error);
  std::filesystem::create_directory(folder / "taken");
  CHECK_THROWS_WITH(write_file(folder / "taken", "x"), Catch::Contains("taken: cannot be written"));
  CHECK(folder.files() == 1);
}
TEST_CASE("file: a disk that is full is reported") {
  // The temporary file's name leads to a device that is always full.
  auto const folder = test::folder{};
  std::filesystem::create_symlink("/dev/full", folder / "a.part");
  write_file(folder / "b", "old");
  CHECK_THROWS_WITH(write_file(folder / "a", std::string(100'000, 'x')),
                    Catch::Contains("No space left on device"));
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
  CHECK(folder.files() == 1);
}
TEST_CASE("file: a reader keeps the file that it opened") {
  auto const folder = test::folder{};
  write_file(folder / "a", "first content");
  auto old = std::ifstream{folder / "a"};
  write_file(folder / "a", "second");
  auto line = std::string{};
  std::getline(old, line);
  CHECK(line == "first content");
}
