// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/io/file.hpp>
#include <tessera/serve/process_metrics.hpp>

#include <chrono>
#include <cstdlib>

using namespace tessera;

namespace {

auto value_of(std::string const& text, std::string const& name) -> double {
  auto const at = text.find('\n' + name + ' ');
  REQUIRE(at != std::string::npos);
  return std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

}  // namespace

TEST_CASE("process_metrics: they are what the system says") {
  auto all = metrics{};
  add_process_metrics(all);
  auto const text = all.text();
  auto const now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(value_of(text, "process_start_time_seconds") > now - 3600);
  CHECK(value_of(text, "process_start_time_seconds") < now + 5);
  CHECK(value_of(text, "process_resident_memory_bytes") > 1e6);
  CHECK(value_of(text, "process_virtual_memory_bytes") >=
        value_of(text, "process_resident_memory_bytes"));
  CHECK(value_of(text, "process_open_fds") >= 3);
  CHECK(value_of(text, "process_max_fds") > value_of(text, "process_open_fds"));
  CHECK(value_of(text, "process_cpu_seconds_total") >= 0);
}
TEST_CASE("process_metrics: promtool has nothing to say, where there is one") {
  if (std::system("promtool --version >/dev/null 2>&1") != 0) return;
  auto all = metrics{};
  add_process_metrics(all);
  all.counter_of("nn_a_total", "A.", {{"x", "a\"b\\c\nd"}}).add();
  all.histogram_of("nn_wait_seconds", "B.").observe(1);
  auto const folder = test::folder{};
  write_file(folder / "metrics", all.text());
  CHECK(std::system(("promtool check metrics <" + (folder / "metrics").string()).c_str()) == 0);
}
