// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/detail/http_core.hpp>

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <charconv>
#include <deque>

namespace tessera::detail {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

/// Line breaks would begin another header.
inline void append_header(std::string& to, std::string_view name, std::string_view value) {
  auto const begin = to.size();
  to.append(name).append(": ").append(value);
  for (auto i = begin; i < to.size(); ++i)
    if (static_cast<unsigned char>(to[i]) < ' ') to[i] = ' ';
  to += "\r\n";
}
[[nodiscard]] inline auto chunk_of(std::string const& piece) -> std::string {
  auto digits = std::array<char, 20>{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16);
  auto result = std::string{digits.data(), end.ptr};
  return result.append("\r\n").append(piece).append("\r\n");
}
/// Takes as long for a wrong token as for the right one.
[[nodiscard]] inline auto same_secret(std::string_view a, std::string_view b) -> bool {
  auto difference = a.size() ^ b.size();
  for (auto i = std::size_t{0}; i < a.size(); ++i)
    difference |=
        static_cast<unsigned char>(a[i]) ^
        static_cast<std::size_t>(static_cast<unsigned char>(b[b.empty() ? 0 : i % b.size()]));
  return difference == 0;
}

/// Names of headers, with commas between.
[[nodiscard]] inline auto is_list_of_names(std::string_view text) -> bool {
  static constexpr auto marks = std::string_view{"!#$%&'*+-.^_`|~ ,"};
  return not text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}
/// What a target asks of the server itself: one that is written for a proxy begins with a server.
[[nodiscard]] inline auto own_target(std::string_view target) -> std::string {
  for (auto const scheme : {std::string_view{"http://"}, std::string_view{"https://"}}) {
    if (not same_header(target.substr(0, scheme.size()), scheme)) continue;
    auto const rest = target.substr(scheme.size());
    auto const own = std::string{rest.substr(std::min(rest.find_first_of("/?"), rest.size()))};
    return own.starts_with('/') ? own : '/' + own;
  }
  return std::string{target};
}

/// One connection: reads a request, waits for its answer, writes it, and so on. Everything happens
/// on its strand.
class http_session : public std::enable_shared_from_this<http_session> {
 public:
  http_session(std::shared_ptr<http_core> core, asio::ip::tcp::socket socket)
      : core_(std::move(core)),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        watch_(socket_.get_executor()) {
    ++core_->connections;
  }
  http_session(http_session const&) = delete;
  auto operator=(http_session const&) -> http_session& = delete;
  ~http_session() {
    finish_exchange();
    --core_->connections;
    core_->remove(this);
  }

