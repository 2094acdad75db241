// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/small_llama.hpp>
#include <tessera/generate/compiled_llama.hpp>

#include <array>
#include <numeric>

using namespace test::small_llama;

namespace {

struct q4_1_and_q8_0 {
  using matrix = q4_1;
  using table = q8_0;
  static constexpr auto names = std::array{"Q4_1", "Q8_0"};
  static constexpr auto margin = 0.05;
  static auto file() -> changes { return {}; }
};
struct bf16_alone {
  using matrix = bf16;
  using table = bf16;
  static constexpr auto names = std::array{"BF16", "BF16"};
  static constexpr auto margin = 0.01;
  static auto file() -> changes {
    return {.matrices = ggml_type::bf16, .embedding = ggml_type::bf16};
  }
};

}  // namespace

TEMPLATE_TEST_CASE(
    "compiled_llama: the lanes of a file have the bits of its model, widened or as stored", "",
    q4_1_and_q8_0, bf16_alone) {
  using matrix = typename TestType::matrix;
  using table = typename TestType::table;
  auto const folder = test::folder();
  auto const path = written(folder.path() / "model.gguf", TestType::file());
  auto const file = std::make_shared<open_gguf const>(path);
  auto const widened = compile_llama<model_family::llama, options, matrix, table, 2, 8>("small");
  auto const stored =
      compile_llama<model_family::llama, options, as_stored<matrix>, as_stored<table>, 2, 8>(
          "small");
  CHECK(widened.exact);
  CHECK_FALSE(stored.exact);
  for (auto const* const each : {&widened, &stored}) {
    CHECK(each->matrices == TestType::names[0]);
    CHECK(each->embedding == TestType::names[1]);
  }
  auto const both = std::vector{widened, stored};
  CHECK(&find_compiled(both, file->content) == &both[1]);
  CHECK(&find_compiled(both, file->content, true) == both.data());
  CHECK(differences(widened.description, read_model_config(file->content)).empty());

  auto tokens = std::vector<std::uint32_t>(8);
  std::iota(tokens.begin(), tokens.end(), 3U);
  auto const scores = [&](compiled_model const& compiled) {
    auto const opened = compiled.open_lanes(file);
    auto const bounds = opened.model->bounds();
    CHECK(bounds.lanes == 2);
    CHECK(bounds.rows == 8);
    CHECK(bounds.context == 16);
    CHECK(bounds.vocabulary == 32);
    // Keys and values of two blocks, one head of 16 numbers each.
    CHECK(opened.token_bytes == 2 * 2 * 16 * (compiled.exact ? sizeof(float) : sizeof(f16)));
    CHECK(opened.stream_bytes >= 2 * 16 * opened.token_bytes);
    CHECK(opened.parameter_bytes > 0);
    auto result = std::vector<std::span<float const>>(1);
    opened.model->step(std::vector<lane_tokens>{{1, 0, tokens}}, result);
    return std::vector(result[0].begin(), result[0].end());
  };
  auto const p = std::make_unique<in_numbers>();
  load_llama<options>(file->content, *p);
  auto x = tensor<std::int32_t, shape<8, 1>>{};
  for (auto i = std::size_t{0}; i < 8; ++i) x.data()[i] = static_cast<std::int32_t>(tokens[i]);
  auto const run = std::make_unique<inference<model, tensor<std::int32_t, shape<8, 1>>>>();
  auto const y = (*run)(*p, x);
  auto const exact = scores(widened);
  CHECK(exact == std::vector<float>(y.data() + 7 * 32, y.data() + 8 * 32));
  auto const rounded = scores(stored);
  CHECK(rounded != exact);  // activations were rounded
  for (auto i = std::size_t{0}; i < 32; ++i)
    CHECK(rounded[i] == Approx(exact[i]).margin(TestType::margin));
}
