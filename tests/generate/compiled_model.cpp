// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/small_llama.hpp>
#include <tessera/generate/compiled_model.hpp>

using namespace test::small_llama;
using Catch::Contains;

namespace {

/// A table without models behind it: what is looked for is found by descriptions alone.
auto described(std::string config, std::uint64_t hidden, std::string matrices, bool exact = false)
    -> compiled_model {
  auto result = compiled_model{.config = std::move(config),
                               .description = described_model(model_family::llama, options),
                               .matrices = std::move(matrices),
                               .embedding = "Q8_0",
                               .exact = exact};
  result.description.hidden = hidden;
  result.open_lanes = [](auto const&) { return opened_lanes{}; };
  return result;
}
auto const table =
    std::vector{described("other.json", 96, "Q4_1"), described("small.json", 64, "Q4_1"),
                described("small.json", 64, "Q4_1", true)};

auto found(changes const& c, bool exact = false) -> std::string {
  auto const folder = test::folder();
  auto const file = open_gguf(written(folder.path() / "model.gguf", c));
  try {
    auto const& one = find_compiled(table, file.content, exact);
    return one.config + (one.exact ? " exact" : "");
  } catch (file_error const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE(
    "compiled_model: a file has the one of its sizes, its weights and the arithmetic asked for") {
  CHECK(found({}) == "small.json");
  CHECK(found({}, true) == "small.json exact");
  CHECK(found({.without = "blk.1.ffn_up.weight", .hidden = 96}) == "other.json");
}
TEST_CASE("compiled_model: what is not compiled is named with the line that adds it") {
  auto const unknown = found({.hidden = 128});
  CHECK_THAT(unknown, Contains("add tessera_model(<target> <config.json> WEIGHTS q4_1/q8_0)"));
  CHECK_THAT(unknown, Contains("other.json: intermediate_size: expected 96, got 128"));
  CHECK_THAT(unknown, Contains("small.json: intermediate_size: expected 64, got 128"));
  CHECK_THAT(found({.matrices = ggml_type::q8_0}, true),
             Contains("add WEIGHTS q8_0/q8_0 EXACT to tessera_model(<target> small.json)"));
  CHECK_THAT(found({.hidden = 96}, true), Contains("add WEIGHTS q4_1/q8_0 EXACT to"));
}
TEST_CASE("compiled_model: of many the nearest are named, and in what they differ") {
  auto many = std::vector<compiled_model>{};
  for (auto i = 1; i < 20; ++i) {
    many.push_back(described("far_" + std::to_string(i) + ".json", 96, "Q4_1"));
    many.back().description.width = many.back().description.heads = 7;
  }
  many.push_back(described("near.json", 96, "Q4_1"));
  auto const folder = test::folder();
  auto const file = open_gguf(written(folder.path() / "model.gguf", {}));
  auto text = std::string{};
  try {
    (void)find_compiled(many, file.content);
  } catch (file_error const& e) {
    text = e.what();
  }
  CHECK_THAT(text,
             Contains("compiled:\n  near.json: intermediate_size: expected 96, got 64;\n  far"));
  CHECK_THAT(text, Contains("and 17 that differ in more"));
  CHECK(text.size() < 1000);  // as messages are cut
}
TEST_CASE("compiled_model: a folder has the one that makes sentences of it") {
  auto const folder = test::folder();
  write_file(folder / "config.json",
             R"({"model_type": "bert", "vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 8,
                 "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})");
  write_file(folder / "model.safetensors", std::string{"\x02\0\0\0\0\0\0\0{}", 10});
  auto const opened = hugging_face_folder(folder.path());
  CHECK_THROWS_WITH(find_compiled(table, opened), Contains("no such model is compiled"));
  auto with = table;
  with.push_back({.config = "bert.json",
                  .description = opened.config(),
                  .matrices = {},
                  .embedding = {},
                  .open_sentences = [](auto const&) { return nullptr; }});
  CHECK(find_compiled(with, opened).config == "bert.json");
}
