// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/serve/repository.hpp>

#include "test_models.hpp"

#include <sys/resource.h>

using namespace tessera;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

/// A repository whose weights are a text: the factor.
struct store {
  test::folder folder;
  metrics counted;
  model_table table;
  std::unique_ptr<model_repository> models;

  store() {
    models = std::make_unique<model_repository>(
        folder.path(),
        model_factories{{"times",
                         [](model_files const& files) {
                           auto const text = test::text_of(files.weights());
                           if (text == "broken") throw std::runtime_error("no weights");
                           if (text == "seven") throw 7;
                           return std::make_shared<test::times>(std::stof(text));
                         }}},
        table, counted);
  }
  void write(std::string const& path, std::string const& text) const {
    auto const file = folder / path;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, text);
  }
  [[nodiscard]] auto factor(std::string const& user = "") const -> float {
    auto const runner = table.choose("m", user, {})->model->make_runner();
    auto const x = std::vector<served_tensor>{{"x", {1, 2}, std::vector<float>{1, 1}}};
    auto step = inference_step{x};
    runner->run({&step, 1});
    return std::get<std::vector<float>>(step.outputs[0].values)[0];
  }
};

/// The system has no more files to give, to this process, as long as it lives.
class no_descriptors {
 public:
  no_descriptors() {
    (void)::getrlimit(RLIMIT_NOFILE, &before_);
    auto const none = rlimit{0, before_.rlim_max};
    (void)::setrlimit(RLIMIT_NOFILE, &none);
  }
  no_descriptors(no_descriptors const&) = delete;
  auto operator=(no_descriptors const&) -> no_descriptors& = delete;
  ~no_descriptors() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};
/// A link that cannot be followed, though not for want of what it names.
void bar(std::filesystem::path const& path) {
  std::filesystem::create_symlink(std::string(300, 'x'), path);
}

}  // namespace

