// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/core/block_format.hpp>

#include <cmath>
#include <cstring>

using namespace tessera;

// -- contract, values by hand ---------------------------------------------------------------------
static_assert(is_block<q4_0> && is_block<as_stored<q8_0>> && not is_block<float>);
static_assert(is_as_stored<as_stored<q4_1>> && not is_as_stored<q4_1>);
static_assert(std::is_same_v<block_format_of<as_stored<q4_1>>, q4_1>);
static_assert(sizeof(as_stored<q4_1>) == 20 && std::is_trivially_copyable_v<as_stored<q4_1>>);
static_assert(decode(q4_0{.d = 0x3C00, .quants = {0x9F}}, 0) == 7);
static_assert(decode(q4_0{.d = 0x3C00, .quants = {0x9F}}, 16) == 1);
static_assert(decode(q4_1{.d = 0x4000, .m = 0xBC00, .quants = {0x93}}, 0) == 2 * 3 - 1);
static_assert(decode(q4_1{.d = 0x4000, .m = 0xBC00, .quants = {0x93}}, 16) == 2 * 9 - 1);
static_assert(decode(q8_0{.d = 0x3800, .quants = {0, -128}}, 1) == -64);

namespace {

template <class Block> constexpr auto steps() {
  auto block = Block{};
  encode([](std::size_t i) { return static_cast<float>(i) / 4; }, block);
  return block;
}

/// Bytes as blocks.
template <class Block> auto blocks_of(std::vector<double> const& bytes) -> std::vector<Block> {
  auto memory = std::vector<unsigned char>{};
  for (auto const byte : bytes) memory.push_back(static_cast<unsigned char>(byte));
  auto result = std::vector<Block>(memory.size() / sizeof(Block));
  std::memcpy(result.data(), memory.data(), memory.size());
  return result;
}
template <class Block> void as_ggml(std::string const& name) {
  auto const g = test::golden("block_format");
  auto const check_values = [&](std::string const& kind) {
    auto const blocks = blocks_of<Block>(g[name + "." + kind + "blocks"]);
    auto const& values = g[name + "." + kind + "values"];
    REQUIRE(values.size() == blocks.size() * block_length);
    for (auto i = std::size_t{0}; i < values.size(); ++i) {
      auto const value = decode(blocks[i / block_length], i % block_length);
      auto const want = static_cast<float>(values[i]);
      if (std::memcmp(&value, &want, sizeof value) != 0)
        FAIL(name << ", number " << i << ": " << value << " for " << want);
    }
  };
  check_values("");
  check_values("any_");
  auto const& x = g["x"];
  auto const want = blocks_of<Block>(g[name + ".blocks"]);
  REQUIRE(x.size() == want.size() * block_length);
  for (auto b = std::size_t{0}; b < want.size(); ++b) {
    INFO(name << ", block " << b);
    auto block = Block{};
    encode([&](std::size_t i) { return x[b * block_length + i]; }, block);
    CHECK(std::memcmp(&block, &want[b], sizeof block) == 0);
  }
}

}  // namespace

static_assert(quant_of(steps<q8_0>(), 31) == 127 && quant_of(steps<q4_1>(), 31) == 15);
static_assert(decode(steps<q4_1>(), 0) == 0 && steps<q4_0>().d == f16(7.75F / -8).bits);

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("block_format: what is not finite is refused", "", q4_0, q4_1, q8_0) {
  auto block = TestType{};
  for (auto const bad : {INFINITY, -INFINITY, NAN})
    for (auto const at : {0U, 31U})
      CHECK_THROWS_WITH(encode([&](std::size_t i) { return i == at ? bad : 1.0F; }, block),
                        "numbers in blocks: one is not finite");
  CHECK_THROWS_WITH(encode([](std::size_t i) { return i == 3 ? 1e8F : 1.0F; }, block),
                    "numbers in blocks: a scale does not go into 16 bits");
}
TEMPLATE_TEST_CASE("block_format: numbers too small for a scale become the same", "", q4_0, q4_1,
                   q8_0) {
  auto block = TestType{};
  encode([](std::size_t i) { return static_cast<float>(i) * 1e-44F; }, block);
  for (auto i = std::size_t{0}; i < block_length; ++i) CHECK(decode(block, i) == 0);
}

// -- reference: tests/reference/block_format.py ---------------------------------------------------
TEST_CASE("block_format: blocks and their numbers are those of the gguf package") {
  as_ggml<q4_0>("Q4_0");
  as_ggml<q4_1>("Q4_1");
  as_ggml<q8_0>("Q8_0");
}
