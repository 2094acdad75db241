// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/small_disk.hpp>
#include <tessera/io/file.hpp>

using namespace tessera;

TEST_CASE("file: what is written is read") {
  auto const folder = test::folder{};
  write_file(folder / "a", std::string(100'000, 'x'));
  CHECK(read_file(folder / "a").size() == 100'000);
  CHECK(read_text(folder / "a").size() == 100'000);
  write_file(folder / "a", "new");
  CHECK(test::text_of(folder / "a") == "new");
  append_file(folder / "a", " and more");
  CHECK(test::text_of(folder / "a") == "new and more");
  write_file(folder / "empty", "");
  CHECK(read_file(folder / "empty").empty());
  CHECK(read_text(folder / "empty").empty());
  CHECK(folder.files() == 2);
}
TEST_CASE("file: errors name the file, and leave nothing") {
  auto const folder = test::folder{};
  CHECK_THROWS_WITH(read_file(folder / "none"),
                    Catch::Contains("none: cannot be read: No such file"));
  CHECK_THROWS_WITH(read_file(folder.path()), Catch::Contains("is a folder"));
  CHECK_THROWS_AS(write_file(folder / "none/a", "x"), file_error);
  CHECK_THROWS_WITH(append_file(folder / "none", "x"), Catch::Contains("none: cannot be written"));
  std::filesystem::create_directory(folder / "taken");
  CHECK_THROWS_WITH(write_file(folder / "taken", "x"), Catch::Contains("taken: cannot be written"));
  CHECK(folder.files() == 1);
}
TEST_CASE("file: a pipe without an end is refused, not waited for") {
  auto const folder = test::folder{};
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK_THROWS_WITH(read_file(folder / "pipe"), Catch::Contains("pipe: is a pipe or a device"));
  CHECK_THROWS_AS(append_file(folder / "pipe", "x"), file_error);
  CHECK_THROWS_WITH(read_file("/dev/zero"), Catch::Contains("is a pipe or a device"));
}
TEST_CASE("file: a disk that is full is reported, and the old content remains") {
  auto const folder = test::folder{};
  write_file(folder / "a", "old");
  {
    auto const disk = test::small_disk(50'000);
    CHECK_THROWS_WITH(write_file(folder / "a", std::string(100'000, 'x')),
                      Catch::Contains("a: cannot be written: File too large"));
  }
  CHECK(test::text_of(folder / "a") == "old");
  CHECK(folder.files() == 1);
}
TEST_CASE("file: a pipe is not replaced") {
  auto const folder = test::folder{};
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK_THROWS_WITH(write_file(folder / "pipe", "x"),
                    Catch::Contains("pipe: is a pipe or a device"));
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(folder.files() == 1);
}
TEST_CASE("file: a link stays one, and what it leads to is written") {
  auto const folder = test::folder{};
  std::filesystem::create_directory(folder / "there");
  write_file(folder / "there/real", "old");
  std::filesystem::create_symlink("there/second", folder / "first");
  std::filesystem::create_symlink(folder / "there/real", folder / "there/second");
  write_file(folder / "first", "new");
  CHECK(std::filesystem::is_symlink(folder / "first"));
  CHECK(std::filesystem::is_symlink(folder / "there/second"));
  CHECK(test::text_of(folder / "there/real") == "new");
  std::filesystem::create_symlink("not_yet", folder / "ahead");
  write_file(folder / "ahead", "made");
  CHECK(test::text_of(folder / "not_yet") == "made");
  std::filesystem::create_symlink("round", folder / "round");
  CHECK_THROWS_WITH(write_file(folder / "round", "x"), Catch::Contains("Too many levels"));
}
TEST_CASE("file: who may read it stays") {
  using std::filesystem::perms;
  auto const folder = test::folder{};
  write_file(folder / "a", "old");
  std::filesystem::permissions(folder / "a", perms::owner_read | perms::owner_write);
  write_file(folder / "a", "new");
  CHECK(std::filesystem::status(folder / "a").permissions() ==
        (perms::owner_read | perms::owner_write));
  std::filesystem::permissions(folder / "a", perms::owner_read);
  if (::geteuid() == 0) {
    WARN("root may write every file: that others may not is not seen");
    return;
  }
  CHECK_THROWS_WITH(write_file(folder / "a", "newer"), Catch::Contains("Permission denied"));
  CHECK(test::text_of(folder / "a") == "new");
}
TEST_CASE("file: a name as long as one may be") {
  auto const folder = test::folder{};
  auto const name = std::string(255, 'x');
  write_file(folder / name, "x");
  write_file(folder / name, "y");
  CHECK(test::text_of(folder / name) == "y");
  CHECK(folder.files() == 1);
}
TEST_CASE("file: a link under the name of a temporary file leads nowhere") {
  auto const folder = test::folder{};
  write_file(folder / "precious", "mine");
  for (auto i = 0; i < 100; ++i)
    std::filesystem::create_symlink(
        folder / "precious",
        folder / ("a." + std::to_string(::getpid()) + '-' + std::to_string(i) + ".part"));
  std::filesystem::create_symlink(folder / "precious", folder / "a.part");
  write_file(folder / "a", "new");
  CHECK(test::text_of(folder / "a") == "new");
  CHECK(test::text_of(folder / "precious") == "mine");
}
TEST_CASE("file: a size that no memory has is named, not std::bad_alloc") {
  auto const folder = test::folder{};
  write_file(folder / "sparse", "x");
  auto file = detail::input_file(folder / "sparse");
  CHECK_THROWS_WITH(file.read(std::uint64_t{1} << 63),
                    Catch::Contains("more than there is memory"));
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
