// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/arranged_weights.hpp>
#include <tessera/io/gguf/writer.hpp>

using namespace tessera;

namespace {

/// Tensors whose numbers count up, each by its name and shape.
class numbered {
 public:
  using shape = std::vector<std::uint64_t>;
  explicit numbered(std::map<std::string, shape> const& shapes) {
    auto entries = std::map<std::string, tensor_entry>{};
    for (auto const& [name, extents] : shapes) {
      auto entry = tensor_entry{.shape = extents, .bytes = {}};
      auto& numbers = kept_.emplace_back();
      for (auto i = std::uint64_t{0}; i < entry.size(); ++i)
        numbers.push_back(static_cast<float>(i));
      entry.bytes = std::as_bytes(std::span{numbers});
      entries[name] = entry;
    }
    tensors_ = safetensors::of(std::move(entries));
  }
  [[nodiscard]] auto tensors() const -> safetensors const& { return tensors_; }

 private:
  std::vector<std::vector<float>> kept_;
  safetensors tensors_;
};
[[nodiscard]] auto numbers_of(tensor_entry const& entry) -> std::vector<float> {
  auto result = std::vector<float>(static_cast<std::size_t>(entry.size()));
  std::memcpy(result.data(), entry.bytes.data(), entry.bytes.size());
  return result;
}
[[nodiscard]] auto config(model_family family) -> model_config {
  auto c = model_config{};
  c.family = family;
  c.heads = 2;
  c.kv_heads = 1;
  return c;
}
[[nodiscard]] auto names_of(safetensors const& file) -> std::vector<std::string> {
  auto result = std::vector<std::string>{};
  for (auto const& [name, entry] : file.tensors()) result.push_back(name);
  return result;
}
[[nodiscard]] auto of_hugging_face(numbered const& file, model_config const& c) {
  return arrange_weights(file.tensors(), hugging_face_layout(c.family), c);
}
[[nodiscard]] auto of_gguf(numbered const& file, model_config const& c) {
  return arrange_weights(file.tensors(), gguf_layout(c.family), c);
}
using names = std::vector<std::string>;
using numbers = std::vector<float>;

}  // namespace

