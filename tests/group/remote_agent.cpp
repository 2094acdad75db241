// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/conductor.hpp>
#include <tessera/group/remote_agent.hpp>
#include <tessera/serve/http_server.hpp>

#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <future>

using namespace tessera;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::EndsWith;

namespace {

using exchange_pointer = std::shared_ptr<http_exchange>;
using agents = std::vector<std::shared_ptr<group_agent>>;

/// One event of a stream: a piece of the reply.
auto event_of(std::string const& piece) -> std::string {
  return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":" + json_text(piece) + "}}]}\n\n";
}
auto begin_stream(exchange_pointer const& exchange) -> void {
  exchange->begin({.body = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n",
                   .type = "text/event-stream"});
}
/// A whole reply, a few letters at a time.
void reply(exchange_pointer const& exchange, std::string const& text) {
  begin_stream(exchange);
  for (auto at = std::size_t{0}; at < text.size(); at += 5)
    (void)exchange->write(event_of(text.substr(at, 5)));
  (void)exchange->write("data: [DONE]\n\n");
  exchange->end();
}

/// An address that does what the test says, request by request.
struct service {
  using script = std::function<void(exchange_pointer const&, std::size_t number)>;

  explicit service(script does)
      : server({}, [this, does = std::move(does)](exchange_pointer const& exchange) {
          auto number = std::size_t{0};
          {
            auto const lock = std::lock_guard{mutex};
            number = bodies.size();
            auto const& body = exchange->request().body;
            bodies.push_back(body.empty() ? nlohmann::json{} : nlohmann::json::parse(body));
            requests.push_back(exchange->request());
          }
          does(exchange, number);
        }) {}
  [[nodiscard]] auto url() const -> std::string {
    return "http://127.0.0.1:" + std::to_string(server.port()) + "/v1";
  }
  [[nodiscard]] auto agent(remote_agent_options options = {}) const
      -> std::shared_ptr<group_agent> {
    options.url = url();
    if (options.model.empty()) options.model = "small";
    return std::make_shared<remote_agent>(options);
  }
  [[nodiscard]] auto message(std::size_t request, std::size_t number) -> std::string {
    auto const lock = std::lock_guard{mutex};
    return bodies.at(request).at("messages").at(number).at("content");
  }
  [[nodiscard]] auto count() -> std::size_t {
    auto const lock = std::lock_guard{mutex};
    return bodies.size();
  }

  std::mutex mutex;
  std::vector<nlohmann::json> bodies;
  std::vector<http_request> requests;
  http_server server;
};

constexpr auto answer_four = R"({"action": "new_answer", "content": "four"})";
constexpr auto answer_five = R"({"action": "new_answer", "content": "five, by another way"})";
constexpr auto vote_for_one = R"({"action": "vote", "agent": "agent1", "reason": "it is right"})";

/// A group of these agents, and why each was lost.
struct run {
  group_protocol group;
  std::vector<std::string> lost;

