// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/start_threads.hpp>
#include <tessera/serve/detail/http_session.hpp>
#include <tessera/train/interrupt.hpp>

#include <thread>

/// HTTP/1.1 by Boost.Beast. It takes long to compile: include it where the program begins, and
/// serve/http.hpp where requests are answered.
namespace tessera {

/// Answers requests on threads of its own, from when it is made to when it is gone.
///
///     auto server = http_server({.port = 8080}, [](auto const& exchange) {
///       exchange->answer({.body = "{}"});
///     });
///     server.run_until_signal();
///
/// The handler is called on the server's threads and must not wait; what takes long is answered
/// from elsewhere.
///
/// Errors  std::runtime_error where the address cannot be listened on, and where the system has no
///         thread to give. Clients get 400 for what is
///         no HTTP, 401 without the token, 408 where they take too long, 413 and 431 for what is
///         too large, 415 for a body that is encoded, 429 where too many requests wait, 503 where
///         an answer takes too long, where connections are too many and while the server ends:
///         tests/serve/http_server.cpp
class http_server {
 public:
  http_server(http_options options, http_handler handler)
      : core_(std::make_shared<detail::http_core>(std::move(options), std::move(handler))) {
    core_->listen();
    auto const threads = std::max<std::size_t>(core_->options.threads, 1);
    detail::start_threads(
        threads_, "http_server", 0, threads, [core = core_](std::size_t) { core->serve(); },
        [this] { stop(); });
  }
  http_server(http_server const&) = delete;
  auto operator=(http_server const&) -> http_server& = delete;
  ~http_server() {
    try {
      stop();
    } catch (...) {
      std::terminate();  // threads that cannot be joined
    }
  }

  /// The port that is listened on: the system's choice where the options say 0.
  [[nodiscard]] auto port() const -> std::uint16_t { return core_->port; }
  [[nodiscard]] auto draining() const -> bool { return core_->draining; }
  [[nodiscard]] auto connections() const -> std::size_t { return core_->connections; }

  /// Lets what is in flight end, refuses what is new, and returns when all is answered or the time
  /// of the options is over: false then. `at_limit` is called at that time, for who answers to end
  /// its streams within a second; who waits then for an answer that has not begun gets 503. The
  /// server has ended.
  auto drain(std::function<void()> const& at_limit = {}) -> bool {
    core_->begin_drain();
    auto const all = core_->await_silence(core_->options.drain_timeout);
    if (not all) end_rest(at_limit);
    stop();
    return all;
  }
  /// Ends at once.
  void stop() {
    core_->begin_drain();
    core_->cut();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    core_->run_rest();
  }
  /// Waits for SIGTERM or SIGINT, calls `on_signal` and drains; a second signal ends the program
  /// as ever.
  auto run_until_signal(std::function<void()> const& on_signal = {},
                        std::function<void()> const& at_limit = {}) -> bool {
    auto const guard = interrupt_guard{};
    while (not interrupt_guard::requested())
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    if (on_signal) on_signal();
    return drain(at_limit);
  }

 private:
  void end_rest(std::function<void()> const& at_limit) {
    constexpr auto most = std::chrono::seconds{1};
    if (at_limit) {
      at_limit();
      (void)core_->await_silence(most);
    }
    core_->refuse_waiting();
    (void)core_->await_silence(most);
  }

  std::shared_ptr<detail::http_core> core_;
  std::vector<std::thread> threads_;
};

}  // namespace tessera
