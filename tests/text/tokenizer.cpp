// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>

#include <text/small.hpp>

using namespace test;

// -- values: small cases by hand -------------------------------------------------------------
TEST_CASE("tokenizer: byte pairs are merged by rank, the leftmost first") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE",
    "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5, "aa": 6},
    "merges": ["b c", ["a", "b"], ["ab", "c"], ["a", "a"]]}})");
  CHECK(t.encode("abc").ids == ids{0, 4});
  CHECK(t.encode("ab").ids == ids{3});
  CHECK(t.encode("aaab").ids == ids{6, 3});
  CHECK(t.encode("aaa").ids == ids{6, 0});
  CHECK(t.encode("aaab").offsets == ranges{{0, 2}, {2, 4}});
  CHECK(t.encode("").ids.empty());
  CHECK(t.decode(ids{3, 99, 2}) == "ab c");
  CHECK(t.id_of("abc") == 5U);
  CHECK(not t.id_of("x"));
  CHECK(t.token(6) == "aa");
  CHECK(not t.token(7));
  CHECK(t.vocabulary_size() == 7);
}
TEST_CASE("tokenizer: long words are merged as short ones are") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2},
    "merges": ["a a", "aa aa"]}})");
  for (auto const n : {63, 64, 65, 66, 67, 1000, 100'001}) {
    auto expected = ids(static_cast<std::size_t>(n / 4), 2U);
    if (n % 4 >= 2) expected.push_back(1);
    if (n % 2 == 1) expected.push_back(0);
    CHECK(t.encode(std::string(static_cast<std::size_t>(n), 'a')).ids == expected);
  }
}
TEST_CASE("tokenizer: a model of byte pairs copies no token but into its list") {
  auto texts = std::vector<std::string>{};
  for (auto i = 0; i < 1000; ++i) texts.push_back(std::string(40, 'a') + std::to_string(i));
  auto const words = detail::vocabulary({texts.begin(), texts.end()});
  auto options = bpe_options{};
  options.whole_words_first = true;
  auto const before = test::allocations();
  auto const model = detail::bpe_model(words, {}, std::move(options));
  CHECK(test::allocations() - before < 100);
  auto found = std::vector<detail::token_span>{};
  model.tokenize(texts[7], {0, 41}, found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == 7);
}
TEST_CASE("tokenizer: what has no token is unknown, fused, bytes or nothing") {
  auto const with = [](json options) {
    auto model = json{{"type", "BPE"}, {"merges", json::array()}};
    model["vocab"] = {{"a", 0}, {"?", 1}, {"<0xC3>", 2}, {"<0xA4>", 3}};
    model.update(options);
    return tokenizer_of(json{{"model", model}}.dump()).encode("a\xC3\xA4xya").ids;
  };
  CHECK(with(json::object()) == ids{0, 0});
  CHECK(with({{"unk_token", "?"}}) == ids{0, 1, 1, 1, 0});
  CHECK(with({{"unk_token", "?"}, {"fuse_unk", true}}) == ids{0, 1, 0});
  CHECK(with({{"unk_token", "?"}, {"byte_fallback", true}}) == ids{0, 2, 3, 1, 1, 0});
}
TEST_CASE("tokenizer: what has no letter in a vocabulary of bytes is left out or unknown") {
  auto const with = [](json options, char const* text) {
    auto const bytes =
        json{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    auto model = json{{"type", "BPE"}, {"merges", {"a b"}}};
    model["vocab"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"?", 3}, {"\u0102", 4}};
    model.update(options);
    return tokenizer_of(json{{"model", model}, {"pre_tokenizer", bytes}}.dump()).encode(text);
  };
  // The letter of \001 is two bytes long, and what is behind it moves there.
  CHECK(with(json::object(), "x\001yab").ids == ids{2});
  CHECK(with(json::object(), "\001ab").offsets == ranges{{0, 1}});
  CHECK(with(json::object(), "\002ab").ids == ids{4, 2});
  CHECK(with(json::object(), "\002ab").offsets == ranges{{0, 1}, {1, 3}});
  CHECK(with({{"unk_token", "?"}}, "\001xab").ids == ids{3, 3, 2});
  CHECK(with({{"unk_token", "?"}, {"fuse_unk", true}}, "\001\001ab").offsets ==
        ranges{{0, 2}, {2, 4}});
}
TEST_CASE("tokenizer: a long word is cut only where no merge joins") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "unk_token": "?", "fuse_unk": true,
    "vocab": {"a": 0, "b": 1, "_": 2, "_a": 3, "ab": 4, "?": 5, "__": 6},
    "merges": ["_ _", "_ a", "a b"]}})");
  auto text = std::string{};
  auto expected = ids{};
  for (auto i = 0; i < 50; ++i) {
    text += "__ab_axy_b";  // b and _, and what is unknown, are joined to nothing
    expected.insert(expected.end(), {6, 4, 3, 5, 2, 1});
  }
  CHECK(t.encode(text).ids == expected);
  CHECK(t.encode(text).offsets[297] == text_range{496, 498});
}
TEST_CASE("tokenizer: a word has its tokens and places wherever it comes again") {
  auto const t = tokenizer_of(R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordPiece", "unk_token": "?",
    "vocab": {"?": 0, "a": 1, "##b": 2, "##\u00e4": 3, "bb": 4}}})");
  auto text = std::string{};
  auto expected = ids{};
  auto places = ranges{};
  for (auto i = std::uint32_t{0}; i < 1000; ++i) {
    auto const at = 45 * i;
    text += "abb\u00e4 bb \u00e4 abbbbbbbb abbbbbbbbbbbbbbbbbbbbbbb ";
    expected.insert(expected.end(), {1, 2, 2, 3, 4, 0, 1});
    places.insert(places.end(),
                  {{at, at + 1}, {at + 1, at + 2}, {at + 2, at + 3}, {at + 3, at + 4}});
    places.insert(places.end(), {{at + 5, at + 7}, {at + 8, at + 9}, {at + 10, at + 11}});
    for (auto k = at + 11; k < at + 19; ++k) {
      expected.push_back(2);
      places.push_back({k, k + 1});
    }
    expected.push_back(1);
    places.push_back({at + 20, at + 21});
    for (auto k = at + 21; k < at + 44; ++k) {
      expected.push_back(2);
      places.push_back({k, k + 1});
    }
  }
  CHECK(t.encode(text).ids == expected);
  CHECK(t.encode(text).offsets == places);
}
TEST_CASE("tokenizer: added tokens are found in the text, with the spaces that they take") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, " ": 2},
    "merges": []}, "decoder": {"type": "Fuse"}, "added_tokens": [
    {"id": 3, "content": "<s>", "special": true},
    {"id": 4, "content": "<s>>", "special": true, "lstrip": true, "rstrip": true},
    {"id": 5, "content": "ab", "single_word": true},
    {"id": 6, "content": "--", "lstrip": true, "rstrip": true},
    {"id": 7, "content": "\t\t", "lstrip": true, "rstrip": true}]})");
  CHECK(t.encode("a<s>b").ids == ids{0, 3, 1});
  CHECK(t.encode("a  <s>> b").ids == ids{0, 4, 1});
  CHECK(t.encode("a  <s>> b").offsets == ranges{{0, 1}, {1, 8}, {8, 9}});
  CHECK(t.encode("ab aba").ids == ids{5, 2, 0, 1, 0});
  CHECK(t.encode("a -- -- b").offsets == ranges{{0, 1}, {1, 5}, {5, 8}, {8, 9}});
  CHECK(t.encode("a\t\t\t\t\t\tb").ids == ids{0, 7, 1});  // the first takes all of them
  CHECK(t.decode(ids{0, 3, 5}) == "aab");
  CHECK(t.decode(ids{0, 3, 5}, false) == "a<s>ab");
  CHECK(t.is_special(3));
  CHECK(not t.is_special(5));
}
TEST_CASE("tokenizer: every pre-tokenizer splits by its rule") {
  CHECK(split({{"type", "Whitespace"}}, "it's  a-b c") == "it|'|s|a|-|b|c");
  CHECK(split({{"type", "WhitespaceSplit"}}, " it's  a-b ") == "it's|a-b");
  CHECK(split({{"type", "BertPreTokenizer"}}, "it's a.") == "it|'|s|a|.");
  CHECK(split({{"type", "Digits"}, {"individual_digits", true}}, "a12b") == "a|1|2|b");
  CHECK(split({{"type", "Digits"}}, "a12b") == "a|12|b");
  CHECK(split({{"type", "CharDelimiterSplit"}, {"delimiter", "-"}}, "a--b-") == "a|b");
  auto const dashes = [](char const* behavior, bool invert = false) {
    return split({{"type", "Split"},
                  {"pattern", {{"String", "-"}}},
                  {"behavior", behavior},
                  {"invert", invert}},
                 "the-final--count");
  };
  CHECK(dashes("Isolated") == "the|-|final|-|-|count");
  CHECK(dashes("Removed") == "the|final|count");
  CHECK(dashes("Contiguous") == "the|-|final|--|count");
  CHECK(dashes("MergedWithPrevious") == "the-|final-|-|count");
  CHECK(dashes("MergedWithNext") == "the|-final|-|-count");
  CHECK(dashes("Removed", true) == "-|-|-");
  CHECK(split({{"type", "Punctuation"}, {"behavior", "Contiguous"}}, "a?!b") == "a|?!|b");
}
TEST_CASE("tokenizer: known patterns split by hand as PCRE2 splits") {
  auto const texts = {"I'll  see 123456 it's\r\n\r\n  x=='y'\t\tz  ",
                      "'S 'RE don'T\n",
                      " \n a",
                      "x\n\n\n",
                      "a\t b?!\n\n c",
                      "'",
                      " '",
                      "\r",
                      "12345678"};
  for (auto const pattern : {detail::gpt2_pattern, detail::llama3_pattern, detail::qwen2_pattern}) {
    auto const step = [&](std::string const& regex) {
      return json{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
    };
    for (auto const text : texts)  // a group around it is the same pattern, by PCRE2
      CHECK(split(step(std::string{pattern}), text) ==
            split(step("(?:" + std::string{pattern} + ")"), text));
  }
}
TEST_CASE("tokenizer: a pattern may remember much, and one that means something else is refused") {
  auto const step = [](char const* regex) {
    return json{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
  };
  auto letters = std::string{};
  for (auto i = 0; i < 900; ++i) letters += "\u0E01";
  for (auto i = 0; i < 4; ++i) letters += letters;
  auto const found = words_by(step("(?:\\p{L}|\\p{M})+")).encode(letters).offsets;
  REQUIRE(found.size() == 1);
  CHECK(found[0].end == 14'400);
  CHECK_THAT(complaint([&] { return words_by(step("a{2}?b")); }),
             Catch::Matchers::Contains("an interval that is repeated at byte 4"));
  CHECK_THAT(complaint([&] { return words_by(step("[a-[b]c]")); }),
             Catch::Matchers::Contains("a range to a class at byte 3"));
  CHECK_THAT(complaint([&] { return words_by(step("(?x)a b")); }),
             Catch::Matchers::Contains("a pattern with blanks between"));
  CHECK_THAT(complaint([&] { return words_by(step("a{1,2}+b")); }),
             Catch::Matchers::Contains("an interval that is repeated at byte 6"));
  CHECK_THAT(complaint([&] { return words_by(step(std::string(30, '[').c_str())); }),
             Catch::Matchers::Contains("a class in more than 20 others"));
  for (auto const cased : {"(?i)[[:upper:]]", "(?i)a|[[:^lower:]]", "(?i:[\\p{Lu}])",
                           "(?i)[^\\P{^Ll}x]", "x(?i)(a[\\p{Uppercase}])"})
    CHECK_THAT(complaint([&] { return words_by(step(cased)); }),
               Catch::Matchers::Contains("(?i) of a class with capitals or small letters"));
  for (auto const several : {"(?i)ss", "(?i:aFf)", "(?i:\u00DF)", "(?i)[a\u1E9E]", "(?i)\uFB06"})
    CHECK_THAT(complaint([&] { return words_by(step(several)); }),
               Catch::Matchers::Contains("(?i) of"));
  CHECK_THAT(complaint([&] { return words_by(step("\\X")); }), Catch::Matchers::Contains("\\X"));
  CHECK(split(step("(?i:'s|'ll|[\\p{L}&&[^b]])(?-i:ss)?"), "'Sssb'LL") == "'Sss|b|'LL");
  for (auto const wrong : {"[a", "[a[b]", "[", "[^", "\\", "[\\", "a\\u", "("})
    CHECK_THAT(complaint([&] { return words_by(step(wrong)); }),
               Catch::Matchers::Contains("pattern \""));
  CHECK(split(step("x{2"), "ax{2b") == "a|x{2|b");
}
TEST_CASE("tokenizer: every normalizer changes by its rule") {
  auto const type = [](char const* name) { return json{{"type", name}}; };
  CHECK(changed(type("NFC"), "e\u0301 \u1100\u1161 q\u0307\u0323") ==
        "\u00E9 \uAC00 q\u0323\u0307");
  CHECK(changed(type("NFC"), "\u1100\u1161\u11A7 \u1100\u1161\u11A8") == "\uAC00\u11A7 \uAC01");
  CHECK(changed(type("NFD"), "\u00E9\uAC00") == "e\u0301\u1100\u1161");
  CHECK(changed(type("NFKC"), "\uFB01\u2460") == "fi1");
  CHECK(changed(type("NFKD"), "\u00BD") == "1\u20442");
  CHECK(changed(type("Lowercase"), "A\u00C4\u0130Z") == "a\u00E4i\u0307z");
  CHECK(changed(type("StripAccents"), "e\u0301a") == "ea");
  CHECK(changed(type("Strip"), " \t a b\n") == "a b");
  CHECK(changed({{"type", "Prepend"}, {"prepend", "_"}}, "a") == "_a");
  CHECK(changed({{"type", "Prepend"}, {"prepend", "_"}}, "").empty());
  auto const replace = [](char const* kind, char const* what) {
    return json{{"type", "Replace"}, {"pattern", {{kind, what}}}, {"content", "--"}};
  };
  CHECK(changed(replace("String", "a"), "banana") == "b--n--n--");
  CHECK(changed(replace("Regex", "[ab]+"), "abcab") == "--c--");
  CHECK(changed(type("BertNormalizer"), "\u00C9t\u00E9\t\u4E2D\x01.") == "ete  \u4E2D .");
  CHECK(changed({{"type", "Sequence"}, {"normalizers", {type("NFD"), type("StripAccents")}}},
                "\u00E9") == "e");
}
TEST_CASE("tokenizer: offsets are those of the original code points") {
  auto const t = bytes_after({{"type", "NFC"}});
  CHECK(t.encode("\u4E2De\u0301x").offsets ==
        ranges{{0, 1}, {0, 1}, {0, 1}, {1, 2}, {1, 2}, {3, 4}});
}
TEST_CASE("tokenizer: encode leaves out the last tokens where there are too many") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "#": 2},
    "merges": []}, "post_processor": {"type": "BertProcessing", "cls": ["#", 2], "sep": ["#", 2]}})");
  CHECK(t.encode("abab").ids == ids{2, 0, 1, 0, 1, 2});
  CHECK(t.encode("abab", {.longest = 4}).ids == ids{2, 0, 1, 2});
  CHECK(t.encode("abab", {.add_special_tokens = false, .longest = 3}).ids == ids{0, 1, 0});
  CHECK(t.encode_pair("abab", "b").ids == ids{2, 0, 1, 0, 1, 2, 1, 2});
  CHECK(t.encode_pair("abab", "b").type_ids == ids{0, 0, 0, 0, 0, 0, 1, 1});
  CHECK(t.encode_pair("aaaa", "b", {.longest = 6}).ids == ids{2, 0, 0, 2, 1, 2});
  CHECK(t.encode_pair("aaaa", "bbb", {.longest = 7}).ids == ids{2, 0, 0, 2, 1, 1, 2});
  CHECK(t.encode_pair("aaaa", "bbbb", {.longest = 8}).ids == ids{2, 0, 0, 2, 1, 1, 1, 2});
  CHECK(complaint([&] { return t.encode("a", {.longest = 1}); }) ==
        "encode: at most 1 tokens are asked for, 2 are added to any text");
}
TEST_CASE("tokenizer: text that is no UTF-8 is refused by its place") {
  auto const t = words_by(nullptr);
  CHECK(complaint([&] { return t.encode("0123456789\xFFz"); }) ==
        "encode: expected UTF-8, byte 10 is none");
  CHECK(complaint([&] { return t.encode("\xED\xA0\x80"); }) ==
        "encode: expected UTF-8, byte 0 is none");
  CHECK(complaint([&] { return t.encode("\xE2\x82"); }) ==
        "encode: expected UTF-8, byte 0 is none");
}

