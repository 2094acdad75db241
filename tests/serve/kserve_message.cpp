// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/kserve_message.hpp>

#include <bit>

using namespace tessera;
using Catch::Contains;

namespace {

auto message(std::string body) -> std::unique_ptr<infer_message> {
  static auto kept = http_request{};
  kept.body = std::move(body);
  return std::make_unique<infer_message>(kept);
}
auto number(auto value) -> std::string {
  auto text = std::string{};
  detail::append_number(text, value);
  return text;
}

}  // namespace

TEST_CASE("kserve_message: ids, users and sequences are numbers or texts") {
  auto const one = message(R"({"id":"a","parameters":{"user":12,"sequence_id":"s",
                               "sequence_start":true,"sequence_end":false}})");
  CHECK(one->id == "a");
  CHECK(one->user == "12");
  CHECK(one->sequence.id == "s");
  CHECK(one->sequence.start);
  CHECK_FALSE(one->sequence.end);
  CHECK(message(R"({"parameters":{"sequence_id":18446744073709551615}})")->sequence.id ==
        "18446744073709551615");
  CHECK(message(R"({"parameters":{"sequence_id":0}})")->sequence.id.empty());
  CHECK(message(R"({"parameters":{"sequence_id":""}})")->sequence.id.empty());
  CHECK(message("{}")->id.empty());
}
TEST_CASE("kserve_message: what is none is refused") {
  CHECK_THROWS_WITH(message(R"({"id":1})"), Contains("expected a text as id, got number"));
  CHECK_THROWS_WITH(message(R"({"parameters":[]})"),
                    Contains("parameters as an object, got array"));
  CHECK_THROWS_WITH(message(R"({"parameters":{"user":1.5}})"), Contains("as user, got number"));
  CHECK_THROWS_WITH(message(R"({"parameters":{"user":")" + std::string(257, 'a') + "\"}}"),
                    Contains("at most 256 bytes"));
  CHECK_THROWS_WITH(message(R"({"outputs":{}})"), Contains("expected outputs as a list"));
  CHECK_THROWS_WITH(message(R"({"outputs":[{}]})"), Contains("expected a text as name"));
}
TEST_CASE("kserve_message: numbers are written so that they are read back with their bits") {
  CHECK(number(0.1F) == "0.1");
  CHECK(number(0.1) == "0.1");
  CHECK(number(std::int64_t{-9223372036854775807}) == "-9223372036854775807");
  auto wrong = 0;
  for (auto bits = std::uint32_t{1}; bits < 0x7F800000U; bits += 40'009) {
    auto const value = std::bit_cast<float>(bits);
    wrong += static_cast<float>(std::stod(number(value))) == value ? 0 : 1;
  }
  CHECK(wrong == 0);
}
