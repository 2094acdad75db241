// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/router.hpp>

using namespace tessera;
using Catch::Contains;

namespace {

/// An exchange of a test: keeps its answer.
struct asked final : http_exchange {
  http_request question;
  http_response given;

  asked(std::string method, std::string path) {
    question.method = std::move(method);
    question.path = std::move(path);
  }
  [[nodiscard]] auto request() const -> http_request const& override { return question; }
  [[nodiscard]] auto wanted() const -> bool override { return true; }
  void answer(http_response response) override { given = std::move(response); }
  void begin(http_response) override {}
  auto write(std::string) -> bool override { return false; }
  void end() override {}
};

auto routes() -> router {
  auto result = router{};
  result.get("/v2", [](auto const&) { return http_response{.body = "server"}; });
  result.get("/v2/models/{model}",
             [](auto const& path) { return http_response{.body = path.at("model")}; });
  result.on("POST", "/v2/models/{model}/versions/{version}/infer",
            [](auto const& exchange, auto const& path) {
              exchange->answer({.body = path.at("model") + '@' + path.at("version")});
            });
  result.on("POST", "/v2/models/{model}",
            [](auto const& exchange, auto const&) { exchange->answer({.status = 202}); });
  result.get("/files/{name...}",
             [](auto const& path) { return http_response{.body = path.at("name")}; });
  return result;
}
auto ask(std::string method, std::string path) -> std::shared_ptr<asked> {
  auto exchange = std::make_shared<asked>(std::move(method), std::move(path));
  routes()(exchange);
  return exchange;
}
auto refused(std::string method, std::string path) -> http_error {
  try {
    (void)ask(std::move(method), std::move(path));
  } catch (http_error const& e) {
    return e;
  }
  return {200, "answered"};
}

}  // namespace

TEST_CASE("router: a path finds its handler, with what stands in it") {
  CHECK(ask("GET", "/v2")->given.body == "server");
  CHECK(ask("GET", "/v2/")->given.body == "server");
  CHECK(ask("HEAD", "/v2/models/a")->given.body == "a");
  CHECK(ask("GET", "/v2/models/a%20b%2Fc")->given.body == "a b/c");
  CHECK(ask("POST", "/v2/models/m/versions/3/infer")->given.body == "m@3");
  CHECK(ask("POST", "/v2/models/m")->given.status == 202);
}
TEST_CASE("router: a name with dots is the rest of a path") {
  CHECK(ask("GET", "/files/a")->given.body == "a");
  CHECK(ask("GET", "/files/a/b%2Fc/d%20e")->given.body == "a/b/c/d e");
  CHECK(ask("GET", "/files/a/b")->route == "/files/{name...}");
  CHECK(refused("GET", "/files").status == 404);
  CHECK(refused("GET", "/file/a/b").status == 404);
  CHECK(refused("GET", "/files/a/%").status == 400);
}
TEST_CASE("router: what is counted is the pattern") {
  CHECK(ask("POST", "/v2/models/m/versions/3/infer")->route ==
        "/v2/models/{model}/versions/{version}/infer");
}
TEST_CASE("router: no path is 404, another method 405 with those that are allowed") {
  CHECK(refused("GET", "/v3").status == 404);
  CHECK(refused("GET", "/").status == 404);
  CHECK(refused("GET", "/v2/models").status == 404);
  CHECK(refused("GET", "").status == 404);
  CHECK_THAT(refused("GET", "/v3").what(), Contains("/v3"));
  auto const other = refused("DELETE", "/v2/models/a");
  CHECK(other.status == 405);
  CHECK_THAT(other.what(), Contains("expected GET, POST, got DELETE"));
  REQUIRE(other.headers.size() == 1);
  CHECK(other.headers[0].value == "GET, POST");
}
TEST_CASE("router: a part that cannot be decoded is 400") {
  CHECK(refused("GET", "/v2/models/%").status == 400);
  CHECK(refused("GET", "/v2/models/%4").status == 400);
  CHECK(refused("GET", "/v2/models/%g0").status == 400);
  CHECK(refused("GET", "/v2/models/a%00b").status == 400);
  CHECK(refused("GET", "/v2/models/%41").status == 200);
}