// -- reference: patterns, and tokenizers of six kinds, by Hugging Face's library -----------------
TEST_CASE("tokenizer: ids, offsets and text are those of tokenizers") {
  auto const all = kinds();
  REQUIRE(all.size() == 6);
  for (auto const& kind : all) {
    auto const t = tokenizer_of(kind["file"].dump());
    REQUIRE(kind["cases"].size() == 60);
    for (auto const& one : kind["cases"]) {
      auto const text = one["text"].get<std::string>();
      INFO(kind["kind"] << ": " << one["text"].dump(-1, ' ', true));
      auto const e = t.encode(text);
      auto offsets = std::vector<std::uint32_t>{};
      for (auto const& range : e.offsets) offsets.insert(offsets.end(), {range.begin, range.end});
      auto types = 0U;
      for (auto const type : e.type_ids) types += type;
      CHECK(e.ids == one["ids"].get<ids>());
      CHECK(offsets == one["offsets"].get<std::vector<std::uint32_t>>());
      CHECK(types == one["types"].get<unsigned>());
      CHECK(t.decode(e.ids, false) == one["decoded"].get<std::string>());
      CHECK(t.decode(e.ids) == one["plain"].get<std::string>());
    }
    auto const& pair = kind["pair"];
    auto const e =
        t.encode_pair(pair["first"].get<std::string>(), pair["second"].get<std::string>());
    INFO(kind["kind"]);
    CHECK(e.ids == pair["ids"].get<ids>());
    CHECK(e.type_ids == pair["types"].get<ids>());
  }
}
TEST_CASE("tokenizer: patterns of Oniguruma cut where tokenizers does") {
  auto count = 0;
  for (auto const& one : json_lines("patterns")) {
    auto const pattern = one["pattern"].get<std::string>();
    auto const regex = json{{"Regex", pattern}};
    ++count;
    for (auto const& each : one["texts"]) {
      auto const text = each["text"].get<std::string>();
      INFO(pattern << " in " << each["text"].dump(-1, ' ', true));
      auto const words =
          words_by({{"type", "Split"}, {"pattern", regex}, {"behavior", "Isolated"}});
      auto ends = std::vector<std::uint32_t>{};
      for (auto const& range : words.encode(text).offsets) ends.push_back(range.end);
      CHECK(ends == each["ends"].get<std::vector<std::uint32_t>>());
      CHECK(changed({{"type", "Replace"}, {"pattern", regex}, {"content", "-"}}, text) ==
            each["replaced"].get<std::string>());
    }
  }
  CHECK(count > 60);
}
