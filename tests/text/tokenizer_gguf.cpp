// SPDX-License-Identifier: MIT
#include <text/given_gguf.hpp>

using namespace test;

namespace {

void agrees(json const& kind, gguf_vocabulary const& given) {
  auto const t = tokenizer_from(given);
  for (auto const& one : kind["cases"]) {
    INFO(kind["kind"] << ": " << one["text"].dump(-1, ' ', true));
    auto const e = t.encode(one["text"].get<std::string>());
    CHECK(e.ids == one["ids"].get<ids>());
    CHECK(t.decode(e.ids) == one["plain"].get<std::string>());
  }
}

}  // namespace

TEST_CASE("tokenizer_gguf: tokens and merges give the ids of the tokenizer.json they are from") {
  auto const all = kinds();
  auto llama = given_file(all[1]["file"]);
  llama.all.pre = "llama-bpe";
  llama.all.add_begin = true;
  agrees(all[1], llama.all);
  auto qwen = given_file(all[2]["file"]);
  qwen.all.pre = "qwen2";
  agrees(all[2], qwen.all);
}
TEST_CASE("tokenizer_gguf: smollm takes digits one by one, gpt-2 does not") {
  auto given = given_file(kinds()[0]["file"]);
  auto const with_digits = tokenizer_of([] {
    auto file = kinds()[0]["file"];
    file["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Digits"}, {"individual_digits", true}}, file["pre_tokenizer"]}}};
    return file.dump();
  }());
  auto const text = std::string{"it's  1234 of 2024\n\n 99"};
  given.all.pre = "smollm";
  CHECK(tokenizer_from(given.all).encode(text).ids == with_digits.encode(text).ids);
  given.all.pre = "gpt-2";
  CHECK(tokenizer_from(given.all).encode(text).ids ==
        tokenizer_of(kinds()[0]["file"].dump()).encode(text).ids);
  CHECK(tokenizer_from(given.all).encode(text).ids != with_digits.encode(text).ids);
  given.all.add_begin = given.all.add_end = true;
  auto const e = tokenizer_from(given.all).encode("a");
  CHECK(e.size() == 3);
  CHECK((e.ids.front() == 0 && e.ids.back() == 1));
}
TEST_CASE("tokenizer_gguf: without types the marks of turns that are known are control tokens") {
  auto file = given_file(kinds()[0]["file"]);
  auto& given = file.all;
  given.tokens.emplace_back("<|im_start|>");
  given.tokens.emplace_back("<|im_end|>");
  auto const start = static_cast<std::uint32_t>(given.tokens.size() - 2);
  given.types.clear();
  auto const t = tokenizer_from(given);
  CHECK(t.encode("<|im_end|>").ids == ids{start + 1});
  CHECK(t.encode("<|im_start|>").ids == ids{start});
  CHECK((t.is_special(start) && t.is_special(start + 1) && not t.is_special(start - 1)));
  given.types.assign(given.tokens.size(), 1);
  CHECK_FALSE(tokenizer_from(given).is_special(start + 1));
}
TEST_CASE("tokenizer_gguf: what is wrong is named by its key") {
  auto const good = given_file(kinds()[0]["file"]);
  auto const said = [&](auto const& change) {
    auto given = good.all;
    change(given);
    return complaint([&] { return tokenizer_from(given); });
  };
  auto const size = std::to_string(good.tokens.size());
  CHECK(said([](auto&) {}).empty());
  CHECK(said([](auto& g) { g.model = "llama"; }) ==
        "tokenizer.ggml.model: expected gpt2, got llama");
  CHECK(said([](auto& g) { g.pre = "x"; }) ==
        "tokenizer.ggml.pre: expected smollm, gpt-2, llama-bpe or qwen2, got x");
  CHECK(
      said([](auto& g) { g.types.pop_back(); }).starts_with("tokenizer.ggml.token_type: expected"));
  CHECK(said([](auto& g) { g.merges[3] = "ab"; }) ==
        "tokenizer.ggml.merges: expected two tokens and a space between them, got \"ab\"");
  CHECK(said([](auto& g) { g.merges[3] = "a zzz"; }) ==
        "merge 3: \"zzz\" is not in the vocabulary");
  CHECK(said([](auto& g) { g.tokens[9] = g.tokens[8]; }).starts_with("vocabulary: "));
  CHECK(said([](auto& g) { g.tokens[9] = "\xFF"; }) ==
        "tokenizer.ggml.tokens: expected UTF-8, byte 0 is none");
  CHECK(said([](auto& g) { g.merges[3] = ""; }).starts_with("tokenizer.ggml.merges"));
  CHECK(said([](auto& g) { g.add_end = true, g.end_id = {}; }) ==
        "tokenizer.ggml.eos_token_id: is not there, but added");
  CHECK(said([](auto& g) { g.add_end = true, g.end_id = 999'999; }) ==
        "tokenizer.ggml.eos_token_id: expected a token below " + size + ", got 999999");
  CHECK(said([](auto& g) { g.add_begin = true, g.begin_id = 999'999; }) ==
        "tokenizer.ggml.bos_token_id: expected a token below " + size + ", got 999999");
  CHECK(said([](auto& g) { g.add_begin = false, g.begin_id = 999'999; }).empty());  // is not used
}
