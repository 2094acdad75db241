// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/room_for_threads.hpp>
#include <tessera/serve/http_server.hpp>

#include <csignal>
#include <future>

#include "client.hpp"

using namespace tessera;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

using exchanges = std::shared_ptr<http_exchange> const&;

/// Says what it was asked.
void echo(exchanges exchange) {
  auto const& request = exchange->request();
  exchange->answer({.body = request.method + ' ' + request.path + ' ' + request.body});
}
/// Keeps exchanges until the test answers them.
struct kept {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<http_exchange>> all;

  void operator()(exchanges exchange) {
    auto const lock = std::lock_guard{mutex};
    all.push_back(exchange);
    changed.notify_all();
  }
  auto wait_for(std::size_t n) -> bool {
    auto lock = std::unique_lock{mutex};
    return changed.wait_for(lock, 1min, [&] { return all.size() >= n; });
  }
  /// Whether an answer that was wanted is wanted no more, after a while.
  [[nodiscard]] auto loses(std::size_t i) const -> bool {
    for (auto n = 0; n < 1000 && all[i]->wanted(); ++n) std::this_thread::sleep_for(5ms);
    return not all[i]->wanted();
  }
};

}  // namespace

TEST_CASE("http_server: answers requests, one after the other on one connection") {
  auto server = http_server({}, echo);
  auto client = test::client(server.port());
  CHECK(client.ask(test::get("/a?b=c")).body == "GET /a ");
  CHECK(client.ask(test::post("/b", "hello")).body == "POST /b hello");
  auto const first = client.ask("GET / HTTP/1.0\r\n\r\n");
  CHECK_THAT(first.head, Contains("Connection: close"));
  CHECK(client.ended());
}
TEST_CASE("http_server: a target may name the server, as it does for a proxy") {
  auto server = http_server({}, [](exchanges exchange) {
    exchange->answer({.body = exchange->request().path + ' ' + exchange->request().query});
  });
  auto client = test::client(server.port());
  CHECK(client.ask(test::get("http://host:80/v1/models?a=/b")).body == "/v1/models a=/b");
  CHECK(client.ask(test::get("HTTPS://host")).body == "/ ");
  CHECK(client.ask(test::get("http://host?a")).body == "/ a");
  CHECK(client.ask(test::get("/http://host/a")).body == "/http://host/a ");
}
TEST_CASE("http_server: requests that come at once are answered in their order") {
  auto server = http_server({}, echo);
  auto client = test::client(server.port());
  auto all = std::string{};
  for (auto i = 0; i < 100; ++i) all += test::post("/", std::to_string(i));
  REQUIRE(client.send(all));
  for (auto i = 0; i < 100; ++i) CHECK(client.receive().body == "POST / " + std::to_string(i));
}
TEST_CASE("http_server: HEAD has the headers of GET and no body; bodies may come in chunks") {
  auto server = http_server({}, echo);
  auto client = test::client(server.port());
  REQUIRE(client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n"));
  CHECK_THAT(client.receive(true).head, Contains("Content-Length: 8"));
  CHECK(client
            .ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            .body == "POST / abcde");
  REQUIRE(
      client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                  "Content-Length: 2\r\n\r\n"));
  CHECK(client.receive().status == 100);
  CHECK(client.ask("ok").body == "POST / ok");
  CHECK(client
            .ask("POST / HTTP/1.0\r\nExpect: 100-continue\r\n"
                 "Content-Length: 2\r\n\r\nok")
            .body == "POST / ok");  // HTTP/1.0 has no such answer
}
TEST_CASE("http_server: HEAD has no body where the answer comes in pieces, either") {
  auto taken = std::atomic<int>{0};
  auto server = http_server({}, [&](exchanges exchange) {
    if (exchange->request().path == "/next") return echo(exchange);
    exchange->begin({.body = "data: a\n\n", .type = "text/event-stream"});
    auto const piece = std::string(std::size_t{1} << 20U, 'b');
    for (auto i = 0; i < 8; ++i) taken += exchange->write(piece);  // more than may wait
    exchange->end();
  });
  auto client = test::client(server.port());
  REQUIRE(client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"));
  CHECK_THAT(client.receive(true).head, Contains("Content-Type: text/event-stream"));
  CHECK(client.ask(test::get("/next")).body == "GET /next ");
  CHECK(taken == 8);
}
TEST_CASE("http_server: empty lines before a request are passed over") {
  auto server = http_server({.header_timeout = 1min}, echo);
  auto client = test::client(server.port());
  CHECK(client.ask("\r\n" + test::post("/a", "x") + "\r\n").body == "POST /a x");
  CHECK(client.ask(test::get("/b")).body == "GET /b ");
  REQUIRE(client.send("\r"));
  std::this_thread::sleep_for(20ms);
  CHECK(client.ask("\n\r\n" + test::get("/c")).body == "GET /c ");
}
TEST_CASE("http_server: a body that is encoded is 415") {
  auto server = http_server({}, echo);
  auto client = test::client(server.port());
  CHECK(client.ask(test::post("/", "x", "Content-Encoding: Identity\r\n")).body == "POST / x");
  auto const got = client.ask(test::post("/", "x", "content-encoding: gzip\r\n"));
  CHECK(got.status == 415);
  CHECK_THAT(got.head, Contains("Accept-Encoding: identity\r\n"));
  CHECK(got.body == R"({"error":"expected no Content-Encoding but identity, got gzip"})");
}
TEST_CASE("http_server: what a handler throws is an answer, and no answer is one, too") {
  auto server = http_server({}, [](exchanges exchange) {
    auto const& path = exchange->request().path;
    if (path == "/refused") throw http_error(422, "a \"word\"", {{"X-More", "a\r\nb: c"}});
    if (path == "/broken") throw std::runtime_error("no luck");
    if (path == "/whatever") throw 3;  // NOLINT: no exception of the library's
  });
  auto client = test::client(server.port());
  auto const refused = client.ask(test::get("/refused"));
  CHECK(refused.status == 422);
  CHECK(refused.body == R"({"error":"a \"word\""})");
  CHECK_THAT(refused.head, Contains("X-More: a  b: c\r\n"));
  CHECK(client.ask(test::get("/broken")).status == 500);
  CHECK(client.ask(test::get("/forgotten")).body ==
        R"({"error":"the request was given no answer"})");
  CHECK(client.ask(test::get("/whatever")).status == 500);
}
TEST_CASE("http_server: what is no HTTP is 400, what is too large 413 or 431") {
  auto server = http_server({.header_limit = 1000, .body_limit = 100}, echo);
  auto const status = [&](std::string const& bytes) {
    auto client = test::client(server.port());
    auto const got = client.ask(bytes);
    CHECK(client.ended());
    return got.status;
  };
  CHECK(status("hello\r\n\r\n") == 400);
  CHECK(status("GET / HTTP/3.7\r\nHost: x\r\n\r\n") == 400);
  CHECK(status("GET / HTTP/1.1\r\n\r\n") == 400);
  CHECK(status("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n") == 400);
  CHECK(status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n") == 400);
  CHECK(status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
               "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400);
  CHECK(status("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n") == 400);
  CHECK(status("POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n") ==
        417);
  CHECK(status(test::post("/", std::string(101, 'x'))) == 413);
  CHECK(status("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n80\r\n" +
               std::string(128, 'x') + "\r\n") == 413);
  CHECK(status("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n") ==
        400);
  CHECK(status(test::get("/", "A: " + std::string(2000, 'x') + "\r\n")) == 431);
  CHECK(status(test::get("/" + std::string(2000, 'x'))) == 431);
}
TEST_CASE("http_server: slow clients are told so, and idle ones are left") {
  auto const head_in_time = http_server({.header_timeout = 50ms}, echo);
  auto head = test::client(head_in_time.port());
  REQUIRE(head.send("GET / HT"));
  CHECK(head.receive().status == 408);
  CHECK(head.ended());
  auto const body_in_time = http_server({.request_timeout = 50ms}, echo);
  auto body = test::client(body_in_time.port());
  REQUIRE(body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"));
  CHECK(body.receive().status == 408);
  CHECK(body.ended());
  auto const not_idle = http_server({.idle_timeout = 50ms}, echo);
  auto idle = test::client(not_idle.port());
  CHECK(idle.ended());
}
TEST_CASE("http_server: an answer that takes too long is 503, and the late one is dropped") {
  auto waiting = kept{};
  auto server = http_server({.request_timeout = 50ms}, [&](exchanges exchange) {
    if (exchange->request().path == "/") return waiting(exchange);
    waiting.all[0]->answer({.body = "late"});
    exchange->answer({.body = "in time"});
  });
  auto client = test::client(server.port());
  CHECK(client.ask(test::get("/")).status == 503);
  CHECK_FALSE(waiting.all[0]->wanted());
  auto next = client.ask(test::get("/next"));
  for (auto i = 0; i < 100 && next.status == 503; ++i)  // the machine may be as slow as that
    next = client.ask(test::get("/next"));
  CHECK(next.body == "in time");
}
TEST_CASE("http_server: a request waits for its answer, not for its client to read it") {
  auto server = http_server({.requests = 1}, [](exchanges exchange) {
    auto const large = exchange->request().path == "/large";
    exchange->answer({.body = std::string(large ? 32U << 20U : 1U, 'x')});
  });
  auto slow = test::client(server.port());
  auto other = test::client(server.port());
  REQUIRE(slow.send(test::get("/large")));
  REQUIRE(slow.begins());  // the rest is more than the system takes
  CHECK(other.ask(test::get("/")).body == "x");
}
TEST_CASE("http_server: more requests than may wait are 429, more connections 503") {
  auto waiting = kept{};
  auto server = http_server({.connections = 3, .requests = 1}, std::ref(waiting));
  auto one = test::client(server.port());
  auto two = test::client(server.port());
  REQUIRE(one.send(test::get("/")));
  REQUIRE(waiting.wait_for(1));
  auto const refused = two.ask(test::get("/"));
  CHECK(refused.status == 429);
  CHECK_THAT(refused.head, Contains("Retry-After: 1\r\n"));
  waiting.all[0]->answer({});
  CHECK(one.receive().status == 200);
  REQUIRE(two.send(test::get("/")));  // the connection was kept
  REQUIRE(waiting.wait_for(2));
  auto three = test::client(server.port());
  auto four = test::client(server.port());
  CHECK(four.receive().status == 503);
  CHECK(four.ended());
}
TEST_CASE("http_server: with a token, only those who know it are answered") {
  auto server = http_server({.token = "secret", .open_paths = {"/live"}}, echo);
  auto const status = [&](std::string const& path, std::string const& more) {
    return test::client(server.port()).ask(test::get(path, more)).status;
  };
  CHECK(status("/", "") == 401);
  CHECK(status("/", "Authorization: Bearer wrong\r\n") == 401);
  CHECK(status("/", "Authorization: Bearer secret2\r\n") == 401);
  CHECK(status("/", "Authorization: Bearer secre\r\n") == 401);
  CHECK(status("/", "Authorization: Bearer \r\n") == 401);
  CHECK(status("/", "Authorization: Basic secret\r\n") == 401);
  CHECK(status("/", "authorization: bearer secret\r\n") == 200);
  CHECK(status("/live", "") == 200);
  CHECK(status("/live/", "") == 401);
}
TEST_CASE("http_server: scripts of the pages that are allowed may ask, and no others") {
  auto const open = http_server({.token = "secret", .allowed_origin = "http://page"}, echo);
  auto const asks = [](http_server const& server, std::string const& text) {
    return test::client(server.port()).ask(text);
  };
  auto const preflight = std::string{
      "OPTIONS /v1/x HTTP/1.1\r\nHost: x\r\nOrigin: http://page\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n"};
  auto const may = asks(open, preflight);
  CHECK(may.status == 200);
  CHECK_THAT(may.head,
             Contains("Access-Control-Allow-Origin: http://page\r\n") &&
                 Contains("Access-Control-Allow-Headers: Authorization, Content-Type\r\n") &&
                 Contains("Access-Control-Allow-Methods: GET, POST, OPTIONS\r\n"));
  auto const with = [&](std::string const& headers) {
    auto text = preflight;
    text.insert(text.size() - 2, "Access-Control-Request-Headers: " + headers + "\r\n");
    return asks(open, text).head;
  };
  CHECK_THAT(with("authorization,x-stainless-os"),
             Contains("Access-Control-Allow-Headers: authorization,x-stainless-os\r\n") &&
                 Contains("Vary: Access-Control-Request-Headers\r\n"));
  for (auto const* no_names : {"", "a;b", "<x>", "a\xff"})
    CHECK_THAT(with(no_names), Contains("Allow-Headers: Authorization, Content-Type\r\n"));
  auto const got = asks(open, test::get("/", "Authorization: Bearer secret\r\n"));
  CHECK(got.status == 200);
  CHECK_THAT(got.head, Contains("Access-Control-Allow-Origin: http://page\r\n"));
  CHECK(asks(open, test::get("/")).status == 401);
  CHECK(asks(open, "OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n").status == 401);

  auto const shut = http_server({.token = "secret"}, echo);
  CHECK(asks(shut, preflight).status == 401);
  CHECK_THAT(asks(shut, test::get("/", "Authorization: Bearer secret\r\n")).head,
             not Contains("Access-Control"));
}
TEST_CASE("http_server: an answer may come in pieces, as server-sent events do") {
  auto waiting = kept{};
  auto server = http_server({}, std::ref(waiting));
  auto client = test::client(server.port());
  REQUIRE(client.send(test::get("/")));
  REQUIRE(waiting.wait_for(1));
  auto const& exchange = waiting.all[0];
  exchange->begin({.body = "data: a\n\n", .type = "text/event-stream"});
  auto const head = client.until("\r\n\r\n");
  CHECK_THAT(head, Contains("Transfer-Encoding: chunked"));
  CHECK_THAT(head, Contains("Content-Type: text/event-stream"));
  CHECK(client.until("a\n\n\r\n") == "9\r\ndata: a\n\n\r\n");  // before the next is written
  CHECK(exchange->write("data: b\n\n"));
  CHECK(exchange->write("data: [DONE]\n\n"));
  exchange->end();
  CHECK_FALSE(exchange->write("behind the end"));
  CHECK(client.until("0\r\n\r\n") == "9\r\ndata: b\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
  REQUIRE(client.send(test::get("/next")));
  REQUIRE(waiting.wait_for(2));
  waiting.all[1]->answer({.body = "next"});
  CHECK(client.receive().body == "next");
}
TEST_CASE("http_server: a stream is told when its client is gone") {
  auto waiting = kept{};
  auto server = http_server({}, std::ref(waiting));
  {
    auto client = test::client(server.port());
    REQUIRE(client.send(test::get("/")));
    REQUIRE(waiting.wait_for(1));
    waiting.all[0]->begin({.body = "a"});
    (void)client.receive(true);
  }
  auto writes = 0;
  while (waiting.all[0]->write("b") && writes < 10'000) {
    ++writes;
    std::this_thread::sleep_for(1ms);
  }
  CHECK(writes < 10'000);
  CHECK_FALSE(waiting.all[0]->wanted());
}
TEST_CASE(
    "http_server: who leaves before the answer makes it unwanted; who says no more does not") {
  auto waiting = kept{};
  auto server = http_server({}, std::ref(waiting));
  auto half = test::client(server.port());
  REQUIRE(half.send(test::get("/")));
  half.shut();
  REQUIRE(waiting.wait_for(1));
  auto next = test::client(server.port());
  REQUIRE(next.send(test::get("/1")));
  REQUIRE(waiting.wait_for(2));
  {
    auto gone = test::client(server.port());
    REQUIRE(gone.send(test::get("/")));
    REQUIRE(waiting.wait_for(3));
    std::this_thread::sleep_for(300ms);
    CHECK(waiting.all[2]->wanted());
    REQUIRE(next.send(test::get("/2")));  // before its first is answered
  }
  CHECK(waiting.loses(2));
  CHECK(waiting.all[0]->wanted());
  CHECK(waiting.all[1]->wanted());
  CHECK(half.receive().status == 100);  // by which those who are gone are told apart
  waiting.all[0]->answer({.body = "still"});
  CHECK(half.receive().body == "still");
  waiting.all[1]->answer({.body = "first"});
  CHECK(next.receive().body == "first");
  REQUIRE(waiting.wait_for(4));
  waiting.all[3]->answer({.body = "second"});
  CHECK(next.receive().body == "second");
}
TEST_CASE("http_server: who leaves at once, or behind the next request, is seen to have left") {
  auto waiting = kept{};
  auto server = http_server({}, std::ref(waiting));
  {
    auto gone = test::client(server.port());
    REQUIRE(gone.send(test::get("/")));
    REQUIRE(waiting.wait_for(1));
  }
  CHECK(waiting.loses(0));
  {
    auto next = test::client(server.port());
    REQUIRE(next.send(test::get("/1")));
    REQUIRE(waiting.wait_for(2));
    std::this_thread::sleep_for(200ms);
    REQUIRE(next.send(test::get("/2")));
    std::this_thread::sleep_for(200ms);
    CHECK(waiting.all[1]->wanted());
  }
  CHECK(waiting.loses(1));
  auto both = test::client(server.port());
  REQUIRE(both.send(test::get("/1")));
  REQUIRE(waiting.wait_for(3));
  REQUIRE(both.send(test::get("/2")));
  both.shut();  // all is said, and waited for
  std::this_thread::sleep_for(300ms);
  CHECK(waiting.all[2]->wanted());
  CHECK(both.receive().status == 100);
  waiting.all[2]->answer({.body = "first"});
  CHECK(both.receive().body == "first");
  REQUIRE(waiting.wait_for(4));
  waiting.all[3]->answer({.body = "second"});
  CHECK(both.receive().body == "second");
}
TEST_CASE("http_server: a drain lets requests end and refuses new ones") {
  auto waiting = kept{};
  auto server = http_server(
      {.threads = 1, .header_timeout = 1min, .drain_timeout = 1min}, [&](exchanges exchange) {
        exchange->request().path == "/wait" ? waiting(exchange) : echo(exchange);
      });
  auto busy = test::client(server.port());
  auto half = test::client(server.port());
  auto idle = test::client(server.port());
  CHECK(half.ask(test::get("/")).status == 200);
  REQUIRE(half.send("POST / HTTP/1.1\r\nHost: x\r\n"));
  for (auto i = 0; i < 2; ++i)  // what came before is read, by the only thread
    CHECK(idle.ask(test::get("/")).status == 200);
  REQUIRE(busy.send(test::get("/wait")));
  REQUIRE(waiting.wait_for(1));
  auto drained = std::async(std::launch::async, [&] { return server.drain(); });
  CHECK(idle.ended());
  CHECK(server.draining());
  CHECK_THROWS(test::client(server.port()));
  CHECK(half.ask("Content-Length: 0\r\n\r\n").status == 503);
  waiting.all[0]->answer({.body = "done"});
  auto const got = busy.receive();
  CHECK(got.body == "done");
  CHECK_THAT(got.head, Contains("Connection: close"));
  busy.shut();
  half.shut();
  CHECK(drained.get());
}
TEST_CASE("http_server: a drain has an end") {
  auto waiting = kept{};
  auto server = http_server({.drain_timeout = 50ms}, std::ref(waiting));
  auto busy = test::client(server.port());
  REQUIRE(busy.send(test::get("/")));
  REQUIRE(waiting.wait_for(1));
  CHECK_FALSE(server.drain());
  auto const got = busy.receive();
  CHECK(got.status == 503);
  CHECK(got.body == R"({"error":"the server is ending"})");
  CHECK(busy.ended());
  waiting.all[0]->answer({});  // nobody is there any more
  CHECK_FALSE(waiting.all[0]->wanted());
}
TEST_CASE("http_server: at the end of a drain answers and streams may be ended by who gives them") {
  auto waiting = kept{};
  auto server = http_server({.drain_timeout = 50ms}, std::ref(waiting));
  auto busy = test::client(server.port());
  auto stream = test::client(server.port());
  auto stuck = test::client(server.port());
  REQUIRE(busy.send(test::get("/")));
  REQUIRE(waiting.wait_for(1));
  REQUIRE(stream.send(test::get("/")));
  REQUIRE(waiting.wait_for(2));
  waiting.all[1]->begin({.body = "data: a\n\n", .type = "text/event-stream"});
  REQUIRE(stuck.send(test::get("/")));
  REQUIRE(waiting.wait_for(3));
  waiting.all[2]->begin({.body = "data: a\n\n", .type = "text/event-stream"});
  CHECK_FALSE(server.drain([&] {
    waiting.all[0]->answer({.status = 503, .body = "no more"});
    (void)waiting.all[1]->write("data: no more\n\n");
    waiting.all[1]->end();
  }));
  CHECK(busy.receive().body == "no more");
  CHECK_THAT(stream.until("0\r\n\r\n"), Contains("data: no more\n\n"));
  CHECK(stuck.until("a\n\n\r\n") != "");
  CHECK(stuck.ended());
}
TEST_CASE("http_server: an end may come while clients do") {
  for (auto i = 0; i < 150; ++i) {
    auto server = http_server({.threads = 4}, echo);
    auto const come = [&] {
      try {
        for (;;) (void)test::client(server.port()).ask(test::get("/"));
      } catch (std::runtime_error const&) {
        return true;  // nobody listens any more
      }
    };
    auto one = std::async(std::launch::async, come);
    auto other = std::async(std::launch::async, come);
    std::this_thread::sleep_for(1ms);
    server.stop();
    CHECK(one.get());
    CHECK(other.get());
  }
}
TEST_CASE("http_server: a polite kill drains it") {
  auto server = http_server({}, echo);
  auto told = false;
  auto const early = interrupt_guard{};
  (void)std::raise(SIGTERM);
  CHECK(server.run_until_signal([&] { told = true; }));
  CHECK(told);
  CHECK(server.draining());
}
TEST_CASE("http_server: an address that cannot be had is refused by name") {
  auto server = http_server({}, echo);
  CHECK_THROWS_WITH(http_server({.port = server.port()}, echo),
                    Contains("cannot listen on 127.0.0.1:" + std::to_string(server.port())));
  CHECK_THROWS_WITH(http_server({.address = "nowhere"}, echo),
                    Contains("cannot listen on nowhere:0"));
}
TEST_CASE("http_server: a thread that cannot be made is an exception, and the others end") {
  {
    auto const room = test::room_for_one_thread{};
    CHECK_THROWS_WITH(http_server({.threads = 3}, echo),
                      Contains("http_server: thread 2 of 3 cannot be made: "));
  }
  auto server = http_server({.threads = 3}, echo);
  CHECK(test::client(server.port()).ask(test::get("/")).status == 200);
}
TEST_CASE("http_server: a name is listened on as an address is") {
  auto server = http_server({.address = "localhost"}, echo);
  CHECK(test::client(server.port()).ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 200);
  auto const refused = [](http_options options, char const* what) {
    CHECK_THROWS_WITH(http_server(std::move(options), echo), Contains(what));
  };
  refused({.address = "no.such.name.invalid"}, "cannot listen on no.such.name.invalid:0: ");
  refused({.address = ""}, "expected an address or a name, got none");
  refused({.address = "localhost", .port = server.port()}, "in use");
}
TEST_CASE("http_server: an observer that throws changes no answer") {
  auto server =
      http_server({.observe = [](auto const&) { throw std::runtime_error("no memory"); }}, echo);
  auto one = test::client(server.port());
  for (auto i = 0; i < 3; ++i) CHECK(one.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 200);
}
TEST_CASE("http_server: every answer is observed once, with its status") {
  auto mutex = std::mutex{};
  auto seen = std::vector<http_observation>{};
  {
    auto server = http_server({.observe =
                                   [&](http_observation const& one) {
                                     auto const lock = std::lock_guard{mutex};
                                     seen.push_back(one);
                                   }},
                              [](exchanges exchange) {
                                exchange->route = "/{any}";
                                exchange->answer({.status = 404});
                              });
    (void)test::client(server.port()).ask(test::get("/x"));
  }
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].route == "/{any}");
  CHECK(seen[0].method == "GET");
  CHECK(seen[0].status == 404);
  CHECK(seen[0].seconds > 0);
}
