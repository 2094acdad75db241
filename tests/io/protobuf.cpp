// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/protobuf.hpp>

#include <array>
#include <limits>
#include <vector>

using namespace tessera;
using namespace std::string_literals;

namespace {
auto message() -> protobuf_writer { return {}; }
}  // namespace

// -- values: by hand, and the examples of the format's description --------------------------------
TEST_CASE("protobuf: whole numbers go out by seven bits, the low ones first") {
  CHECK(message().integer(1, 150).bytes() == "\x08\x96\x01");
  CHECK(message().integer(1, 0).bytes() == "\x08\x00"s);
  CHECK(message().integer(1, 127).bytes() == "\x08\x7F");
  CHECK(message().integer(1, true).bytes() == "\x08\x01");
  CHECK(message().integer(16, 128U).bytes() == "\x80\x01\x80\x01");
  CHECK(message().integer(1, std::numeric_limits<std::uint64_t>::max()).bytes() ==
        "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
  enum class kind : std::uint8_t { second = 2 };
  CHECK(message().integer(3, kind::second).bytes() == "\x18\x02");
}
TEST_CASE("protobuf: a negative number has ten bytes, whatever its width is") {
  auto const minus_two = "\x08\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s;
  CHECK(message().integer(1, -2).bytes() == minus_two);
  CHECK(message().integer(1, std::int64_t{-2}).bytes() == minus_two);
  CHECK(message().integer(1, std::int8_t{-2}).bytes() == minus_two);
}
TEST_CASE("protobuf: numbers of a width, the low byte first") {
  CHECK(message().number(1, 1.0F).bytes() == "\x0D\x00\x00\x80\x3F"s);
  CHECK(message().number(2, -2.0).bytes() == "\x11\x00\x00\x00\x00\x00\x00\x00\xC0"s);
}
TEST_CASE("protobuf: texts, bytes and messages tell their length") {
  CHECK(message().text(2, "testing").bytes() == "\x12\x07testing");
  CHECK(message().bytes(2, std::string_view{"\xE9"}).bytes() == "\x12\x01\xE9");
  CHECK(message().text(2, "\xE9").bytes() == "\x12\x03\xEF\xBF\xBD");
  CHECK(message().text(2, "").bytes() == "\x12\x00"s);
  auto const two = std::array{std::byte{0}, std::byte{255}};
  CHECK(message().bytes(2, two).bytes() == "\x12\x02\x00\xFF"s);
  CHECK(message().message(3, message().integer(1, 150)).bytes() == "\x1A\x03\x08\x96\x01");
  CHECK(message().text(1, std::string(300, 'x')).bytes() == "\x0A\xAC\x02" + std::string(300, 'x'));
}
TEST_CASE("protobuf: packed fields") {
  CHECK(message().packed(4, std::vector{3, 270, 86942}).bytes() ==
        "\x22\x06\x03\x8E\x02\x9E\xA7\x05");
  CHECK(message().packed(1, std::vector<double>{1}).bytes() ==
        "\x0A\x08\x00\x00\x00\x00\x00\x00\xF0\x3F"s);
  CHECK(message().packed(1, std::vector<float>{1, 0}).bytes() ==
        "\x0A\x08\x00\x00\x80\x3F\x00\x00\x00\x00"s);
  CHECK(message().packed(1, std::vector<std::int64_t>{}).bytes() == "\x0A\x00"s);
}
TEST_CASE("protobuf: fields follow each other as they are added") {
  auto const m = message().integer(2, 1).text(1, "a").integer(2, 0);
  CHECK(m.bytes() == "\x10\x01\x0A\x01\x61\x10\x00"s);
  CHECK(m.size() == 7);
}
