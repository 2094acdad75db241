// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/golden.hpp>
#include <tessera/io/sentence_pooling.hpp>

using namespace tessera;
using Catch::Contains;

namespace {

auto const g = test::golden("sentence_pooling");

/// What a folder says that has these two files.
auto read(std::string const& modules, std::string const& pooling) -> sentence_pooling {
  auto const folder = test::folder();
  std::filesystem::create_directory(folder / "1_Pooling");
  write_file(folder / "modules.json", modules);
  write_file(folder / "1_Pooling/config.json", pooling);
  return read_sentence_pooling(folder.path());
}
auto bytes_of(std::string const& name) -> std::string {
  auto result = std::string{};
  for (auto const v : g[name]) result += static_cast<char>(static_cast<int>(v));
  return result;
}
auto read_case(std::string const& name) -> sentence_pooling {
  return read(bytes_of(name + ".modules"), bytes_of(name + ".pooling"));
}
auto old(std::string const& pooling) -> sentence_pooling {
  return read(
      R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])",
      pooling);
}

}  // namespace

TEST_CASE("sentence_pooling: folders that sentence-transformers has written") {
  for (auto const first : {false, true})
    for (auto const unit : {false, true}) {
      auto const name = std::string{unit ? "" : "plain_"} + (first ? "cls" : "mean");
      INFO(name);
      auto const read = read_case(name);
      CHECK(read.first == first);
      CHECK(read.unit_length == unit);
    }
  CHECK_THROWS_WITH(read_case("max"), Contains("1_Pooling/config.json: pooling_mode: expected mean "
                                               "or cls, one of them, got [\"max\"]"));
  CHECK_THROWS_WITH(read_case("both"), Contains("got [\"cls\",\"mean\"]"));
}
TEST_CASE("sentence_pooling: folders of older versions have a flag for each pooling") {
  CHECK_FALSE(old(R"({"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})").first);
  CHECK(old(R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})").first);
  CHECK_FALSE(old("{}").first);
  CHECK_THROWS_WITH(old(R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})"),
                    Contains("got [\"cls_token\",\"mean_tokens\"]"));
  CHECK_THROWS_WITH(old(R"({"pooling_mode_max_tokens": true})"), Contains("got [\"max_tokens\"]"));
  CHECK_THROWS_WITH(old(R"({"pooling_mode_max_tokens": 1})"), Contains("expected true or false"));
}
TEST_CASE("sentence_pooling: without modules the mean of length 1") {
  auto const folder = test::folder();
  auto const read = read_sentence_pooling(folder.path());
  CHECK_FALSE(read.first);
  CHECK(read.unit_length);
}
TEST_CASE("sentence_pooling: other modules are refused") {
  auto const module = [](std::string const& kind, std::string const& path = "1_Pooling") {
    return R"({"path": ")" + path + R"(", "type": "models.)" + kind + "\"}";
  };
  auto const refused = [&](std::string const& list, std::string const& what) {
    INFO(list);
    CHECK_THROWS_WITH(read("[" + list + "]", "{}"), Contains(what));
  };
  auto const both = module("Transformer") + "," + module("Pooling");
  refused(both + "," + module("Dense"), "got \"Transformer, Pooling, Dense\"");
  refused(both + "," + module("Normalize") + "," + module("Dense"), "Normalize, Dense\"");
  refused(module("Transformer"), "got \"Transformer\"");
  refused("", "got \"\"");
  refused(module("Transformer") + "," + module("Pooling", "../elsewhere"),
          "path: expected a folder in the folder, got \"../elsewhere\"");
  refused("3", "expected a list of objects");
  refused("{}", "has no type");
}
TEST_CASE("sentence_pooling: a prompt before each text is refused, an empty one is none") {
  auto const folder = test::folder();
  std::filesystem::create_directory(folder / "1_Pooling");
  write_file(folder / "modules.json", bytes_of("mean.modules"));
  write_file(folder / "1_Pooling/config.json", bytes_of("mean.pooling"));
  auto const with = [&](std::string const& settings) {
    write_file(folder / "config_sentence_transformers.json", settings);
    return read_sentence_pooling(folder.path());
  };
  CHECK_NOTHROW(with(R"({"prompts": {}, "default_prompt_name": null})"));
  CHECK_NOTHROW(with(R"({"prompts": {"document": ""}, "default_prompt_name": "document"})"));
  CHECK_THROWS_WITH(with(R"({"prompts": {"query": "query: "}, "default_prompt_name": "query"})"),
                    Contains("default_prompt_name: expected none, or that of an empty prompt, got "
                             "\"query\""));
}