TEST_CASE(
    "arranged_weights: llama's GGUF names become those of transformers, pairs become halves") {
  auto const file = numbered({{"token_embd.weight", {3, 2}},
                              {"output_norm.weight", {2}},
                              {"blk.11.attn_q.weight", {8, 1}},
                              {"blk.11.attn_k.weight", {4, 1}},
                              {"blk.11.attn_v.weight", {4, 1}},
                              {"blk.11.ffn_norm.weight", {2}}});
  auto const made = of_gguf(file, config(model_family::llama));
  CHECK(names_of(made.tensors()) ==
        names{"model.embed_tokens.weight", "model.layers.11.post_attention_layernorm.weight",
              "model.layers.11.self_attn.k_proj.weight", "model.layers.11.self_attn.q_proj.weight",
              "model.layers.11.self_attn.v_proj.weight", "model.norm.weight"});
  CHECK(numbers_of(made.tensors()["model.layers.11.self_attn.q_proj.weight"]) ==
        numbers{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(numbers_of(made.tensors()["model.layers.11.self_attn.k_proj.weight"]) ==
        numbers{0, 2, 1, 3});
  CHECK(made.kept_bytes() == 12 * sizeof(float));
  CHECK(made.tensors()["model.embed_tokens.weight"].bytes.data() ==
        file.tensors()["token_embd.weight"].bytes.data());
  auto const as_it_is = of_gguf(file, config(model_family::qwen2));
  CHECK(as_it_is.kept_bytes() == 0);
}
TEST_CASE(
    "arranged_weights: GPT-2's matrices are transposed, its masks left out, its prefix added") {
  auto const old = numbered({{"wte.weight", {4, 2}},
                             {"h.0.attn.bias", {1, 1, 2, 2}},
                             {"h.0.attn.c_attn.weight", {2, 3}},
                             {"h.0.attn.c_attn.bias", {3}},
                             {"h.0.ln_1.weight", {2}}});
  auto c = config(model_family::gpt2);
  auto const made = of_hugging_face(old, c);
  CHECK(names_of(made.tensors()) == names{"transformer.h.0.attn.c_attn.bias",
                                          "transformer.h.0.attn.c_attn.weight",
                                          "transformer.h.0.ln_1.weight", "transformer.wte.weight"});
  auto const& matrix = made.tensors()["transformer.h.0.attn.c_attn.weight"];
  CHECK(matrix.shape == std::vector<std::uint64_t>{3, 2});
  CHECK(numbers_of(matrix) == numbers{0, 3, 1, 4, 2, 5});
  auto const now = numbered({{"transformer.wte.weight", {4, 2}}, {"lm_head.weight", {4, 2}}});
  CHECK(names_of(of_hugging_face(now, c).tensors()) ==
        names{"lm_head.weight", "transformer.wte.weight"});
  c.tied = true;
  CHECK(names_of(of_hugging_face(now, c).tensors()) == names{"transformer.wte.weight"});
}
TEST_CASE("arranged_weights: a tied head that is not the embedding is refused") {
  for (auto const family : {model_family::gpt2, model_family::llama}) {
    auto c = config(family);
    c.tied = true;
    auto const gpt2 = family == model_family::gpt2;
    auto const embedding = std::string{gpt2 ? "transformer.wte" : "model.embed_tokens"} + ".weight";
    auto const file = numbered({{embedding, {4, 2}}, {"lm_head.weight", {4, 2}}});
    CHECK(names_of(of_hugging_face(file, c).tensors()) == names{embedding});
    auto const short_name = embedding.substr(embedding.find('.') + 1);
    auto const other = numbered({{short_name, {4, 2}}, {"lm_head.weight", {2, 4}}});
    CHECK_THROWS_WITH(of_hugging_face(other, c),
                      Catch::Contains("\"lm_head.weight\" is not \"" + embedding + "\""));
    c.tied = false;
    CHECK(names_of(of_hugging_face(other, c).tensors()) == names{"lm_head.weight", embedding});
  }
}
TEST_CASE("arranged_weights: BERT's files have names of three kinds") {
  auto const c = config(model_family::bert);
  auto const want = names{"embeddings.LayerNorm.bias", "embeddings.LayerNorm.weight",
                          "embeddings.word_embeddings.weight"};
  CHECK(names_of(of_hugging_face(numbered({{"embeddings.LayerNorm.bias", {2}},
                                           {"embeddings.LayerNorm.weight", {2}},
                                           {"embeddings.position_ids", {1, 4}},
                                           {"embeddings.word_embeddings.weight", {3, 2}}}),
                                 c)
                     .tensors()) == want);
  CHECK(names_of(of_hugging_face(numbered({{"bert.embeddings.LayerNorm.beta", {2}},
                                           {"bert.embeddings.LayerNorm.gamma", {2}},
                                           {"bert.embeddings.word_embeddings.weight", {3, 2}}}),
                                 c)
                     .tensors()) == want);
  CHECK(names_of(of_gguf(numbered({{"token_embd_norm.bias", {2}},
                                   {"token_embd_norm.weight", {2}},
                                   {"token_embd.weight", {3, 2}}}),
                         c)
                     .tensors()) == want);
}
TEST_CASE("arranged_weights: projections are joined, or split, where a layout says so") {
  auto const file =
      numbered({{"a.q.weight", {2, 2}}, {"a.k.weight", {1, 2}}, {"a.v.weight", {1, 2}}});
  constexpr weight_rule joined[] = {{"a.qkv", {"a.q", "a.k", "a.v"}}};
  auto const c = config(model_family::llama);
  auto const one = arrange_weights(file.tensors(), {.rules = joined, .all_by_rules = true}, c);
  CHECK(names_of(one.tensors()) == names{"a.qkv.weight"});
  CHECK(one.tensors()["a.qkv.weight"].shape == std::vector<std::uint64_t>{4, 2});
  CHECK(numbers_of(one.tensors()["a.qkv.weight"]) == numbers{0, 1, 2, 3, 0, 1, 0, 1});
  constexpr weight_rule split[] = {{"up", {"a.q"}, weight_change::none, 1, 2},
                                   {"gate", {"a.q"}, weight_change::none, 0, 2}};
  auto const two = arrange_weights(file.tensors(), {.rules = split}, c);
  CHECK(numbers_of(two.tensors()["up.weight"]) == numbers{2, 3});
  CHECK(numbers_of(two.tensors()["gate.weight"]) == numbers{0, 1});
  CHECK(two.kept_bytes() == 0);
  CHECK_THROWS_WITH(
      arrange_weights(numbered({{"a.q.weight", {2, 2}}}).tensors(), {.rules = joined}, c),
      Catch::Contains("has no tensor \"a.k.weight\""));
  CHECK_THROWS_WITH(
      arrange_weights(numbered({{"a.q.weight", {3, 2}}}).tensors(), {.rules = split}, c),
      Catch::Contains("\"up.weight\": expected rows in 2 parts, got shape (3, 2)"));
  CHECK_THROWS_WITH(
      arrange_weights(
          numbered({{"a.q.weight", {2, 2}}, {"a.k.weight", {1, 3}}, {"a.v.weight", {1, 2}}})
              .tensors(),
          {.rules = joined}, c),
      Catch::Contains(
          "\"a.qkv.weight\": expected rows of one length and type, got (2, 2) and (1, 3)"));
}
TEST_CASE("arranged_weights: what does not fit the family is named") {
  auto const c = config(model_family::llama);
  CHECK_THROWS_WITH(of_gguf(numbered({{"rope_freqs.weight", {2}}}), c),
                    Catch::Contains("has a tensor \"rope_freqs.weight\", which no model of the "
                                    "family llama has"));
  CHECK_THROWS_WITH(of_gguf(numbered({{"blk.0.attn_q.weight", {6, 1}}}), c),
                    Catch::Contains("\"model.layers.0.self_attn.q_proj.weight\": expected rows in "
                                    "pairs for 2 heads, got shape (6, 1)"));
  CHECK_THROWS_WITH(
      of_hugging_face(numbered({{"bert.a.LayerNorm.gamma", {1}}, {"bert.a.LayerNorm.weight", {1}}}),
                      config(model_family::bert)),
      Catch::Contains("two tensors that are one of the model"));
}
TEST_CASE("arranged_weights: a GGUF file's blocks are decoded, its other numbers seen") {
  auto content = gguf_writer{};
  auto const values = std::vector<float>(32, 127 * 0x1p-8F);
  content.add_numbers("blocks", ggml_type::q8_0, {1, 32}, values);
  content.add_numbers("halves", ggml_type::bf16, {32}, values);
  auto const header = content.header();
  auto whole = detail::gguf_bytes{};
  for (auto const part : content.parts(header)) whole.append(part);
  auto const file = gguf(whole, "x.gguf");
  auto const made = decode_tensors(file);
  CHECK(made.tensors()["blocks"].type == dtype::f32);
  CHECK(made.tensors()["blocks"].shape == std::vector<std::uint64_t>{1, 32});
  CHECK(numbers_of(made.tensors()["blocks"]) == values);
  CHECK(made.tensors()["halves"].type == dtype::bf16);
  CHECK(made.tensors()["halves"].bytes.data() == file.tensor("halves").bytes.data());
  CHECK(made.kept_bytes() == 128);
}
