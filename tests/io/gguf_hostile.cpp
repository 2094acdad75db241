// SPDX-License-Identifier: MIT
// Files that are no GGUF files, each by name, with what is said of it.
#include <support/catch.hpp>
#include <tessera/io/gguf/writer.hpp>

#include <limits>

using namespace tessera;

namespace {

using bytes = detail::gguf_bytes;
constexpr auto most = std::numeric_limits<std::uint64_t>::max();

[[nodiscard]] auto text(std::string_view s) -> bytes {
  auto result = bytes{};
  result.append(std::as_bytes(std::span{s}));
  return result;
}
template <class... Values> [[nodiscard]] auto row(Values const&... values) -> bytes {
  auto result = bytes{};
  auto const add = [&](auto const& value) {
    if constexpr (std::same_as<decltype(value), bytes const&>)
      result.append(value);
    else
      result.append_value(value);
  };
  (add(values), ...);
  return result;
}
using u32 = std::uint32_t;
using u64 = std::uint64_t;
/// A file of these numbers of tensors and pairs, with `rest` behind them.
[[nodiscard]] auto file(u64 tensors, u64 pairs, bytes const& rest = {}, std::size_t filler = 0)
    -> bytes {
  auto result = row(text("GGUF"), u32{3}, tensors, pairs, rest);
  result.resize(result.size() + filler);
  return result;
}
[[nodiscard]] auto named(std::string_view name) -> bytes {
  return row(u64{name.size()}, text(name));
}
[[nodiscard]] auto pair(std::string_view key, u32 type, bytes const& value) -> bytes {
  return row(named(key), type, value);
}
[[nodiscard]] auto array(std::string_view key, u32 element, u64 count, bytes const& elements)
    -> bytes {
  return pair(key, 9, row(element, count, elements));
}
[[nodiscard]] auto entry(std::string_view name, std::vector<u64> const& extents, u32 type = 0,
                         u64 offset = 0) -> bytes {
  auto result = row(named(name), static_cast<u32>(extents.size()));
  for (auto const extent : extents) result.append_value(extent);
  result.append(row(type, offset));
  return result;
}
/// A file of tensors alone: their descriptions, filled up to the data, and the data.
[[nodiscard]] auto tensors(u64 count, bytes const& descriptions, std::size_t data = 128,
                           bytes const& pairs = {}, u64 pair_count = 0) -> bytes {
  auto result = file(count, pair_count, row(pairs, descriptions));
  result.resize((result.size() + 31) / 32 * 32 + data);
  return result;
}

struct hostile {
  std::string name;
  bytes content;
  std::string message;
};
using list = std::vector<hostile>;

[[nodiscard]] auto starts() -> list {
  auto result = list{};
  auto const add = [&](std::string const& name, bytes content, std::string const& message) {
    result.push_back({name, std::move(content), message});
  };
  add("empty", {}, "begins with \"GGUF\", got \"\"");
  add("three bytes", text("GGU"), "begins with \"GGUF\", got \"GGU\"");
  for (auto const* const magic : {"GGML", "ggjt", "gguf", "FUGG", "PK\3\4", "{\"a\"", "\177ELF"})
    add(std::string{"magic "} + magic, row(text(magic), u32{3}, u64{0}, u64{0}),
        "begins with \"GGUF\", got " + json_text(magic));
  for (auto const version : {0U, 1U, 2U, 4U, 0xFFFFFFFFU})
    add("version " + std::to_string(version), row(text("GGUF"), version, u64{0}, u64{0}),
        "expected GGUF version 3, got " + std::to_string(version));
  add("big-endian", row(text("GGUF"), u32{0x03000000}, u64{0}, u64{0}), "little-endian order");
  add("no version", text("GGUF"), "the version: expected 4 bytes, got 0");
  add("no number of tensors", row(text("GGUF"), u32{3}, u32{0}),
      "tensors: expected 8 bytes, got 4");
  add("no number of pairs", row(text("GGUF"), u32{3}, u64{0}), "pairs: expected 8 bytes, got 0");
  for (auto const count : {most, most / 2, u64{1} << 32U, u64{8}}) {
    auto const number = std::to_string(count);
    add(number + " pairs", file(0, count, {}, 100),
        "says that it has " + number + " pairs, and has room for 7: it is not whole");
    add(number + " tensors", file(count, 0, {}, 100),
        "says that it has " + number + " tensors, and has room for 4: it is not whole");
  }
  add("as many tensors as the pairs leave no room for", file(4, 1, {}, 100),
      "says that it has 4 tensors, and has room for 3: it is not whole");
  add("a pair that is not there", file(0, 1), "1 pairs, and has room for 0");
  add("a tensor that is not there", file(1, 0), "1 tensors, and has room for 0");
  return result;
}

[[nodiscard]] auto names() -> list {
  auto result = list{};
  auto const both = [&](std::string const& name, bytes const& of_name, std::string const& message) {
    result.push_back({"key: " + name, file(0, 1, of_name, 40), "the key of pair 0: " + message});
    result.push_back(
        {"tensor: " + name, file(1, 0, of_name, 40), "the name of tensor 0: " + message});
  };
  both("of no bytes", row(u64{0}), "expected 1 to ");
  for (auto const length : {most, most / 2 + 1, u64{65536}})
    both("of " + std::to_string(length) + " bytes", row(length), "expected 1 to ");
  both("past the end", row(u64{60}), "expected 60 bytes, got 40 up to the end");
  for (auto const* const bad : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "a\xE2\x82",
                                "\x80", "\xF8\x88\x80\x80\x80", "ab\xC3"})
    both("no UTF-8: " + json_text(bad), named(bad), "expected UTF-8, got ");
  both("NUL", named({"a\0b", 3}), "\"a\\u0000b\" has a NUL byte");
  return result;
}

