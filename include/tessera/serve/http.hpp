// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a request and its answer are, for those who answer: nothing of the network, and little to
/// compile. The server is serve/http_server.hpp.
namespace tessera {

struct http_header {
  std::string name;
  std::string value;
};

/// Header names are compared without case.
[[nodiscard]] inline auto same_header(std::string_view a, std::string_view b) -> bool {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

struct http_request {
  std::string method;
  std::string path;   ///< as it came, up to the question mark
  std::string query;  ///< behind it
  std::vector<http_header> headers;
  std::string body;

  /// The first header of that name.
  [[nodiscard]] auto header(std::string_view name) const -> std::optional<std::string_view> {
    for (auto const& one : headers)
      if (same_header(one.name, name)) return one.value;
    return std::nullopt;
  }
};

struct http_response {
  unsigned status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::vector<http_header> headers = {};
};

/// Thrown by a handler: the answer is this status, and a body that says `what()`.
struct http_error : std::runtime_error {
  unsigned status;
  std::vector<http_header> headers;

  http_error(unsigned code, std::string const& message, std::vector<http_header> more = {})
      : std::runtime_error(message), status(code), headers(std::move(more)) {}
};

/// 429: the client may come again after a second.
[[nodiscard]] inline auto too_many(std::string const& what) -> http_error {
  return {429, what, {{"Retry-After", "1"}}};
}

/// One request that waits for its answer, which may be given later and on any thread: at once by
/// `answer`, or piece by piece by `begin`, `write` and `end`, as server-sent events are. The first
/// answer counts; one that comes too late is dropped.
///
/// Errors  an exchange that goes without an answer is answered 500
class http_exchange {
 public:
  http_exchange() = default;
  http_exchange(http_exchange const&) = delete;
  auto operator=(http_exchange const&) -> http_exchange& = delete;
  virtual ~http_exchange() = default;

  [[nodiscard]] virtual auto request() const -> http_request const& = 0;
  virtual void answer(http_response response) = 0;
  /// Status, headers and the first piece of an answer that goes on.
  virtual void begin(http_response head) = 0;
  /// False where nobody listens any more, or does not keep up with what is written.
  virtual auto write(std::string piece) -> bool = 0;
  virtual void end() = 0;
  /// False where the answer would be dropped: the time is over, or the client is gone.
  [[nodiscard]] virtual auto wanted() const -> bool = 0;

  /// What the request is counted under: the pattern of its path, not the path itself.
  std::string route = {};
};

using http_handler = std::function<void(std::shared_ptr<http_exchange> const&)>;

/// What is known of an exchange when its answer is ready.
struct http_observation {
  std::string method;
  std::string route;
  unsigned status = 0;
  double seconds = 0;
};

/// {"error": "..."}, as KServe has it. What a client sent may be no UTF-8, which JSON has to be.
[[nodiscard]] inline auto error_body(unsigned, std::string const& message) -> std::string {
  auto text = message;
  for (auto& letter : text)
    if (static_cast<unsigned char>(letter) >= 0x80) letter = '?';
  return R"({"error":")" + json_escaped(text) + "\"}";
}

struct http_options {
  std::string address = "127.0.0.1";  ///< or a name that this machine has
  std::uint16_t port = 0;             ///< 0: one that is free
  std::size_t threads = 2;
  std::size_t header_limit = 16 * 1024;
  std::size_t body_limit = 8 * 1024 * 1024;
  std::size_t connections = 1024;  ///< more are answered 503
  std::size_t requests = 512;      ///< that wait for their answers; more are answered 429
  std::chrono::milliseconds header_timeout{5'000};    ///< from the first byte to the last header
  std::chrono::milliseconds request_timeout{30'000};  ///< for the body, and again for the answer
  std::chrono::milliseconds idle_timeout{60'000};     ///< between requests, and for each write
  std::chrono::milliseconds drain_timeout{10'000};
  std::string token = {};  ///< asked for as `Authorization: Bearer <token>`, where it is not empty
  std::vector<std::string> open_paths = {};  ///< which need no token
  std::string allowed_origin = {};  ///< of pages whose scripts may ask; "*": of all, empty: of none
  std::function<std::string(unsigned, std::string const&)> error_body = tessera::error_body;
  std::function<void(http_observation const&)> observe = {};  ///< called once for each answer
};

/// Host and port as a URL has them.
[[nodiscard]] inline auto http_place(std::string const& host, unsigned port) -> std::string {
  auto const is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

/// The meaning of a status in a word or two, for those that are answered here.
[[nodiscard]] inline auto status_text(unsigned status) -> std::string_view {
  static constexpr auto texts = std::to_array<std::pair<unsigned, std::string_view>>(
      {{200, "OK"},
       {201, "Created"},
       {202, "Accepted"},
       {204, "No Content"},
       {400, "Bad Request"},
       {401, "Unauthorized"},
       {403, "Forbidden"},
       {404, "Not Found"},
       {405, "Method Not Allowed"},
       {408, "Request Timeout"},
       {409, "Conflict"},
       {411, "Length Required"},
       {413, "Content Too Large"},
       {415, "Unsupported Media Type"},
       {417, "Expectation Failed"},
       {422, "Unprocessable Content"},
       {429, "Too Many Requests"},
       {431, "Request Header Fields Too Large"},
       {500, "Internal Server Error"},
       {501, "Not Implemented"},
       {503, "Service Unavailable"}});
  for (auto const& [code, text] : texts)
    if (code == status) return text;
  return "Unknown";
}

}  // namespace tessera