  void start(bool refused) {
    auto ignored = error_code{};
    ignored = socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    ignored = socket_.non_blocking(true, ignored);
    core_->add(this, weak_from_this());
    on_strand([refused](http_session& self) {
      if (refused)
        self.refuse({503, "too many connections", {{"Retry-After", "1"}}});
      else
        self.await_request();
    });
  }
  template <class F> void on_strand(F f) {
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), f = std::move(f)]() mutable { f(*self); });
  }
  void end_when_idle() {
    if (phase_ == phase::idle) close();
  }
  void refuse_waiting() {
    if (phase_ == phase::answering) refuse(is_ending());
  }
  void close() {
    phase_ = phase::closed;
    give_place_back();
    wanted_.reset();
    (void)timer_.cancel();
    (void)watch_.cancel();
    auto ignored = error_code{};
    ignored = socket_.close(ignored);
  }
  /// Of the exchange with that number: one that comes too late finds another.
  void answer(std::uint64_t exchange, http_response const& response) {
    if (phase_ == phase::answering && exchange == exchange_) write_answer(response);
  }
  void begin(std::uint64_t exchange, http_response const& head) {
    if (phase_ != phase::answering || exchange != exchange_) return;
    phase_ = phase::streaming;
    chunked_ = version_ >= 11;
    keep_alive_ = keep_alive_ && chunked_;
    observe(head.status);
    auto text = head_of(head);
    if (chunked_) append_header(text, "Transfer-Encoding", "chunked");
    pieces_.push_back(text + "\r\n");
    if (not head.body.empty() && not without_body_)
      pieces_.push_back(chunked_ ? chunk_of(head.body) : head.body);
    write_pieces();
  }
  void write(std::uint64_t exchange, std::string const& piece) {
    if (phase_ != phase::streaming || exchange != exchange_ || ended_ || piece.empty()) return;
    if (not without_body_) pieces_.push_back(chunked_ ? chunk_of(piece) : piece);
    write_pieces();
  }
  void end(std::uint64_t exchange) {
    if (phase_ != phase::streaming || exchange != exchange_ || ended_) return;
    ended_ = true;
    give_place_back();
    if (chunked_ && not without_body_) pieces_.emplace_back("0\r\n\r\n");
    write_pieces();
  }

 private:
  [[nodiscard]] static auto is_ending() -> http_error {
    return {503, "the server is ending", {{"Retry-After", "1"}}};
  }
  static constexpr auto continues = std::string_view{"HTTP/1.1 100 Continue\r\n\r\n"};
  enum class phase { idle, reading, answering, streaming, writing, lingering, closed };
  using request_parser = beast_http::request_parser<beast_http::string_body>;

  /// One operation with a time limit; where that is over, `late` is called instead of `then`.
  void arm(std::chrono::milliseconds limit, void (http_session::*late)()) {
    timer_.expires_after(limit);
    timer_.async_wait([self = shared_from_this(), late, round = ++round_](error_code failed) {
      if (not failed && round == self->round_ && self->phase_ != phase::closed)
        (self.get()->*late)();
    });
  }
  void await_request() {
    if (core_->draining) {
      close();
      return;
    }
    phase_ = phase::idle;
    arm(core_->options.idle_timeout, &http_session::close);
    read_begin();
  }
  /// Empty lines before a request are none of it (RFC 9112, 2.2).
  void read_begin() {
    auto const bytes =
        std::string_view{static_cast<char const*>(buffer_.data().data()), buffer_.size()};
    buffer_.consume(std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
    if (buffer_.size() > 0) {
      read_head();
      return;
    }
    socket_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](error_code failed, std::size_t n) {
                              if (self->phase_ == phase::closed) return;
                              if (failed) {
                                self->close();
                                return;
                              }
                              self->buffer_.commit(n);
                              self->read_begin();
                            });
  }
  void read_head() {
    phase_ = phase::reading;
    begun_ = std::chrono::steady_clock::now();
    request_ = std::make_shared<http_request>();
    keep_alive_ = without_body_ = ended_ = chunked_ = late_ = false;
    version_ = 11;
    parser_ = std::make_unique<request_parser>();
    parser_->header_limit(static_cast<std::uint32_t>(core_->options.header_limit));
    parser_->body_limit(core_->options.body_limit);
    arm(core_->options.header_timeout, &http_session::read_too_late);
    beast_http::async_read_header(socket_, buffer_, *parser_,
                                  [self = shared_from_this()](error_code failed, std::size_t) {
                                    if (self->phase_ != phase::reading) return;
                                    if (failed || self->late_) {
                                      self->refuse_unread(failed);
                                      return;
                                    }
                                    self->guarded([&] { self->read_body(); });
                                  });
  }
  void read_body() {
    take_head();
    auto const& head = parser_->get();
    if (head.version() >= 11 && head.count(beast_http::field::host) != 1)
      throw http_error(400, "expected one Host header");
    check_token();
    check_encoding();
    if (core_->draining) throw is_ending();
    if (auto const expected = request_->header("Expect"); expected && version_ >= 11) {
      if (not same_header(*expected, "100-continue"))
        throw http_error(417, "expected Expect: 100-continue, if any");
      write_continue();
      return;
    }
    read_rest();
  }
  void write_continue() {
    asio::async_write(socket_, asio::buffer(continues),
                      [self = shared_from_this()](error_code failed, std::size_t) {
                        if (self->phase_ != phase::reading) return;
                        if (failed || self->late_) {
                          self->close();
                          return;
                        }
                        self->read_rest();
                      });
  }
  void read_rest() {
    arm(core_->options.request_timeout, &http_session::read_too_late);
    beast_http::async_read(socket_, buffer_, *parser_,
                           [self = shared_from_this()](error_code failed, std::size_t) {
                             if (self->phase_ != phase::reading) return;
                             if (failed || self->late_) {
                               self->refuse_unread(failed);
                               return;
                             }
                             self->guarded([&] { self->hand_over(); });
                           });
  }
  void take_head() {
    auto const& head = parser_->get();
    request_->method = std::string{head.method_string()};
    auto const target = own_target({head.target().data(), head.target().size()});
    auto const mark = std::min(target.find('?'), target.size());
    request_->path = target.substr(0, mark);
    request_->query = target.substr(std::min(mark + 1, target.size()));
    for (auto const& field : head)
      request_->headers.push_back({std::string{field.name_string()}, std::string{field.value()}});
    version_ = head.version();
    keep_alive_ = head.keep_alive();
    without_body_ = request_->method == "HEAD";
  }
  /// What a browser asks before a script may: it sends no token with it.
  [[nodiscard]] auto is_preflight() const -> bool {
    return not core_->options.allowed_origin.empty() && request_->method == "OPTIONS" &&
           request_->header("Access-Control-Request-Method").has_value();
  }
  void check_token() const {
    auto const& options = core_->options;
    if (options.token.empty() || is_preflight() ||
        std::ranges::find(options.open_paths, request_->path) != options.open_paths.end())
      return;
    static constexpr auto scheme = std::string_view{"bearer "};
    auto const given = request_->header("Authorization").value_or("");
    if (given.size() < scheme.size() || not same_header(given.substr(0, scheme.size()), scheme) ||
        not same_secret(given.substr(scheme.size()), options.token))
      throw http_error(401, "expected the header Authorization: Bearer <token>",
                       {{"WWW-Authenticate", "Bearer"}});
  }
  void check_encoding() const {
    for (auto const& [name, value] : request_->headers)
      if (same_header(name, "Content-Encoding") && not value.empty() &&
          not same_header(value, "identity"))
        throw http_error(415, "expected no Content-Encoding but identity, got " + value,
                         {{"Accept-Encoding", "identity"}});
  }
  void hand_over();

  /// What is thrown becomes an answer. The rest of a request that was not read stays unread: the
  /// connection ends with it.
  template <class F> void guarded(F const& f) {
    try {
      f();
    } catch (http_error const& e) {
      refuse(e);
    } catch (std::exception const& e) {
      refuse({500, e.what()});
    }
  }
  void refuse(http_error const& e) {
    if (phase_ == phase::closed) return;
    if (parser_ == nullptr || not parser_->is_done() ||
        (phase_ == phase::reading && e.status == 400))
      keep_alive_ = false;
    write_answer({.status = e.status,
                  .body = core_->options.error_body(e.status, e.what()),
                  .headers = e.headers});
  }
  void refuse_unread(error_code failed) {
    using beast_http::error;
    auto const limit = [](std::size_t n) { return std::to_string(n) + " bytes"; };
    if (late_) {
      refuse({408, "the request took too long to arrive"});
      return;
    }
    if (failed == error::end_of_stream ||
        failed.category() != make_error_code(error::bad_method).category()) {
      close();
      return;
    }
    if (failed == error::header_limit || failed == error::buffer_overflow) {
      refuse({431, "expected headers of at most " + limit(core_->options.header_limit)});
      return;
    }
    if (failed == error::body_limit) {
      refuse({413, "expected a body of at most " + limit(core_->options.body_limit)});
      return;
    }
    refuse({400, "expected HTTP/1.1: " + failed.message()});
  }
  /// What reads still has the parser: it is to end, and answers. Between two of its steps there is
  /// nothing to cancel, so it is asked again.
  void read_too_late() {
    late_ = true;
    auto ignored = error_code{};
    ignored = socket_.cancel(ignored);
    arm(std::chrono::milliseconds{20}, &http_session::read_too_late);
  }
  void answer_too_late() {
    if (phase_ == phase::answering)
      refuse({503, "the answer took too long", {{"Retry-After", "1"}}});
  }

  /// While it waits for its answer, a client that leaves makes that unwanted. One that has said
  /// with its request that nothing follows (it is half closed) still waits, if it takes an interim
  /// answer: one that is gone resets the connection then.
  void watch() {
    watch_.expires_after(std::chrono::milliseconds{100});
    watch_.async_wait([self = shared_from_this(), exchange = exchange_](error_code failed) {
      if (failed || not self->is_awaited(exchange)) return;
      self->watch_for_reset();
      auto found = self->read_ahead();
      while (found == readable::some) found = self->read_ahead();
      if (found == readable::ended)
        self->send_interim();
      else if (found == readable::none)
        self->watch_for_end(exchange);
    });
  }
  void watch_for_reset() {
    if (std::exchange(watches_, true)) return;
    socket_.async_wait(asio::ip::tcp::socket::wait_error,
                       [self = shared_from_this()](error_code failed) {
                         self->watches_ = false;
                         if (not failed) self->wanted_.reset();
                       });
  }
  void watch_for_end(std::uint64_t exchange) {
    socket_.async_wait(asio::ip::tcp::socket::wait_read,
                       [self = shared_from_this(), exchange](error_code failed) {
                         if (failed || not self->is_awaited(exchange)) return;
                         switch (self->read_ahead()) {
                           case readable::ended:
                             self->wanted_.reset();
                             return;
                           case readable::none:
                           case readable::some:
                             self->watch_for_end(exchange);
                             return;
                           case readable::enough:
                             return;
                         }
                       });
  }
  /// Whole, or not at all, where other answers fill the connection; after a part of it the
  /// connection ends, as what follows would not be understood.
  void send_interim() {
    if (version_ < 11 || phase_ != phase::answering) return;
    auto failed = error_code{};
    auto const sent = socket_.send(asio::buffer(continues), 0, failed);
    if (sent != continues.size() && failed != asio::error::would_block) close();
  }
  [[nodiscard]] auto is_awaited(std::uint64_t exchange) const -> bool {
    return exchange == exchange_ && (phase_ == phase::answering || phase_ == phase::streaming);
  }
  enum class readable : std::uint8_t { none, some, enough, ended };
  /// What there is of a next request, so that the end behind it is seen; of a long one the
  /// beginning.
  [[nodiscard]] auto read_ahead() -> readable {
    constexpr auto most = std::size_t{65'536};
    if (buffer_.size() >= most) return readable::enough;
    auto failed = error_code{};
    auto const got = socket_.receive(buffer_.prepare(4096), 0, failed);
    buffer_.commit(got);
    if (got > 0) return readable::some;
    return failed == asio::error::would_block ? readable::none : readable::ended;
  }
  [[nodiscard]] auto head_of(http_response const& response) -> std::string {
    if (core_->draining) keep_alive_ = false;
    auto text = std::string{version_ >= 11 ? "HTTP/1.1 " : "HTTP/1.0 "};
    text +=
        std::to_string(response.status) + ' ' + std::string{status_text(response.status)} + "\r\n";
    if (not response.type.empty()) append_header(text, "Content-Type", response.type);
    for (auto const& [name, value] : response.headers) append_header(text, name, value);
    if (auto const& origin = core_->options.allowed_origin; not origin.empty())
      append_header(text, "Access-Control-Allow-Origin", origin);
    append_header(text, "Connection", keep_alive_ ? "keep-alive" : "close");
    return text;
  }
  void write_answer(http_response const& response) {
    observe(response.status);
    phase_ = phase::writing;
    give_place_back();
    wanted_.reset();
    out_ = head_of(response);
    append_header(out_, "Content-Length", std::to_string(response.body.size()));
    out_ += "\r\n";
    if (not without_body_) out_ += response.body;
    arm(core_->options.idle_timeout, &http_session::close);
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](error_code failed, std::size_t) {
                        if (self->phase_ != phase::writing) return;
                        if (failed) {
                          self->close();
                          return;
                        }
                        self->go_on();
                      });
  }
  void write_pieces() {
    if (writes_) return;
    if (pieces_.empty()) {
      if (ended_) go_on();
      return;
    }
    writes_ = true;
    out_.clear();
    for (auto const& piece : pieces_) out_ += piece;
    pieces_.clear();
    arm(core_->options.idle_timeout, &http_session::close);
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](error_code failed, std::size_t n) {
                        self->writes_ = false;
                        if (self->phase_ != phase::streaming) return;
                        if (failed) {
                          self->close();
                          return;
                        }
                        if (self->unsent_)
                          self->unsent_->fetch_sub(std::min(n, self->unsent_->load()));
                        self->arm(std::chrono::hours{24}, &http_session::close);
                        self->write_pieces();
                      });
  }
  void go_on() {
    (void)watch_.cancel();
    finish_exchange();
    parser_.reset();
    if (keep_alive_) {
      await_request();
      return;
    }
    linger();
  }
  /// A connection that is closed with bytes unread is reset, and the answer may be lost.
  void linger() {
    phase_ = phase::lingering;
    auto ignored = error_code{};
    ignored = socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    arm(std::chrono::milliseconds{500}, &http_session::close);
    read_away();
  }
  void read_away() {
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(65'536),
                            [self = shared_from_this()](error_code failed, std::size_t) {
                              if (self->phase_ != phase::lingering) return;
                              if (failed) {
                                self->close();
                                return;
                              }
                              self->read_away();
                            });
  }
  void observe(unsigned status) {
    if (not core_->options.observe || not request_) return;
    auto const time = std::chrono::steady_clock::now() - begun_;
    try {
      core_->options.observe({request_->method, route_ ? *route_ : std::string{}, status,
                              std::chrono::duration<double>(time).count()});
    } catch (...) {
      core_->told.of_exception("the observer of requests");
    }
  }
  /// Before the last bytes of the answer: who has read them may ask again, on any connection.
  void give_place_back() {
    if (std::exchange(counted_, false)) --core_->waiting;
  }
  void finish_exchange() {
    give_place_back();
    wanted_.reset();
    unsent_.reset();
    route_.reset();
    ++exchange_;
  }

  friend class session_exchange;
  std::shared_ptr<http_core> core_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  asio::steady_timer watch_;
  boost::beast::flat_buffer buffer_{1U << 20U};
  std::unique_ptr<request_parser> parser_;
  std::shared_ptr<http_request> request_;
  std::shared_ptr<bool const> wanted_;                ///< the exchange holds it weakly
  std::shared_ptr<std::atomic<std::size_t>> unsent_;  ///< bytes of a stream
  std::shared_ptr<std::string const> route_;
  std::chrono::steady_clock::time_point begun_;
  std::deque<std::string> pieces_;
  std::string out_;
  std::uint64_t exchange_ = 0;
  std::uint64_t round_ = 0;
  unsigned version_ = 11;
  phase phase_ = phase::idle;
  bool keep_alive_ = false;
  bool without_body_ = false;
  bool chunked_ = false;
  bool ended_ = false;
  bool late_ = false;
  bool writes_ = false;
  bool watches_ = false;  ///< for a reset
  bool counted_ = false;
};

