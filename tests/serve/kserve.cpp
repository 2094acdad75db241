// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/http_server.hpp>
#include <tessera/serve/kserve.hpp>

#include <future>

#include "client.hpp"
#include "test_models.hpp"

using namespace tessera;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A server with three models.
struct service {
  metrics counted;
  model_table models;
  router routes;
  std::unique_ptr<http_server> server;

  service() {
    publish("times", "1", std::make_shared<test::times>(2.0F));
    publish("times", "2", std::make_shared<test::times>(3.0F));
    publish("sum", "1", std::make_shared<test::sum_so_far>());
    publish("same", "1", std::make_shared<test::same>());
    add_kserve(routes, models);
    add_metrics(routes, counted);
    server = std::make_unique<http_server>(http_options{.observe = count_requests(counted)},
                                           [this](auto const& exchange) { routes(exchange); });
  }
  void publish(std::string const& name, std::string const& version,
               std::shared_ptr<served_model const> model) {
    models.publish(std::make_shared<deployment>(name, version, std::move(model),
                                                deployment_options{}, counted));
  }
  [[nodiscard]] auto ask(std::string const& bytes) const -> test::reply {
    return test::client(server->port()).ask(bytes);
  }
  [[nodiscard]] auto infer(std::string const& model, std::string const& body,
                           std::string const& more = "") const -> test::reply {
    return ask(test::post("/v2/models/" + model + "/infer", body, more));
  }
  [[nodiscard]] auto error(std::string const& model, std::string const& body, int status = 400,
                           std::string const& more = "") const -> std::string {
    auto const got = infer(model, body, more);
    CHECK(got.status == status);
    return json::parse(got.body)["error"].get<std::string>();
  }
};
/// An exchange without a server: keeps its status.
struct asked final : http_exchange {
  http_request question;
  std::promise<unsigned> given;

  explicit asked(std::string body) { question.body = std::move(body); }
  [[nodiscard]] auto request() const -> http_request const& override { return question; }
  [[nodiscard]] auto wanted() const -> bool override { return true; }
  void answer(http_response response) override { given.set_value(response.status); }
  void begin(http_response) override {}
  auto write(std::string) -> bool override { return false; }
  void end() override {}
};
auto x_of(std::string const& shape, std::string const& data) -> std::string {
  return R"({"id":"q","inputs":[{"name":"x","datatype":"FP32","shape":)" + shape + R"(,"data":)" +
         data + "}]}";
}

}  // namespace