TEST_CASE("repository: versions are loaded, and again where their files change") {
  auto s = store{};
  s.write("m/config.json", R"({"kind":"times","batch":{"max_batch_size":4}})");
  s.write("m/1/model.safetensors", "2");
  s.models->refresh();
  CHECK(s.factor() == 2);
  CHECK(s.table.choose("m", {}, {})->most_rows() == 4);
  auto const before = s.table.find("m", "1");
  s.models->refresh();
  CHECK(s.table.find("m", "1") == before);  // nothing changed
  s.write("m/1/model.safetensors", "2.5");
  s.models->refresh();
  CHECK(s.factor() == 2.5F);
  s.write("m/2/model.safetensors", "3");
  s.write("m/2/config.json", R"({"batch":{"max_batch_size":2}})");
  s.models->refresh();
  CHECK(s.factor() == 3);
  CHECK(s.table.find("m", "2")->most_rows() == 2);
  std::filesystem::remove_all(s.folder / "m/2");
  s.models->refresh();
  CHECK(s.factor() == 2.5F);
  std::filesystem::remove_all(s.folder / "m");
  s.models->refresh();
  CHECK(s.table.names().empty());
}
TEST_CASE("repository: a version that cannot be loaded leaves the one before at work") {
  auto s = store{};
  s.write("m/config.json", R"({"kind":"times"})");
  s.write("m/1/model.safetensors", "2");
  s.models->refresh();
  s.write("m/1/model.safetensors", "broken");
  s.models->refresh();
  CHECK(s.factor() == 2);
  REQUIRE(s.models->index().size() == 1);
  CHECK(s.models->index()[0].state == "READY");
  CHECK(s.models->index()[0].reason == "no weights");
  CHECK_THROWS_WITH(s.models->load("m"), Contains("m: version 1: no weights"));
  s.write("m/1/model.safetensors", "seven");
  CHECK_THROWS_WITH(s.models->load("m"), Contains("the model has thrown what is no exception"));
  s.write("m/1/model.safetensors", "4");
  s.models->load("m");
  CHECK(s.factor() == 4);
  CHECK(s.models->index()[0].reason.empty());
}
TEST_CASE("repository: what is wrong with a config is told") {
  auto s = store{};
  auto const reason = [&](std::string const& config) -> std::string {
    s.write("m/1/model.safetensors", "2");
    s.write("m/config.json", config);
    s.models->refresh();
    return s.models->index().at(0).reason;
  };
  CHECK_THAT(reason("{}"), Contains("expected a kind among times, got m"));
  CHECK_THAT(reason("{"), Contains("config.json: expected JSON"));
  CHECK_THAT(reason("[1]"), Contains("config.json: expected an object"));
  CHECK_THAT(reason(R"({"kind":7})"), Contains("type"));
  auto const with = [&](std::string const& more) {
    return reason(R"({"kind":"times",)" + more + "}");
  };
  CHECK_THAT(with(R"("batch":3)"), Contains("expected an object as batch"));
  CHECK_THAT(with(R"("batch":{"size":3})"), Contains("batch has no \"size\""));
  CHECK_THAT(with(R"("batch":{"max_queue_size":0})"),
             Contains("expected a whole number from 1 on as max_queue_size, got 0"));
  CHECK_THAT(with(R"("batch":{"preferred_batch_size":[1,"2"]})"), Contains("preferred_batch_size"));
  CHECK_THAT(with(R"("sequence":{"max_sequences":-1})"), Contains("max_sequences, got -1"));
  CHECK(with(R"("batch":{"preferred_batch_size":[1,2],"max_queue_delay_microseconds":100},)"
             R"("sequence":{"max_sequences":3,"max_sequence_idle_microseconds":5},"own":1)")
            .empty());
}
TEST_CASE("repository: every setting of a config is an option of the deployment") {
  auto const made = [](char const* config) {
    return detail::options_of_config(nlohmann::json::parse(config));
  };
  auto const [batch, sequences] = made(R"({"batch":{"max_batch_size":3,"preferred_batch_size":[2,1],
                        "max_queue_delay_microseconds":40,"max_queue_size":5,"instances":6},
               "sequence":{"max_sequences":7,"max_sequence_idle_microseconds":8001}})");
  CHECK(batch.most_rows == 3);
  CHECK(batch.preferred_batch_size == std::vector<std::size_t>{2, 1});
  CHECK(batch.max_queue_delay == 40us);
  CHECK(batch.queue == 5);
  CHECK(batch.runners == 6);
  CHECK(sequences.most == 7);
  CHECK(sequences.idle_timeout == 9ms);  // no sooner than it says
  auto const usual = deployment_options{};
  auto const none = made("{}");
  CHECK(none.batch.most_rows == usual.batch.most_rows);
  CHECK(none.batch.preferred_batch_size == usual.batch.preferred_batch_size);
  CHECK(none.batch.max_queue_delay == usual.batch.max_queue_delay);
  CHECK(none.batch.queue == usual.batch.queue);
  CHECK(none.batch.runners == usual.batch.runners);
  CHECK(none.sequences.most == usual.sequences.most);
  CHECK(none.sequences.idle_timeout == usual.sequences.idle_timeout);
  CHECK_NOTHROW(made(R"({"batch":{"max_queue_delay_microseconds":0,"instances":256}})"));
  for (auto const* config :
       {R"({"batch":{"instances":257}})", R"({"batch":{"preferred_batch_size":2}})",
        R"({"batch":{"max_batch_size":0}})", R"({"batch":{"instances":0}})",
        R"({"batch":{"preferred_batch_size":[0]}})", R"({"sequence":{"max_sequences":0}})",
        R"({"sequence":{"max_sequence_idle_microseconds":0}})",
        R"({"batch":{"max_queue_size":1000000000001}})", R"({"sequence":{"idle":1}})"}) {
    INFO(config);
    CHECK_THROWS_AS(made(config), detail::config_error);
  }
}
TEST_CASE("repository: weights are kept in a file, and hold after a restart") {
  auto s = store{};
  s.write("m/config.json", R"({"kind":"times"})");
  s.write("m/1/model.safetensors", "1");
  s.write("m/2/model.safetensors", "2");
  s.models->refresh();
  CHECK(s.factor("a") == 2);
  s.models->set_weights("m", {{"1", 1}});  // roll back
  CHECK(s.factor("a") == 1);
  CHECK_THROWS_WITH(s.models->set_weights("m", {{"3", 1}}), Contains("no version 3"));
  CHECK_THROWS_AS(s.models->set_weights("k", {{"3", 1}}), http_error);
  auto counted = metrics{};
  auto again = model_table{};
  {
    auto factories =
        model_factories{{"times", [](auto const&) { return std::make_shared<test::times>(1.0F); }}};
    auto restarted = model_repository(s.folder.path(), factories, again, counted);
    restarted.refresh();
  }
  CHECK(again.choose("m", "a", {})->version == "1");
  s.write("m/traffic.json", R"({"weights":{"1":1},"history":["2","1"]})");
  s.models->set_weights("m", {{"2", 1}});
  CHECK(nlohmann::json::parse(read_text(s.folder / "m/traffic.json")) ==
        nlohmann::json::parse(R"({"weights":{"2":1.0},"history":["2","1"]})"));  // not its own
  s.models->set_weights("m", {});
  CHECK(s.factor("a") == 2);
  s.write("m/traffic.json", R"({"weights":{"1":-1}})");
  s.models->refresh();
  CHECK_THAT(s.models->index()[0].reason, Contains("expected a weight from 0"));
  s.write("m/traffic.json", R"({"weights":{"1":2}})");
  s.models->refresh();
  CHECK(s.models->index()[0].reason.empty());
}
TEST_CASE("repository: a model is unloaded until it is loaded by name") {
  auto s = store{};
  s.write("m/config.json", R"({"kind":"times"})");
  s.write("m/1/model.safetensors", "1");
  s.models->refresh();
  s.models->unload("m");
  s.models->refresh();
  CHECK(s.table.names().empty());
  s.models->load("m");
  CHECK(s.factor() == 1);
  for (auto const* name : {"k", "", "..", "m/1"})
    CHECK_THROWS_WITH(s.models->load(name), Contains("there is no model"));
}
TEST_CASE("repository: files that change are noticed without being asked") {
  auto s = store{};
  s.models->poll_every(5ms);
  s.write("m/config.json", R"({"kind":"times"})");
  s.write("m/1/model.safetensors", "7");
  for (auto i = 0; i < 2000 && s.table.names().empty(); ++i) std::this_thread::sleep_for(5ms);
  CHECK(s.factor() == 7);
}
TEST_CASE("repository: they are noticed while others ask, too") {
  auto s = store{};
  s.models->poll_every(300ms);
  s.write("m/config.json", R"({"kind":"times"})");
  s.write("m/1/model.safetensors", "7");
  auto const until = std::chrono::steady_clock::now() + 30s;
  while (s.table.names().empty() && std::chrono::steady_clock::now() < until) {
    s.models->later([] { throw 7; });
    std::this_thread::sleep_for(5ms);
  }
  CHECK(s.factor() == 7);
}
TEST_CASE("repository: a folder that is none is refused") {
  auto table = model_table{};
  auto counted = metrics{};
  CHECK_THROWS_WITH(model_repository("/nowhere/at/all", {}, table, counted),
                    Contains("expected a folder of models"));
}
TEST_CASE("repository: what cannot be looked at stays as it is") {
  auto s = store{};
  s.write("m/config.json", R"({"kind":"times"})");
  s.write("m/1/model.safetensors", "1");
  s.write("m/2/model.safetensors", "2");
  s.models->refresh();
  {
    auto const none = no_descriptors{};
    CHECK_THROWS_WITH(s.models->refresh(), Contains("expected a folder that can be listed"));
    CHECK_THROWS_AS(s.models->load("m"), file_error);
  }
  CHECK(s.factor() == 2);
  CHECK(s.models->index().size() == 2);

  auto const aside = s.folder / "aside";
  std::filesystem::rename(s.folder / "m/2/model.safetensors", aside);
  bar(s.folder / "m/2/model.safetensors");
  s.models->refresh();
  CHECK(s.factor() == 2);
  CHECK_THAT(s.models->index().at(1).reason, Contains("expected a file that can be looked at"));
  auto const served = s.table.find("m", "2");
  std::filesystem::remove(s.folder / "m/2/model.safetensors");
  std::filesystem::rename(aside, s.folder / "m/2/model.safetensors");  // as it was
  s.models->refresh();
  CHECK(s.models->index().at(1).reason.empty());
  CHECK(s.table.find("m", "2") == served);

  std::filesystem::rename(s.folder / "m", s.folder / ".m");
  bar(s.folder / "m");
  s.write("n/config.json", R"({"kind":"times"})");
  s.write("n/1/model.safetensors", "3");
  CHECK_THROWS_WITH(s.models->refresh(), Contains("/m: expected a folder"));
  CHECK(s.factor() == 2);
  CHECK(s.table.find("n", "1") != nullptr);  // the others are looked at
  std::filesystem::remove(s.folder / "m");
  std::filesystem::create_symlink("nowhere", s.folder / "m");
  s.models->refresh();
  CHECK(s.table.names() == std::vector<std::string>{"n"});
}