/// The exchange of one request; the session may be gone before it.
class session_exchange final : public http_exchange {
 public:
  session_exchange(http_session& session)
      : session_(session.weak_from_this()),
        request_(session.request_),
        wanted_(session.wanted_),
        unsent_(session.unsent_),
        number_(session.exchange_) {}
  session_exchange(session_exchange const&) = delete;
  auto operator=(session_exchange const&) -> session_exchange& = delete;
  ~session_exchange() override {
    try {
      if (not answered_)
        answer({.status = 500, .body = error_body(500, "the request was given no answer")});
      else if (begun_)
        end();
    } catch (...) {
      return;  // there is no memory left to say so
    }
  }

  [[nodiscard]] auto request() const -> http_request const& override { return *request_; }
  [[nodiscard]] auto wanted() const -> bool override { return not wanted_.expired(); }
  void answer(http_response response) override {
    if (answered_.exchange(true)) return;
    send([response = std::move(response)](http_session& s, std::uint64_t n) {
      s.answer(n, response);
    });
  }
  void begin(http_response head) override {
    if (answered_.exchange(true)) return;
    begun_ = true;
    send([head = std::move(head)](http_session& s, std::uint64_t n) { s.begin(n, head); });
  }
  auto write(std::string piece) -> bool override {
    if (not begun_ || not wanted()) return false;
    if (request_->method == "HEAD") return true;
    if (unsent_->fetch_add(piece.size()) > most_unsent) {
      send([](http_session& s, std::uint64_t) { s.close(); });
      return false;
    }
    send([piece = std::move(piece)](http_session& s, std::uint64_t n) { s.write(n, piece); });
    return true;
  }
  void end() override {
    if (begun_.exchange(false)) send([](http_session& s, std::uint64_t n) { s.end(n); });
  }

