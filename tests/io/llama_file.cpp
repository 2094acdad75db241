// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/small_llama.hpp>
#include <tessera/io/llama_file.hpp>

using namespace test::small_llama;
using Catch::Contains;

namespace {

[[nodiscard]] auto error_of(std::filesystem::path const& path, changes const& c) -> std::string {
  auto const file = mapped_file(written(path, c));
  auto p = std::make_unique<in_blocks>();
  try {
    load_llama<options>(gguf(file), *p);
  } catch (file_error const& e) {
    auto touched = false;
    for_each_parameter(
        [&](auto const&, auto const& w) {
          if constexpr (requires { w.has_memory(); }) touched = touched || w.has_memory();
        },
        *p);
    CHECK_FALSE(touched);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("llama_file: blocks in the file have the bits of their numbers in memory") {
  auto const folder = test::folder();
  auto const file = mapped_file(written(folder.path() / "model.gguf"));
  auto const content = gguf(file);
  auto seen = std::make_unique<in_blocks>();
  auto owned_too = std::make_unique<in_numbers>();
  load_llama<options>(content, *seen);
  load_llama<options>(content, *owned_too);
  auto const x = [] {
    auto tokens = tensor<std::int32_t, shape<9, 1>>{};
    for (auto i = std::size_t{0}; i < 9; ++i) tokens.data()[i] = static_cast<std::int32_t>(3 * i);
    return tokens;
  }();
  auto const a = std::make_unique<inference<model, tensor<std::int32_t, shape<9, 1>>>>();
  auto const b = std::make_unique<inference<model, tensor<std::int32_t, shape<9, 1>>>>();
  CHECK(test::same_bits((*a)(*seen, x), (*b)(*owned_too, x)));
  auto const start = std::as_const(*seen).mine.embedding.numbers().at(5, 7);
  auto const& embedding = content.tensor("token_embd.weight");
  CHECK(start == decode(content.data<q8_0>(embedding)[5], 7));
}
TEST_CASE("llama_file: a file with the factors of llama3's scaling is that model's") {
  constexpr auto scaled = [] {
    auto o = options;
    o.scaling = {.kind = rotary_kind::llama3, .factor = 8};
    return o;
  }();
  auto factors = std::vector<float>{};
  auto const plain = detail::rotary_frequencies<double, 16>(options.rotary_base);
  auto const divided = detail::rotary_frequencies<double, 16>(options.rotary_base, scaled.scaling);
  for (auto i = std::size_t{0}; i < 8; ++i)
    factors.push_back(static_cast<float>(plain[i] / divided[i]));
  REQUIRE(factors.front() == 1);
  REQUIRE(factors.back() == 8);
  auto const folder = test::folder();
  auto const path = folder.path() / "model.gguf";
  auto const file = mapped_file(written(path, {.rope_factors = factors}));
  auto const content = gguf(file);
  auto p = std::make_unique<in_numbers>();
  load_llama<scaled>(content, *p);
  CHECK_THROWS_WITH(load_llama<options>(content, *p),
                    Contains("rope_type: expected default, got llama3"));
}
TEST_CASE("llama_file: a file that is another model's is refused, and nothing is set") {
  auto const folder = test::folder();
  auto const path = folder.path() / "model.gguf";
  CHECK(error_of(path, {}).empty());
  CHECK_THAT(error_of(path, {.hidden = 96}), Contains("intermediate_size: expected 64, got 96"));
  CHECK_THAT(error_of(path, {.without = "blk.1.ffn_up.weight"}),
             Contains("has no tensor \"blk.1.ffn_up.weight\""));
  CHECK_THAT(error_of(path, {.transposed = "blk.1.ffn_down.weight"}),
             Contains("\"blk.1.ffn_down.weight\": expected shape (32, 64), got (64, 32)"));
  CHECK_THAT(error_of(path, {.matrices = ggml_type::q8_0}),
             Contains("expected type Q4_1, got Q8_0"));
  CHECK_THAT(error_of(path, {.another = true}),
             Contains("has a tensor \"blk.0.more\", which the model has not"));
  CHECK_THAT(error_of(path, {.family = "qwen2"}),
             Contains("rotary pairs are neighbours, as those of llama, got one of qwen2"));
  CHECK_THAT(error_of(path, {.family = "mamba"}), Contains("general.architecture"));
}