[[nodiscard]] auto values() -> list {
  auto result = list{};
  auto const add = [&](std::string const& name, bytes content, std::string const& message) {
    result.push_back({name, std::move(content), message});
  };
  for (auto const type : {13U, 255U, 0xFFFFFFFFU}) {
    auto const message = "expected a type of 0 to 12, got " + std::to_string(type);
    add("type " + std::to_string(type), file(0, 1, pair("k", type, {}), 8),
        "key \"k\": " + message);
    add("element " + std::to_string(type), file(0, 1, array("k", type, 0, {})),
        "key \"k\", an array: " + message);
  }
  for (auto type = u32{0}; type <= 12; ++type) {
    auto const kind = static_cast<gguf_type>(type);
    auto const name = std::string{name_of(kind)};
    if (kind == gguf_type::array) continue;
    auto const least = kind == gguf_type::string ? 8 : byte_size_of(kind);
    auto short_pair = file(0, 1, pair("k", type, {}));
    short_pair.resize(std::max(short_pair.size() + least - 1, std::size_t{24 + 14}));
    if (least > 1) add("cut " + name, short_pair, "key \"k\": expected 1 of " + name + ", got ");
    for (auto const count : {most, u64{1} << 61U, u64{65} / least})
      add("array of " + std::to_string(count) + ' ' + name,
          file(0, 1, array("k", type, count, {}), 64 - least),
          "key \"k\": expected " + std::to_string(count) + " of " + name + ", got " +
              std::to_string(64 - least) + " bytes up to the end of the file");
  }
  for (auto const length : {most, most / 2 + 1, u64{9}}) {
    add("string of " + std::to_string(length), file(0, 1, pair("k", 8, row(length)), 8),
        "key \"k\", string 0: expected " + std::to_string(length) + " bytes, got 8");
    add("second string of " + std::to_string(length),
        file(0, 1, array("k", 8, 2, row(named("a"), length)), 8),
        "key \"k\", string 1: expected " + std::to_string(length) + " bytes, got 8");
  }
  add("cut array", file(0, 1, pair("k", 9, row(u32{4}, u32{1}))),
      "key \"k\", the number of elements: expected 8 bytes, got 4");
  add("nested array", file(0, 1, array("k", 9, 1, row(u32{4}, u64{0}))),
      "key \"k\": arrays of arrays are not read");
  for (auto const b : {std::uint8_t{2}, std::uint8_t{255}}) {
    auto const message = "key \"k\": expected a bool of 0 or 1, got " + std::to_string(b);
    add("bool of " + std::to_string(b), file(0, 1, pair("k", 7, row(b))), message);
    add("bools of " + std::to_string(b),
        file(0, 1, array("k", 7, 3, row(std::uint8_t{1}, std::uint8_t{0}, b))), message);
  }
  auto const one = pair("k", 4, row(u32{1}));
  add("one key twice", file(0, 2, row(one, one)), "has two of key \"k\"");
  add("one key twice, not side by side", file(0, 3, row(one, pair("a", 0, row('a')), one)),
      "has two of key \"k\"");
  auto const alignment = std::string{"general.alignment"};
  for (auto const n : {0U, 1U, 4U, 3U, 48U, 0x80000001U})
    add("alignment " + std::to_string(n), file(0, 1, pair(alignment, 4, row(n))),
        "expected a power of two of at least 8, got " + std::to_string(n));
  add("alignment u64", file(0, 1, pair(alignment, 10, row(u64{32}))), "expected u32, got u64 32");
  add("alignment i32", file(0, 1, pair(alignment, 5, row(u32{32}))), "expected u32, got i32 32");
  add("alignment text", file(0, 1, pair(alignment, 8, named("32"))), "expected u32, got string");
  add("alignment array", file(0, 1, array(alignment, 4, 1, row(u32{32}))),
      "expected u32, got array of u32");
  return result;
}

