// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <tessera/io/gguf/writer.hpp>
#include <tessera/text/end_tokens.hpp>
#include <tessera/text/gguf_tokenizer.hpp>

#include <map>

#include <text/given_gguf.hpp>

using namespace test;
using Catch::Contains;

namespace {

constexpr auto normal = 1;
constexpr auto control = 3;

/// A file's tokens of the end: its vocabulary is a, b and these, from 2 on.
auto ends(std::vector<std::pair<char const*, std::int32_t>> const& more,
          std::map<std::string, std::uint32_t> const& keys, std::string_view end_of_turn = {})
    -> ids {
  auto const folder = test::folder();
  auto tokens = std::vector<std::string_view>{"a", "b"};
  auto types = std::vector<std::int32_t>{normal, normal};
  for (auto const& [text, type] : more) {
    tokens.emplace_back(text);
    types.push_back(type);
  }
  auto writer = gguf_writer{};
  writer.set("tokenizer.ggml.model", std::string_view{"gpt2"});
  writer.set("tokenizer.ggml.pre", std::string_view{"gpt-2"});
  writer.set_array("tokenizer.ggml.tokens", tokens);
  writer.set_array("tokenizer.ggml.token_type", types);
  writer.set_array("tokenizer.ggml.merges", std::vector<std::string_view>{});
  for (auto const& [key, id] : keys) writer.set("tokenizer.ggml." + key, id);
  save_gguf(folder.path() / "model.gguf", writer);
  auto const mapped = mapped_file(folder.path() / "model.gguf");
  auto const file = gguf(mapped);
  return end_tokens_of(file, load_tokenizer(file), end_of_turn);
}

}  // namespace

TEST_CASE("end_tokens: those that a file names, its own end of texts first, each once") {
  CHECK(ends({{"<x>", control}, {"<y>", control}, {"<z>", control}},
             {{"eot_token_id", 2}, {"eos_token_id", 4}, {"eom_token_id", 3}}) == ids{4, 2, 3});
  CHECK(ends({{"<x>", control}}, {{"eot_token_id", 2}, {"eos_token_id", 2}}) == ids{2});
}
TEST_CASE("end_tokens: the end of turns, where a file names the end of texts alone") {
  CHECK(ends({{"<|end_of_text|>", control}, {"<|eot_id|>", control}, {"<|eom_id|>", control}},
             {{"eos_token_id", 2}}) == ids{2, 3, 4});
  CHECK(ends({{"<|endoftext|>", control}, {"<|im_end|>", control}}, {{"eos_token_id", 3}}) ==
        ids{3, 2});
  CHECK(ends({{"<|end|>", control}, {"<end_of_turn>", control}}, {}) == ids{2, 3});
}
TEST_CASE("end_tokens: a name alone is no end, unless the chat template ends turns by it") {
  CHECK(ends({{"</s>", control}, {"<|im_end|>", normal}}, {{"eos_token_id", 2}}) == ids{2});
  CHECK(ends({{"</s>", control}, {"<|im_end|>", normal}}, {{"eos_token_id", 2}}, "<|im_end|>") ==
        ids{2, 3});
  CHECK(ends({{"</s>", control}}, {{"eos_token_id", 2}}, "<|im_end|>") == ids{2});
}
TEST_CASE("end_tokens: refuses a token that is none, and a file without any") {
  CHECK_THROWS_WITH(ends({}, {{"eom_token_id", 2}}),
                    Contains("tokenizer.ggml.eom_token_id: expected a token below 2, got 2"));
  CHECK_THROWS_WITH(ends({}, {}), Contains("has no key \"tokenizer.ggml.eos_token_id\""));
}
