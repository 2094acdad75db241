// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <tessera/train/display.hpp>

#include <cstdlib>
#include <regex>

#include "small.hpp"

#include <fcntl.h>
#include <poll.h>

using namespace tessera;

namespace {
/// What a training of two epochs shows on this file;
void show(std::FILE* to, trainer_options options) {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = small::make(std::move(options));
  t->callbacks = {std::make_shared<epoch_display>(to)};
  t->fit(source, monitor);
}
}  // namespace

TEST_CASE("display: a file gets one line for each epoch, and no bar") {
  auto const folder = test::folder{};
  auto* const file = std::fopen((folder / "out").c_str(), "w");
  REQUIRE(file != nullptr);
  show(file, {.max_epochs = 3, .check_val_every_n_epoch = 2});
  (void)std::fclose(file);
  auto const text = test::text_of(folder / "out");
  auto const number = std::string{"[0-9.]+"};
  auto const line = [&](char const* epoch, std::string const& frozen) {
    return std::string{"epoch    "} + epoch + "/3  loss " + number + "  frozen " + frozen +
           "  norm " + number + "  rate 2.00e-02  " + number + " s\n";
  };
  CHECK(std::regex_match(text, std::regex{line("1", "-        ") + line("2", number + "\\*") +
                                          line("3", number + "[* ]")}));
}
TEST_CASE("display: a terminal gets bars that the line of the epoch takes away") {
  auto const leader = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (leader < 0) {
    WARN("no pseudo-terminal can be had here (/dev/pts): the bar was not shown");
    return;
  }
  REQUIRE((::grantpt(leader) == 0 && ::unlockpt(leader) == 0));
  auto* const terminal = std::fopen(::ptsname(leader), "w");
  REQUIRE(terminal != nullptr);
  struct slow : callback {  // a bar is shown ten times a second
    void on_train_batch_end(fit_control&, batch_report const&) override { ::usleep(60'000); }
  };
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({.max_epochs = 1});
  t->callbacks = {std::make_shared<slow>(), std::make_shared<epoch_display>(terminal)};
  t->fit(source);
  auto seen = std::string{};
  char text[4096];
  auto wait = pollfd{leader, POLLIN, 0};
  // In pieces, while the other end is open: what is on its way is lost with it.
  while (not seen.ends_with('\n') && ::poll(&wait, 1, 60'000) == 1) {
    auto const n = ::read(leader, text, sizeof text);
    REQUIRE(n > 0);
    seen.append(text, static_cast<std::size_t>(n));
  }
  (void)std::fclose(terminal);
  (void)::close(leader);
  CHECK(std::regex_search(
      seen,
      std::regex{"\r\\[#+ +\\] [1-4]/5  [0-9.]+ batches/s  [0-9]+:[0-9]+ left  loss [0-9.]+\033"}));
  CHECK(std::regex_search(seen, std::regex{"\r\033\\[Kepoch    1/1  loss "}));
}
TEST_CASE("display: the bar is as full as the epoch, with its rate and the time that is left") {
  CHECK(epoch_display::bar({.done = 0, .of = 3}) == '[' + std::string(30, ' ') + "] 0/3");
  CHECK(epoch_display::bar(
            {.done = 1, .of = 3, .seconds = 2, .loss = 0.25, .monitored_loss = 0.125}) ==
        '[' + std::string(10, '#') + std::string(20, ' ') +
            "] 1/3  0.5 batches/s  0:04 left  loss 0.2500  frozen 0.1250");
  CHECK(epoch_display::bar({.done = 3, .of = 3, .seconds = 2, .loss = 1, .monitored_loss = NAN}) ==
        '[' + std::string(30, '#') + "] 3/3  1.5 batches/s  0:00 left  loss 1.0000");
  auto const long_one =
      epoch_display::bar({.done = 110, .of = 7310, .seconds = 10, .monitored_loss = NAN}, 100);
  CHECK(long_one.find("110/7310  1 batches/s  2:00:00 left") != std::string::npos);
}