  explicit run(std::vector<std::string> const& ids, group_options options = {})
      : group(ids, std::move(options)), lost(ids.size()) {}
  auto with(agents const& all, std::chrono::milliseconds round_timeout = 60s) -> bool {
    return conduct(group, {"What is 2 + 2?"}, all,
                   {.round_timeout = round_timeout,
                    .tick = 5ms,
                    .observe = [&](group_event const& event, group_verdict, group_protocol const&) {
                      if (event.kind == group_event_kind::failure) lost[event.agent] = event.text;
                    }});
  }
};
/// Why a single agent of this service is lost.
auto failure_of(service::script script, remote_agent_options options = {}) -> std::string {
  auto at = service(std::move(script));
  auto it = run({"ada"});
  REQUIRE(it.with({at.agent(std::move(options))}));
  CHECK_FALSE(it.group.outcome().winner);
  return it.lost[0];
}

/// An address of one connection, which sends these bytes whatever it is asked.
struct raw_service {
  explicit raw_service(std::string bytes)
      : thread([this, bytes = std::move(bytes)] {
          auto ignored = boost::system::error_code{};
          auto socket = listener.accept();
          auto asked = std::string{};
          (void)boost::asio::read_until(socket, boost::asio::dynamic_buffer(asked), "\r\n\r\n",
                                        ignored);
          (void)boost::asio::write(socket, boost::asio::buffer(bytes), ignored);
        }) {}
  ~raw_service() { thread.join(); }
  raw_service(raw_service const&) = delete;
  auto operator=(raw_service const&) -> raw_service& = delete;
  [[nodiscard]] auto lost() const -> std::string {
    auto const port = std::to_string(listener.local_endpoint().port());
    auto it = run({"ada"});
    REQUIRE(it.with({std::make_shared<remote_agent>(
        remote_agent_options{.url = "http://127.0.0.1:" + port, .model = "small"})}));
    return it.lost[0];
  }

  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor listener{context, {boost::asio::ip::address_v4::loopback(), 0}};
  std::thread thread;
};
auto nested(std::size_t depth) -> std::string {
  return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace

TEST_CASE("remote_agent: asks for an action in JSON, streamed") {
  auto at = service([](auto const& exchange, std::size_t) { reply(exchange, answer_four); });
  auto it = run({"ada"});
  REQUIRE(it.with({at.agent({.token = "secret",
                             .character = "You are terse.",
                             .temperature = 0.5,
                             .top_p = 0.25,
                             .seed = 7,
                             .max_tokens = 100})}));
  CHECK(it.group.outcome() == group_outcome{group_cause::alone, 0, "four", false});
  auto const& body = at.bodies.at(0);
  CHECK(body.at("model") == "small");
  CHECK(body.at("stream") == true);
  CHECK(body.at("temperature") == 0.5);
  CHECK(body.at("top_p") == 0.25);
  CHECK(body.at("seed") == 7);
  CHECK(body.at("max_tokens") == 100);
  CHECK_THAT(at.message(0, 0), Contains("You are terse."));
  CHECK_THAT(at.message(0, 1), Contains("What is 2 + 2?") && Contains("none yet") &&
                                   Contains("Reply with one JSON object") &&
                                   not Contains("\"vote\""));
  CHECK(at.requests.at(0).path == "/v1/chat/completions");
  CHECK(at.requests.at(0).header("Authorization") == "Bearer secret");
}
TEST_CASE("remote_agent: without a name it is the only model of the address that is asked") {
  auto const serves = [](std::string models) {
    return [=](exchange_pointer const& exchange, std::size_t) {
      if (exchange->request().method == "GET")
        exchange->answer({.body = models});
      else
        reply(exchange, answer_four);
    };
  };
  auto const asks = [](service& at) {
    auto it = run({"ada"});
    REQUIRE(it.with({std::make_shared<remote_agent>(remote_agent_options{.url = at.url()})}));
    return it.lost[0];
  };
  auto one = service(serves(R"({"data":[{"id":"tiny"}]})"));
  CHECK(asks(one).empty());
  REQUIRE(one.count() == 2);
  CHECK(one.requests[0].path == "/v1/models");
  CHECK(one.bodies[1].at("model") == "tiny");
  CHECK_FALSE(one.bodies[1].contains("top_p"));
  auto two = service(serves(R"({"data":[{"id":"tiny"},{"id":"huge"}]})"));
  CHECK_THAT(asks(two), Contains("the name of a model, since the address has tiny, huge"));
  for (auto const* text : {"", "[]", "{}", R"({"data":[{"id":7},3]})", R"({"data":{}})"}) {
    auto none = service(serves(text));
    CHECK_THAT(asks(none), Contains("the address names none that it has"));
  }
  auto const list_of = [](std::size_t bytes) {
    return R"({"padding":")" + std::string(bytes, 'x') + R"(","data":[{"id":"tiny"}]})";
  };
  auto large = service(serves(list_of(200'000)));
  CHECK(asks(large).empty());
  auto too_large = service(serves(list_of(5'000'000)));
  CHECK_THAT(asks(too_large), Contains("a list of models of at most 4194304 bytes, got more"));
  auto deep = service(serves(R"({"data":[{"id":)" + nested(60'000) + "}]}"));
  CHECK_THAT(asks(deep), Contains("expected JSON of at most 64 levels, got more"));
}
TEST_CASE("remote_agent: two agents answer, vote, and the winner presents") {
  auto const does = [](std::string const& own, std::string const& answer) {
    return [=](exchange_pointer const& exchange, std::size_t) {
      auto const& asked = exchange->request().body;
      auto const has = [&](std::string const& text) {
        return asked.find(text) != std::string::npos;
      };
      if (has("Give the final answer."))
        reply(exchange, "It is four.");
      else
        reply(exchange, has("<" + own + ">") ? vote_for_one : answer);
    };
  };
  auto first = service(does("agent1", answer_four));
  auto second = service(does("agent2", answer_five));
  auto it = run({"ada", "bob"});
  REQUIRE(it.with({first.agent(), second.agent()}));
  CHECK(it.group.outcome() == group_outcome{group_cause::votes, 0, "It is four.", true});
  CHECK(it.group.version() == 2);
  CHECK_THAT(first.message(first.count() - 1, 1),
             Contains("five, by another way") && Contains("agent2 votes for agent1: it is right"));
}
TEST_CASE("remote_agent: what was wrong is told in the same conversation, three times at most") {
  auto at = service([](auto const& exchange, std::size_t number) {
    reply(exchange, number == 0 ? "I say four." : number == 1 ? vote_for_one : answer_four);
  });
  auto it = run({"ada"});
  REQUIRE(it.with({at.agent()}));
  CHECK(it.group.outcome().answer == "four");
  REQUIRE(at.count() == 3);
  CHECK(at.message(1, 2) == "I say four.");
  CHECK_THAT(at.message(1, 3), Contains("one JSON object and nothing else, got other text"));
  CHECK_THAT(at.message(2, 5), Contains("there are no answers to vote for yet"));

  auto never = service([](auto const& exchange, std::size_t) { reply(exchange, "I say four."); });
  auto lost = run({"ada"});
  REQUIRE(lost.with({never.agent()}));
  CHECK(lost.group.status(0) == agent_status::error);
  CHECK(never.count() == 3);
}
TEST_CASE("remote_agent: new answers end what it says, and it goes on with them") {
  auto waiting = std::promise<void>{};
  auto begun = waiting.get_future();
  auto held = exchange_pointer{};
  auto late = service([&](auto const& exchange, std::size_t number) {
    if (number > 0) return reply(exchange, vote_for_one);
    begin_stream(exchange);
    (void)exchange->write(event_of("I begin to th"));
    held = exchange;  // and never ends
    waiting.set_value();
  });
  auto early = service([&](auto const& exchange, std::size_t number) {
    if (number == 0) begun.wait();
    reply(exchange, number == 0 ? answer_four : number == 1 ? vote_for_one : "Four.");
  });
  auto it = run({"ada", "bob"});
  REQUIRE(it.with({early.agent(), late.agent()}));
  CHECK(it.group.outcome() == group_outcome{group_cause::votes, 0, "Four.", true});
  REQUIRE(late.count() == 2);
  auto const size = late.bodies[1].at("messages").size();
  CHECK_THAT(late.message(1, size - 1), Contains("NEW ANSWERS came:\n<agent1>\nfour\n</agent1>"));
  held.reset();
}
TEST_CASE("remote_agent: a dead, silent or broken address does not stop the others") {
  auto held = std::vector<exchange_pointer>{};
  auto mutex = std::mutex{};
  auto good = service([](auto const& exchange, std::size_t number) {
    reply(exchange, number == 0 ? answer_four : vote_for_one);
  });
  auto silent = service([&](auto const& exchange, std::size_t) {
    auto const lock = std::lock_guard{mutex};
    held.push_back(exchange);
  });
  auto const dead = std::make_shared<remote_agent>(
      remote_agent_options{.url = "http://127.0.0.1:1/v1", .model = "small"});
  auto it = run({"able", "dead", "silent", "slow"});
  REQUIRE(it.with({good.agent(), dead, silent.agent({.silence = 100ms}), silent.agent()}, 1500ms));
  CHECK(it.group.outcome() == group_outcome{group_cause::alone, 0, "four", false});
  CHECK_THAT(it.lost[1], Contains("http://127.0.0.1:1/v1: Connection refused"));
  CHECK_THAT(it.lost[2], Contains("no answer in 100 ms"));
  CHECK(it.group.status(3) == agent_status::timeout);
  auto const lock = std::lock_guard{mutex};
  held.clear();
}
TEST_CASE("remote_agent: a busy address is asked again; an error that is null is none") {
  auto at = service([](auto const& exchange, std::size_t number) {
    if (number == 0) {
      exchange->answer({.status = 429, .body = "{}"});
      return;
    }
    exchange->begin({.body = "data: {\"error\":null,\"choices\":[]}\n\n",
                     .type = "Text/Event-Stream; charset=utf-8"});
    (void)exchange->write(event_of(answer_four));
    (void)exchange->write("data: [DONE]\n\n");
    exchange->end();
  });
  auto it = run({"ada"});
  REQUIRE(it.with({at.agent()}));
  CHECK(it.lost[0].empty());
  CHECK(it.group.outcome().winner);
  CHECK(at.count() >= 2);
  CHECK_THAT(
      failure_of([](auto const& exchange, std::size_t) { exchange->answer({.status = 503}); },
                 {.silence = 200ms}),
      Contains("status 503"));
}
TEST_CASE("remote_agent: a reply ends where it says why, with or without [DONE]") {
  auto at = service([](auto const& exchange, std::size_t) {
    begin_stream(exchange);
    (void)exchange->write(event_of(R"({"action": "new_answer", )"));
    (void)exchange->write(
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}\n\n");  // it does not say
    (void)exchange->write(
        R"(data: {"choices":[{"delta":{"content":"\"content\": \"four\"}"},"finish_reason":"stop"}]})"
        "\n\n");
    exchange->end();
  });
  auto it = run({"ada"});
  REQUIRE(it.with({at.agent()}));
  CHECK(it.lost[0].empty());
  CHECK(it.group.outcome().winner);
}
TEST_CASE("remote_agent: what is no stream of a reply is its failure, by its reason") {
  CHECK_THAT(
      failure_of([](auto const& exchange, std::size_t) {
        exchange->answer({.status = 404, .body = R"({"error":{"message":"no such model"}})"});
      }),
      Contains("status 404, no such model"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) {
               exchange->answer({.status = 500, .body = R"({"error":["x"]})"});
             }),
             Contains("/v1: "));
  CHECK_THAT(
      failure_of([](auto const& exchange, std::size_t) { exchange->answer({.body = "{}"}); }),
      Contains("expected text/event-stream, got application/json"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) {
               begin_stream(exchange);
               (void)exchange->write(event_of("I say"));
               exchange->end();
             }),
             Contains("the answer broke off"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) {
               begin_stream(exchange);
               (void)exchange->write("data: hello\n\n");
             }),
             Contains("expected JSON in its events"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) {
               begin_stream(exchange);
               (void)exchange->write("data: {\"error\":{\"message\":\"overloaded\"}}\n\n");
             }),
             Contains("overloaded"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) { reply(exchange, answer_four); },
                        {.most_text = 10}),
             Contains("the reply has more than 10 bytes"));
}
TEST_CASE("remote_agent: JSON of many levels is the failure of this agent alone") {
  auto const sends = [](std::string const& event) {
    return failure_of([=](auto const& exchange, std::size_t) {
      begin_stream(exchange);
      (void)exchange->write("data: " + event + "\n\n");
      exchange->end();
    });
  };
  auto const deep = nested(60'000);
  for (auto const& event :
       {R"({"choices":[{"finish_reason":)" + deep + "}]}",
        R"({"choices":[{"delta":{"content":)" + deep + "}}]}", R"({"error":)" + deep + "}", deep})
    CHECK_THAT(sends(event), Contains("expected JSON of at most 64 levels, got more"));
  CHECK_THAT(failure_of([&](auto const& exchange, std::size_t) {
               exchange->answer({.status = 500, .body = R"({"detail":)" + deep + "}"});
             }),
             Contains(R"(status 500, {"detail":[[)"));
  auto at = service([&](auto const& exchange, std::size_t) { reply(exchange, deep); });
  auto it = run({"ada"});
  REQUIRE(it.with({at.agent()}));
  CHECK(it.group.status(0) == agent_status::error);
}
TEST_CASE("remote_agent: an error is told in the words of its address") {
  auto const lost = [](unsigned status, std::string const& body) {
    return failure_of([=](auto const& exchange, std::size_t) {
      exchange->answer({.status = status, .body = body});
    });
  };
  CHECK_THAT(lost(404, R"({"error":"model 'x' not found"})"),
             EndsWith("status 404, model 'x' not found"));
  CHECK_THAT(lost(400, R"({"object":"error","message":"too long"})"),
             EndsWith("status 400, too long"));
  CHECK_THAT(lost(401, R"({"detail":"Unauthorized"})"), EndsWith("status 401, Unauthorized"));
  CHECK_THAT(lost(422, R"({"detail":[{"msg":"field required"}]})"),
             EndsWith(R"(status 422, [{"msg":"field required"}])"));
  CHECK_THAT(lost(502, "<html>\xFF</html>\n"), EndsWith("status 502, <html>\xEF\xBF\xBD</html>"));
  CHECK_THAT(lost(500, std::string(199, 'x') + "\xC3\xA4y"),
             EndsWith("status 500, " + std::string(199, 'x')));
  CHECK_THAT(lost(500, ""), EndsWith("status 500"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) {
               exchange->answer(
                   {.status = 308, .headers = {{"Location", "https://host/v1/chat/completions"}}});
             }),
             EndsWith("status 308 to https://host/v1/chat/completions"));
  CHECK_THAT(failure_of([](auto const& exchange, std::size_t) {
               begin_stream(exchange);
               (void)exchange->write("data: {\"error\":\"overloaded\"}\n\n");
             }),
             EndsWith("/v1: overloaded"));
}
TEST_CASE("remote_agent: interim answers come before the one that counts, heads may be long") {
  auto const answer =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Long: " + std::string(40'000, 'x') +
      "\r\n\r\n" + event_of(answer_four) + "data: [DONE]\n\n";
  CHECK(raw_service("HTTP/1.1 102 Processing\r\n\r\n"
                    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
                    answer)
            .lost()
            .empty());
  CHECK_THAT(raw_service("HTTP/1.1 101 Switching Protocols\r\n\r\n" + answer).lost(),
             Contains("status 101"));
  CHECK_THAT(raw_service("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n").lost(),
             Contains("header limit exceeded"));
}
TEST_CASE("remote_agent: an address that is none is refused") {
  for (auto const* url : {"", "https://host/v1", "http://", "http://:80", "http://host:x/v1",
                          "http://host/v1\r\nX: y"})
    CHECK_THROWS_AS(remote_agent({.url = url, .model = "m"}), std::invalid_argument);
  CHECK_THROWS_WITH(remote_agent({.url = "https://host/v1"}), Contains("it speaks no TLS"));
  CHECK_THROWS_AS(remote_agent({.url = "http://host", .model = "m", .token = "a\r\nb"}),
                  std::invalid_argument);
}
TEST_CASE("remote_agent: events are read in whatever pieces they come") {
  auto const stream = std::string{
      ": a comment\r\ndata: one\r\n\r\nevent: x\ndata:two\ndata:  three\n\nid: 4\n\ndata\n\ndata: "
      "end"};
  for (auto size = std::size_t{1}; size <= stream.size(); ++size) {
    auto lines = detail::event_lines{};
    auto got = std::vector<std::string>{};
    for (auto at = std::size_t{0}; at < stream.size(); at += size)
      lines.feed(stream.substr(at, size), [&](auto const& data) { got.push_back(data); });
    CHECK(got == std::vector<std::string>{"one", "two\n three", ""});
  }
  auto lines = detail::event_lines{};
  CHECK_THROWS_WITH(lines.feed(std::string(2'000'000, 'x'), [](auto const&) {}),
                    Contains("at most a megabyte"));
}
