// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/optimize/trial_locks.hpp>

#include <sys/wait.h>

using namespace tessera;

TEST_CASE("trial_locks: held by one object or several, seen by all") {
  auto const folder = test::folder{};
  auto a = trial_locks(folder / "s.running");
  auto b = trial_locks(folder / "s.running");
  auto const c = trial_locks(folder / "s.running");
  a.hold(3);
  b.hold(3);
  CHECK(a.is_held(3));
  CHECK(c.is_held(3));
  CHECK_FALSE(c.is_held(2));
  CHECK_FALSE(c.is_held(4));
  a.hold(5);
  CHECK(a.is_held(5));
  a.release(3);
  CHECK(c.is_held(3));
  b.release(3);
  CHECK_FALSE(c.is_held(3));
  b.release(3);  // nothing
}
TEST_CASE("trial_locks: gone with the process, however it ends") {
  auto const folder = test::folder{};
  auto const mine = trial_locks(folder / "s.running");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  auto const child = ::fork();
  if (child == 0) {
    auto locks = trial_locks(folder / "s.running");
    locks.hold(7);
    (void)!::write(ready[1], "x", 1);
    for (;;) ::pause();
  }
  REQUIRE(child > 0);
  auto letter = char{};
  REQUIRE(::read(ready[0], &letter, 1) == 1);
  CHECK(mine.is_held(7));
  REQUIRE(::kill(child, SIGKILL) == 0);
  auto status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_FALSE(mine.is_held(7));
  (void)::close(ready[0]);
  (void)::close(ready[1]);
}
TEST_CASE("trial_locks: no place for the file") {
  auto const folder = test::folder{};
  CHECK_THROWS_WITH(trial_locks(folder / "none" / "s.running"),
                    Catch::Contains("s.running: cannot be locked: No such file"));
}
