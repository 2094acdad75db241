// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/golden.hpp>
#include <tessera/io/hugging_face.hpp>

using namespace tessera;

namespace {

[[nodiscard]] auto text_of_case(std::vector<double> const& values) -> std::string {
  auto result = std::string{};
  for (auto const v : values) result += static_cast<char>(static_cast<int>(v));
  return result;
}
using config_members = std::map<std::string, std::string>;
auto const of_llama = config_members{
    {"model_type", "\"llama\""},     {"vocab_size", "8"},          {"hidden_size", "8"},
    {"num_hidden_layers", "1"},      {"num_attention_heads", "2"}, {"intermediate_size", "8"},
    {"max_position_embeddings", "8"}};
auto const of_gpt2 =
    config_members{{"model_type", "\"gpt2\""}, {"vocab_size", "8"}, {"n_embd", "8"},
                   {"n_layer", "1"},           {"n_head", "2"},     {"n_positions", "8"}};
auto const of_bert = config_members{
    {"model_type", "\"bert\""},       {"vocab_size", "8"},          {"hidden_size", "8"},
    {"num_hidden_layers", "1"},       {"num_attention_heads", "2"}, {"intermediate_size", "8"},
    {"max_position_embeddings", "8"}, {"type_vocab_size", "2"}};

/// A config.json of all of these but one, with others before them.
[[nodiscard]] auto json_of(config_members const& all, std::string const& more = "",
                           std::string const& without = "") -> std::string {
  auto result = "{" + more;
  for (auto const& [name, value] : all)
    if (name != without) result += "\"" + name + "\":" + value + ",";
  result.back() = '}';
  return result;
}
[[nodiscard]] auto llama_json(std::string const& more = "", std::string const& without = "")
    -> std::string {
  return json_of(of_llama, more, without);
}
[[nodiscard]] auto message_of(auto const& call) -> std::string {
  try {
    call();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "accepted";
}
[[nodiscard]] auto config_message(std::string const& json) -> std::string {
  auto const folder = test::folder{};
  write_file(folder / "config.json", json);
  auto const path = (folder / "config.json").string();
  auto const said = message_of([&] { (void)read_model_config(path); });
  return said.starts_with(path + ": ") ? said.substr(path.size() + 2) : said;
}

}  // namespace

TEST_CASE("hugging_face: a config.json, new or old, means what it means to transformers") {
  auto const g = test::golden("hugging_face");
  auto const folder = test::folder{};
  auto count = 0;
  for (auto const& [name, values] : g) {
    if (name.ends_with(".facts")) continue;
    INFO(name);
    write_file(folder / "config.json", text_of_case(values));
    auto const c = read_model_config(folder / "config.json");
    auto const& f = g[name + ".facts"];
    constexpr std::string_view kinds[] = {"default", "linear", "llama3"};
    CHECK(std::vector<double>{f.begin(), f.begin() + 8} ==
          std::vector<double>{static_cast<double>(c.vocabulary), static_cast<double>(c.width),
                              static_cast<double>(c.blocks), static_cast<double>(c.heads),
                              static_cast<double>(c.kv_heads), static_cast<double>(c.head_width),
                              static_cast<double>(c.hidden), static_cast<double>(c.context)});
    CHECK(c.epsilon == f[8]);
    CHECK(c.tied == (f[9] != 0));
    CHECK(c.rope.kind == kinds[static_cast<std::size_t>(f[10])]);
    CHECK(c.rope.theta == f[11]);
    CHECK(c.rope.factor == f[12]);
    if (c.rope.kind == "llama3") CHECK(c.rope.original_max_position == 16);
    CHECK(c.qkv_bias ==
          (name == "llama.shared" || name.ends_with("qwen2") || not is_rotary(c.family)));
    CHECK(c.out_bias == (name == "llama.shared" || not is_rotary(c.family)));
    CHECK(c.head_norms == (name == "qwen3"));
    ++count;
  }
  CHECK(count == 16);
  write_file(folder / "config.json", text_of_case(g["llama.shared"]));
  auto const c = read_model_config(folder / "config.json");
  CHECK(c.bos == 1);
  CHECK(c.eos == std::vector<std::uint64_t>{2, 5});
  CHECK(not c.pad);
}
TEST_CASE("hugging_face: an activation and a scaling are those of the file") {
  auto const folder = test::folder{};
  auto const read = [&](std::string const& more) {
    write_file(folder / "config.json", llama_json(more));
    return read_model_config(folder / "config.json");
  };
  CHECK(read("").activation == "silu");
  CHECK(read("\"hidden_act\":\"gelu\",").activation == "gelu");
  auto const rope = read(R"("rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":2,)"
                         R"("high_freq_factor":5,"original_max_position_embeddings":16},)")
                        .rope;
  CHECK(read(R"("rope_parameters":{},"rope_scaling":{"type":"linear","factor":4},)").rope.factor ==
        4);
  CHECK(rope.low_freq_factor == 2);
  CHECK(rope.high_freq_factor == 5);
}
TEST_CASE("hugging_face: what a config.json lacks, or what is not computed, is named") {
  auto const said = [](std::string const& more, std::string const& without = "") {
    return config_message(llama_json(more, without));
  };
  CHECK(said("") == "accepted");
  CHECK(said("", "model_type") == "has no model_type");
  CHECK(said("", "hidden_size") == "has no hidden_size");
  CHECK(said("\"model_type\":\"mamba\",", "model_type") ==
        "model_type: expected one of llama, qwen2, qwen3, gpt2, bert, got \"mamba\"");
  CHECK(said("\"hidden_size\":-1,", "hidden_size") ==
        "hidden_size: expected a whole number from 0 to 4294967295, got -1");
  CHECK(said("\"hidden_size\":0,", "hidden_size") ==
        "hidden_size: expected a number from 1, got 0");
  CHECK(said("\"hidden_size\":9,", "hidden_size") ==
        "num_attention_heads: expected a divisor of 9, got 2");
  CHECK(said("\"num_key_value_heads\":3,") ==
        "num_key_value_heads: expected a divisor of 2, got 3");
  // What is not there is 32 to transformers' Qwen2Config, what is null as many as heads.
  auto const qwen2 = std::string{"\"model_type\":\"qwen2\","};
  CHECK(said(qwen2, "model_type") == "num_key_value_heads: expected a divisor of 2, got 32");
  CHECK(said(qwen2 + "\"num_key_value_heads\":null,", "model_type") == "accepted");
  CHECK(said("\"rms_norm_eps\":\"x\",") == "rms_norm_eps: expected a number, got \"x\"");
  CHECK(said("\"tie_word_embeddings\":1,") == "tie_word_embeddings: expected true or false, got 1");
  CHECK(said("\"rope_scaling\":{\"type\":\"yarn\"},") ==
        "rope_scaling.rope_type: expected one of default, linear, llama3, got \"yarn\"");
  CHECK(said("\"rope_parameters\":{\"rope_type\":\"linear\"},") == "has no rope_parameters.factor");
  CHECK(said("\"partial_rotary_factor\":0.5,") == "partial_rotary_factor: expected 1, got 0.5");
  CHECK(said("\"use_sliding_window\":true,") == "use_sliding_window: expected false, got true");
  CHECK(said("\"is_causal\":false,") == "is_causal: expected true, got false");
  CHECK(said("\"rope_parameters\":{\"rope_type\":\"default\"},"
             "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":2},") ==
        "rope_scaling: expected none beside rope_parameters, got \"one\"");
  CHECK(said("\"eos_token_id\":[1,\"x\"],") ==
        "eos_token_id: expected whole numbers, got [1,\"x\"]");
  CHECK(said("\"hidden_size\":8,") == "names \"hidden_size\" twice");
  CHECK(config_message("[1]") == "is no JSON object");
  CHECK_THAT(config_message("{"), Catch::StartsWith("is not JSON: "));
  // Also where what is cited has no letters.
  CHECK(find_no_utf8(config_message("{\"a\xFF\":\xFF}")) == std::string_view::npos);
  CHECK_THAT(config_message("{\"a\":" + std::string(100'000, '[')),
             Catch::Contains("has more than 64 levels"));
}

namespace {

/// What is said where one member has this value instead of its own.
[[nodiscard]] auto said_with(config_members all, std::string const& name, std::string const& value)
    -> std::string {
  all[name] = value;
  return config_message(json_of(all));
}

}  // namespace

TEST_CASE("hugging_face: GPT-2 and BERT have all of their sizes, which are numbers from 1") {
  for (auto const& family : {of_gpt2, of_bert}) {
    CHECK(config_message(json_of(family)) == "accepted");
    for (auto const& [name, value] : family) {
      CHECK(config_message(json_of(family, "", name)) == "has no " + name);
      if (name == "model_type") continue;
      CHECK(said_with(family, name, "0") == name + ": expected a number from 1, got 0");
      CHECK(said_with(family, name, "1.5") ==
            name + ": expected a whole number from 0 to 4294967295, got 1.5");
    }
  }
  CHECK(said_with(of_gpt2, "n_inner", "0") == "n_inner: expected a number from 1, got 0");
  CHECK(said_with(of_gpt2, "n_inner", "null") == "accepted");
  CHECK(said_with(of_gpt2, "n_head", "3") == "n_head: expected a divisor of 8, got 3");
  CHECK(said_with(of_bert, "num_attention_heads", "3") ==
        "num_attention_heads: expected a divisor of 8, got 3");
  CHECK(config_message(json_of(of_bert, R"("head_dim":4,"num_attention_heads":3,)",
                               "num_attention_heads")) ==
        "num_attention_heads: expected a divisor of 8, got 3");  // it has no widths of its own
}
TEST_CASE("hugging_face: what GPT-2 and BERT may say is of its type, or is what is computed") {
  auto const numbers = [](config_members const& family, std::vector<std::string> const& names) {
    for (auto const& name : names) {
      CHECK(said_with(family, name, "0.5") == "accepted");
      CHECK(said_with(family, name, "\"x\"") == name + ": expected a number, got \"x\"");
    }
  };
  auto const only = [](config_members const& family, std::string const& name,
                       std::string const& wanted, std::string const& other) {
    CHECK(said_with(family, name, wanted) == "accepted");
    CHECK(said_with(family, name, other) == name + ": expected " + wanted + ", got " + other);
  };
  numbers(of_gpt2, {"layer_norm_epsilon", "resid_pdrop", "attn_pdrop", "embd_pdrop"});
  numbers(of_bert, {"layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob"});
  CHECK(said_with(of_gpt2, "activation_function", "1") ==
        "activation_function: expected a text, got 1");
  CHECK(said_with(of_bert, "hidden_act", "1") == "hidden_act: expected a text, got 1");
  only(of_gpt2, "scale_attn_weights", "true", "false");
  only(of_gpt2, "scale_attn_by_inverse_layer_idx", "false", "true");
  only(of_gpt2, "is_causal", "true", "false");
  only(of_bert, "is_decoder", "false", "true");
  CHECK(said_with(of_bert, "position_embedding_type", "\"absolute\"") == "accepted");
  CHECK(said_with(of_bert, "position_embedding_type", "\"relative_key\"") ==
        "position_embedding_type: expected absolute, got \"relative_key\"");
  for (auto const& family : {of_gpt2, of_bert}) {
    numbers(family, {"initializer_range"});
    only(family, "add_cross_attention", "false", "true");
    CHECK(said_with(family, "tie_word_embeddings", "1") ==
          "tie_word_embeddings: expected true or false, got 1");
    CHECK(said_with(family, "bos_token_id", "-1") ==
          "bos_token_id: expected a whole number from 0 to 4294967295, got -1");
  }
}
TEST_CASE("hugging_face: what GPT-2 and BERT may say is where it belongs, or what it is without") {
  auto const folder = test::folder{};
  auto const read = [&](config_members const& all, std::string const& more) {
    write_file(folder / "config.json", json_of(all, more));
    return read_model_config(folder / "config.json");
  };
  auto const g =
      read(of_gpt2, R"("n_inner":24,"layer_norm_epsilon":0.25,"activation_function":"relu",
                               "resid_pdrop":0.5,"attn_pdrop":0.125,"embd_pdrop":0.75,)");
  CHECK(g.hidden == 24);
  CHECK(g.epsilon == 0.25);
  CHECK(g.activation == "relu");
  CHECK(g.hidden_dropout == 0.5);
  CHECK(g.attention_dropout == 0.125);
  CHECK(g.embedding_dropout == 0.75);
  CHECK(read(of_gpt2, "").hidden == 32);
  CHECK(read(of_gpt2, "").epsilon == 1e-5);
  CHECK(read(of_gpt2, "").activation == "gelu_new");
  auto const b = read(of_bert, R"("layer_norm_eps":0.25,"hidden_act":"relu",
                               "hidden_dropout_prob":0.5,"attention_probs_dropout_prob":0.125,)");
  CHECK(b.epsilon == 0.25);
  CHECK(b.activation == "relu");
  CHECK(b.hidden_dropout == 0.5);
  CHECK(b.attention_dropout == 0.125);
  CHECK(b.token_types == 2);
  CHECK(read(of_bert, "").epsilon == 1e-12);
  CHECK(read(of_bert, "").activation == "gelu");
}

namespace {

/// A folder of two shards, with the index that is given.
struct shards : test::folder {
  explicit shards(std::string const& map) {
    write_file(*this / "config.json", llama_json());
    auto const numbers = std::vector<float>{1, 2, 3, 4};
    auto const bytes = std::as_bytes(std::span{numbers});
    for (auto const* const name : {"a", "b"}) {
      auto writer = safetensors_writer{};
      writer.add(name, dtype::f32, {4}, bytes);
      writer.add(std::string{name} + "2", dtype::f32, {2}, bytes.first(8));
      writer.write(*this / (std::string{"model-"} + name + ".safetensors"));
    }
    write_file(*this / "model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  }
};
constexpr auto whole_map = std::string_view{
    R"("a":"model-a.safetensors","a2":"model-a.safetensors","b":"model-b.safetensors","b2":"model-b.safetensors")"};

}  // namespace

TEST_CASE("hugging_face: shards are one set, seen in their files, and a move keeps what is seen") {
  auto const folder = shards{std::string{whole_map}};
  auto read = hugging_face_folder(folder.path());
  auto const moved = std::move(read);
  CHECK(moved.config().vocabulary == 8);
  CHECK(moved.weights().tensors().size() == 4);
  auto value = 0.F;
  std::memcpy(&value, moved.weights()["b2"].bytes.data() + 4, 4);
  CHECK(value == 2);
}
TEST_CASE("hugging_face: a single file has no index") {
  auto const folder = shards{""};
  std::filesystem::remove(folder / "model.safetensors.index.json");
  std::filesystem::rename(folder / "model-a.safetensors", folder / "model.safetensors");
  CHECK(hugging_face_folder(folder.path()).path() == folder.path());
  write_file(folder / "model.safetensors.index.json", R"({"weight_map":{"b":"gone"}})");
  auto const beside_old_index = hugging_face_folder(folder.path());
  CHECK(beside_old_index.weights().contains("a2"));
  std::filesystem::remove(folder / "model.safetensors.index.json");
  std::filesystem::remove(folder / "model.safetensors");
  CHECK_THROWS_WITH(hugging_face_folder(folder.path()),
                    Catch::Contains("model.safetensors: cannot be read"));
}
TEST_CASE("hugging_face: an index that does not fit its shards is refused by name") {
  auto const said = [](std::string const& map) {
    auto const folder = shards{map};
    return message_of([&] { (void)hugging_face_folder(folder.path()); });
  };
  auto const map = std::string{whole_map};
  CHECK(said(map) == "accepted");
  CHECK_THAT(said(map + ",\"c\":\"model-b.safetensors\""),
             Catch::Contains("model-b.safetensors: has no tensor \"c\", which the index names"));
  CHECK_THAT(said(map + ",\"c\":\"model-c.safetensors\""),
             Catch::Contains("model-c.safetensors: cannot be read"));
  CHECK_THAT(said(map.substr(0, map.find(",\"b2\""))),
             Catch::Contains("model-b.safetensors: has a tensor \"b2\", which the index has not"));
  CHECK_THAT(said("\"a\":\"../model-a.safetensors\""),
             Catch::Contains("a: expected the name of a safetensors file in the folder"));
  CHECK_THAT(said("\"a\":1"), Catch::Contains("weight_map.a: expected the name of a safetensors"));
}
TEST_CASE("hugging_face: what config_text writes is read as the same model") {
  auto const folder = test::folder();
  auto const path = folder / "config.json";
  auto c = model_config{};
  c.vocabulary = 96;
  c.width = 48;
  c.blocks = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_width = 16;
  c.hidden = 80;
  c.context = 64;
  for (auto const family : {model_family::llama, model_family::qwen2, model_family::qwen3})
    for (auto const kind : {"default", "linear", "llama3"})
      for (auto const tied : {false, true}) {
        c.family = family;
        c.qkv_bias = family == model_family::qwen2;
        c.head_norms = family == model_family::qwen3;
        c.tied = tied;
        c.epsilon = static_cast<double>(1e-5F);
        c.rope = {
            .kind = kind, .theta = 5e5, .factor = std::string_view{kind} == "default" ? 1.0 : 8.0};
        write_file(path, config_text(c));
        INFO(config_text(c));
        CHECK(differences(c, read_model_config(path)).empty());
      }
}