 private:
  static constexpr auto most_unsent = std::size_t{4} << 20U;

  template <class F> void send(F f) {
    auto const session = session_.lock();
    if (not session) return;
    session->on_strand([f = std::move(f), number = number_,
                        route = std::make_shared<std::string const>(route)](http_session& s) {
      if (number == s.exchange_) s.route_ = route;
      f(s, number);
    });
  }

  std::weak_ptr<http_session> session_;
  std::shared_ptr<http_request const> request_;
  std::weak_ptr<bool const> wanted_;
  std::shared_ptr<std::atomic<std::size_t>> unsent_;
  std::uint64_t number_;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> begun_ = false;
};

inline void http_session::hand_over() {
  request_->body = std::move(parser_->get().body());
  if (is_preflight()) {
    // Clients have headers of their own, as OpenAI's have.
    auto const asked = request_->header("Access-Control-Request-Headers").value_or("");
    auto const headers =
        is_list_of_names(asked) ? std::string{asked} : "Authorization, Content-Type";
    write_answer({.headers = {{"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
                              {"Access-Control-Allow-Headers", headers},
                              {"Access-Control-Max-Age", "600"},
                              {"Vary", "Access-Control-Request-Headers"}}});
    return;
  }
  if (not core_->take_place()) throw too_many("too many requests wait for their answers");
  counted_ = true;
  wanted_ = std::make_shared<bool const>(true);
  unsent_ = std::make_shared<std::atomic<std::size_t>>(0);
  phase_ = phase::answering;
  arm(core_->options.request_timeout, &http_session::answer_too_late);
  watch();
  auto const exchange = std::make_shared<session_exchange>(*this);
  try {
    core_->handler(exchange);
  } catch (http_error const& e) {
    exchange->answer({.status = e.status,
                      .body = core_->options.error_body(e.status, e.what()),
                      .headers = e.headers});
  } catch (std::exception const& e) {
    exchange->answer({.status = 500, .body = core_->options.error_body(500, e.what())});
  } catch (...) {
    exchange->answer({.status = 500, .body = core_->options.error_body(500, "the request failed")});
  }
}

inline void start_session(std::shared_ptr<http_core> core, asio::ip::tcp::socket socket,
                          bool refused) {
  std::make_shared<http_session>(std::move(core), std::move(socket))->start(refused);
}
inline void end_session_when_idle(http_session& session) {
  session.on_strand([](http_session& self) { self.end_when_idle(); });
}
inline void refuse_waiting_session(http_session& session) {
  session.on_strand([](http_session& self) { self.refuse_waiting(); });
}
inline void cut_session(http_session& session) {
  session.on_strand([](http_session& self) { self.close(); });
}

}  // namespace tessera::detail
