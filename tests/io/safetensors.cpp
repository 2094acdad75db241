// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <support/golden.hpp>
#include <tessera/io/safetensors.hpp>

using namespace tessera;

namespace {
[[nodiscard]] auto bytes_of_file(std::vector<double> const& values) -> std::vector<std::byte> {
  auto result = std::vector<std::byte>{};
  for (auto const v : values) result.push_back(static_cast<std::byte>(v));
  return result;
}
[[nodiscard]] auto bytes_of_file(std::string const& header, std::size_t data)
    -> std::vector<std::byte> {
  auto result = std::vector<std::byte>(8 + header.size() + data);
  for (auto i = 0U; i < 8; ++i) result[i] = static_cast<std::byte>(header.size() >> (8 * i));
  std::memcpy(result.data() + 8, header.data(), header.size());
  return result;
}
}  // namespace

TEST_CASE("safetensors: every file is judged as its own library and the format's text judge it") {
  auto const g = test::golden("safetensors_files");
  auto accepted = 0;
  auto rejected = 0;
  for (auto const& [name, values] : g) {
    INFO(name);
    if (name.starts_with("accept.")) {
      CHECK_NOTHROW(safetensors::parse(bytes_of_file(values)));
      ++accepted;
    } else if (name != "written") {
      CHECK_THROWS_AS(safetensors::parse(bytes_of_file(values)), safetensors_error);
      ++rejected;
    }
  }
  CHECK(accepted >= 14);
  CHECK(rejected >= 45);
}
TEST_CASE("safetensors: a file cut anywhere is refused") {
  auto const whole = bytes_of_file(test::golden("safetensors_files")["written"]);
  for (auto n = std::size_t{0}; n < whole.size(); ++n)
    CHECK_THROWS_AS(safetensors::parse({whole.begin(), whole.begin() + static_cast<long>(n)}),
                    safetensors_error);
  auto const file = safetensors::parse(whole);
  CHECK(file.tensors().size() == 7);
}
TEST_CASE("safetensors: the writer writes the bytes of the format's own library") {
  auto const want = bytes_of_file(test::golden("safetensors_files")["written"]);
  auto const file = safetensors::parse(want);
  auto writer = safetensors_writer{};
  for (auto const& [name, entry] : file.tensors())
    writer.add(name, entry.type, entry.shape, entry.bytes);
  for (auto const& [key, value] : file.metadata()) writer.set_metadata(key, value);
  CHECK(writer.bytes() == want);
  CHECK_THROWS_WITH(writer.add("a", dtype::u8, {0}, {}),
                    Catch::Contains("two tensors are named \"a\""));
}
TEST_CASE("safetensors: the writer takes nothing that the reader would refuse") {
  auto writer = safetensors_writer{};
  auto const data = std::vector<std::byte>(16);
  auto const refuses = [&](std::string const& name, dtype type, std::vector<std::uint64_t> shape,
                           std::size_t bytes, std::string const& message) {
    CHECK_THROWS_WITH(writer.add(name, type, std::move(shape), std::span{data}.first(bytes)),
                      message);
  };
  refuses("a", dtype::f32, {3}, 16, R"("a": shape (3,) of F32 takes 12 bytes, there are 16)");
  refuses("a", dtype::f32, {}, 0, R"("a": shape () of F32 takes 4 bytes, there are 0)");
  refuses("a", dtype::f4, {3}, 2, R"("a": the shape (3,) ends within a byte)");
  refuses("a", dtype::u8, {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0,
          R"("a": the shape (4294967296, 4294967296) is too large for any file)");
  refuses("__metadata__", dtype::u8, {16}, 16,
          R"(expected the name of a tensor, got "__metadata__", which is that of the metadata)");
  refuses("w\xFF", dtype::u8, {16}, 16,
          "the name of a tensor, \"w\xEF\xBF\xBD\": expected UTF-8, byte 1 is none");
  CHECK_THROWS_AS(writer.add_kept("a", dtype::f32, {3}, data), safetensors_error);
  CHECK_THROWS_WITH(writer.set_metadata("k\x80", "v"),
                    "a key of the metadata, \"k\xEF\xBF\xBD\": expected UTF-8, byte 1 is none");
  CHECK_THROWS_WITH(writer.set_metadata("k", "\xC0v"),
                    "the metadata's \"k\": expected UTF-8, byte 0 is none");
  CHECK_THROWS_AS(writer.set_metadata("k", "\xED\xA0\x80"), safetensors_error);

  auto const letters = std::string{"\xC3\xA4\0\x7F\"\\\xF4\x8F\xBF\xBF", 10};
  writer.add("a", dtype::f4, {4, 8}, data);
  writer.add(letters, dtype::f32, {0, 3}, {});
  writer.set_metadata(letters, letters);
  auto const file = safetensors::parse(writer.bytes());
  CHECK(file.tensors().size() == 2);
  CHECK(file["a"].bytes.size() == 16);
  CHECK(file.contains(letters));
  CHECK(file.metadata().at(letters) == letters);
}
template <class F>
concept lends_tensors = requires(F&& file) { std::forward<F>(file).tensors(); };
template <class F>
concept lends_a_tensor = requires(F&& file) { std::forward<F>(file)["a"]; };
TEST_CASE("safetensors: what a file lends does not outlive it") {
  static_assert(lends_tensors<safetensors const&> && lends_a_tensor<safetensors&>);
  static_assert(not lends_tensors<safetensors> && not lends_a_tensor<safetensors const>);
  auto writer = safetensors_writer{};
  writer.set_metadata("key", std::string(100, 'x'));
  auto count = std::size_t{0};
  for (auto const& [key, value] : safetensors::parse(writer.bytes()).metadata())
    count += value.size();
  CHECK(count == 100);
}
TEST_CASE("safetensors: a header that is too long is not written") {
  auto writer = safetensors_writer{};
  writer.set_metadata("tokenizer", std::string(100'000'100, 'a'));
  CHECK_THROWS_WITH(writer.bytes(), Catch::StartsWith("a header has at most 100000000 bytes"));
}
TEST_CASE("safetensors: messages say what was expected and what came") {
  auto const message = [](std::string const& header, std::size_t data) -> std::string {
    try {
      (void)safetensors::parse(bytes_of_file(header, data));
    } catch (safetensors_error const& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(message(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8) ==
        R"("a": shape (3,) of F32 takes 12 bytes, data_offsets give 8)");
  CHECK(message(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9) ==
        "1 bytes follow the last tensor");
  CHECK(message(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8) ==
        R"("a": shape has -2, which is no whole number >= 0)");
  CHECK(message(R"({"a":1,"a":2})", 8) == R"(the header names "a" twice)");
  CHECK(message(R"([1])", 0) == "the header does not begin with '{'");
}
TEST_CASE("safetensors: a nesting without end needs no stack") {
  auto const deep = std::string(1'000'000, '[');
  CHECK_THROWS_AS(safetensors::parse(bytes_of_file("{\"a\":" + deep, 0)), safetensors_error);
  auto const whole = deep + std::string(deep.size(), ']');
  CHECK_THROWS_WITH(safetensors::parse(bytes_of_file(R"({"a":{"dtype":)" + whole + "}}", 0)),
                    Catch::Contains("more than 64 levels"));
}
TEST_CASE("safetensors: the file is named in what goes wrong with it") {
  auto const folder = test::folder{};
  write_file(folder / "broken.safetensors", "1234");
  CHECK_THROWS_WITH(safetensors::read(folder / "broken.safetensors"),
                    Catch::Contains("broken.safetensors: expected at least 8 bytes, got 4"));
  CHECK_THROWS_AS(safetensors::read(folder / "none.safetensors"), file_error);
}
TEST_CASE("safetensors: an archive of torch.save is called one, with the way out") {
  auto const folder = test::folder{};
  write_file(folder / "m.pt", "PK\3\4" + std::string(200, '\0'));
  CHECK_THROWS_WITH(safetensors::read(folder / "m.pt"),
                    Catch::Contains("is a zip archive, as torch.save writes") &&
                        Catch::Contains("safetensors.torch.save_file"));
}
TEST_CASE("safetensors: a file that is larger than its header says is refused before it is read") {
  auto const folder = test::folder{};
  write_file(folder / "sparse", std::string(8, '\0'));
  std::filesystem::resize_file(folder / "sparse", std::uintmax_t{50} << 30);
  CHECK_THROWS_WITH(safetensors::read(folder / "sparse"),
                    Catch::Contains("sparse: the header does not begin with"));
  auto const header = std::string{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"};
  auto const small = bytes_of_file(header, 8);
  write_file(folder / "long", {small});
  std::filesystem::resize_file(folder / "long", std::uintmax_t{50} << 30);
  CHECK_THROWS_WITH(safetensors::read(folder / "long"),
                    Catch::Contains("bytes follow the last tensor"));
}
TEST_CASE("safetensors: bytes of another owner are seen, not copied; a move keeps what is seen") {
  auto const whole = bytes_of_file(test::golden("safetensors_files")["written"]);
  auto seen = safetensors::look(whole);
  auto read = safetensors::parse(whole);
  auto const moved = std::move(read);
  for (auto const& [name, entry] : seen.tensors()) {
    CHECK(std::ranges::equal(entry.bytes, moved[name].bytes));
    if (not entry.bytes.empty()) {
      CHECK(entry.bytes.data() > whole.data());
      CHECK(entry.bytes.data() < whole.data() + whole.size());
      CHECK(moved[name].bytes.data() != entry.bytes.data());
    }
  }
}
