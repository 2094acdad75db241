// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/train/display.hpp>

using namespace tessera;

TEST_CASE("display: a file gets one line for each epoch, and no bar") {
  auto const folder = test::folder{};
  auto* const file = std::fopen((folder / "out").c_str(), "w");
  REQUIRE(file != nullptr);
  auto shown = epoch_display(20, file);
  for (auto e = std::uint64_t{1}; e <= 2; ++e) {
    for (auto b = std::uint64_t{0}; b < 100; ++b) shown.batch(b, 100);
    shown.epoch({.epoch = e,
                 .rate = 0.5,
                 .training_loss = 0.25,
                 .monitored_loss = 0.125,
                 .largest_gradient_norm = 3,
                 .seconds = 1.5,
                 .best = e == 2});
  }
  (void)std::fclose(file);
  CHECK(test::text_of(folder / "out") ==
        "epoch    1/20  loss 0.250000  frozen 0.125000   norm 3.00  rate 5.00e-01  1.50 s\n"
        "epoch    2/20  loss 0.250000  frozen 0.125000*  norm 3.00  rate 5.00e-01  1.50 s\n");
}
TEST_CASE("display: the bar is as full as the epoch") {
  CHECK(epoch_display::bar(0, 4) == '[' + std::string(40, ' ') + "] 0/4");
  CHECK(epoch_display::bar(1, 4) == '[' + std::string(10, '#') + std::string(30, ' ') + "] 1/4");
  CHECK(epoch_display::bar(4, 4) == '[' + std::string(40, '#') + "] 4/4");
}
