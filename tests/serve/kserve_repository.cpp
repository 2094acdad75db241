// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/serve/http_server.hpp>
#include <tessera/serve/kserve.hpp>
#include <tessera/serve/kserve_repository.hpp>

#include "client.hpp"
#include "test_models.hpp"

using namespace tessera;
using Catch::Contains;
using nlohmann::json;

namespace {

struct service {
  test::folder folder;
  metrics counted;
  model_table table;
  model_repository models{folder.path(),
                          {{"m",
                            [](model_files const& files) {
                              auto const text = test::text_of(files.weights());
                              return std::make_shared<test::times>(std::stof(text));
                            }}},
                          table,
                          counted};
  router routes;
  std::unique_ptr<http_server> server;

  service() {
    write("1", "1");
    write("2", "2");
    models.refresh();
    add_kserve(routes, table);
    add_repository(routes, models, table);
    server = std::make_unique<http_server>(http_options{},
                                           [this](auto const& exchange) { routes(exchange); });
  }
  void write(std::string const& version, std::string const& factor) const {
    std::filesystem::create_directories(folder / "m" / version);
    write_file(folder / "m" / version / "model.safetensors", factor);
  }
  [[nodiscard]] auto post(std::string const& path, std::string const& body = "") const {
    return test::client(server->port()).ask(test::post(path, body));
  }
  [[nodiscard]] auto version() const -> std::string {
    auto const got =
        post("/v2/models/m/infer",
             R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,1]}]})");
    return got.status == 200 ? json::parse(got.body)["model_version"].get<std::string>() : "";
  }
};

}  // namespace

TEST_CASE("kserve_repository: versions are listed, unloaded and loaded") {
  auto const s = service{};
  auto const list = json::parse(s.post("/v2/repository/index").body);
  REQUIRE(list.size() == 2);
  CHECK(list[0] == json{{"name", "m"}, {"version", "1"}, {"state", "READY"}, {"reason", ""}});
  CHECK(s.post("/v2/repository/models/m/unload").status == 200);
  CHECK(s.version().empty());
  CHECK(s.post("/v2/repository/models/m/load").status == 200);
  CHECK(s.version() == "2");
  CHECK(s.post("/v2/repository/models/k/load").status == 404);
  CHECK(s.post("/v2/repository/models/..%2f/unload").status == 404);
  s.write("2", "two");
  auto const failed = s.post("/v2/repository/models/m/load");
  CHECK(failed.status == 400);
  CHECK_THAT(failed.body, Contains("m: version 2: "));
  CHECK(s.version() == "2");  // the one before
}
TEST_CASE("kserve_repository: what a request brings is heeded, or refused") {
  auto const s = service{};
  auto const index = std::string{"/v2/repository/index"};
  s.write("3", "three");
  CHECK(s.post("/v2/repository/models/m/load", R"({"parameters":{}})").status == 400);
  CHECK(json::parse(s.post(index, "{}").body).size() == 3);
  CHECK(json::parse(s.post(index, R"({"ready":false})").body).size() == 3);
  auto const ready = json::parse(s.post(index, R"({"ready":true})").body);
  REQUIRE(ready.size() == 2);
  CHECK((ready[0]["version"] == "1" && ready[1]["version"] == "2"));
  for (auto const* body : {R"({"ready":1})", "[true]", "{", "3"})
    CHECK(s.post(index, body).status == 400);

  s.write("3", "3");
  auto const load = [&](char const* body) { return s.post("/v2/repository/models/m/load", body); };
  auto const refused = load(R"({"parameters":{"config":"{}"}})");
  CHECK(refused.status == 400);
  CHECK_THAT(refused.body, Contains("expected no parameters"));
  CHECK(s.version() == "2");
  CHECK(load("{}").status == 200);
  CHECK(s.version() == "3");
  CHECK(s.post("/v2/repository/models/m/unload", R"({"parameters":{"unload_dependents":false}})")
            .status == 200);
}
TEST_CASE("kserve_repository: one request rolls a model back") {
  auto const s = service{};
  CHECK(s.version() == "2");
  auto const traffic = std::string{"/v2/repository/models/m/traffic"};
  CHECK(s.post(traffic, R"({"weights":{"1":100}})").status == 200);
  CHECK(s.version() == "1");
  CHECK(test::client(s.server->port()).ask(test::get(traffic)).body ==
        R"({"weights":{"1":100.0}})");
  for (auto const* body : {"", "[]", "{}", R"({"weights":3})", R"({"weights":{"1":-1}})",
                           R"({"weights":{"1":0}})", R"({"weights":{"9":1}})"})
    CHECK(s.post(traffic, body).status == 400);
  CHECK(s.version() == "1");
  CHECK(s.post(traffic, R"({"weights":{}})").status == 200);
  CHECK(s.version() == "2");
}
