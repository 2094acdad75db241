// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/text_decoder.hpp>

using namespace tessera;

namespace {

auto all_bytes() {
  auto vocabulary = std::vector<std::string>{};
  for (auto b = 0; b < 256; ++b) vocabulary.emplace_back(1, static_cast<char>(b));
  return std::make_shared<std::vector<std::string> const>(std::move(vocabulary));
}
auto decoded(std::string_view bytes) -> std::vector<std::string> {
  auto decoder = bytes_decoder(all_bytes());
  auto pieces = std::vector<std::string>{};
  for (auto const b : bytes) pieces.push_back(decoder.append(static_cast<unsigned char>(b)));
  pieces.push_back(decoder.finish());
  return pieces;
}
auto joined(std::string_view bytes) -> std::string {
  auto text = std::string{};
  for (auto const& piece : decoded(bytes)) text += piece;
  return text;
}
constexpr auto unknown = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("bytes_decoder: a code point comes whole") {
  CHECK(decoded("a\xC3\xA9z") == std::vector<std::string>{"a", "", "\xC3\xA9", "z", ""});
  CHECK(decoded("\xF0\x9F\x98\x80") ==
        std::vector<std::string>{"", "", "", "\xF0\x9F\x98\x80", ""});
}
// Unicode's practice for U+FFFD, section 3.9: one for each maximal part of a code point.
TEST_CASE("bytes_decoder: what is no code point is U+FFFD, as Unicode counts them") {
  CHECK(joined("\x80") == unknown);
  CHECK(joined("\xE2\x82") == unknown);
  CHECK(joined(std::string("\xE2\x82") + "A") == std::string(unknown) + "A");
  CHECK(joined("\xED\xA0\x80") == std::string(unknown) + unknown + unknown);
  CHECK(joined("\xC0\xAF") == std::string(unknown) + unknown);
  CHECK(joined("\xF4\x90\x80\x80") == std::string(unknown) + unknown + unknown + unknown);
  CHECK(joined("\xF0\x80\x80\x41") == std::string(unknown) + unknown + unknown + "A");
}
TEST_CASE("bytes_decoder: refuses a token that is none") {
  auto decoder = bytes_decoder(all_bytes());
  CHECK_THROWS_WITH(decoder.append(256), "bytes_decoder: expected tokens below 256, got 256");
}