[[nodiscard]] auto tensor_lists() -> list {
  auto result = list{};
  auto const add = [&](std::string const& name, bytes content, std::string const& message) {
    result.push_back({name, std::move(content), message});
  };
  for (auto const rank : {5U, 0xFFFFFFFFU})
    add("rank " + std::to_string(rank), file(1, 0, row(named("t"), rank), 64),
        "tensor \"t\": expected a rank of 0 to 4, got " + std::to_string(rank));
  auto const half = u64{1} << 63U;
  add("no extent", tensors(1, entry("t", {4, 0})), "expected extents of at least 1, got 0");
  for (auto const& extents : {std::vector<u64>{half, 2},
                              {most, 2},
                              {u64{1} << 32U, u64{1} << 32U},
                              {2, 2, half, 2},
                              {most, most, most, most},
                              {u64{1} << 62U},
                              {half}})
    add("extents " + std::to_string(extents[0]) + " to " + std::to_string(extents.back()),
        tensors(1, entry("t", extents)), "tensor \"t\": its extents are too large");
  add("extents of blocks", tensors(1, entry("t", {half, 1}, 8)), "got 128 bytes of data");
  add("extents of doubles", tensors(1, entry("t", {u64{1} << 61U}, 28)), "are too large");
  for (auto const type : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 42U, 0xFFFFFFFFU})
    add("type of tensor " + std::to_string(type), tensors(1, entry("t", {32}, type)),
        "tensor \"t\": expected a known type, got " + std::to_string(type));
  add("row of 33 in Q4_0", tensors(1, entry("t", {33}, 2)), "blocks of 32 for Q4_0, got 33");
  add("row of 16 in Q8_0", tensors(1, entry("t", {16, 2}, 8)), "blocks of 32 for Q8_0, got 16");
  add("row of 32 in Q4_K", tensors(1, entry("t", {32}, 12)), "blocks of 256 for Q4_K, got 32");
  add("a number in Q4_1", tensors(1, entry("t", {}, 3)), "blocks of 32 for Q4_1, got 1");
  for (auto const offset : {u64{1}, u64{16}, most})
    add("offset " + std::to_string(offset), tensors(1, entry("t", {4}, 0, offset)),
        "expected an offset aligned to 32, got " + std::to_string(offset));
  add("offset of another alignment",
      tensors(1, entry("t", {4}, 0, 32), 128, pair("general.alignment", 4, row(u32{64})), 1),
      "expected an offset aligned to 64, got 32");
  for (auto const offset : {u64{128}, u64{1} << 63U, most - 31})
    add("data at " + std::to_string(offset), tensors(1, entry("t", {4}, 0, offset)),
        "expected 16 bytes at " + std::to_string(offset) + " of the data, got 128 bytes of data");
  add("data past the end", tensors(1, entry("t", {33})), "expected 132 bytes at 0 of the data");
  add("a terabyte", tensors(1, entry("t", {u64{1} << 38U})), "got 128 bytes of data");
  add("no data", tensors(1, entry("t", {4}), 0), "got 0 bytes of data");
  add("cut data", tensors(1, entry("t", {32}, 8), 33), "expected 34 bytes at 0 of the data");
  auto unfilled = file(1, 0, entry("t", {1}));
  add("a file that ends before the data", unfilled, "got 0 bytes of data");
  add("data before an alignment past the end",
      tensors(1, entry("t", {4}), 128, pair("general.alignment", 4, row(u32{1} << 31U)), 1),
      "got 0 bytes of data");
  auto const a = entry("a", {16});
  add("one name twice", tensors(2, row(a, entry("a", {8}, 0, 64))), "has two of tensor \"a\"");
  add("the same bytes twice", tensors(2, row(a, entry("b", {16}))),
      "tensor \"b\": overlaps tensor \"a\", at byte 0");
  add("a part of the bytes twice", tensors(2, row(a, entry("b", {8}, 0, 32))),
      "tensor \"b\": overlaps tensor \"a\", at byte 32");
  add("the later one listed first", tensors(2, row(entry("b", {8}, 0, 32), a)),
      "tensor \"b\": overlaps tensor \"a\", at byte 32");
  add("one within another of three",
      tensors(3, row(a, entry("c", {8}, 0, 96), entry("b", {17}, 0, 32))), "overlaps tensor");
  auto const whole = entry("t", {4, 2});
  auto const fields =
      std::vector<std::pair<std::size_t, std::string>>{{10, "its rank: expected 4 bytes, got 1"},
                                                       {14, "its extents: expected 8 bytes, got 1"},
                                                       {22, "its extents: expected 8 bytes, got 1"},
                                                       {30, "its type: expected 4 bytes, got 1"},
                                                       {34, "its offset: expected 8 bytes, got 1"}};
  for (auto const& [length, message] : fields) {
    auto content = row(pair("0123456789abcdef", 8, named("0123456789abcdef")));
    auto const cut = whole.begin() + static_cast<std::ptrdiff_t>(length);
    content.insert(content.end(), whole.begin(), cut);
    add("cut tensor, " + std::to_string(length), file(1, 1, content), "tensor \"t\", " + message);
  }
  return result;
}

