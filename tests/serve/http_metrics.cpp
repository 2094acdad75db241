// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/http_metrics.hpp>

using namespace tessera;
using Catch::Contains;

TEST_CASE("http_metrics: requests are counted by method, route and status") {
  auto counted = metrics{};
  auto const observe = count_requests(counted);
  observe({.method = "GET", .route = "/v1/models", .status = 200, .seconds = 0.5});
  observe({.method = "GET", .route = "/v1/models", .status = 200, .seconds = 0.25});
  observe({.method = "BREW", .route = "", .status = 404, .seconds = 0});
  auto const text = counted.text();
  CHECK_THAT(text,
             Contains("http_requests_total{method=\"GET\",route=\"/v1/models\",code=\"200\"} 2"));
  CHECK_THAT(text, Contains("http_requests_total{method=\"other\",route=\"none\",code=\"404\"} 1"));
  CHECK_THAT(text, Contains("http_request_duration_seconds_sum{route=\"/v1/models\"} 0.75"));
}
