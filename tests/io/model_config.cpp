// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/model_config.hpp>

using namespace tessera;

namespace {

[[nodiscard]] auto small() -> model_config {
  auto c = model_config{};
  c.vocabulary = 96;
  c.width = 48;
  c.blocks = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_width = 12;
  c.hidden = 80;
  c.context = 64;
  return c;
}
/// The options of a compiled model, as models/llama.hpp has them.
struct options {
  enum class turn { plain, linear, llama3 };
  struct {
    turn kind = turn::plain;
    double factor = 1;
    double low_factor = 1;
    double high_factor = 4;
    double context = 8192;
  } scaling;
  std::size_t vocabulary = 96, width = 48, blocks = 2, heads = 4, kv_heads = 2, head_width = 0,
              hidden = 80, context = 64;
  double rotary_base = 10'000, epsilon = 1e-6;
  bool tied = false, qkv_bias = false, qk_norm = false;
};

}  // namespace

static_assert(model_family_of("qwen3") == model_family::qwen3);
static_assert(name_of(model_family::bert) == "bert");
static_assert(not model_family_of("mamba"));

TEST_CASE("model_config: models that are the same have no difference, nor a shorter context") {
  CHECK(differences(small(), small()).empty());
  CHECK(differences(described_model(model_family::llama, options{}), small()).empty());
  auto compiled = small();
  compiled.context = 32;
  compiled.hidden_dropout = 0.5;
  compiled.bos = 3;
  compiled.epsilon = static_cast<double>(1e-6F);
  CHECK(differences(compiled, small()).empty());
}
TEST_CASE("model_config: every difference is named in one error") {
  auto file = small();
  file.family = model_family::qwen3;
  file.width = 64;
  file.context = 16;
  file.tied = file.head_norms = file.qkv_bias = file.out_bias = file.mlp_bias = true;
  file.epsilon = 1e-5;
  file.rope.theta = 1e6;
  file.rope.kind = "linear";
  file.activation = "gelu";
  auto const found = differences(small(), file);
  CHECK(found ==
        std::vector<std::string>{
            "model_type: expected llama, got qwen3", "hidden_size: expected 48, got 64",
            "rms_norm_eps: expected 1e-06, got 1e-05", "hidden_act: expected silu, got gelu",
            "tie_word_embeddings: expected false, got true",
            "attention_bias of queries, keys and values: expected false, got true",
            "attention_bias of the output: expected false, got true",
            "mlp_bias: expected false, got true",
            "norms of queries and keys: expected false, got true",
            "rope_type: expected default, got linear", "rope_theta: expected 10000, got 1000000",
            "max_position_embeddings: expected at least 64, got 16"});
  CHECK_THROWS_WITH(check_same_model("f", small(), file),
                    Catch::StartsWith("f: is not the compiled model: model_type: expected llama, "
                                      "got qwen3; hidden_size: expected 48, got 64; "));
  CHECK_NOTHROW(check_same_model("f", small(), small()));
}
TEST_CASE("model_config: each fact that the numbers depend on counts") {
  auto const changed = [](auto const& change) {
    auto file = small();
    file.rope.kind = "llama3";
    auto const compiled = file;
    change(file);
    return differences(compiled, file).size();
  };
  CHECK(changed([](auto& c) { c.vocabulary = 1; }) == 1);
  CHECK(changed([](auto& c) { c.blocks = 1; }) == 1);
  CHECK(changed([](auto& c) { c.heads = 1; }) == 1);
  CHECK(changed([](auto& c) { c.kv_heads = 1; }) == 1);
  CHECK(changed([](auto& c) { c.head_width = 1; }) == 1);
  CHECK(changed([](auto& c) { c.hidden = 1; }) == 1);
  CHECK(changed([](auto& c) { c.token_types = 1; }) == 1);
  CHECK(changed([](auto& c) { c.rope.factor = 2; }) == 1);
  CHECK(changed([](auto& c) { c.rope.low_freq_factor = 2; }) == 1);
  CHECK(changed([](auto& c) { c.rope.high_freq_factor = 2; }) == 1);
  CHECK(changed([](auto& c) { c.rope.original_max_position = 2; }) == 1);
}
TEST_CASE("model_config: a table of positions is as long as the file's") {
  auto compiled = small();
  compiled.family = model_family::bert;
  auto file = compiled;
  file.context = 65;
  CHECK(differences(compiled, file) ==
        std::vector<std::string>{"max_position_embeddings: expected 64, got 65"});
}
TEST_CASE("model_config: a config.json can be written of it") {
  auto c = small();
  c.epsilon = static_cast<double>(1e-5F);
  CHECK(
      config_text(c) ==
      R"({"model_type": "llama", "vocab_size": 96, "hidden_size": 48, "num_hidden_layers": 2, )"
      R"("num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12, "intermediate_size": 80, )"
      R"("max_position_embeddings": 64, "rms_norm_eps": 1e-05, "tie_word_embeddings": false, )"
      R"("attention_bias": false, "rope_parameters": {"rope_type": "default", "rope_theta": 10000}})");
}
