// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/http_address.hpp>
#include <tessera/track/logger.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <atomic>
#include <optional>

namespace tessera::detail {

struct http_answer {
  unsigned status = 0;
  std::string body;
};

/// Requests to one server, one at a time, each with a connection and a time-out of its own.
///
/// Errors  try_again where the server is not reached, does not answer in time, or is no HTTP server
class http_client {
  using tcp = boost::asio::ip::tcp;
  using error_code = boost::system::error_code;

 public:
  http_client(std::string url, std::chrono::milliseconds timeout)
      : url_(std::move(url)), address_(url_), timeout_(timeout) {}

  [[nodiscard]] auto url() const -> std::string const& { return url_; }
  /// From another thread: what waits now or later throws soon.
  void interrupt() noexcept { interrupted_ = true; }

  /// Waits for the answer to a request by the client's time-out, or longer where `at_least` says
  /// so.
  [[nodiscard]] auto send(boost::beast::http::verb verb, std::string const& path, std::string body,
                          char const* type = "application/json",
                          std::chrono::milliseconds at_least = {}) -> http_answer {
    auto exchange = one_exchange{.request = {verb, address_.prefix + path, 11, std::move(body)}};
    exchange.request.set(boost::beast::http::field::host, address_.host + ':' + address_.port);
    exchange.request.set(boost::beast::http::field::content_type, type);
    exchange.request.keep_alive(false);
    exchange.request.prepare_payload();
    exchange.begin(address_);
    wait_for(exchange, std::max(timeout_, at_least));
    return {exchange.response.result_int(), std::move(exchange.response.body())};
  }

 private:
  /// One step after another; the first error ends it.
  struct one_exchange {
    boost::beast::http::request<boost::beast::http::string_body> request;
    boost::beast::http::response<boost::beast::http::string_body> response = {};
    boost::beast::flat_buffer buffer = {};
    boost::asio::io_context context = boost::asio::io_context{1};
    tcp::resolver resolver = tcp::resolver{context};
    boost::beast::tcp_stream stream = boost::beast::tcp_stream{context};
    std::optional<error_code> result = {};

    void begin(http_address const& to) {
      resolver.async_resolve(to.name(), to.port, [this](error_code error, auto const& found) {
        if (error)
          end(error);
        else
          stream.async_connect(found, [this](error_code e, auto const&) { e ? end(e) : write(); });
      });
    }
    void write() {
      boost::beast::http::async_write(
          stream, request, [this](error_code error, std::size_t) { error ? end(error) : read(); });
    }
    void read() {
      boost::beast::http::async_read(stream, buffer, response,
                                     [this](error_code error, std::size_t) { end(error); });
    }
    void end(error_code error) { result = error; }
  };

  void wait_for(one_exchange& exchange, std::chrono::milliseconds within) const {
    using clock = std::chrono::steady_clock;
    constexpr auto slice = std::chrono::milliseconds{50};
    auto const deadline = clock::now() + within;
    while (not exchange.result && not interrupted_ && clock::now() < deadline)
      (void)exchange.context.run_one_for(slice);
    if (not exchange.result && interrupted_) throw try_again(url_ + " was not waited for");
    if (not exchange.result)
      throw try_again(url_ + " gave no answer in " + std::to_string(within.count()) + " ms");
    if (*exchange.result) throw try_again(url_ + ": " + exchange.result->message());
  }

  std::string url_;
  http_address address_;
  std::chrono::milliseconds timeout_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace tessera::detail
