// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/io/weight_names.hpp>

using namespace tessera;

static_assert(fit_name("blk.%.attn_q", "blk.12.attn_q") == 12U);
static_assert(fit_name("output", "output") == 0U);
static_assert(not fit_name("output", "output_norm"));
static_assert(not fit_name("blk.%.attn_q", "blk..attn_q"));
static_assert(not fit_name("blk.%.attn_q", "blk.01.attn_q"), "one name for each block");
static_assert(not fit_name("blk.%.attn_q", "blk.1x.attn_q"));
static_assert(not fit_name("blk.%.attn_q", "blk.1234567890.attn_q"));
static_assert(not fit_name("blk.%.attn_q", "blk.1.attn_q.bias"));

TEST_CASE("weight_names: rows are in the order that transformers gives them") {
  auto const g = test::golden("weight_names");
  for (auto const& [heads, rows] : {std::pair{1U, 8U}, {2U, 8U}, {3U, 24U}, {4U, 32U}, {9U, 576U}})
    for (auto row = 0U; row < rows; ++row)
      CHECK(static_cast<double>(row_in_file(row, rows, heads)) ==
            g["rows." + std::to_string(heads) + "." + std::to_string(rows)][row]);
}
TEST_CASE("weight_names: no table names a parameter or a tensor twice") {
  for (auto const family : {model_family::llama, model_family::qwen2, model_family::qwen3,
                            model_family::gpt2, model_family::bert})
    for (auto const& layout : {gguf_layout(family), hugging_face_layout(family)}) {
      for (auto const& rule : layout.rules) {
        CHECK(rule.tensors[0].size() > 0);
        CHECK(std::ranges::count(layout.rules, rule.parameter, &weight_rule::parameter) == 1);
        CHECK(std::ranges::count(layout.rules, rule.tensors[0],
                                 [](auto const& r) { return r.tensors[0]; }) == 1);
        CHECK((fit_name(rule.parameter, name_in_block(rule.parameter, 7)) ==
               (rule.parameter.find('%') == std::string_view::npos ? 0U : 7U)));
      }
    }
}
TEST_CASE("weight_names: only llama's files have queries and keys in another order") {
  auto const changes = [](model_family family) {
    return std::ranges::count_if(gguf_layout(family).rules,
                                 [](auto const& r) { return r.change != weight_change::none; });
  };
  CHECK(changes(model_family::llama) == 2);
  CHECK(changes(model_family::qwen2) == 0);
  CHECK(changes(model_family::qwen3) == 0);
  CHECK(changes(model_family::gpt2) == 0);
  CHECK(changes(model_family::bert) == 0);
}
