// SPDX-License-Identifier: MIT
// Bytes of any kind are a tokenizer or refused; so are good files in which values are others. What
// is read cuts any text into tokens that it has, at places of that text, and writes them back.
#include <tessera/text/decode_stream.hpp>
#include <tessera/text/tokenizer_file.hpp>

#include <cstdlib>

using namespace tessera;
using json = nlohmann::json;

namespace {
void want(bool holds) {
  if (not holds) std::abort();
}

/// Good files, one for each model, with steps of all kinds that take values.
auto good_files() -> std::vector<json> const& {
  static auto const files = std::vector<json>{
      json::parse(
          R"json({"added_tokens": [{"id": 6, "content": "<s>", "special": true, "lstrip": true},
          {"id": 7, "content": "b c", "special": false, "single_word": true, "normalized": true}],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"},
          {"type": "Replace", "pattern": {"Regex": "x+"}, "content": "y"},
          {"type": "Strip", "strip_left": true, "strip_right": false}, {"type": "Prepend", "prepend": "a"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
          {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}|\\s+"}, "behavior": "Isolated", "invert": false},
          {"type": "Digits", "individual_digits": true}, {"type": "Punctuation", "behavior": "MergedWithNext"}]},
        "post_processor": {"type": "TemplateProcessing",
          "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
          "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
          "special_tokens": {"<s>": {"id": "<s>", "ids": [6], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
          {"type": "Replace", "pattern": {"String": "a"}, "content": " "},
          {"type": "Strip", "content": " ", "start": 1, "stop": 0}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "unk_token": "?", "fuse_unk": true, "byte_fallback": false,
          "ignore_merges": false, "continuing_subword_prefix": null, "end_of_word_suffix": null,
          "dropout": null, "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "?": 4, "abc": 5},
          "merges": [["a", "b"], ["ab", "c"]]}})json"),
      json::parse(R"json({"added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
          "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
          "max_input_chars_per_word": 100,
          "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "##b": 4, "c": 5}}})json"),
      json::parse(R"json({"added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always",
          "split": true},
        "post_processor": null,
        "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
          "vocab": [["<unk>", 0.0], ["\u2581", -1.0], ["a", -2.5], ["ab", -3.0], ["b", -2.0]]}})json"),
      json::parse(R"json({"added_tokens": [{"id": 4, "content": "<|end|>", "special": true}],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "use_regex": true, "trim_offsets": true},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "unk_token": null, "byte_fallback": false, "ignore_merges": true,
          "vocab": {"a": 0, "b": 1, "\u0120": 2, "\u0120a": 3}, "merges": ["\u0120 a"]}})json")};
  return files;
}
/// What may stand in a file instead of a value.
auto values() -> std::vector<json> const& {
  static auto const all =
      json::parse(R"json([null, true, false, 0, 1, 2, 5, -1, 99, 65536, 4294967295,
    18446744073709551615, 1.5, -1e300, "", "a", "ab", "\u2581", "\u00e9", "\ud83d\ude00", "?", "<s>", "(",
    "[^\\s]+", "(?=a)", "\\b", "(a|b)*?", "Isolated", "Removed", "Contiguous", "MergedWithPrevious", "first",
    "never", "NFD", "NFKD", "StripAccents", "Nmt", "BPE", "Unigram", "WordPiece", "Metaspace", "ByteLevel",
    "ByteFallback", "Whitespace", "WhitespaceSplit", "RobertaProcessing", "A", "B", [], [[]], ["a", "b"],
    ["a", 0], {}, {"String": ""}, {"String": "a"}, {"Regex": ""}, {"Regex": "$"}, {"a": 0}])json")
          .get<std::vector<json>>();
  return all;
}

void use(tokenizer const& t, std::string_view text) {
  auto const got = t.encode(text);
  want(got.ids.size() == got.offsets.size());
  for (auto const id : got.ids) want(t.token(id).has_value());
  for (auto const& range : got.offsets) want(range.begin <= range.end && range.end <= text.size());
  (void)t.decode(got.ids, false);
  (void)t.decode(got.ids);
  (void)t.encode_pair(text, "a b");
  auto stream = decode_stream(t);
  for (auto const id : got.ids) (void)stream.put(id);
  (void)stream.finish();
}
void check(std::string_view file, std::string_view text) {
  try {
    use(tokenizer_of(file), text);
  } catch (text_error const& e) {
    want(std::string_view{e.what()}.size() > 5);
  }
}

/// Puts `value` at the place with this number, counted through the whole file.
auto replaced(json file, std::size_t place, json const& value) -> json {
  auto const flat = file.flatten();
  auto at = flat.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(place % flat.size()));
  auto pointer = json::json_pointer(at.key());
  for (auto up = place / flat.size() % 3;
       up > 0 && pointer.parent_pointer() != json::json_pointer{}; --up)
    pointer = pointer.parent_pointer();
  file[pointer] = value;
  return file;
}
}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) -> int {
  auto const bytes = std::string_view{reinterpret_cast<char const*>(data), size};
  check(bytes, "a b");
  if (size < 2) return 0;
  // A file, up to three values that are others, of two bytes each, and a text.
  auto file = good_files()[data[0] % good_files().size()];
  auto at = std::size_t{2};
  for (auto n = data[1] % 4U; n > 0 && at + 2 <= size; --n, at += 2)
    file = replaced(std::move(file), data[at], values()[data[at + 1] % values().size()]);
  check(file.dump(), bytes.substr(at));
  return 0;
}
