// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/http_address.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::detail {

/// One request, a POST where it has a body and a GET where it has none, whose answer is read as it
/// comes.
///
/// Errors  std::runtime_error says what failed: no connection, silence, an answer that breaks off
class http_call {
  using tcp = boost::asio::ip::tcp;
  using error_code = boost::system::error_code;
  using parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

 public:
  using clock = std::chrono::steady_clock;

  http_call(http_address const& to, std::string const& path, std::optional<std::string> const& body,
            std::string const& token)
      : request_(body ? boost::beast::http::verb::post : boost::beast::http::verb::get,
                 to.prefix + path, 11, body.value_or("")) {
    using boost::beast::http::field;
    request_.set(field::host, to.host + ':' + to.port);
    if (body) request_.set(field::content_type, "application/json");
    request_.set(field::accept, body ? "text/event-stream" : "application/json");
    if (not token.empty()) request_.set(field::authorization, "Bearer " + token);
    request_.keep_alive(false);
    request_.prepare_payload();
    resolver_.async_resolve(to.name(), to.port, [this](error_code error, auto const& found) {
      if (error) {
        end(error);
        return;
      }
      stream_.async_connect(found, [this](error_code e, auto const&) { e ? end(e) : write(); });
    });
  }

  /// Until the answer's head is there: its status. 0 where `wanted` says false before.
  auto await_head(std::chrono::milliseconds silence, std::function<bool()> const& wanted)
      -> unsigned {
    if (not await(silence, wanted)) return 0;
    return response_->get().result_int();
  }
  /// A header of the answer; empty where it has none of that name.
  [[nodiscard]] auto header(boost::beast::http::field name) const -> std::string {
    return std::string{response_->get()[name]};
  }
  /// The next bytes of the body; none at its end, and nothing where `wanted` says false before.
  auto next(std::chrono::milliseconds silence, std::function<bool()> const& wanted)
      -> std::optional<std::string_view> {
    if (response_->is_done()) return std::string_view{};
    done_.reset();
    auto& body = response_->get().body();
    body.data = bytes_.data();
    body.size = bytes_.size();
    boost::beast::http::async_read_some(stream_, buffer_, *response_,
                                        [this](error_code error, std::size_t) { end(error); });
    if (not await(silence, wanted)) return std::nullopt;
    auto const count = bytes_.size() - response_->get().body().size;
    if (count == 0 && not response_->is_done()) return next(silence, wanted);
    return std::string_view{bytes_.data(), count};
  }

 private:
  void write() {
    boost::beast::http::async_write(stream_, request_, [this](error_code error, std::size_t) {
      if (error) {
        end(error);
        return;
      }
      read_head();
    });
  }
  /// Interim answers may come before the one that counts (RFC 9110, 15.2).
  void read_head() {
    response_ = std::make_unique<parser>();
    auto& response = *response_;
    response.header_limit(64 * 1024);
    response.body_limit(boost::none);
    boost::beast::http::async_read_header(stream_, buffer_, response,
                                          [this](error_code error, std::size_t) {
                                            auto const status = response_->get().result_int();
                                            if (not error && status / 100 == 1 && status != 101)
                                              read_head();
                                            else
                                              end(error);
                                          });
  }
  void end(error_code error) { done_ = error; }
  /// False where it is not waited for any more.
  auto await(std::chrono::milliseconds silence, std::function<bool()> const& wanted) -> bool {
    constexpr auto slice = std::chrono::milliseconds{20};
    auto const until = clock::now() + silence;
    while (not done_) {
      if (not wanted()) return false;
      if (clock::now() >= until)
        throw std::runtime_error("no answer in " + std::to_string(silence.count()) + " ms");
      context_.restart();
      (void)context_.run_one_for(slice);
    }
    if (*done_ && *done_ != boost::beast::http::error::need_buffer)
      throw std::runtime_error(done_->message());
    return true;
  }

  boost::asio::io_context context_ = boost::asio::io_context{1};
  tcp::resolver resolver_ = tcp::resolver{context_};
  boost::beast::tcp_stream stream_ = boost::beast::tcp_stream{context_};
  boost::beast::flat_buffer buffer_;
  boost::beast::http::request<boost::beast::http::string_body> request_;
  std::unique_ptr<parser> response_;
  std::array<char, 4096> bytes_{};
  std::optional<error_code> done_;
};

}  // namespace tessera::detail
