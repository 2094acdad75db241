// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/told_once.hpp>
#include <tessera/serve/http.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace tessera::detail {

namespace asio = boost::asio;

class http_session;
void start_session(std::shared_ptr<class http_core> core, asio::ip::tcp::socket socket,
                   bool refused);
void end_session_when_idle(http_session& session);
void refuse_waiting_session(http_session& session);
void cut_session(http_session& session);

/// What the connections of a server share. It lives as long as one of them.
class http_core : public std::enable_shared_from_this<http_core> {
 public:
  http_core(http_options o, http_handler h)
      : options(std::move(o)),
        handler(std::move(h)),
        acceptor_(asio::make_strand(context)),
        pause_(acceptor_.get_executor()) {}

  http_options options;
  http_handler handler;
  asio::io_context context;
  std::uint16_t port = 0;
  std::atomic<bool> draining = false;
  std::atomic<std::size_t> connections = 0;
  std::atomic<std::size_t> waiting = 0;  ///< requests, for their answers
  told_once told;

  void listen() {
    auto error = boost::system::error_code{};
    for (auto const& one : endpoints(error)) {
      error = listen_on(one);
      auto const is_missing = error == asio::error::address_family_not_supported ||
                              error == boost::system::errc::address_not_available;
      if (not is_missing) break;  // a port that is taken stays taken
    }
    if (not error && acceptor_.is_open()) {
      port = acceptor_.local_endpoint().port();
      accept();
      return;
    }
    throw std::runtime_error(
        "http_server: cannot listen on " + http_place(options.address, options.port) + ": " +
        (options.address.empty() ? "expected an address or a name, got none" : error.message()));
  }
  /// Runs until there is nothing more to do; what is thrown ends nothing.
  void serve() {
    for (;;) try {
        context.run();
        return;
      } catch (...) {
        told.of_exception("a connection");
      }
  }
  /// Of a request that waits, where there is one left.
  [[nodiscard]] auto take_place() -> bool {
    auto taken = waiting.load();
    while (taken < options.requests)
      if (waiting.compare_exchange_weak(taken, taken + 1)) return true;
    return false;
  }
  void begin_drain() {
    if (draining.exchange(true)) return;
    asio::post(acceptor_.get_executor(), [self = shared_from_this()] {
      auto ignored = boost::system::error_code{};
      ignored = self->acceptor_.close(ignored);
      self->pause_.cancel();
      self->for_each_session([](http_session& one) { end_session_when_idle(one); });
    });
  }
  /// Who waits for an answer that has not begun gets 503.
  void refuse_waiting() {
    for_each_session([](http_session& one) { refuse_waiting_session(one); });
  }
  void cut() {
    for_each_session([](http_session& one) { cut_session(one); });
  }
  auto await_silence(std::chrono::milliseconds most) -> bool {
    auto lock = std::unique_lock{mutex_};
    return silent_.wait_for(lock, most, [&] { return sessions_.empty(); });
  }
  /// What was handed over while the threads ended.
  void run_rest() {
    context.restart();
    serve();
  }

  void add(http_session* session, std::weak_ptr<http_session> weak) {
    auto const lock = std::lock_guard{mutex_};
    sessions_[session] = std::move(weak);
  }
  void remove(http_session* session) {
    auto const lock = std::lock_guard{mutex_};
    sessions_.erase(session);
    if (sessions_.empty()) silent_.notify_all();
  }

 private:
  /// Those that are refused are few, or there would be no limit.
  static constexpr auto most_refused = std::size_t{64};

  /// Of a name that has several addresses those of IPv4 first: more clients try them.
  [[nodiscard]] auto endpoints(boost::system::error_code& error)
      -> std::vector<asio::ip::tcp::endpoint> {
    auto result = std::vector<asio::ip::tcp::endpoint>{};
    if (options.address.empty()) return result;
    auto names = asio::ip::tcp::resolver{context};
    auto const found = names.resolve(
        options.address, std::to_string(options.port),
        asio::ip::resolver_base::passive | asio::ip::resolver_base::numeric_service, error);
    for (auto const is_v4 : {true, false})
      for (auto const& one : found)
        if (one.endpoint().address().is_v4() == is_v4) result.push_back(one.endpoint());
    return result;
  }
  [[nodiscard]] auto listen_on(asio::ip::tcp::endpoint const& place) -> boost::system::error_code {
    auto error = boost::system::error_code{};
    auto const step = [&](auto const& take) {
      if (not error) error = take();
    };
    error = acceptor_.close(error);
    step([&] { return acceptor_.open(place.protocol(), error); });
    step([&] { return acceptor_.set_option(asio::ip::tcp::acceptor::reuse_address(true), error); });
    step([&] { return acceptor_.bind(place, error); });
    step([&] { return acceptor_.listen(asio::socket_base::max_listen_connections, error); });
    return error;
  }
  template <class F> void for_each_session(F const& f) {
    auto alive = std::vector<std::shared_ptr<http_session>>{};
    {
      auto const lock = std::lock_guard{mutex_};
      for (auto const& [key, weak] : sessions_)
        if (auto one = weak.lock()) alive.push_back(std::move(one));
    }
    for (auto const& one : alive) f(*one);
  }
  void accept() {
    acceptor_.async_accept(
        asio::make_strand(context), [self = shared_from_this()](boost::system::error_code failed,
                                                                asio::ip::tcp::socket socket) {
          if (self->draining) return;
          if (failed) {
            self->accept_later();
            return;
          }
          try {
            auto const count = self->connections.load();
            if (count < self->options.connections + most_refused)
              start_session(self, std::move(socket), count >= self->options.connections);
          } catch (...) {
            self->told.of_exception("a connection");  // its own end, not that of all others
          }
          self->accept_again();
        });
  }
  /// Until there is memory for it: nobody else would.
  void accept_again() {
    while (not draining) try {
        accept();
        return;
      } catch (...) {
        told.of_exception("a listener");  // a name that takes no memory
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
      }
  }
  /// There may be no descriptor left: the system needs a while.
  void accept_later() {
    try {
      pause_.expires_after(std::chrono::milliseconds{20});
      pause_.async_wait(
          [self = shared_from_this()](boost::system::error_code) { self->accept_again(); });
    } catch (...) {
      accept_again();
    }
  }

  asio::ip::tcp::acceptor acceptor_;  ///< and its pause, on a strand of their own
  asio::steady_timer pause_;
  std::mutex mutex_;
  std::condition_variable silent_;
  std::map<http_session*, std::weak_ptr<http_session>> sessions_;
};

}  // namespace tessera::detail
