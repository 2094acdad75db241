// SPDX-License-Identifier: MIT
#include <tessera/text/decode_stream.hpp>

#include <text/small.hpp>

using namespace test;

TEST_CASE("decode_stream: what comes is whole code points, together the decoded text") {
  for (auto const& kind : kinds()) {
    auto const t = tokenizer_of(kind["file"].dump());
    for (auto const skip : {false, true}) {
      auto stream = decode_stream(t, skip);
      for (auto const& one : kind["cases"]) {
        INFO(kind["kind"] << ": " << one["text"].dump(-1, ' ', true));
        auto text = std::string{};
        for (auto const id : one["ids"].get<ids>()) {
          auto const piece = stream.put(id);
          CHECK_NOTHROW(detail::expect_utf8(piece, "piece"));
          text += piece;
        }
        text += stream.finish();
        CHECK(text == one[skip ? "plain" : "decoded"].get<std::string>());
      }
    }
  }
}
TEST_CASE("decode_stream: any tokens of bytes give what decode gives, half code points included") {
  auto const file = kinds()[0];
  auto const t = tokenizer_of(file["file"].dump());
  auto const byte = [&](unsigned b) {
    auto letter = std::string{};
    detail::append_code_point(letter, detail::byte_letters[b]);
    return t.id_of(letter).value();
  };
  auto state = std::uint32_t{1};
  for (auto n = 0; n < 2000; ++n) {
    auto tokens = ids{};
    for (auto i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      constexpr unsigned bytes[] = {0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98,
                                    0x80, 0xC3, 0xA4, 'a',  0xFF, 0xED};
      tokens.push_back(byte(bytes[(state >> 16U) % std::size(bytes)]));
    }
    auto stream = decode_stream(t);
    auto text = std::string{};
    for (auto const id : tokens) text += stream.put(id);
    text += stream.finish();
    CHECK(text == t.decode(tokens));
  }
}
TEST_CASE("decode_stream: a code point comes with its last byte") {
  auto const t = bytes_after(nullptr);
  auto stream = decode_stream(t);
  CHECK(stream.put('a') == "a");
  CHECK(stream.put(0xE2).empty());
  CHECK(stream.put(0x82).empty());
  CHECK(stream.put(0xAC) == "\u20AC");
  CHECK(stream.put(0xE2).empty());
  CHECK(stream.finish() == "\uFFFD");
  CHECK(stream.finish().empty());
  CHECK(stream.put(9999).empty());
}
TEST_CASE("decode_stream: a decoder that strips the end gives all at the end") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "_": 1}, "merges": []},
    "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"},
      {"type": "Strip", "content": "_", "start": 1, "stop": 1}, {"type": "Fuse"}]}})");
  auto stream = decode_stream(t);
  for (auto const id : {1U, 1U, 0U, 1U, 1U}) CHECK(stream.put(id).empty());
  CHECK(stream.finish() == "_a_");
}
