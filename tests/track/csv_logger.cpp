// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/small_disk.hpp>
#include <tessera/track/csv_logger.hpp>

#include <limits>

using namespace tessera;

namespace {

using values = std::vector<named_value>;

}  // namespace

TEST_CASE("csv_logger: new names are columns behind the others, empty in the rows before") {
  auto const folder = test::folder{};
  auto log = csv_logger{folder / "run"};
  log.begin({.name = "a"});
  auto const metrics = [&] { return test::text_of(folder / "run/metrics.csv"); };
  CHECK(metrics() == "step\n");
  log.scalars(1, values{{"loss", 0.5}, {"rate", 1e-3}});
  log.scalars(2, values{{"loss", 0.1}});
  CHECK(metrics() == "step,loss,rate\n1,0.5,0.001\n2,0.1,\n");
  log.scalars(3, values{{"accuracy", 1}, {"loss", 0.25}});
  CHECK(metrics() == "step,loss,rate,accuracy\n1,0.5,0.001,\n2,0.1,,\n3,0.25,,1\n");
  log.scalars(4, values{{"rate", 2}});
  log.finish(run_state::finished);
  CHECK(metrics() == "step,loss,rate,accuracy\n1,0.5,0.001,\n2,0.1,,\n3,0.25,,1\n4,,2,\n");
}

TEST_CASE("csv_logger: names with commas and quotes, and numbers that are none") {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  auto const folder = test::folder{};
  auto log = csv_logger{folder.path()};
  log.begin({});
  log.scalars(1, values{{"a,b", std::numeric_limits<double>::quiet_NaN()}, {"c\"d", infinity}});
  log.scalars(2, values{{"e\nf", -infinity}});
  log.scalars(3, values{{"g", 1}});
  CHECK(test::text_of(folder / "metrics.csv") ==
        "step,\"a,b\",\"c\"\"d\",\"e\nf\",g\n1,nan,inf,,\n2,,,-inf,\n3,,,,1\n");
}

TEST_CASE("csv_logger: settings are YAML, and the newest of a name stays") {
  auto const folder = test::folder{};
  auto log = csv_logger{folder.path()};
  log.begin({.settings = {{"rate", 0.5}, {"n", 3}, {"name", "a: \"b\""}, {"bias", false}}});
  log.hyperparameters(std::vector<named_setting>{{"n", 4}}, values{{"best", 0.25}});
  CHECK(test::text_of(folder / "hparams.yaml") ==
        "\"rate\": 0.5\n\"n\": 4\n\"name\": \"a: \\\"b\\\"\"\n\"bias\": false\n\"best\": 0.25\n");
}

TEST_CASE("csv_logger: a folder that cannot be made is told of") {
  auto const folder = test::folder{};
  write_file(folder / "file", "");
  CHECK_THROWS_AS(csv_logger{folder / "file/run"}.begin({}), file_error);
}

TEST_CASE("csv_logger: a full disk is told of") {
  auto full = detail::growing_file{"/dev/full"};
  CHECK_THROWS_AS(full.add("a"), file_error);
}

TEST_CASE("csv_logger: a record that does not fit takes none of another writer") {
  auto const folder = test::folder{};
  auto one = detail::growing_file{folder / "log"};
  auto other = detail::growing_file{folder / "log", true};
  one.add("one\n");
  other.add("other\n");
  {
    auto const disk = test::small_disk{12};
    CHECK_THROWS_AS(one.add("too long\n"), file_error);
  }
  CHECK(test::text_of(folder / "log") == "one\nother\n");
  one.add("more\n");
  CHECK(one.size() == 15);
  CHECK(test::text_of(folder / "log") == "one\nother\nmore\n");
}

TEST_CASE("csv_logger: a folder is one run's at a time") {
  auto const folder = test::folder{};
  auto first = csv_logger{folder.path()};
  auto second = csv_logger{folder.path()};
  first.begin({.settings = {{"n", 1}}});
  first.scalars(1, values{{"loss", 0.5}});
  CHECK_THROWS_WITH(second.begin({}),
                    folder.path().string() + ": belongs to a run that goes on: process " +
                        std::to_string(::getpid()) + " on " + detail::host_name());
  first.scalars(2, values{{"loss", 0.25}});
  first.finish(run_state::finished);
  CHECK(test::text_of(folder / "metrics.csv") == "step,loss\n1,0.5\n2,0.25\n");
  CHECK(test::text_of(folder / "hparams.yaml") == "\"n\": 1\n");
  second.begin({});
  CHECK(test::text_of(folder / "metrics.1.csv") == "step,loss\n1,0.5\n2,0.25\n");
}

TEST_CASE("csv_logger: what PyYAML takes for no letter, or an end of a line, is escaped") {
  auto const folder = test::folder{};
  auto log = csv_logger{folder.path()};
  log.begin({.settings = {
                 {"a\x7f", "\x1b[1m\x7f\xc2\x80\xc2\x85\xc2\x9f\xc2\xa0\xc3\xa4"},
                 {"b", "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf"},
                 {"c", "\xf0\x9f\x98\x80\xff\\"}}});
  CHECK(test::text_of(folder / "hparams.yaml") ==
        "\"a\\u007f\": \"\\u001b[1m\\u007f\\u0080\\u0085\\u009f\xc2\xa0\xc3\xa4\"\n"
        "\"b\": \"\xe2\x80\xa7\\u2028\\u2029\xef\xbf\xbd\\ufffe\\uffff\"\n"
        "\"c\": \"\xf0\x9f\x98\x80\xef\xbf\xbd\\\\\"\n");
}

TEST_CASE("csv_logger: a scalar may not take the place of the step") {
  auto const folder = test::folder{};
  auto log = csv_logger{folder.path()};
  log.begin({});
  CHECK_THROWS_WITH(log.scalars(7, values{{"loss", 1}, {"step", 0.5}}),
                    Catch::Contains("expected a name other than \"step\""));
  log.scalars(8, values{{"loss", 1}});
  CHECK(test::text_of(folder / "metrics.csv") == "step,loss\n8,1\n");
}
TEST_CASE("csv_logger: the file of an earlier run has another name from then on") {
  auto const folder = test::folder{};
  for (auto const loss : {0.5, 0.25, 0.125}) {
    auto log = csv_logger{folder.path()};
    log.begin({});
    log.scalars(1, values{{"loss", loss}});
  }
  CHECK(test::text_of(folder / "metrics.1.csv") == "step,loss\n1,0.5\n");
  CHECK(test::text_of(folder / "metrics.2.csv") == "step,loss\n1,0.25\n");
  CHECK(test::text_of(folder / "metrics.csv") == "step,loss\n1,0.125\n");
}
TEST_CASE("csv_logger: numbers with an exponent have a point, without which YAML 1.1 has none") {
  auto const folder = test::folder{};
  auto log = csv_logger{folder.path()};
  log.begin({.settings = {{"a", 1e-4}, {"b", 1e6}, {"c", 1.5e-7}, {"d", 0.5}, {"e", "1e-4"}}});
  CHECK(test::text_of(folder / "hparams.yaml") ==
        "\"a\": 1.0e-04\n\"b\": 1.0e+06\n\"c\": 1.5e-07\n\"d\": 0.5\n\"e\": \"1e-4\"\n");
}
