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
  CHECK_THAT(unknown,
             Contains("add tessera_model(<target> <config.json> WEIGHTS q4_1/q8_0), where "
                      "config.json says {\"model_type\": \"llama\", \"vocab_size\": 32, "));
  CHECK_THAT(unknown, Contains("other.json: intermediate_size: expected 96, got 128"));
  CHECK_THAT(unknown, Contains("small.json: intermediate_size: expected 64, got 128"));
  CHECK_THAT(found({.matrices = ggml_type::q8_0}, true),
             Contains("add WEIGHTS q8_0/q8_0 EXACT to tessera_model(<target> small.json)"));
  CHECK_THAT(found({.hidden = 96}, true), Contains("add WEIGHTS q4_1/q8_0 EXACT to"));
  CHECK_THAT(found({.matrices = ggml_type::bf16}, true),
             Contains("add WEIGHTS bf16/q8_0 EXACT to"));
  CHECK_THAT(found({.matrices = ggml_type::f16}, true), Contains("add WEIGHTS f16/q8_0 to"));
}
TEST_CASE("compiled_model: the two nearest are named, the nearest first") {
  auto models = std::vector<compiled_model>{};
  for (auto const vocabulary : {7U, 8U, 9U, 32U}) {
    models.push_back(described("v" + std::to_string(vocabulary) + ".json", 96, "Q4_1"));
    models.back().description.vocabulary = vocabulary;
  }
  auto const folder = test::folder();
  auto const file = open_gguf(written(folder.path() / "model.gguf", {.hidden = 128}));
  try {
    (void)find_compiled(models, file.content);
    FAIL("found");
  } catch (file_error const& e) {
    CHECK_THAT(e.what(), Contains("that are compiled:\n  v32.json: intermediate_size: expected 96, "
                                  "got 128;\n  v7.json: vocab_size: expected 7, got 32; "));
    CHECK_THAT(e.what(), not Contains("v8.json") && not Contains("v9.json"));
  }
}
TEST_CASE("compiled_model: weights that no line can compile are refused as such") {
  CHECK_THAT(found({.other = "blk.1.ffn_up.weight"}),
             Contains("tensor \"blk.1.ffn_up.weight\": expected Q4_1, the type of "
                      "\"blk.0.attn_q.weight\" and of all matrices but the embedding, got Q8_0"));
  CHECK_THAT(found({.hidden = 128, .other = "blk.1.attn_v.weight"}), Contains("got Q8_0"));

  // As long as blocks of Q4_0 are those of IQ4_NL, which are not read.
  auto const folder = test::folder();
  auto const path = written(folder.path() / "model.gguf", {.matrices = ggml_type::q4_0});
  auto bytes = test::text_of(path);
  auto const name = std::string_view{"blk.1.attn_v.weight"};
  auto const type = bytes.find(name) + name.size() + 4 + 2 * 8;  // behind the rank and two extents
  REQUIRE(bytes[type] == 2);
  bytes[type] = 20;
  write_file(path, bytes);
  auto const file = open_gguf(path);
  CHECK_THROWS_WITH(find_compiled(table, file.content),
                    Contains("tensor \"blk.1.attn_v.weight\": expected a type of F32, F16, BF16, "
                             "Q4_0, Q4_1, Q8_0, got IQ4_NL"));
}
TEST_CASE("compiled_model: a part of a model is not opened") {
  auto const folder = test::folder();
  auto part = gguf_writer{};
  part.set("split.count", std::uint16_t{2});
  save_gguf(folder / "part.gguf", part);
  CHECK_THROWS_WITH(open_gguf(folder / "part.gguf"),
                    Contains("expected one file, got a part of 2 (join them with"));
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
