// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/train/log.hpp>

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
TEST_CASE("log: a resumed training keeps the epochs before it and no other") {
  auto const folder = test::folder{};
  {
    auto log = epoch_log(folder.path());
    for (auto e = std::uint64_t{1}; e <= 5; ++e) log.add(report(e));
  }
  auto log = epoch_log(folder.path(), 3);
  log.add(report(4));
  auto const text = test::text_of(folder / "log.csv");
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  auto const lines = test::text_of(folder / "log.jsonl");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 4);
  epoch_log(folder.path());
  CHECK(test::text_of(folder / "log.jsonl").empty());
}
TEST_CASE("log: a folder that is not there is named") {
  auto const folder = test::folder{};
  CHECK_THROWS_AS(epoch_log(folder / "none"), file_error);
}