/// What the file is refused with, or nothing.
[[nodiscard]] auto outcome(std::span<std::byte const> content) -> std::string {
  try {
    (void)gguf(content, "bad.gguf");
  } catch (file_error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("gguf: more than a hundred hostile files are refused, each with what is wrong with it") {
  auto count = 0;
  for (auto const& each : {starts(), names(), values(), tensor_lists()})
    for (auto const& [name, content, message] : each) {
      INFO(name);
      auto const said = outcome(content);
      CHECK_THAT(said, Catch::StartsWith("bad.gguf: ") && Catch::Contains(message));
      CHECK(said.size() < 400);
      ++count;
    }
  CHECK(count >= 150);
}
TEST_CASE("gguf: a file cut anywhere before its last tensor's end is refused") {
  auto content = gguf_writer{};
  content.set("general.architecture", "llama");
  content.set_array("a.texts", std::vector<std::string>{"one", "two"});
  auto const numbers = std::vector<float>(32, 1.F);
  content.add_numbers("a", ggml_type::q4_0, {32}, numbers);
  content.add_numbers("b", ggml_type::f32, {2, 16}, numbers);
  auto const header = content.header();
  auto whole = bytes{};
  for (auto const part : content.parts(header)) whole.append(part);
  CHECK(outcome(whole).empty());
  for (auto n = std::size_t{0}; n < whole.size(); ++n)
    CHECK_FALSE(outcome(std::span{whole}.first(n)).empty());
}
TEST_CASE("gguf: what is only unusual is read") {
  CHECK(outcome(file(0, 0)).empty());
  CHECK(outcome(tensors(1, entry("scalar", {}))).empty());
  CHECK(outcome(tensors(1, entry("far", {4}, 0, 96))).empty());
  CHECK(outcome(tensors(2, row(entry("b", {16}, 0, 64), entry("a", {16})))).empty());
  CHECK(outcome(file(0, 1, array("none", 8, 0, {}))).empty());
  CHECK(outcome(file(0, 1, pair("general.alignment", 4, row(u32{1} << 31U)))).empty());
}
TEST_CASE("gguf: a type that is known by name is listed, and its data are not handed out") {
  auto const content = tensors(1, entry("t", {256}, 12), 160);
  auto const read = gguf(content, "bad.gguf");
  CHECK(read.tensors()[0].type->name == "Q4_K");
  CHECK(read.tensors()[0].bytes.size() == 144);
  CHECK_THROWS_WITH(read.data(read.tensors()[0]),
                    Catch::Contains("bad.gguf: tensor \"t\": expected a type of F32, F16, BF16, "
                                    "Q4_0, Q4_1, Q8_0, got Q4_K"));
}
