// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/settings.hpp>

#include <filesystem>
#include <string>

/// The forecaster behind HTTP.
namespace forecast {

struct service_settings {
  std::string repository;
  std::string host = "127.0.0.1";
  std::uint64_t port = 8080;
  std::uint64_t threads = 2;
  std::uint64_t requests = 512;
  std::string token_file;
  double poll_seconds = 2;

  static void visit(auto const& f, auto& s) {
    f("repository", s.repository, "folder of models: that of `train`, /repository");
    f("host", s.host, "address to listen on");
    f("port", s.port, "0 for one that is free", {0, 65535});
    f("threads", s.threads, "that read and answer", {1, 256});
    f("requests", s.requests, "that wait at a time; more are answered 429", {1, 1'000'000});
    f("token_file", s.token_file, "file of the token that requests must bear; none: no token");
    f("poll_seconds", s.poll_seconds, "between looks at the repository", {0.05, 3600});
  }
};

/// Serves the models of a repository until a signal:
///
///     POST /predict        {"prices": [{"date", "open", "high", "low", "close", "volume"}, ...],
///                          "target": "range", "user": "..."}
///     POST /predict/batch  {"requests": [...]}, 1 to 100 of them
///     GET  /features/schema, /model/info, /health, /ready, /live, /metrics
///
/// and KServe's protocol, whose tensors are the features of look_back days. A window of inputs that
/// is not as what a version learned from raises forecast_input_drifted.
///
/// Errors  usage_error for settings that are none; tessera::file_error; std::runtime_error where
///         the address cannot be listened on
[[nodiscard]] auto serve(service_settings const& s) -> int;

}  // namespace forecast
