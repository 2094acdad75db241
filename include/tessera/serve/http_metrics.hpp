// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/metrics.hpp>
#include <tessera/serve/router.hpp>

namespace tessera {

/// GET /metrics, and what is counted of every request: pass `count_requests` to the server as
/// `observe`.
inline void add_metrics(router& to, metrics const& counted) {
  to.get("/metrics", [&counted](auto const&) {
    return http_response{.body = counted.text(), .type = "text/plain; version=0.0.4"};
  });
}
[[nodiscard]] inline auto count_requests(metrics& to)
    -> std::function<void(http_observation const&)> {
  return [&to](http_observation const& one) {
    static constexpr auto known = std::to_array<std::string_view>({"GET", "HEAD", "POST"});
    auto const usual = std::ranges::find(known, one.method) != known.end();
    auto const method = usual ? one.method : std::string{"other"};
    auto const route = one.route.empty() ? std::string{"none"} : one.route;
    to.counter_of("http_requests_total", "Requests that were answered.",
                  {{"method", method}, {"route", route}, {"code", std::to_string(one.status)}})
        .add();
    to.histogram_of("http_request_duration_seconds",
                    "Time from a request's first byte to its answer.", {{"route", route}})
        .observe(one.seconds);
  };
}

}  // namespace tessera
