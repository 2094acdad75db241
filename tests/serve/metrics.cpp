// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/metrics.hpp>

#include <thread>

using namespace tessera;
using Catch::Contains;

TEST_CASE("metrics: the text is Prometheus' format 0.0.4") {
  auto all = metrics{};
  all.counter_of("app_requests_total", "Requests so far.", {{"code", "200"}}).add();
  all.counter_of("app_requests_total", "Requests so far.", {{"code", "404"}}).add(2);
  all.gauge_of("app_queue_length", "Waiting\nnow, or \\ then.").set(-1.5);
  auto& times = all.histogram_of("app_duration_seconds", "How long it took.",
                                 {{"path", "a\"b\\c\nd"}}, {0.1, 1});
  for (auto const value : {0.05, 0.1, 0.5, 7.0}) times.observe(value);
  all.ask("app_answer_ratio", "Asked when it is read.", "gauge", [] { return 0.25; });
  CHECK(all.text() == R"(# HELP app_answer_ratio Asked when it is read.
# TYPE app_answer_ratio gauge
app_answer_ratio 0.25
# HELP app_duration_seconds How long it took.
# TYPE app_duration_seconds histogram
app_duration_seconds_bucket{path="a\"b\\c\nd",le="0.1"} 2
app_duration_seconds_bucket{path="a\"b\\c\nd",le="1"} 3
app_duration_seconds_bucket{path="a\"b\\c\nd",le="+Inf"} 4
app_duration_seconds_sum{path="a\"b\\c\nd"} 7.65
app_duration_seconds_count{path="a\"b\\c\nd"} 4
# HELP app_queue_length Waiting\nnow, or \\ then.
# TYPE app_queue_length gauge
app_queue_length -1.5
# HELP app_requests_total Requests so far.
# TYPE app_requests_total counter
app_requests_total{code="200"} 1
app_requests_total{code="404"} 2
)");
}
TEST_CASE("metrics: numbers that are none have their names") {
  auto all = metrics{};
  all.gauge_of("a", "A.").set(INFINITY);
  all.gauge_of("b", "B.").set(-INFINITY);
  all.gauge_of("c", "C.").set(NAN);
  CHECK_THAT(all.text(), Contains("\na +Inf\n"));
  CHECK_THAT(all.text(), Contains("\nb -Inf\n"));
  CHECK_THAT(all.text(), Contains("\nc NaN\n"));
}
TEST_CASE("metrics: the same name and labels are the same metric") {
  auto all = metrics{};
  auto& one = all.counter_of("a_total", "A.", {{"x", "1"}});
  CHECK(&one == &all.counter_of("a_total", "A.", {{"x", "1"}}));
  CHECK(&one != &all.counter_of("a_total", "A.", {{"x", "2"}}));
}
TEST_CASE("metrics: names that break the rules are refused") {
  auto all = metrics{};
  (void)all.gauge_of("taken", "A gauge.");
  CHECK_THROWS_WITH(all.counter_of("requests", "No."), Contains("_total"));
  CHECK_THROWS_WITH(all.gauge_of("camelCase", "No."), Contains("camelCase"));
  CHECK_THROWS_AS(all.gauge_of("1st", "No."), std::invalid_argument);
  CHECK_THROWS_AS(all.gauge_of("", "No."), std::invalid_argument);
  CHECK_THROWS_WITH(all.gauge_of("silent", ""), Contains("what it is"));
  CHECK_THROWS_AS(all.gauge_of("a", "No.", {{"b c", "1"}}), std::invalid_argument);
  CHECK_THROWS_AS(all.histogram_of("h", "No.", {}, {2, 1}), std::invalid_argument);
  CHECK_THROWS_WITH(all.histogram_of("taken", "No."), Contains("is a gauge, not a histogram"));
}
TEST_CASE("metrics: nothing is lost where threads count at once") {
  auto all = metrics{};
  auto& count = all.counter_of("a_total", "A.");
  auto& times = all.histogram_of("b_seconds", "B.", {}, {1, 2});
  auto threads = std::vector<std::thread>{};
  for (auto t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (auto i = 0; i < 10'000; ++i) {
        count.add();
        times.observe(i % 3 + 0.5);
        if (i % 1000 == 0) (void)all.text();
      }
    });
  for (auto& one : threads) one.join();
  CHECK(count.value() == 40'000);
  CHECK(times.cumulative() == std::vector<std::uint64_t>{13336, 26668, 40'000});
  CHECK(times.sum() == 13336 * 0.5 + 13332 * 1.5 + 13332 * 2.5);
}
TEST_CASE("metrics: what is no number is above every bound, and makes the sum none") {
  auto all = metrics{};
  auto& times = all.histogram_of("a_seconds", "A.", {}, {0.1, 1});
  times.observe(0.5);
  times.observe(NAN);
  CHECK(times.cumulative() == std::vector<std::uint64_t>{0, 1, 2});
  CHECK_THAT(all.text(), Contains("\na_seconds_sum NaN\n"));
  CHECK_THAT(all.text(), Contains("\na_seconds_count 2\n"));
}
TEST_CASE("metrics: bounds are written without an exponent") {
  auto all = metrics{};
  (void)all.histogram_of("a_seconds", "A.");
  CHECK_THAT(all.text(), Contains("le=\"0.0005\""));
  (void)all.histogram_of("b_bytes", "B.", {}, {5e-324, 1e-5, 1e6, 1e300});
  CHECK_THAT(all.text(), Contains("le=\"0.00001\""));
  CHECK_THAT(all.text(), Contains("le=\"1000000\""));
}
