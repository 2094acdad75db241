// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/track/json_lines_logger.hpp>

#include <nlohmann/json.hpp>

#include <sstream>

using namespace tessera;

TEST_CASE("json_lines_logger: every line is JSON, whatever it is given") {
  auto const folder = test::folder{};
  auto const path = folder / "deeper/run.jsonl";
  auto const time = std::chrono::system_clock::time_point{std::chrono::milliseconds{1500}};
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  auto const infinity = std::numeric_limits<double>::infinity();
  auto log = json_lines_logger{path};
  log.begin({.name = "\xFF\"\n", .tags = {"x", "y"}, .settings = {{"a", nan}, {"b", true}}});
  log.scalars({3, time},
              std::vector<named_value>{{"n", nan}, {"i", infinity}, {"m", -infinity}, {"x", 0.1}});
  log.histogram({4, time}, "h", std::vector<float>{1, 1});
  log.image({5, time}, "p", {.bytes = {}, .width = 2, .height = 3});
  log.text({6, time}, "t", "words \"in\" quotes");
  log.hyperparameters(std::vector<named_setting>{{"c", "d"}}, std::vector<named_value>{{"m", 1}});
  log.finish(run_state::failed);

  auto lines = std::vector<nlohmann::json>{};
  auto text = std::istringstream{test::text_of(path)};
  for (auto line = std::string{}; std::getline(text, line);)
    lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 7);
  CHECK(lines[0]["tags"] == nlohmann::json{"x", "y"});
  CHECK(lines[0]["settings"]["a"] == "NaN");
  CHECK(lines[0]["settings"]["b"] == true);
  CHECK(lines[1].dump() ==
        R"({"event":"scalars","step":3,"time":1.5,"values":{"i":"Infinity","m":"-Infinity",)"
        R"("n":"NaN","x":0.1}})");
  CHECK(lines[2]["counts"] == nlohmann::json{0.0, 2.0});
  CHECK(lines[2]["sum"] == 2.0);
  CHECK(lines[3]["width"] == 2);
  CHECK(lines[4]["text"] == "words \"in\" quotes");
  CHECK(lines[5]["settings"]["c"] == "d");
  CHECK(lines[6]["state"] == "failed");
}
TEST_CASE("json_lines_logger: the lines of another run go on behind those that are there") {
  auto const folder = test::folder{};
  for (auto n = 0; n < 2; ++n) {
    auto log = json_lines_logger{folder / "m.jsonl"};
    log.begin({.name = std::to_string(n)});
  }
  auto const lines = test::text_of(folder / "m.jsonl");
  CHECK(std::ranges::count(lines, '\n') == 2);
}
TEST_CASE("json_lines_logger: the last line has the state of the run") {
  for (auto const& [state, word] : {std::pair{run_state::finished, "finished"},
                                    {run_state::failed, "failed"},
                                    {run_state::stopped, "stopped"}}) {
    auto const folder = test::folder{};
    auto log = json_lines_logger{folder / "log"};
    log.begin({});
    log.finish(state);
    auto const text = test::text_of(folder / "log");
    CHECK(text.ends_with(std::string{R"("state":")"} + word + "\"}\n"));
  }
}
