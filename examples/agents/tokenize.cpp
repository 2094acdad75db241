// SPDX-License-Identifier: MIT
#include <tessera/io/mapped_file.hpp>
#include <tessera/program/command_line.hpp>
#include <tessera/text/gguf_tokenizer.hpp>
#include <tessera/text/tokenizer_file.hpp>

#include <cstdio>

#include "commands.hpp"
#include "opened_tokenizer.hpp"

namespace agents {

using namespace tessera;

auto open_tokenizer(std::filesystem::path const& path) -> tokenizer {
  if (std::filesystem::is_directory(path)) return load_tokenizer(path / "tokenizer.json");
  if (path.extension() == ".json") return load_tokenizer(path);
  auto const mapped = mapped_file(path);
  return load_tokenizer(gguf(mapped));
}

namespace {

[[nodiscard]] auto tokenize(std::string const& path, std::string const& text, bool special) -> int {
  auto const ids = open_tokenizer(path).encode(text, {.add_special_tokens = special}).ids;
  for (auto i = std::size_t{0}; i < ids.size(); ++i) std::printf(i == 0 ? "%u" : " %u", ids[i]);
  std::printf("\n");
  return 0;
}

}  // namespace

auto add_tokenize(CLI::App& program) -> command {
  struct settings {
    std::string path;
    std::string text;
    bool bare = false;
  };
  auto* const app = program.add_subcommand("tokenize", "print the tokens of a text, in one line");
  auto const s = std::make_shared<settings>();
  app->add_option("--model", s->path, "a GGUF file, a tokenizer.json, or a folder with one")
      ->required();
  app->add_option("--text", s->text, "the text")->required()->check(utf8_text());
  app->add_flag("--bare", s->bare, "without the tokens that a model has around every text");
  return {app, [s] { return tokenize(s->path, s->text, not s->bare); }};
}

}  // namespace agents
