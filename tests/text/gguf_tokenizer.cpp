// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <tessera/io/gguf/writer.hpp>
#include <tessera/text/gguf_tokenizer.hpp>

#include <text/given_gguf.hpp>

using namespace test;
using Catch::Contains;

namespace {

/// A file with the tokenizer, but for one key.
[[nodiscard]] auto written(std::filesystem::path const& path, gguf_vocabulary const& given,
                           std::string const& without = "") -> std::filesystem::path {
  auto writer = gguf_writer{};
  auto const set = [&](std::string const& name, auto const& value) {
    if (name != without) writer.set("tokenizer.ggml." + name, value);
  };
  set("model", given.model);
  set("pre", given.pre);
  if (without != "tokens") writer.set_array("tokenizer.ggml.tokens", given.tokens);
  if (without != "token_type") writer.set_array("tokenizer.ggml.token_type", given.types);
  if (without != "merges") writer.set_array("tokenizer.ggml.merges", given.merges);
  set("bos_token_id", *given.begin_id);
  set("eos_token_id", *given.end_id);
  if (given.add_begin) set("add_bos_token", *given.add_begin);
  set("add_eos_token", given.add_end);
  save_gguf(path, writer);
  return path;
}

}  // namespace

TEST_CASE("gguf_tokenizer: a file's tokenizer gives the ids of the tokenizer.json it is from") {
  auto const folder = test::folder();
  auto const kind = kinds()[1];
  auto given = given_file(kind["file"]);
  given.all.pre = "llama-bpe";
  given.all.add_begin = true;
  auto const load = [&] {
    auto const file = mapped_file(written(folder.path() / "model.gguf", given.all));
    return load_tokenizer(gguf(file));
  };
  auto const t = load();
  CHECK(t.vocabulary_size() == given.tokens.size());
  for (auto const& one : kind["cases"]) {
    auto const e = t.encode(one["text"].get<std::string>());
    CHECK(e.ids == one["ids"].get<ids>());
    CHECK(t.decode(e.ids) == one["plain"].get<std::string>());
  }
  given.all.add_begin = false;
  given.all.add_end = true;
  auto const e = load().encode("a");
  CHECK((e.size() == 2 && e.ids.back() == 1));
}
TEST_CASE("gguf_tokenizer: a file that does not say how texts begin has llama.cpp's default") {
  auto const folder = test::folder();
  auto given = given_file(kinds()[1]["file"]);
  auto const first_of = [&](char const* pre, std::optional<bool> adds, std::string const& without) {
    given.all.pre = pre;
    given.all.add_begin = adds;
    auto const file = mapped_file(written(folder.path() / "model.gguf", given.all, without));
    auto const e = load_tokenizer(gguf(file)).encode("a");
    return e.size() == 1 ? std::optional<std::uint32_t>{} : e.ids.front();
  };
  auto const begin = given.all.begin_id;
  for (auto const* const pre : {"llama-bpe", "llama3", "llama-v3"}) {
    CHECK(first_of(pre, {}, "") == begin);
    CHECK(first_of(pre, false, "") == std::nullopt);
    CHECK(first_of(pre, {}, "bos_token_id") == std::nullopt);
  }
  for (auto const* const pre : {"gpt-2", "smollm", "qwen2"}) {
    CHECK(first_of(pre, {}, "") == std::nullopt);
    CHECK(first_of(pre, true, "") == begin);
  }
}
TEST_CASE("gguf_tokenizer: what is missing or not known is named, with its file") {
  auto const folder = test::folder();
  auto const path = folder.path() / "model.gguf";
  auto given = given_file(kinds()[0]["file"]);
  auto const load = [&](std::string const& without = "") {
    auto const file = mapped_file(written(path, given.all, without));
    return load_tokenizer(gguf(file));
  };
  CHECK_NOTHROW(load());
  CHECK_THROWS_WITH(load("model"), Contains("has no key \"tokenizer.ggml.model\""));
  CHECK_THROWS_WITH(load("tokens"), Contains("has no key \"tokenizer.ggml.tokens\""));
  CHECK_THROWS_WITH(load("merges"), Contains("has no key \"tokenizer.ggml.merges\""));
  CHECK_NOTHROW(load("token_type"));
  given.all.merges.clear();
  CHECK_NOTHROW(load());
  given.all.begin_id = 999'999;
  CHECK_NOTHROW(load());  // it is not added
  given.all.begin_id = 0;
  given.all.pre = "unheard-of";
  CHECK(complaint([&] { return load(); }) ==
        path.string() + ": tokenizer.ggml.pre: expected smollm, gpt-2, llama-bpe or qwen2, got " +
            "unheard-of");
}
