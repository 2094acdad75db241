-- SPDX-License-Identifier: MIT
-- wrk -s post.lua <url> -- <file of the body>: posts it, and prints what came back as JSON.
function init(arguments)
  local file = io.open(arguments[1], "rb")
  wrk.method = "POST"
  wrk.body = file:read("*a")
  wrk.headers["Content-Type"] = "application/json"
  file:close()
end

function done(summary, latency, _)
  local e = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "errors": %d, "rate": %.1f, "p50": %.3f, "p99": %.3f, "max": %.3f}\n',
    summary.requests, e.connect + e.read + e.write + e.status + e.timeout,
    summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
