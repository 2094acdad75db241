// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/train/folder_lock.hpp>

#include <sys/wait.h>

using namespace tessera;

TEST_CASE("folder_lock: one holder, who is named to others; then the folder is as before") {
  auto const folder = test::folder{};
  {
    auto const mine = folder_lock(folder.path());
    CHECK_THROWS_WITH(folder_lock(folder.path()),
                      Catch::Contains("belongs to a run that goes on: process " +
                                      std::to_string(::getpid()) + " on "));
  }
  CHECK(folder.files() == 0);
  CHECK_NOTHROW(folder_lock(folder.path()));
}
TEST_CASE("folder_lock: who was killed holds nothing") {
  auto const folder = test::folder{};
  auto const child = ::fork();
  if (child == 0) {
    auto const lock = folder_lock(folder.path());
    ::_exit(0);  // without its destructor
  }
  REQUIRE(child > 0);
  auto status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(std::filesystem::exists(folder / ".run.lock"));
  CHECK_NOTHROW(folder_lock(folder.path()));
  CHECK(folder.files() == 0);
}
TEST_CASE("folder_lock: a link or a pipe of that name, and a folder that is not there") {
  auto const folder = test::folder{};
  write_file(folder / "precious", "mine");
  std::filesystem::create_symlink(folder / "precious", folder / ".run.lock");
  CHECK_THROWS_WITH(folder_lock(folder.path()), Catch::Contains(".run.lock: cannot be locked"));
  CHECK(test::text_of(folder / "precious") == "mine");
  CHECK_THROWS_AS(folder_lock(folder / "none"), file_error);
}
