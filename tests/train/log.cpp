// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/train/log.hpp>

#include <cmath>

using namespace tessera;

namespace {
[[nodiscard]] auto report(std::uint64_t epoch) {
  return epoch_report{.epoch = epoch,
                      .rate = 0.5,
                      .training_loss = 0.25,
                      .monitored_loss = 0.125,
                      .largest_gradient_norm = 3,
                      .seconds = 1.5};
}
}  // namespace

TEST_CASE("log: a line for each epoch, as CSV and as JSON") {
  auto const folder = test::folder{};
  auto log = epoch_log(folder.path());
  log.add(report(1));
  log.add(report(2));
  CHECK(test::text_of(folder / "log.csv") ==
        std::string{epoch_log::header} + "\n1,0.5,0.25,0.125,3,1.500\n2,0.5,0.25,0.125,3,1.500\n");
  CHECK(
      test::text_of(folder / "log.jsonl").substr(0, 105) ==
      R"({"epoch":1,"rate":0.5,"training_loss":0.25,"monitored_loss":0.125,"largest_gradient_norm":3,"seconds":1.5)");
}
namespace {
/// What a checkpoint after these epochs keeps.
[[nodiscard]] auto digest_after(std::uint64_t epochs) -> std::uint64_t {
  auto digest = std::uint64_t{0};
  for (auto e = std::uint64_t{1}; e <= epochs; ++e) digest = log_digest(digest, report(e));
  return digest;
}
void write_epochs(test::folder const& folder, std::uint64_t epochs) {
  auto const log = epoch_log(folder.path());
  for (auto e = std::uint64_t{1}; e <= epochs; ++e) log.add(report(e));
}
}  // namespace

TEST_CASE("log: a resumed training keeps the epochs before it and no other") {
  auto const folder = test::folder{};
  write_epochs(folder, 5);
  auto log = epoch_log(folder.path(), 3, digest_after(3));
  log.add(report(4));
  auto const text = test::text_of(folder / "log.csv");
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  auto const lines = test::text_of(folder / "log.jsonl");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 4);
  epoch_log(folder.path());
  CHECK(test::text_of(folder / "log.jsonl").empty());
}
TEST_CASE("log: rows that are missing, cut or another training's are refused, and stay") {
  auto const folder = test::folder{};
  auto const refused = [&](std::string const& content) {
    write_file(folder / "log.csv", content);
    CHECK_THROWS_WITH(epoch_log(folder.path(), 3, digest_after(3)),
                      Catch::Contains("log.csv: expected the rows of epochs 1 to 3"));
    CHECK(test::text_of(folder / "log.csv") == content);
  };
  write_epochs(folder, 2);
  refused(test::text_of(folder / "log.csv"));
  write_epochs(folder, 3);
  auto whole = test::text_of(folder / "log.csv");
  refused(whole.substr(0, whole.size() - 1));
  refused(whole.substr(whole.find('\n') + 1));
  refused("");
  auto other = whole;
  other[other.find("0.125")] = '1';
  refused(other);
  std::filesystem::remove(folder / "log.csv");
  CHECK_THROWS_WITH(epoch_log(folder.path(), 3, digest_after(3)),
                    Catch::Contains("log.csv: expected the rows of epochs 1 to 3"));
}
TEST_CASE("log: the rows that it would begin with are told, and nothing is written") {
  auto const folder = test::folder{};
  write_epochs(folder, 5);
  auto const whole = test::text_of(folder / "log.csv");
  auto const rows = epoch_log::rows_of(folder.path(), 3, digest_after(3), {});
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 4);
  CHECK(whole.starts_with(rows));
  CHECK_THROWS_AS(epoch_log::rows_of(folder.path(), 6, digest_after(6), {}), file_error);
  CHECK(test::text_of(folder / "log.csv") == whole);
  CHECK(epoch_log::rows_of(folder / "none", 0, 0, {"a"}).ends_with(",a,seconds\n"));
}
TEST_CASE("log: lost or foreign lines of log.jsonl are written anew from the rows") {
  auto const folder = test::folder{};
  write_epochs(folder, 3);
  auto const lines = test::text_of(folder / "log.jsonl");
  write_file(folder / "log.jsonl", "{\"epoch\":7}\n");
  epoch_log(folder.path(), 3, digest_after(3));
  CHECK(test::text_of(folder / "log.jsonl") == lines);
}
TEST_CASE("log: it goes on under another name of its folder") {
  auto const folder = test::folder{};
  std::filesystem::create_directory(folder / "a");
  auto log = epoch_log(folder / "a");
  std::filesystem::rename(folder / "a", folder / "b");
  CHECK_THROWS_AS(log.add(report(1)), file_error);
  log.move_to(folder / "b");
  log.add(report(1));
  CHECK(test::text_of(folder / "b/log.csv").ends_with("\n1,0.5,0.25,0.125,3,1.500\n"));
}
TEST_CASE("log: a folder that is not there is named") {
  auto const folder = test::folder{};
  CHECK_THROWS_AS(epoch_log(folder / "none"), file_error);
}
TEST_CASE("log: what was written is read, an epoch without a validation as well") {
  auto const folder = test::folder{};
  auto scored = report(1);
  scored.scores = {{.name = "accuracy", .value = 0.75}};
  auto unseen = report(2);
  unseen.monitored_loss = unseen.scores.emplace_back("accuracy").value = std::nan("");
  auto log = epoch_log(folder.path(), 0, 0, {"accuracy"});
  log.add(scored);
  log.add(unseen);
  auto const read = read_epoch_log(folder.path());
  REQUIRE(read.size() == 2);
  CHECK(read[0].epoch == 1);
  CHECK(read[0].rate == 0.5);
  CHECK(read[0].training_loss == 0.25);
  CHECK(read[0].monitored_loss == 0.125);
  CHECK(read[0].largest_gradient_norm == 3);
  CHECK(read[0].seconds == 1.5);
  REQUIRE(read[0].scores.size() == 1);
  CHECK(read[0].scores[0].name == "accuracy");
  CHECK(read[0].scores[0].value == 0.75);
  CHECK(std::isnan(read[1].monitored_loss));
  CHECK(std::isnan(read[1].scores[0].value));
  append_file(folder / "log.csv", "3,0.5,0.25");
  CHECK_THROWS_WITH(read_epoch_log(folder.path()), Catch::Contains("a row without its end"));
}
TEST_CASE("log: a score that is infinite is null in JSON; a name that ends a cell is refused") {
  auto const folder = test::folder{};
  auto const log = epoch_log{folder.path(), 0, 0, {"perplexity"}};
  auto report = epoch_report{.epoch = 1};
  report.scores = {{"perplexity", std::numeric_limits<double>::infinity()}};
  log.add(report);
  CHECK(test::text_of(folder / "log.jsonl").find("\"perplexity\":null") != std::string::npos);
  CHECK(read_epoch_log(folder.path())[0].scores[0].value ==
        std::numeric_limits<double>::infinity());
  for (auto const* name : {"a,b", "a\"b", "a\nb"})
    CHECK_THROWS_WITH((epoch_log{folder.path(), 0, 0, {name}}),
                      Catch::Contains("names of scores without a comma"));
  write_file(folder / "log.csv", std::string{epoch_log::header} + "\n1,x,0,0,0,0\n");
  CHECK_THROWS_WITH(read_epoch_log(folder.path()), Catch::Contains("expected a number, got \"x\""));
}
