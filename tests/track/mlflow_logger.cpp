// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/track/loggers.hpp>
#include <tessera/track/mlflow_logger.hpp>

#include <thread>

using namespace tessera;
using namespace std::chrono_literals;

namespace {

namespace http = boost::beast::http;
using tcp = boost::asio::ip::tcp;
using values = std::vector<named_value>;
using nlohmann::json;

struct asked {
  std::string method;
  std::string path;  ///< without what all have in common
  json body;
};

struct answer {
  unsigned status = 200;
  json body = json::object();
  bool never = false;  ///< the connection stays open without a word
};

/// What an MLflow server answers.
auto as_mlflow(asked const& request) -> answer {
  if (request.path.starts_with("experiments/get-by-name"))
    return {.status = 404, .body = {{"error_code", "RESOURCE_DOES_NOT_EXIST"}}};
  if (request.path == "experiments/create") return {.body = {{"experiment_id", "7"}}};
  if (request.path == "runs/create")
    return {
        .body = {{"run",
                  {{"info",
                    {{"run_id", "r1"}, {"artifact_uri", "mlflow-artifacts:/7/r1/artifacts"}}}}}}};
  if (request.method == "PUT") return {.body = {}};  // without a word
  return {};
}

/// A server of one thread on a port of its own, which keeps what it is asked.
class server {
 public:
  explicit server(std::function<answer(asked const&)> answers = as_mlflow)
      : answers_(std::move(answers)),
        acceptor_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        thread_([this] { run(); }) {}
  server(server const&) = delete;
  auto operator=(server const&) -> server& = delete;
  ~server() {
    stopping_ = true;
    auto last = tcp::socket{context_};
    last.connect(acceptor_.local_endpoint());
    thread_.join();
  }
  [[nodiscard]] auto url() const -> std::string {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  /// What was asked by `path`, in order.
  [[nodiscard]] auto bodies(std::string const& path) -> std::vector<json> {
    auto const lock = std::lock_guard{mutex_};
    auto found = std::vector<json>{};
    for (auto const& each : asked_)
      if (each.path == path) found.push_back(each.body);
    return found;
  }
  [[nodiscard]] auto count() -> std::size_t {
    auto const lock = std::lock_guard{mutex_};
    return asked_.size();
  }

 private:
  void run() {
    for (;;) {
      auto socket = tcp::socket{context_};
      acceptor_.accept(socket);
      if (stopping_) return;
      serve(std::move(socket));
    }
  }
  void serve(tcp::socket socket) {
    auto error = boost::system::error_code{};
    auto buffer = boost::beast::flat_buffer{};
    auto request = http::request<http::string_body>{};
    http::read(socket, buffer, request, error);
    if (error) return;
    auto path = std::string{request.target()};
    auto const common = std::string{"/api/2.0/mlflow/"};
    if (path.starts_with(common)) path.erase(0, common.size());
    auto body = json::parse(request.body(), nullptr, false);
    if (body.is_discarded()) body = request.body();
    auto const it = asked{std::string{request.method_string()}, path, body};
    {
      auto const lock = std::lock_guard{mutex_};
      asked_.push_back(it);
    }
    auto const said = answers_(it);
    if (said.never) {
      held_.push_back(std::move(socket));
      return;
    }
    auto response = http::response<http::string_body>{http::status{said.status}, 11};
    if (not said.body.is_null()) response.body() = said.body.dump();
    response.prepare_payload();
    http::write(socket, response, error);
  }

  std::function<answer(asked const&)> answers_;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  std::mutex mutex_;
  std::vector<asked> asked_;
  std::vector<tcp::socket> held_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// A port at which nobody listens.
auto nobody() -> std::string { return server{}.url(); }

struct told {
  std::mutex mutex;
  std::vector<std::string> lines;

  auto all() -> std::vector<std::string> {
    auto const lock = std::lock_guard{mutex};
    return lines;
  }
};
auto warnings_of(logger_group_options& options) {
  auto const kept = std::make_shared<told>();
  options.warn = [kept](std::string const& text) {
    auto const lock = std::lock_guard{kept->mutex};
    kept->lines.push_back(text);
  };
  return kept;
}

}  // namespace

TEST_CASE("mlflow_logger: an address that is none is refused") {
  for (auto const* const url : {"", "a:5000", "https://a", "http://", "http://:80", "http://a:b"})
    CHECK_THROWS_AS(mlflow_logger({.url = url}), std::invalid_argument);
}

TEST_CASE("mlflow_logger: an experiment, a run, its tags and its end") {
  auto place = server{};
  auto log = mlflow_logger{{.url = place.url()}};
  log.begin({.name = "a", .project = "p q", .group = "g", .tags = {"t"}});
  log.finish(run_state::failed);
  CHECK(log.run_id() == "r1");
  CHECK(place.bodies("experiments/get-by-name?experiment_name=p%20q").size() == 1);
  CHECK(place.bodies("experiments/create") == std::vector<json>{{{"name", "p q"}}});
  auto const run = place.bodies("runs/create").at(0);
  CHECK(run["experiment_id"] == "7");
  CHECK(run["run_name"] == "a");
  CHECK(run["tags"].dump() == R"([{"key":"t","value":"true"},{"key":"group","value":"g"}])");
  CHECK(place.bodies("runs/update").at(0)["status"] == "FAILED");
}
TEST_CASE("mlflow_logger: the state of a run is one of MLflow's") {
  for (auto const& [state, status] : {std::pair{run_state::finished, "FINISHED"},
                                      {run_state::failed, "FAILED"},
                                      {run_state::stopped, "KILLED"}}) {
    auto place = server{};
    auto log = mlflow_logger{{.url = place.url()}};
    log.begin({});
    log.finish(state);
    auto const update = place.bodies("runs/update").at(0);
    CHECK(update["run_id"] == "r1");
    CHECK(update["status"] == status);
    CHECK(update["end_time"] >= place.bodies("runs/create").at(0)["start_time"]);
  }
}

TEST_CASE("mlflow_logger: a thousand metrics and a hundred parameters a request") {
  auto place = server{};
  auto log = mlflow_logger{{.url = place.url()}};
  auto settings = std::vector<named_setting>{};
  for (auto i = 0; i < 250; ++i) settings.push_back({"s" + std::to_string(i), i});
  log.begin({.settings = settings});
  for (auto step = std::uint64_t{0}; step < 2500; ++step)
    log.scalars(step, values{{"loss", 0.1 * static_cast<double>(step)}});
  log.flush();
  auto parameters = std::vector<std::size_t>{};
  auto next = std::uint64_t{0};
  for (auto const& body : place.bodies("runs/log-batch")) {
    if (body.contains("params")) parameters.push_back(body["params"].size());
    if (not body.contains("metrics")) continue;
    CHECK(body["metrics"].size() <= 1000);
    for (auto const& each : body["metrics"]) {
      CHECK(each["step"] == next);
      CHECK(each["value"] == 0.1 * static_cast<double>(next));
      ++next;
    }
  }
  CHECK(next == 2500);
  CHECK(parameters == std::vector<std::size_t>{100, 100, 50});
}

TEST_CASE("mlflow_logger: numbers that are none, and names that MLflow has not") {
  auto place = server{};
  auto log = mlflow_logger{{.url = place.url()}};
  log.begin({.settings = {{"rate", 0.5}}});
  log.hyperparameters(std::vector<named_setting>{{"rate", 0.25}, {"more", "x"}}, {});
  auto const infinity = std::numeric_limits<double>::infinity();
  log.scalars(1, values{{"a%b/c", std::numeric_limits<double>::quiet_NaN()}, {"d", -infinity}});
  log.flush();
  auto const batches = place.bodies("runs/log-batch");
  REQUIRE(batches.size() == 3);
  CHECK(batches[1]["params"].dump() == R"([{"key":"more","value":"x"}])");  // rate stays 0.5
  CHECK(batches[2]["metrics"][0]["key"] == "a_b/c");
  CHECK(batches[2]["metrics"][0]["value"] == "NaN");
  CHECK(batches[2]["metrics"][1]["value"] == "-Infinity");
}

TEST_CASE("mlflow_logger: names that MLflow refuses as paths, and those that become one") {
  auto place = server{};
  auto log = mlflow_logger{{.url = place.url()}};
  log.begin({.settings = {{"a b", 1}, {"a%b", 2}, {"a?b", 3}, {"a%b", 4}}});
  auto const keys_of = [&](values const& all) {
    log.scalars(1, all);
    log.flush();
    auto keys = std::vector<std::string>{};
    auto const last = place.bodies("runs/log-batch").back();
    for (auto const& each : last["metrics"]) keys.push_back(each["key"]);
    return keys;
  };
  using names = std::vector<std::string>;
  auto const parameters = place.bodies("runs/log-batch").at(0)["params"];
  CHECK(parameters.dump() == R"([{"key":"a b","value":"1"},{"key":"a_b","value":"2"},)"
                             R"({"key":"a_b_2","value":"3"}])");
  CHECK(
      keys_of({{"/x/y", 1}, {"p//q/", 1}, {"./r", 1}, {"s/./t", 1}, {".", 1}, {"", 1}, {"/", 1}}) ==
      names{"x/y", "p/q", "r", "s/t", "_", "__2", "__3"});
  CHECK(keys_of({{"..", 1}, {"../u", 1}, {"v/../w", 1}, {"...", 1}, {".x", 1}, {"x..", 1}}) ==
        names{"__", "__/u", "v/__/w", "__.", ".x", "x.."});
  CHECK(keys_of({{"x/y", 1}, {"/x/y", 2}, {"x%y", 3}, {"x?y", 4}, {"x%y", 5}}) ==
        names{"x/y_2", "x/y", "x_y", "x_y_2", "x_y"});
  auto const long_name = std::string(300, 'n');
  auto const longs = keys_of({{long_name, 1}, {long_name + "1", 2}});
  CHECK(longs == names{std::string(250, 'n'), std::string(248, 'n') + "_2"});
}

TEST_CASE("mlflow_logger: texts and pictures are artifacts") {
  auto place = server{};
  auto log = mlflow_logger{{.url = place.url()}};
  log.begin({});
  log.text(3, "a note", "words");
  CHECK(place.bodies("/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/texts/a%20note_3.txt") ==
        std::vector<json>{"words"});
}

TEST_CASE("mlflow_logger: a server that takes no artifacts gets the metrics, and a word of it") {
  auto tags = std::make_shared<std::atomic<int>>(1);
  auto place = server{[tags](asked const& request) {
    if (request.method == "PUT") return answer{.status = 503};
    if (request.path == "runs/set-tag" && (*tags)-- > 0) return answer{.status = 503};
    return as_mlflow(request);
  }};
  auto log = mlflow_logger{{.url = place.url(), .artifact_patience = 20ms}};
  auto const told = [&](auto const& call) {
    for (auto tries = 1;; ++tries) try {
        call();
        return tries;
      } catch (try_again const&) {
        std::this_thread::sleep_for(5ms);
      }
  };
  log.begin({});
  CHECK(told([&] { log.text(1, "a", "words"); }) > 2);
  CHECK(told([&] { log.text(2, "a", "words"); }) == 1);
  log.scalars(1, values{{"loss", 1}});
  log.finish(run_state::finished);
  CHECK(place.bodies("runs/log-batch").size() == 1);
  CHECK(place.bodies("runs/update").size() == 1);
  auto const words = place.bodies("runs/set-tag");
  REQUIRE(words.size() == 3);
  CHECK(words[1]["value"] == "texts/a_1.txt is missing: the server answers 503");
  CHECK(words[2]["value"] == "texts/a_2.txt is missing: the server answers 503");
}

TEST_CASE("mlflow_logger: what a busy server did not take is sent again, once") {
  auto busy = std::make_shared<std::atomic<int>>(2);
  auto place = server{[busy](asked const& request) {
    if (request.path == "runs/log-batch" && (*busy)-- > 0) return answer{.status = 503};
    return as_mlflow(request);
  }};
  auto options = logger_group_options{.flush_every = 1ms, .first_wait = 1ms};
  auto const warnings = warnings_of(options);
  auto group = logger_group{options};
  group.add(std::make_unique<mlflow_logger>(mlflow_options{.url = place.url()}));
  group.begin({});
  group.scalars(1, values{{"loss", 1}});
  group.finish(run_state::finished);
  auto const batches = place.bodies("runs/log-batch");
  REQUIRE(batches.size() == 3);
  CHECK(batches[0] == batches[2]);
  CHECK(place.bodies("runs/update").size() == 1);
  CHECK(warnings->all() ==
        std::vector<std::string>{"MLflow: " + place.url() +
                                 " answers 503 to runs/log-batch; it is tried again"});
}

TEST_CASE("mlflow_logger: a server that refuses says why, and gets no more") {
  auto place = server{[](asked const& request) {
    if (request.path == "runs/create")
      return answer{.status = 400, .body = {{"message", "no such thing"}}};
    return as_mlflow(request);
  }};
  auto options = logger_group_options{};
  auto const warnings = warnings_of(options);
  auto group = logger_group{options};
  group.add(std::make_unique<mlflow_logger>(mlflow_options{.url = place.url()}));
  group.begin({});
  group.scalars(1, values{{"loss", 1}});
  group.finish(run_state::finished);
  CHECK(place.count() == 3);
  CHECK(warnings->all() ==
        std::vector<std::string>{"MLflow: " + place.url() +
                                 " answers 400 to runs/create: \"no such thing\"; the run goes on "
                                 "without it"});
}

TEST_CASE("mlflow_logger: a server that is no MLflow is told of") {
  auto place = server{[](asked const&) { return answer{.body = {{"hello", "world"}}}; }};
  CHECK_THROWS_WITH(mlflow_logger({.url = place.url()}).begin({}),
                    place.url() + " gives no experiment_id: it is no MLflow server");
}

TEST_CASE("mlflow_logger: without a server a run ends at once, with one warning") {
  auto options =
      logger_group_options{.finish_within = 1min, .failing_within = 1min, .first_wait = 1ms};
  auto const warnings = warnings_of(options);
  auto group = logger_group{options};
  group.add(std::make_unique<mlflow_logger>(mlflow_options{.url = nobody()}));
  auto const begun = std::chrono::steady_clock::now();
  group.begin({});
  for (auto step = std::uint64_t{0}; step < 100; ++step) group.scalars(step, values{{"loss", 1}});
  group.finish(run_state::finished);
  CHECK(std::chrono::steady_clock::now() - begun < 30s);
  CHECK(warnings->all().size() == 1);
}

TEST_CASE("mlflow_logger: a server that never answers is not waited for") {
  auto place = server{[](asked const&) { return answer{.never = true}; }};
  auto log = mlflow_logger{{.url = place.url(), .timeout = 60ms}};
  CHECK_THROWS_WITH(log.begin({}), place.url() + " gave no answer in 60 ms");

  auto options = logger_group_options{.finish_within = 100ms};
  auto const warnings = warnings_of(options);
  auto group = logger_group{options};
  group.add(std::make_unique<mlflow_logger>(mlflow_options{.url = place.url(), .timeout = 1h}));
  group.begin({});
  while (place.count() < 2) std::this_thread::yield();
  auto const begun = std::chrono::steady_clock::now();
  group.finish(run_state::finished);
  CHECK(std::chrono::steady_clock::now() - begun < 1min);
  while (warnings->all().empty() || warnings->all().back().ends_with("ends without it"))
    std::this_thread::yield();  // its thread may be late
  CHECK(warnings->all().back() ==
        "MLflow: " + place.url() + " was not waited for; it is tried again");
}
