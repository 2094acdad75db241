// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/generate/compiled_bert.hpp>

using namespace tessera;
using Catch::Contains;

namespace {

constexpr auto options = bert_options{
    .vocabulary = 16, .width = 16, .blocks = 1, .heads = 2, .hidden = 32, .context = 12};
using model = sentence_bert<options>;

auto made_parameters() {
  auto p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1, 0.4);
  return p;
}
/// A folder as transformers writes one.
void write_folder(std::filesystem::path const& folder) {
  save_parameters(folder / "model.safetensors", *made_parameters());
  write_file(folder / "config.json",
             R"({"model_type": "bert", "vocab_size": 16, "hidden_size": 16, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 12,
                 "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})");
}

}  // namespace

TEST_CASE("compiled_bert: a folder's sentences have the bits of its model") {
  auto const folder = test::folder();
  write_folder(folder.path());
  auto const opened = hugging_face_folder(folder.path());
  auto const compiled = compile_bert<options>("small.json");
  CHECK(differences(compiled.description, opened.config()).empty());
  auto const sentences = compiled.open_sentences(opened);
  CHECK(sentences->width() == 16);
  CHECK(sentences->context() == 12);
  auto const tokens = std::vector<std::uint32_t>{2, 7, 15, 0, 3};
  auto got = std::vector<float>(16);
  sentences->embed(tokens, got);

  auto x = tensor<std::int32_t, shape<5, 1>>{};
  for (auto i = std::size_t{0}; i < 5; ++i) x.data()[i] = static_cast<std::int32_t>(tokens[i]);
  auto const p = made_parameters();
  using run_type = inference<model, tensor<std::int32_t, shape<5, 1>>,
                             given_as<tag::lengths, tensor<std::int32_t, shape<1>>>>;
  auto const run = std::make_unique<run_type>();
  auto const y = (*run)(*p, x, given<tag::lengths>(tensor<std::int32_t, shape<1>>{{5}}));
  auto length = 0.0F;
  for (auto i = std::size_t{0}; i < 16; ++i) {
    CHECK(got[i] == Approx(y.data()[i]).margin(1e-6));
    length += got[i] * got[i];
  }
  CHECK(length == Approx(1));
}
TEST_CASE("compiled_bert: a folder says how its vectors are made, or is refused") {
  auto const folder = test::folder();
  write_folder(folder.path());
  auto const compiled = compile_bert<options>("small.json");
  auto const tokens = std::vector<std::uint32_t>{2, 7, 15, 0, 3};
  auto const vector = [&] {
    auto result = std::vector<float>(16);
    compiled.open_sentences(hugging_face_folder(folder.path()))->embed(tokens, result);
    return result;
  };
  auto const mean = vector();
  auto const modules = [&](std::string const& pooling, std::string const& last) {
    std::filesystem::create_directories(folder / "1_Pooling");
    write_file(folder / "modules.json",
               R"([{"path": "", "type": "models.Transformer"},
                   {"path": "1_Pooling", "type": "models.Pooling"})" +
                   last + "]");
    write_file(folder / "1_Pooling/config.json", R"({"pooling_mode": ")" + pooling + "\"}");
  };
  constexpr auto normalize = R"(, {"path": "2_Normalize", "type": "models.Normalize"})";
  modules("mean", normalize);
  CHECK(vector() == mean);
  modules("mean", "");
  auto const longer = vector();
  auto const rate = longer[0] / mean[0];
  CHECK(std::abs(rate - 1) > 0.01F);
  for (auto i = std::size_t{0}; i < 16; ++i)
    CHECK(longer[i] == Approx(rate * mean[i]).margin(1e-5));
  modules("cls", normalize);
  CHECK(vector() != mean);
  modules("max", normalize);
  CHECK_THROWS_WITH(vector(), Contains("expected mean or cls"));
}
TEST_CASE("compiled_bert: heads of other tasks are left out") {
  auto const folder = test::folder();
  write_folder(folder.path());
  auto const tokens = std::vector<std::uint32_t>{2, 7, 15, 0, 3};
  auto const vector = [&] {
    auto result = std::vector<float>(16);
    compile_bert<options>("small.json")
        .open_sentences(hugging_face_folder(folder.path()))
        ->embed(tokens, result);
    return result;
  };
  auto const expected = vector();
  auto const write = [&](std::string const& prefix) {
    auto const plain = safetensors::read(folder / "plain");
    auto writer = safetensors_writer{};
    for (auto const& [name, one] : plain.tensors())
      writer.add(prefix + name, one.type, one.shape, one.bytes);
    auto const more = std::vector<float>{1, 2};
    writer.add("cls.predictions.bias", dtype::f32, {2}, std::as_bytes(std::span{more}));
    writer.write(folder / "model.safetensors");
  };
  std::filesystem::rename(folder / "model.safetensors", folder / "plain");
  write("bert.");
  CHECK(vector() == expected);
  write("");  // a parameter, where names have no prefix
  CHECK_THROWS_WITH(vector(), Contains("cls.predictions.bias"));
}
TEST_CASE("compiled_bert: tokens that it does not take are refused") {
  auto const folder = test::folder();
  write_folder(folder.path());
  auto const sentences =
      compile_bert<options>("small.json").open_sentences(hugging_face_folder(folder.path()));
  auto to = std::vector<float>(16);
  CHECK_THROWS_WITH(sentences->embed({}, to), Contains("expected 1 to 12 tokens, got 0"));
  CHECK_THROWS_WITH(sentences->embed(std::vector<std::uint32_t>(13, 1), to), Contains("got 13"));
  CHECK_THROWS_WITH(sentences->embed(std::vector<std::uint32_t>{3, 16}, to),
                    Contains("expected tokens below 16, got 16"));
}
