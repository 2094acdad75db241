// SPDX-License-Identifier: MIT
#include <support/folder.hpp>

#include <text/small.hpp>

using namespace test;

namespace {

/// What is said of a small good file in which one value, by its JSON pointer, is another.
auto said(char const* pointer, char const* value) -> std::string {
  auto file = json::parse(R"({"added_tokens": [{"id": 4, "content": "<s>", "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"},
      {"type": "Replace", "pattern": {"Regex": "x+"}, "content": ""}]},
    "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[0-9]+"}, "behavior": "Isolated",
      "invert": false},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}},
    "decoder": {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    "model": {"type": "BPE", "unk_token": "a", "byte_fallback": false, "dropout": null,
      "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3}, "merges": [["a", "b"]]}})");
  if (pointer != nullptr) file[json::json_pointer(pointer)] = json::parse(value);
  return complaint([&] { return tokenizer_of(file.dump()); });
}

}  // namespace

TEST_CASE("tokenizer_file: what is wrong in a file is named with its place") {
  CHECK(said(nullptr, "").empty());
  CHECK(said("/model", "7") == "model: expected an object, got 7");
  CHECK(said("/model", "{}") == "model: has no \"vocab\"");
  CHECK(said("/model/type", "\"WordLevel\"") == "model: the model WordLevel is not known");
  CHECK(said("/model/vocab", "7") == "model.vocab: expected an object, got 7");
  CHECK(said("/model/vocab/b", "-1").starts_with("model.vocab[\"b\"]: expected a whole number"));
  CHECK(said("/model/vocab/b", "-1").ends_with(", got -1"));
  CHECK(said("/model/vocab/b", "0") == "model.vocab[\"b\"]: its id 0 is that of \"a\", too");
  CHECK(said("/model/vocab/b", "4000000000")
            .starts_with("model.vocab[\"b\"]: expected a whole number from 0 to "));
  CHECK(said("/model/merges/0", "[\"a\", \"x\"]") == "merge 0: \"x\" is not in the vocabulary");
  CHECK(said("/model/merges/0", "[\"b\", \"c\"]") == "merge 0: \"bc\" is not in the vocabulary");
  CHECK(said("/model/merges/0", "[\"a\"]") == "model.merges[0]: expected two tokens, got [\"a\"]");
  CHECK(said("/model/merges/0", "\"ab\"") ==
        "model.merges[0]: expected two tokens and one space between them, got \"ab\"");
  CHECK(said("/model/merges", "{}") == "model.merges: expected a list, got {}");
  CHECK(said("/model/unk_token", "\"z\"") == "unk_token: \"z\" is not in the vocabulary");
  CHECK(said("/model/byte_fallback", "1") == "model.byte_fallback: expected true or false, got 1");
  CHECK(said("/model/dropout", "0.1") ==
        "model.dropout: merges left out at random are for training");
  CHECK(said("/normalizer/type", "\"Nmt\"") == "normalizer: the normalizer Nmt is not known");
  CHECK(said("/normalizer/normalizers/1/type", "\"Precompiled\"") ==
        "normalizer.normalizers[1]: the normalizer Precompiled is not known");
  CHECK(said("/normalizer/normalizers/1/pattern/Regex", "\"(\"") ==
        "pattern \"(\": missing closing parenthesis at byte 1");
  CHECK(said("/normalizer/normalizers/1/pattern", "{}") ==
        "normalizer.normalizers[1].pattern: has no \"String\"");
  CHECK(said("/pre_tokenizer/type", "\"UnicodeScripts\"") ==
        "pre_tokenizer: the pre-tokenizer UnicodeScripts is not known");
  CHECK(said("/pre_tokenizer/behavior", "\"Kept\"") ==
        "pre_tokenizer.behavior: the behavior Kept is not known");
  CHECK(said("/post_processor/type", "\"X\"") ==
        "post_processor: the post-processor X is not known");
  CHECK(said("/post_processor/special_tokens/<s>/ids/0", "99") ==
        "post_processor: the id 99 is not in the vocabulary");
  CHECK(said("/post_processor/single/1/Sequence/id", "\"C\"") ==
        "post_processor.single[1].Sequence.id: expected \"A\" or \"B\", got \"C\"");
  CHECK(said("/post_processor/single/0/SpecialToken/id", "\"<t>\"") ==
        "post_processor.special_tokens: has no \"<t>\"");
  CHECK(said("/decoder/type", "\"CTC\"") == "decoder: the decoder CTC is not known");
  CHECK(said("/decoder/content", "\"ab\"") == "decoder.content: expected one letter, got \"ab\"");
  CHECK(said("/added_tokens/0/id", "2") == "added token \"<s>\": its id 2 is that of \"ab\"");
  CHECK(said("/added_tokens/0/content", "\"c\"") ==
        "added_tokens[0].id: \"c\" has the id 4 here and 3 in the vocabulary");
  CHECK(said("/added_tokens/0", "[]") == "added_tokens[0]: expected an object, got []");
  CHECK(complaint([] { return tokenizer_of("{"); }).starts_with("expected JSON: "));
  CHECK(complaint([] { return tokenizer_of("[]"); }) == "expected an object with a model");
}
TEST_CASE("tokenizer_file: steps nested without end, and patterns without end, are refused") {
  auto step = std::string{R"({"type": "NFC"})"};
  for (auto i = 0; i < 20; ++i) step = R"({"type": "Sequence", "normalizers": [)" + step + "]}";
  CHECK(said("/normalizer", step.c_str())
            .ends_with("a Sequence has more than eight others around it"));
  auto const deep = std::string(500'000, '[') + std::string(500'000, ']');
  CHECK(complaint([&] { return tokenizer_of(R"({"model": {"type": )" + deep + "}}"); }) ==
        "expected JSON of at most 64 levels");
  CHECK(complaint([&] {
          return tokenizer_of(R"({"model": {"type": [["\"[[[["]]}})");
        }).find("expected JSON") == std::string::npos);
  auto const nested = '"' + std::string(200, '(') + std::string(200, ')') + '"';
  CHECK(said("/pre_tokenizer/pattern/Regex", nested.c_str()).find("too deeply nested") !=
        std::string::npos);
  auto const slow = words_by(
      {{"type", "Split"}, {"pattern", {{"Regex", "(?:(a+)+)+$"}}}, {"behavior", "Isolated"}});
  CHECK(complaint([&] {
          return slow.encode(std::string(5000, 'a') + 'b');
        }).starts_with("pattern \"(?:(a+)+)+$\": "));
}
TEST_CASE("tokenizer_file: a file that was changed anywhere is read or refused, and used") {
  auto const good = kinds()[3]["file"].dump();
  auto state = std::uint32_t{7};
  auto const next = [&](std::size_t n) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::size_t>(state >> 8U) % n;
  };
  auto read = 0;
  auto const tail = good.size() - good.find("\"model\"");
  for (auto n = 0; n < 150; ++n) {
    auto file = good;
    for (auto k = 1 + next(3); k > 0; --k) {
      auto const at = n % 2 == 0 ? next(good.size() - tail) : next(good.size());
      file[at] = "{}[],:\"0123456789truefalsnAB \\\xFF"[next(31)];
    }
    if (n % 10 == 0) file.resize(next(file.size()));
    try {
      auto const t = tokenizer_of(file);
      ++read;
      CHECK(t.encode(" Hello \u4E16\u754C 12").ids.size() < 100);
    } catch (text_error const& e) {
      CHECK(std::string_view{e.what()}.size() > 10);
    }
  }
  CHECK(read > 5);
  CHECK(read < 145);
}
TEST_CASE("tokenizer_file: a file is named where it cannot be read or used") {
  auto const here = folder{};
  auto const path = here / "tokenizer.json";
  CHECK_THROWS_AS(load_tokenizer(path), file_error);
  write_file(path, "{}");
  CHECK(complaint([&] { return load_tokenizer(path); }) == path.string() + ": has no \"model\"");
  write_file(path, R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  CHECK(load_tokenizer(path).encode("aa").ids == ids{0, 0});
}
