// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/program/gnuplot.hpp>

#include <cstdlib>

using namespace tessera;

namespace {

auto reason_of(std::filesystem::path const& folder, std::string const& script) -> std::string {
  try {
    run_gnuplot(folder, script);
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return "nothing is thrown";
}

}  // namespace

TEST_CASE("gnuplot: a script runs in its folder, whatever the name of that is") {
  auto const folder = test::folder{};
  for (auto const* const name : {"plain", "a b", "it's", "\"q\"", "$(touch oops)", "; touch oops;",
                                 "'; system('touch oops'); '"}) {
    INFO(name);
    auto const inner = folder / name;
    std::filesystem::create_directories(inner);
    auto const script = std::string{"set print 'printed.txt'\nprint 6 * 7\n"};
    run_gnuplot(inner, script);
    CHECK(test::text_of(inner / "printed.txt") == "42\n");
    CHECK(test::text_of(inner / "plots.gp") == script);
    CHECK(not std::filesystem::exists(inner / "oops"));
  }
  CHECK(folder.files() == 7);  // no oops
}

TEST_CASE("gnuplot: a text is a text, whatever stands in it") {
  auto const folder = test::folder{};
  for (auto const* const text :
       {"", "plain", "it's", "''", "'", "'; system('touch oops'); '", "`touch oops`",
        "$(touch oops)", "\"q\"", "@GPVAL_VERSION", "back\\", "\\n", "# none", "caf\xc3\xa9",
        "two\nlines", "a\n!touch oops\n\x7f"}) {
    INFO(text);
    run_gnuplot(folder.path(), "set print 'printed.txt'\nprint " + gnuplot_text(text) + '\n');
    CHECK(test::text_of(folder / "printed.txt") == std::string{text} + '\n');
  }
  CHECK(gnuplot_text("a 1's\n") == "\"a 1\\047s\\012\"");
  CHECK(folder.files() == 2);  // no oops
}

TEST_CASE("gnuplot: a script that fails is named with the reason") {
  auto const folder = test::folder{};
  auto const failed = "gnuplot failed on " + (folder / "plots.gp").string() + ": ";
  CHECK(reason_of(folder.path(), "exit status 3\n") == failed + "it ended with 3");
  CHECK(reason_of(folder.path(), "plot 'none.csv'\n") == failed + "it ended with 1");
  CHECK(reason_of(folder.path(), "system('kill -9 $PPID')\n") ==
        failed + "it was killed by signal 9");
}

TEST_CASE("gnuplot: without gnuplot the message asks for it") {
  auto const folder = test::folder{};
  auto const path = std::string{std::getenv("PATH")};
  REQUIRE(::setenv("PATH", folder.path().c_str(), 1) == 0);
  auto const said = reason_of(folder.path(), "exit\n");
  REQUIRE(::setenv("PATH", path.c_str(), 1) == 0);
  CHECK(said == "gnuplot failed on " + (folder / "plots.gp").string() + ": is gnuplot installed?");
}

TEST_CASE("gnuplot: a folder that is not there is refused as a file is") {
  auto const folder = test::folder{};
  CHECK_THROWS_AS(run_gnuplot(folder / "none", "exit\n"), file_error);
}
