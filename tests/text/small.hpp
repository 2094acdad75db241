// SPDX-License-Identifier: MIT
#pragma once

#include <support/catch.hpp>
#include <tessera/text/tokenizer_file.hpp>

#include <fstream>

/// What the tests of tokenizers share.
namespace test {

using namespace tessera;
using json = nlohmann::json;
using ids = std::vector<std::uint32_t>;
using ranges = std::vector<text_range>;

/// The lines of a file of tests/reference.
[[nodiscard]] inline auto json_lines(std::string const& name) -> std::vector<json> {
  auto file = std::ifstream{std::string{TESSERA_TEST_DATA} + '/' + name + ".txt"};
  REQUIRE(file);
  auto result = std::vector<json>{};
  for (auto line = std::string{}; std::getline(file, line);)
    if (not line.starts_with('#')) result.push_back(json::parse(line));
  return result;
}

/// Tokenizers, one of each kind.
[[nodiscard]] inline auto kinds() -> std::vector<json> { return json_lines("tokenizer"); }

/// A tokenizer.json whose words are each one unknown token, so that offsets show how it splits.
[[nodiscard]] inline auto words_by(json const& pre_tokenizer) -> tokenizer {
  return tokenizer_of(json{{"pre_tokenizer", pre_tokenizer},
                           {"model",
                            {{"type", "WordPiece"},
                             {"unk_token", "?"},
                             {"max_input_chars_per_word", 1000},
                             {"vocab", {{"?", 0}}}}}}
                          .dump());
}
/// One whose tokens are bytes, so that they show what becomes of a text.
[[nodiscard]] inline auto bytes_after(json const& normalizer) -> tokenizer {
  auto vocab = json::object();
  for (auto b = std::size_t{0}; b < 256; ++b) vocab[detail::byte_token(b)] = b;
  return tokenizer_of(json{
      {"normalizer", normalizer},
      {"decoder", {{"type", "ByteFallback"}}},
      {"model",
       {{"type", "BPE"}, {"byte_fallback", true}, {"vocab", vocab}, {"merges", json::array()}}}}
                          .dump());
}
/// The words that a text is split into, joined by "|".
[[nodiscard]] inline auto split(json const& pre_tokenizer, std::string const& text) -> std::string {
  auto result = std::string{};
  for (auto const& range : words_by(pre_tokenizer).encode(text).offsets)
    result += (result.empty() ? "" : "|") + text.substr(range.begin, range.end - range.begin);
  return result;
}
[[nodiscard]] inline auto changed(json const& normalizer, std::string const& text) -> std::string {
  auto const t = bytes_after(normalizer);
  return t.decode(t.encode(text).ids);
}
/// What an exception says, or nothing where there is none.
[[nodiscard]] auto complaint(auto const& call) -> std::string {
  try {
    (void)call();
  } catch (text_error const& e) {
    return e.what();
  }
  return {};
}

}  // namespace test