TEST_CASE("kserve: the server and its models tell what they are") {
  auto const s = service{};
  auto const about = json::parse(s.ask(test::get("/v2")).body);
  CHECK(about["name"] == "tessera");
  CHECK(about["extensions"][0] == "sequence");
  CHECK(s.ask(test::get("/v2/health/live")).status == 200);
  CHECK(s.ask(test::get("/v2/health/ready")).status == 200);
  auto const model = json::parse(s.ask(test::get("/v2/models/times")).body);
  CHECK(model["versions"] == json{"1", "2"});
  CHECK(model["inputs"] == json::parse(R"([{"name":"x","datatype":"FP32","shape":[-1,2]}])"));
  auto const ready = s.ask(test::get("/v2/models/times/versions/1/ready"));
  CHECK(ready.status == 200);
  CHECK(json::parse(ready.body) == json{{"name", "times"}, {"ready", true}});
  CHECK(s.ask(test::get("/v2/models/times/versions/7/ready")).status == 404);
  CHECK(s.ask(test::get("/v2/models/other")).status == 404);
}
TEST_CASE("kserve: an inference, flat or nested, of the latest version or a named one") {
  auto const s = service{};
  auto const flat = s.infer("times", x_of("[2,2]", "[1,2,3,0.1]"));
  CHECK(flat.status == 200);
  CHECK(flat.body == R"({"model_name":"times","model_version":"2","id":"q","outputs":[{"name":"y",)"
                     R"("shape":[2, 2],"datatype":"FP32","data":[3,6,9,0.3]}]})");
  CHECK_THAT(flat.head, Contains("X-Model-Version: 2"));
  CHECK(s.infer("times", x_of("[2,2]", "[[1,2],[3,0.1]]")).body == flat.body);
  auto const first = json::parse(s.infer("times/versions/1", x_of("[1,2]", "[1,2]")).body);
  CHECK(first["outputs"][0]["data"] == json{2, 4});
}
TEST_CASE("kserve: texts, doubles and the outputs that are asked for") {
  auto const s = service{};
  auto const body = std::string{
      R"({"inputs":[{"name":"number","datatype":"FP64","shape":[1,2,2],"data":[[[1,0.1],[2,3]]]},)"
      R"({"name":"text","datatype":"BYTES","shape":[1],"data":["a\"b\u00e4"]}])"};
  auto const both = json::parse(s.infer("same", body + "}").body);
  REQUIRE(both["outputs"].size() == 2);
  CHECK(both["outputs"][0]["data"] == json::parse(R"(["a\"b\u00e4"])"));
  CHECK(both["outputs"][1]["data"] == json{1, 0.1, 2, 3});
  auto const one = json::parse(s.infer("same", body + R"(,"outputs":[{"name":"number"}]})").body);
  REQUIRE(one["outputs"].size() == 1);
  CHECK(one["outputs"][0]["name"] == "number");
  CHECK_THAT(s.error("same", body + R"(,"outputs":[{"name":"z"}]})"),
             Contains(R"(outputs: expected "text", "number", got "z")"));
}
TEST_CASE("kserve: tensors as bytes behind the JSON, in and out") {
  auto const s = service{};
  auto const head = std::string{
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"FP32",)"
      R"("shape":[1,2],"parameters":{"binary_data_size":8}}]})"};
  auto const bytes = [](std::vector<float> const& values) {
    return std::string(reinterpret_cast<char const*>(values.data()), 4 * values.size());
  };
  auto const length = [](std::size_t n) {
    return "Inference-Header-Content-Length: " + std::to_string(n) + "\r\n";
  };
  auto const got = s.infer("times", head + bytes({1, 0.1F}), length(head.size()));
  CHECK(got.status == 200);
  CHECK(got.body.substr(got.body.size() - 8) == bytes({3, 3 * 0.1F}));
  CHECK_THAT(got.head,
             Contains("Inference-Header-Content-Length: " + std::to_string(got.body.size() - 8)));
  CHECK_THAT(s.error("times", head + bytes({1, NAN}), 400, length(head.size())),
             Contains("element 1: expected finite numbers, got NaN"));
  CHECK_THAT(s.error("times", head + bytes({1}), 400, length(head.size())),
             Contains("the 4 bytes behind the JSON"));
  CHECK_THAT(s.error("times", head + bytes({1, 2, 3}), 400, length(head.size())),
             Contains("4 more"));
  CHECK_THAT(s.error("times", head, 400, length(9999)), Contains("expected a number from 0"));
  CHECK_THAT(s.error("times", head, 400, "Inference-Header-Content-Length: -1\r\n"),
             Contains("expected a number from 0"));
}
TEST_CASE("kserve: what does not fit is told with what was expected and what came") {
  auto const s = service{};
  auto const e = [&](std::string const& body) { return s.error("times", body); };
  CHECK(e("{") == "expected JSON; byte 2 of 1 fits none");
  CHECK_THAT(e("[1]"), Contains("expected an object with inputs, got array"));
  CHECK_THAT(e("{}"), Contains("expected inputs as a list, got nothing"));
  CHECK_THAT(e(R"({"inputs":[]})"), Contains(R"(expected the input "x", got none)"));
  CHECK_THAT(e(R"({"inputs":[1]})"), Contains("expected a text as name"));
  CHECK_THAT(e(R"({"inputs":[{"name":"z"}]})"), Contains(R"(inputs: expected "x", got "z")"));
  CHECK_THAT(e(R"({"inputs":[{"name":"x"}]})"), Contains("expected a text as datatype"));
  CHECK_THAT(e(R"({"inputs":[{"name":"x","datatype":"FP64","shape":[1,2],"data":[1,2]}]})"),
             Contains("expected datatype FP32, got FP64"));
  CHECK_THAT(e(x_of("[1,3]", "[1,2,3]")), Contains("expected shape [-1, 2], got [1, 3]"));
  CHECK_THAT(e(x_of("[2]", "[1,2]")), Contains("expected shape [-1, 2], got [2]"));
  CHECK_THAT(e(x_of("[0,2]", "[]")), Contains("expected shape [-1, 2], got [0, 2]"));
  CHECK_THAT(e(x_of("[-1,2]", "[1,2]")), Contains("expected whole numbers as shape"));
  CHECK_THAT(e(x_of("[9,2]", "[1,2]")), Contains("expected at most 8 rows, got 9"));
  CHECK_THAT(e(x_of("[1,2]", "[1,2,3]")), Contains("expected 2 elements"));
  CHECK_THAT(e(x_of("[1,2]", "[1]")), Contains("expected 2 elements"));
  CHECK_THAT(e(x_of("[2,2]", "[[1,2],[3]]")), Contains("expected 4 elements"));
  CHECK_THAT(e(x_of("[2,2]", "[[1,2,3,4]]")), Contains("expected data nested"));
  CHECK_THAT(e(x_of("[1,2]", "[1,null]")), Contains("expected numbers, got nothing"));
  CHECK_THAT(e(x_of("[1,2]", "[1,\"2\"]")), Contains("expected numbers, got string"));
  CHECK(e(x_of("[1,2]", "[1,1e300]")) ==
        R"(input "x": element 1: expected finite numbers of 32 bits, got 1e+300)");
  CHECK_THAT(e(x_of("[2,2]", "[[1,2],[3,-1e39]]")), Contains("element 3: expected finite numbers"));
  CHECK(e(x_of("[1,2]", "[1,15]")) == "input \"x\": element 1: expected no fifteen, got 15");
  CHECK_THAT(e(x_of("[1,2]", "[1,1e999]")), Contains("a number that is too large"));
  for (auto const* word : {"NaN", "Infinity", "-Infinity", "nan", "0x1", "+1", ".5", "1.", "01"})
    CHECK_THAT(e(x_of("[1,2]", "[1," + std::string{word} + ']')), Contains("expected JSON"));
  CHECK_THAT(e(x_of("[1,2]", "{}")), Contains("expected a list of data, got object"));
  CHECK_THAT(e("\xff\xfe"), Contains("expected JSON"));
  CHECK_THAT(e(std::string(100, '[')), Contains("at most 16 levels"));
  CHECK_THAT(s.error("no such", "{}", 400), Contains("HTTP"));
  CHECK_THAT(s.error("none", x_of("[1,2]", "[1,2]"), 404), Contains("no model \"none\""));
  CHECK_THAT(s.error("times/versions/9", x_of("[1,2]", "[1,2]"), 404),
             Contains("expected one of the versions 1, 2, got 9"));
  CHECK_THAT(s.error("%ff", x_of("[1,2]", "[1,2]"), 404), Contains("no model \"?\""));
}
TEST_CASE("kserve: a model that fails is a 500 of that request alone") {
  auto const s = service{};
  CHECK_THAT(s.error("times", x_of("[1,2]", "[1,13]"), 500), Contains("no thirteens"));
  CHECK_THAT(s.error("times", x_of("[1,2]", "[1,14]"), 500), Contains("not finite"));
  CHECK(s.infer("times", x_of("[1,2]", "[1,2]")).status == 200);
}
TEST_CASE("kserve: a sequence goes on where it was, and ends") {
  auto const s = service{};
  auto const body = [](std::string const& parameters, int x) {
    return R"({"parameters":{)" + parameters +
           R"(},"inputs":[{"name":"x","datatype":"INT64","shape":[1,1],"data":[)" +
           std::to_string(x) + "]}]}";
  };
  auto const sum = [&](std::string const& parameters, int x) {
    return json::parse(s.infer("sum", body(parameters, x)).body)["outputs"][0]["data"][0];
  };
  CHECK(sum(R"("sequence_id":7,"sequence_start":true)", 1) == 1);
  CHECK(sum(R"("sequence_id":"a","sequence_start":true)", 10) == 10);
  CHECK(sum(R"("sequence_id":7)", 2) == 3);
  CHECK(sum(R"("sequence_id":"7")", 3) == 6);
  CHECK(sum(R"("sequence_id":"a")", 20) == 30);
  CHECK(sum(R"("sequence_id":7,"sequence_start":true)", 5) == 5);
  CHECK(sum(R"("sequence_id":7,"sequence_end":true)", 5) == 10);
  CHECK_THAT(s.error("sum", body(R"("sequence_id":7)", 1)),
             Contains("\"7\" is not open: begin it with sequence_start"));
  CHECK_THAT(s.error("sum", body("", 1)), Contains("expected parameters.sequence_id"));
  CHECK_THAT(s.error("sum", body(R"("sequence_id":0)", 1)), Contains("sequence_id"));
  CHECK_THAT(s.error("sum", body(R"("sequence_start":true)", 1)), Contains("sequence_id"));
  CHECK_THAT(s.error("sum", body(R"("sequence_id":-1)", 1)), Contains("a number from 0 on"));
  CHECK_THAT(s.error("sum", body(R"("sequence_id":1,"sequence_start":1)", 1)),
             Contains("expected true or false as sequence_start, got number"));
  CHECK_THAT(
      s.error("times", R"({"parameters":{"sequence_id":1},)" + x_of("[1,2]", "[1,2]").substr(1)),
      Contains("keeps no state"));
  (void)s.error("sum", body(R"("sequence_id":"a")", 13), 500);
  CHECK_THAT(s.error("sum", body(R"("sequence_id":"a")", 1)), Contains("not open"));
}
TEST_CASE("kserve: what waits behind the request that its sequence lost is a 400, not a 500") {
  auto s = service{};
  auto const at = std::make_shared<test::gate>();
  s.publish("slow", "1", std::make_shared<test::sum_so_far>(at));
  at->set(false);
  auto const infer = [&](std::string const& parameters, int x) {
    auto exchange = std::make_shared<asked>(
        R"({"parameters":{"sequence_id":7)" + parameters +
        R"(},"inputs":[{"name":"x","datatype":"INT64","shape":[1,1],"data":[)" + std::to_string(x) +
        "]}]}");
    detail::infer(s.models, exchange, {{"model", "slow"}});
    return exchange;
  };
  auto const first = infer(R"(,"sequence_start":true)", 13);
  at->await_one();
  auto const second = infer("", 1);
  at->set(true);
  CHECK(first->given.get_future().get() == 500);
  CHECK(second->given.get_future().get() == 400);
}
TEST_CASE("kserve: requests are counted by model, version and code") {
  auto const s = service{};
  (void)s.infer("times", x_of("[1,2]", "[1,2]"));
  (void)s.infer("times", "{}");
  (void)s.infer("none", "{}");
  auto const got = s.ask(test::get("/metrics"));
  CHECK_THAT(got.head, Contains("Content-Type: text/plain; version=0.0.4"));
  CHECK_THAT(got.body,
             Contains(R"(nn_inference_requests_total{model="times",version="2",code="200"} 1)"));
  CHECK_THAT(got.body,
             Contains(R"(nn_inference_requests_total{model="times",version="2",code="400"} 1)"));
  CHECK_THAT(got.body,
             Contains(R"(nn_inference_duration_seconds_count{model="times",version="2"} 1)"));
  CHECK_THAT(got.body,
             Contains(R"(nn_inference_batch_size_bucket{model="times",version="2",le="1"} 1)"));
  CHECK_THAT(got.body, Contains(R"(nn_model_info{model="times",version="1"} 1)"));
  CHECK_THAT(got.body, Contains(R"(route="/v2/models/{model}/infer",code="404"} 1)"));
}
