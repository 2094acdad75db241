// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/golden.hpp>
#include <tessera/io/gguf/model.hpp>
#include <tessera/io/gguf/writer.hpp>

using namespace tessera;

namespace {

[[nodiscard]] auto bytes_in(std::vector<double> const& values) -> std::vector<std::byte> {
  auto result = std::vector<std::byte>{};
  for (auto const v : values) result.push_back(static_cast<std::byte>(v));
  return result;
}
[[nodiscard]] auto floats_of(std::vector<double> const& values) -> std::vector<float> {
  return {values.begin(), values.end()};
}
[[nodiscard]] auto same_bits(std::vector<float> const& a, std::vector<float> const& b) -> bool {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
[[nodiscard]] auto decoded(ggml_type type, std::span<std::byte const> bytes) -> std::vector<float> {
  auto const& facts = facts_of(type);
  auto result = std::vector<float>(bytes.size() / facts.bytes * facts.numbers);
  decode_numbers(type, bytes, result);
  return result;
}
[[nodiscard]] auto type_of(gguf_tensor const& t) -> ggml_type {
  return static_cast<ggml_type>(t.type->number);
}

constexpr auto readable_types = {ggml_type::f32,  ggml_type::f16,  ggml_type::bf16,
                                 ggml_type::q4_0, ggml_type::q4_1, ggml_type::q8_0};

constexpr auto half = 127 * 0x1p-8F;  // which every type holds as it is

/// A file of our own with a little of everything.
[[nodiscard]] auto small_content() -> gguf_writer {
  auto content = gguf_writer{};
  content.set("general.architecture", "llama");
  content.set("a.u32", std::uint32_t{7});
  content.set("a.flag", true);
  content.set_array("a.texts", std::vector<std::string>{"one", "", "drei"});
  content.set_array("a.bools", std::vector<bool>{true, false});
  content.set_array("a.numbers", std::vector<std::int32_t>{1, -2});
  auto const numbers = std::vector<float>(64, half);
  for (auto const type : readable_types)
    content.add_numbers(std::string{facts_of(type).name}, type, {2, 32}, numbers);
  return content;
}

}  // namespace

// -- blocks ------------------------------------------------------------------------------------
TEST_CASE("gguf blocks: the types' sizes, stored bytes and read numbers are those of gguf") {
  auto const g = test::golden("gguf_files");
  auto const& types = g["types"];
  CHECK(types.size() == 3 * std::size(detail::ggml_type_table));
  for (auto i = std::size_t{0}; i < types.size(); i += 3) {
    auto const* const facts = facts_of_ggml_type(static_cast<std::uint32_t>(types[i]));
    REQUIRE(facts != nullptr);
    CHECK(facts->numbers == types[i + 1]);
    CHECK(facts->bytes == types[i + 2]);
  }
  auto const numbers = floats_of(g["numbers"]);
  for (auto const type : readable_types) {
    auto const name = std::string{facts_of(type).name};
    INFO(name);
    auto const stored = bytes_in(g[name + ".bytes"]);
    CHECK(encode_numbers(type, numbers) == stored);
    CHECK(same_bits(decoded(type, stored), floats_of(g[name + ".numbers"])));
    if (facts_of(type).numbers > 1)
      CHECK(same_bits(decoded(type, bytes_in(g[name + ".any"])),
                      floats_of(g[name + ".any_numbers"])));
  }
}
TEST_CASE("gguf blocks: what a type cannot hold is refused") {
  auto numbers = std::vector<float>(32, 1.F);
  for (auto const bad : {1e30F, INFINITY, NAN}) {
    numbers[5] = bad;
    for (auto const type : {ggml_type::q4_0, ggml_type::q4_1, ggml_type::q8_0})
      CHECK_THROWS_WITH(encode_numbers(type, numbers), Catch::Contains("expected finite numbers"));
  }
  numbers[5] = 1e30F;
  CHECK_THROWS_WITH(encode_numbers(ggml_type::f16, numbers),
                    Catch::Contains("at number 5 for F16"));
  CHECK_NOTHROW(encode_numbers(ggml_type::bf16, numbers));
  CHECK_THROWS_WITH(encode_numbers(ggml_type::q8_0, std::span{numbers}.first(31)),
                    Catch::Contains("whole blocks of 32, got 31"));
  CHECK_THROWS_WITH(decode_numbers(ggml_type::q8_0, std::vector<std::byte>(33), numbers),
                    Catch::Contains("expected the bytes of 32 numbers of Q8_0, got 33"));
}

// -- reading -----------------------------------------------------------------------------------
TEST_CASE("gguf: metadata and tensors are what PyPI's gguf wrote") {
  auto const g = test::golden("gguf_files");
  auto const bytes = bytes_in(g["file"]);
  auto const file = gguf(bytes, "file.gguf");
  CHECK(file.get<std::uint64_t>("a.u8") == 255);
  CHECK(file.get<int>("a.i8") == -128);
  CHECK(file.get<int>("a.u16") == 65535);
  CHECK(file.get<int>("a.i16") == -32768);
  CHECK(file.get<std::uint32_t>("a.u32") == 4294967295U);
  CHECK(file.get<std::int32_t>("a.i32") == INT32_MIN);
  CHECK(file.get<std::uint64_t>("a.u64") == UINT64_MAX);
  CHECK(file.get<std::int64_t>("a.i64") == INT64_MIN);
  CHECK(file.get<double>("a.f32") == static_cast<double>(0.1F));
  CHECK(file.get<double>("a.f64") == 0.1);
  CHECK(file.get<bool>("a.true"));
  CHECK(not file.get<bool>("a.false"));
  CHECK(file.get<std::string_view>("a.text") == "gr\u00fc\u00df \U0001f600");
  auto const texts = file.get_array<std::string_view>("a.texts");
  CHECK(std::vector<std::string_view>(texts.begin(), texts.end()) ==
        std::vector<std::string_view>{"one", "zwei", "\u4e09"});
  auto const numbers = file.get_array<std::int32_t>("a.numbers");
  CHECK(numbers.size() == 3);
  CHECK(numbers[1] == -2);
  CHECK(file.get_array<float>("a.floats")[1] == -0.25F);
  CHECK(not file.get_array<bool>("a.bools")[1]);
  CHECK(not file.find<int>("none"));
  CHECK(not file.find_array<int>("none"));
  CHECK(file.find_tensor("none") == nullptr);

  CHECK(file.tensors().size() == std::size(readable_types) + 1);
  for (auto const& t : file.tensors()) {
    auto const name = "file." + std::string{t.name};
    INFO(name);
    auto const& shape = g[name + ".shape"];
    CHECK(t.shape() == std::vector<std::uint64_t>(shape.begin(), shape.end()));
    CHECK(same_bits(decoded(type_of(t), file.data(t)), floats_of(g[name + ".numbers"])));
    CHECK(t.bytes.data() > bytes.data());
  }
}
TEST_CASE("gguf: a value of another type, and what is not there, is refused by name") {
  auto const bytes = bytes_in(test::golden("gguf_files")["file"]);
  auto const file = gguf(bytes, "x.gguf");
  using Catch::Contains;
  CHECK_THROWS_WITH(file.get<std::uint8_t>("a.u16"),
                    Contains("x.gguf: key \"a.u16\": expected u8, got u16 65535"));
  CHECK_THROWS_WITH(file.get<std::uint64_t>("a.i8"), Contains("expected u64, got i8 -128"));
  CHECK_THROWS_WITH(file.get<std::int64_t>("a.u64"), Contains("expected i64, got u64"));
  CHECK_THROWS_WITH(file.get<float>("a.u8"), Contains("expected f32, got u8"));
  CHECK_THROWS_WITH(file.get<bool>("a.u8"), Contains("expected bool, got u8"));
  CHECK_THROWS_WITH(file.get<int>("a.text"), Contains("expected i32, got string"));
  CHECK_THROWS_WITH(file.get<std::string_view>("a.texts"),
                    Contains("expected string, got array of string"));
  CHECK_THROWS_WITH(file.get_array<std::uint32_t>("a.numbers"),
                    Contains("expected array of u32, got array of i32"));
  CHECK_THROWS_WITH(file.get_array<std::uint8_t>("a.u8"), Contains("expected array of u8, got u8"));
  CHECK_THROWS_WITH(file.get<int>("none"), Contains("x.gguf: has no key \"none\""));
  CHECK_THROWS_WITH(file.get_array<int>("none"), Contains("x.gguf: has no key \"none\""));
  CHECK_THROWS_WITH(file.tensor("none"), Contains("x.gguf: has no tensor \"none\""));
  CHECK_THROWS_WITH(file.data<q4_1>(file.tensor("vector")),
                    Contains("tensor \"vector\": expected type Q4_1, got F32"));
}

// -- writing -----------------------------------------------------------------------------------
TEST_CASE("gguf: what is written is read back the same, from a mapped file") {
  auto const folder = test::folder{};
  auto const content = small_content();
  save_gguf(folder / "m.gguf", content);
  CHECK(folder.files() == 1);
  auto const mapped = mapped_file(folder / "m.gguf");
  auto const file = gguf(mapped);
  CHECK(file.get<std::string_view>("general.architecture") == "llama");
  CHECK(file.get<bool>("a.flag"));
  CHECK(file.get_array<std::string_view>("a.texts").size() == 3);
  CHECK(file.get_array<bool>("a.bools")[0]);
  CHECK(mapped.bytes().size() % 32 == 0);
  for (auto const& t : file.tensors()) {
    CHECK(t.shape() == std::vector<std::uint64_t>{2, 32});
    CHECK(decoded(type_of(t), file.data(t)) == std::vector<float>(64, half));
  }
  CHECK(file.data<float>(file.tensor("F32"))[63] == half);
  CHECK(file.data<q4_1>(file.tensor("Q4_1")).size() == 2);
  CHECK(file.data<bf16>(file.tensor("BF16"))[0].bits == 0x3EFE);
}
TEST_CASE("gguf: the alignment is the file's own") {
  auto const folder = test::folder{};
  auto content = gguf_writer{};
  content.set_alignment(256);
  auto const numbers = std::vector<float>(3, 2.F);
  content.add_numbers("a", ggml_type::f32, {3}, numbers);
  content.add_numbers("b", ggml_type::f16, {}, std::span{numbers}.first(1));
  save_gguf(folder / "m.gguf", content);
  auto const mapped = mapped_file(folder / "m.gguf");
  auto const file = gguf(mapped);
  CHECK(file.alignment() == 256);
  CHECK(mapped.bytes().size() == 768);
  CHECK(file.tensor("b").bytes.data() - file.tensor("a").bytes.data() == 256);
  CHECK(file.tensor("b").shape().empty());
  CHECK(file.tensor("b").size() == 1);
}
TEST_CASE("gguf: what cannot be written is refused by name, and the rest stays as it was") {
  auto content = small_content();
  auto const numbers = std::vector<float>(33, 1.F);
  using Catch::Contains;
  CHECK_THROWS_WITH(content.set("a.u32", 1.F), Contains("key \"a.u32\" is set twice"));
  CHECK_THROWS_WITH(content.set("", 1.F), Contains("expected a name of 1 to 65535 bytes"));
  CHECK_THROWS_WITH(content.set("\xFF", 1.F), Contains("in UTF-8"));
  CHECK_THROWS_WITH(content.set("general.alignment", 1.F), Contains("expected set_alignment"));
  CHECK_THROWS_WITH(content.set_alignment(48), Contains("expected an alignment of a power of two"));
  CHECK_THROWS_WITH(content.add_numbers("F32", ggml_type::f32, {33}, numbers),
                    Contains("tensor \"F32\": expected no other of this name"));
  CHECK_THROWS_WITH(content.add_numbers("x", ggml_type::q8_0, {33}, numbers),
                    Contains("tensor \"x\": encode_numbers: expected whole blocks of 32, got 33"));
  CHECK_THROWS_WITH(
      content.add_numbers("x", ggml_type::q8_0, {2, 16}, std::span{numbers}.first(32)),
      Contains("tensor \"x\": expected rows in blocks of 32 for Q8_0, got 16"));
  CHECK_THROWS_WITH(content.add_numbers("x", ggml_type::f32, {32}, numbers),
                    Contains("tensor \"x\": expected 32 times 4 bytes, got 132"));
  CHECK_THROWS_WITH(content.add_numbers("x", ggml_type::f32, {33, 0}, numbers),
                    Contains("expected extents from 1"));
  CHECK_THROWS_WITH(content.add_numbers("x", ggml_type::f32, {1, 1, 1, 1, 33}, numbers),
                    Contains("expected a rank of 0 to 4, got 5"));
  CHECK_THROWS_WITH(content.add_numbers(std::string(64, 'n'), ggml_type::f32, {33}, numbers),
                    Contains("expected a name of 1 to 63 bytes"));
  CHECK(content.header() == small_content().header());
}

// -- cost --------------------------------------------------------------------------------------
TEST_CASE("gguf: a list of fifty thousand tokens is seen, not copied") {
  auto content = gguf_writer{};
  auto tokens = std::vector<std::string>{};
  for (auto i = 0; i < 50'000; ++i) tokens.push_back("token " + std::to_string(i));
  content.set_array("tokenizer.ggml.tokens", tokens);
  auto const bytes = content.header();
  auto const before = test::allocations();
  auto const file = gguf(bytes, "x.gguf");
  auto length = std::size_t{0};
  auto i = std::size_t{0};
  for (auto const token : file.get_array<std::string_view>("tokenizer.ggml.tokens")) {
    if (token != tokens[i++]) break;
    length += token.size();
  }
  CHECK(test::allocations() - before < 20);
  CHECK(i == tokens.size());
  CHECK(length > 500'000);
}

// -- the model that a file describes -----------------------------------------------------------
namespace {

/// The description of a small llama, but for one key, and with others.
[[nodiscard]] auto config_of(std::string const& without, auto const& more) -> model_config {
  auto content = gguf_writer{};
  auto const set = [&](std::string const& key, auto const& value) {
    if (key != without) content.set(key, value);
  };
  set("general.architecture", "llama");
  set("llama.embedding_length", std::uint32_t{48});
  set("llama.block_count", std::uint32_t{2});
  set("llama.attention.head_count", std::uint32_t{4});
  set("llama.attention.head_count_kv", std::uint32_t{2});
  set("llama.feed_forward_length", std::uint32_t{80});
  set("llama.context_length", std::uint32_t{64});
  set("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  set("tokenizer.ggml.eos_token_id", std::uint32_t{2});
  content.set_array("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "c"});
  more(content);
  auto const header = content.header();
  auto whole = detail::gguf_bytes{};
  for (auto const part : content.parts(header)) whole.append(part);
  return read_model_config(gguf(whole, "m.gguf"));
}
constexpr auto unchanged = [](gguf_writer&) {};

}  // namespace

TEST_CASE("gguf: a part of a model is refused before anything that it lacks") {
  auto const part_of = [](std::uint16_t count) {
    return config_of("general.architecture", [=](gguf_writer& w) {
      w.set("split.count", count);
      w.set("split.no", std::uint16_t{1});
    });
  };
  CHECK_THROWS_WITH(part_of(3),
                    "m.gguf: key \"split.count\": expected one file, got part 2 of 3 "
                    "(join them with llama-gguf-split --merge)");
  CHECK_THROWS_WITH(part_of(1), Catch::Contains("general.architecture"));
  CHECK(config_of("", [](gguf_writer& w) { w.set("split.count", std::uint16_t{1}); }).tied);
}
TEST_CASE("gguf: the metadata describe a model") {
  auto const c = config_of("", unchanged);
  CHECK(c.family == model_family::llama);
  CHECK(c.vocabulary == 3);
  CHECK(c.width == 48);
  CHECK(c.heads == 4);
  CHECK(c.kv_heads == 2);
  CHECK(c.head_width == 12);
  CHECK(c.tied);
  CHECK(not c.qkv_bias);
  CHECK(c.rope.kind == "default");
  CHECK(c.eos == std::vector<std::uint64_t>{2});
  auto const other = config_of("llama.attention.head_count_kv", [](gguf_writer& w) {
    w.set("llama.rope.freq_base", 5e5F);
    w.set("llama.rope.scaling.type", "linear");
    w.set("llama.rope.scaling.factor", 2.F);
    w.add_numbers("output.weight", ggml_type::f32, {1}, std::vector<float>{1});
    w.add_numbers("blk.0.attn_q.bias", ggml_type::f32, {1}, std::vector<float>{1});
  });
  CHECK(other.kv_heads == 4);
  CHECK(other.rope.theta == 5e5);
  CHECK(other.rope.kind == "linear");
  CHECK(other.rope.factor == 2);
  for (auto const key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    auto const alone = config_of("", [&](gguf_writer& w) { w.set(key, 4.F); });
    CHECK(alone.rope.kind == "linear");
    CHECK(alone.rope.factor == 4);
    auto const none = config_of("", [&](gguf_writer& w) {
      w.set(key, 4.F);
      w.set("llama.rope.scaling.type", "none");
    });
    CHECK(none.rope.kind == "default");
  }
  CHECK(not other.tied);
  CHECK(other.qkv_bias);
}
TEST_CASE("gguf: the factors of llama3's scaling are known by their values") {
  auto const g = test::golden("rope_factors");
  auto const of = [&](std::uint32_t width, std::vector<float> factors) {
    return config_of("", [&](gguf_writer& w) {
      w.set("llama.attention.key_length", width);
      w.set("llama.rope.freq_base", 5e5F);
      w.add_numbers("rope_freqs.weight", ggml_type::f32, {factors.size()}, factors);
    });
  };
  for (auto const& [width, name, factor] :
       {std::tuple{64U, "64.500000.32", 32.0}, std::tuple{128U, "128.500000.8", 8.0}}) {
    auto factors = std::vector<float>{};
    for (auto const v : g[name]) factors.push_back(static_cast<float>(v));
    auto const c = of(width, factors);
    CHECK(c.rope.kind == "llama3");
    CHECK(c.rope.theta == 5e5);
    CHECK(c.rope.factor == Approx(factor));
    CHECK(c.rope.low_freq_factor == 1);
    CHECK(c.rope.high_freq_factor == 4);
    CHECK(c.rope.original_max_position == 8192);
    using Catch::Contains;
    auto other = factors;
    other[width / 4] *= 1.01F;
    CHECK_THROWS_WITH(of(width, other),
                      Contains("\"rope_freqs.weight\": expected those of llama3's "
                               "scaling with factors 1 and 4 of a context of 8192"));
    CHECK_THROWS_WITH(of(width + 2, factors),
                      Contains("expected " + std::to_string(width / 2 + 1) + " factors, got " +
                               std::to_string(width / 2)));
  }
}
TEST_CASE("gguf: a model that is not described, or not computed, is refused by its key") {
  using Catch::Contains;
  CHECK_THROWS_WITH(config_of("llama.block_count", unchanged),
                    Contains("m.gguf: has no key \"llama.block_count\""));
  CHECK_THROWS_WITH(config_of("llama.block_count",
                              [](gguf_writer& w) { w.set("llama.block_count", std::uint32_t{0}); }),
                    Contains("\"llama.block_count\": expected a number from 1, got 0"));
  CHECK_THROWS_WITH(config_of("general.architecture",
                              [](gguf_writer& w) { w.set("general.architecture", "mamba"); }),
                    Contains("expected one of llama, qwen2, qwen3, gpt2, bert, got \"mamba\""));
  CHECK_THROWS_WITH(
      config_of("", [](gguf_writer& w) { w.set("llama.rope.scaling.attn_factor", 1.5F); }),
      Contains("\"llama.rope.scaling.attn_factor\": expected 1, got 1.5"));
  CHECK_THROWS_WITH(config_of("", [](gguf_writer& w) { w.set("llama.rope.scaling.type", "yarn"); }),
                    Contains("\"llama.rope.scaling.type\": expected none or linear, got \"yarn\""));
  CHECK_THROWS_WITH(
      config_of("", [](gguf_writer& w) { w.set("llama.rope.dimension_count", std::uint32_t{6}); }),
      Contains("\"llama.rope.dimension_count\": expected 12, got 6"));
  CHECK_THROWS_WITH(
      config_of("llama.attention.head_count_kv",
                [](gguf_writer& w) { w.set("llama.attention.head_count_kv", std::uint32_t{3}); }),
      Contains("expected a divisor of 4, got 3"));
}
