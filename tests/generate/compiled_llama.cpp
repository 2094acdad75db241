// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/small_llama.hpp>
#include <tessera/generate/compiled_llama.hpp>

#include <numeric>

using namespace test::small_llama;

TEST_CASE("compiled_llama: the lanes of a file have the bits of its model, widened or as stored") {
  auto const folder = test::folder();
  auto const path = written(folder.path() / "model.gguf");
  auto const file = std::make_shared<open_gguf const>(path);
  auto const widened = compile_llama<model_family::llama, options, q4_1, q8_0, 2, 8>("small.json");
  auto const stored =
      compile_llama<model_family::llama, options, as_stored<q4_1>, as_stored<q8_0>, 2, 8>(
          "small.json");
  CHECK(widened.exact);
  CHECK_FALSE(stored.exact);
  CHECK(widened.matrices == "Q4_1");
  CHECK(stored.embedding == "Q8_0");
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
  CHECK(rounded != exact);  // activations were rounded to bytes
  for (auto i = std::size_t{0}; i < 32; ++i) CHECK(rounded[i] == Approx(exact[i]).margin(0.05));
}
