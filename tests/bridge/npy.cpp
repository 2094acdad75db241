// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/bridge/npy.hpp>

#include <locale>

using namespace tessera;

TEST_CASE("npy: what is saved is loaded") {
  auto const folder = test::folder{};
  auto const x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 6}};
  save_npy(folder / "x.npy", x);
  auto y = tensor<float, shape<2, 3>>{};
  load_npy(folder / "x.npy", y);
  CHECK(test::same_bits(x, y));
  auto const a = load_npy<float>(folder / "x.npy");
  CHECK(a.dimension() == 2);
  CHECK(a(1, 0) == 4);
}
TEST_CASE("npy: the bytes are NumPy's") {
  // numpy.save of numpy.array([1, 2], dtype="<f8"), NumPy 2.
  auto const folder = test::folder{};
  save_npy(folder / "x.npy", tensor<double, shape<2>>{{1, 2}});
  auto const text = test::text_of(folder / "x.npy");
  auto const header = std::string{"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"};
  CHECK(text.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(text.find(header) == 10);
  CHECK((text.size() - 16) % 64 == 0);
}
TEST_CASE("npy: numbers begin at a multiple of 64, the first behind a header of any length") {
  auto const folder = test::folder{};
  for (auto rank = std::size_t{0}; rank < 70; ++rank) {  // three letters for each
    auto const shape = std::vector<std::size_t>(rank, 1);
    save_npy(folder / "x.npy", xt::xarray<double>(shape, 7.0));
    auto const text = test::text_of(folder / "x.npy");
    auto const begin = text.size() - sizeof(double);
    CHECK(begin % 64 == 0);
    CHECK(begin - text.find('}') <= 1 + 64);
    CHECK(text[begin - 1] == '\n');
    auto const found = load_npy<double>(folder / "x.npy");
    CHECK(std::ranges::equal(found.shape(), shape));
    CHECK(found.flat(0) == 7);
  }
}
TEST_CASE("npy: errors name the file") {
  auto const folder = test::folder{};
  save_npy(folder / "x.npy", tensor<double, shape<4>>{{1, 2, 3, 4}});
  auto y = tensor<double, shape<3>>{{7, 7, 7}};
  CHECK_THROWS_WITH(load_npy(folder / "x.npy", y),
                    Catch::Contains("x.npy: expected an array of shape (3,), got (4,)"));
  CHECK(y(0) == 7);
  auto z = tensor<float, shape<4>>{};
  CHECK_THROWS_WITH(load_npy(folder / "x.npy", z), Catch::Contains("x.npy: is no .npy file of"));
  auto const whole = test::text_of(folder / "x.npy");
  for (auto n = std::size_t{0}; n < whole.size(); ++n) {
    write_file(folder / "cut.npy", whole.substr(0, n));
    CHECK_THROWS_AS(load_npy<double>(folder / "cut.npy"), file_error);
  }
  CHECK_THROWS_AS(load_npy<double>(folder / "none.npy"), file_error);
}

namespace {
/// A file of format 1.0, or another one, with this header and these bytes after it.
void write_npy(std::filesystem::path const& path, std::string header, std::string const& data,
               std::array<char, 2> version = {1, 0}) {
  header += '\n';
  auto lead = std::string{"\x93NUMPY"} + version[0] + version[1];
  for (auto i = 0U; i < (version[0] == 1 ? 2U : 4U); ++i)
    lead += static_cast<char>(header.size() >> 8U * i & 255U);
  write_file(path, lead + header + data);
}
}  // namespace

TEST_CASE("npy: a header that says something impossible is refused") {
  auto const folder = test::folder{};
  auto const path = folder / "x.npy";
  auto const data = std::string(48, '\1');
  auto const with = [&](std::string const& shape) {
    write_npy(path, "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }", data);
    return path;
  };
  CHECK(load_npy<float>(with("(3, 4)")).size() == 12);
  CHECK(load_npy<float>(with("(12,)")).dimension() == 1);
  for (auto const* shape : {"(-3, -4)",
                            "(4294967296, 4294967296)",
                            "(2305843009213693952, 2, 2, 2)",
                            "(99999999999999999999,)",
                            "(9223372036854775807, 2)",
                            "(1000000000000,)",
                            "(a, b)",
                            "(3.0, 4)",
                            "(3,,4)",
                            "(3 4)",
                            "(12)",
                            ")3, 4(",
                            "(3, 4",
                            "(3, 3)",
                            "(3, 5)",
                            "()",
                            "(0,)",
                            "(+3, 4)",
                            "(3, 4) 5",
                            "'x'"}) {
    INFO(shape);
    CHECK_THROWS_WITH(load_npy<float>(with(shape)), Catch::Contains("x.npy: is no .npy file of"));
  }
  for (auto const* header :
       {"{}", "{'descr': }", "{'shape': (3, 4), 'descr': '<f4'}", "",
        "{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3, 4), }",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'more': 'x'}",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x"}) {
    INFO(header);
    write_npy(path, header, data);
    CHECK_THROWS_WITH(load_npy<float>(path), Catch::Contains("x.npy: is no .npy file of"));
  }
  write_npy(path, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", data + "x");
  CHECK_THROWS_WITH(load_npy<float>(path), Catch::Contains("bytes follow its array"));
}
TEST_CASE("npy: the header of versions 2.0 and 3.0 may be longer, and there is no other version") {
  auto const folder = test::folder{};
  auto const path = folder / "x.npy";
  auto const header = std::string{"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"} +
                      std::string(70'000, ' ');
  for (auto const major : {'\2', '\3'}) {
    write_npy(path, header, "\4\5\6", {major, 0});
    auto const x = load_npy<std::uint8_t>(path);
    REQUIRE(x.size() == 3);
    CHECK(x(0) == 4);
    CHECK(x(2) == 6);
  }
  for (auto const version : {std::array{'\0', '\0'}, {'\4', '\0'}, {'\2', '\1'}}) {
    write_npy(path, header, "\4\5\6", version);
    CHECK_THROWS_WITH(load_npy<std::uint8_t>(path), Catch::Contains("it has no header"));
  }
  write_npy(path, header + std::string(1'000'000, ' '), "\4\5\6", {2, 0});
  CHECK_THROWS_WITH(load_npy<std::uint8_t>(path), Catch::Contains("longer than a megabyte"));
}
TEST_CASE("npy: arrays by columns, of bytes, of nothing, and of one number") {
  auto const folder = test::folder{};
  auto const path = folder / "x.npy";
  write_npy(path, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6");
  auto const columns = load_npy<std::uint8_t>(path);
  for (auto i = std::size_t{0}; i < 6; ++i) CHECK(columns(i / 3, i % 3) == i + 1);
  CHECK(columns.storage()[1] == 2);
  write_npy(path, "{\"shape\": (0, 3), 'fortran_order':False,'descr':'|b1'}", "");
  CHECK(load_npy<bool>(path).size() == 0);
  write_npy(path, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\2");
  CHECK_THROWS_WITH(load_npy<bool>(path), Catch::Contains("a bool is neither 0 nor 1"));
  write_npy(path, "{'descr': '|i1', 'fortran_order': False, 'shape': (), }", "\7");
  CHECK(load_npy<std::int8_t>(path)() == 7);
}
TEST_CASE("npy: a shape has no separators of a locale in it") {
  struct grouping : std::numpunct<char> {
    [[nodiscard]] auto do_thousands_sep() const -> char override { return ','; }
    [[nodiscard]] auto do_grouping() const -> std::string override { return "\3"; }
  };
  auto const folder = test::folder{};
  auto const x = xt::xtensor<float, 2>(std::array<std::size_t, 2>{1000, 3}, 2.0F);
  auto const before = std::locale::global(std::locale(std::locale(), new grouping));
  save_npy(folder / "a.npy", x);
  std::locale::global(before);
  CHECK(test::text_of(folder / "a.npy").find("'shape': (1000, 3), }") != std::string::npos);
  CHECK(load_npy<float>(folder / "a.npy").shape(0) == 1000);
}
