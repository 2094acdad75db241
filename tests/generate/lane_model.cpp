// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/engine.hpp>
#include <tessera/models/gpt.hpp>
#include <tessera/models/llama.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/tensor/packed.hpp>

using namespace tessera;

namespace {

constexpr auto options = gpt_options{
    .vocabulary = 24, .width = 16, .blocks = 2, .heads = 4, .kv_heads = 2, .context = 30};
using small_gpt = gpt<options>;
/// Scores the last token of each lane alone.
using small_llama = llama<llama_options{
    .vocabulary = 24, .width = 16, .blocks = 2, .heads = 4, .kv_heads = 2, .context = 30}>;
using small_llama_of_halves = llama<llama_options{.vocabulary = 24,
                                                  .width = 16,
                                                  .blocks = 2,
                                                  .heads = 4,
                                                  .kv_heads = 2,
                                                  .head_width = 18,
                                                  .context = 30,
                                                  .half_cache = true}>;
template <class Model> using parameters = parameters_of<Model, owned<float>>;

template <class Model> auto made_parameters() {
  auto p = std::make_shared<parameters<Model>>();
  auto generator = torch_generator(1);
  Model::initialize(*p, generator);
  return p;
}
/// A lane by itself, a token at a time.
template <class Model, class Backend = default_backend> struct stream {
  using input = tensor<float, shape<1>, Backend>;
  std::unique_ptr<streaming<Model, input>> own = std::make_unique<streaming<Model, input>>();
  std::size_t seen = 0;
  stream() { clear(own->state); }
  auto read(auto const& p, std::uint32_t next) -> std::vector<float> {
    auto x = input{};
    x.values[0] = static_cast<float>(next);
    auto const y = own->step(p, x);
    ++seen;
    return {y.data(), y.data() + options.vocabulary};
  }
};

/// A lane has the bits of a stream of its own, in any company and parts.
template <class Model, class Backend = default_backend> void in_any_company(auto const& p) {
  auto const lanes = make_lanes<Model, 3, 8, Backend>(p, options.context);
  CHECK(lanes->bounds().lanes == 3);
  CHECK(lanes->bounds().rows == 8);
  CHECK(lanes->bounds().vocabulary == 24);
  auto streams = std::array<stream<Model, Backend>, 3>{};
  auto generator = torch_generator(2);
  auto compared = 0;
  for (auto step = 0; step < 60; ++step) {
    auto tokens = std::array<std::vector<std::uint32_t>, 3>{};
    auto parts = std::vector<lane_tokens>{};
    auto want = std::vector<std::vector<float>>{};
    auto left = std::size_t{8};
    for (auto lane = std::size_t{0}; lane < 3; ++lane) {
      auto const count = std::min<std::size_t>(generator.randint(5), left);
      if (streams[lane].seen + count > options.context) streams[lane] = {};  // begins anew
      if (count == 0) continue;
      left -= count;
      auto const seen = streams[lane].seen;
      for (auto i = std::size_t{0}; i < count; ++i) tokens[lane].push_back(generator.randint(24));
      for (auto const t : tokens[lane]) {
        auto scores = streams[lane].read(*p, t);
        if (t == tokens[lane].back() && streams[lane].seen == seen + count)
          want.push_back(std::move(scores));
      }
      parts.push_back({lane, seen, tokens[lane]});
    }
    if (parts.empty()) continue;
    auto got = std::vector<std::span<float const>>(parts.size());
    lanes->step(parts, got);
    REQUIRE(want.size() == got.size());
    for (auto i = std::size_t{0}; i < got.size(); ++i, ++compared)
      CHECK(std::ranges::equal(got[i], want[i]));
  }
  CHECK(compared > 80);
}

}  // namespace

TEMPLATE_TEST_CASE("streamed_lanes: a lane goes back to a part of what it has seen", "", small_gpt,
                   small_llama) {
  auto const p = made_parameters<TestType>();
  auto const lanes = make_lanes<TestType, 2, 8>(p, options.context);
  CHECK(lanes->bounds().goes_back);
  auto const scores_of = [&](std::size_t seen, std::vector<std::uint32_t> const& tokens) {
    auto const parts = std::vector<lane_tokens>{{1, seen, tokens}};
    auto got = std::vector<std::span<float const>>(1);
    lanes->step(parts, got);
    return std::vector<float>{got[0].begin(), got[0].end()};
  };
  scores_of(0, {3, 1, 4, 1, 5, 9});
  auto anew = stream<TestType>{};
  auto want = std::vector<float>{};
  for (auto const t : {3U, 1U, 4U, 2U, 7U}) want = anew.read(*p, t);
  CHECK(scores_of(3, {2, 7}) == want);
}
TEMPLATE_TEST_CASE(
    "streamed_lanes: a lane has the bits of a stream of its own, in any company and parts", "",
    small_gpt, small_llama, small_llama_of_halves) {
  in_any_company<TestType>(made_parameters<TestType>());
}
TEMPLATE_TEST_CASE("streamed_lanes: a prompt at once has the bits of its tokens one by one", "",
                   small_gpt, small_llama, small_llama_of_halves) {
  auto const p = made_parameters<TestType>();
  auto const lanes = make_lanes<TestType, 2, options.context>(p, options.context);
  auto prompt = std::vector<std::uint32_t>{};
  auto alone = stream<TestType>{};
  for (auto i = std::uint32_t{0}; i < options.context; ++i) {
    prompt.push_back((7 * i + i * i) % 24);
    auto const want = alone.read(*p, prompt.back());
    auto const part = std::array{lane_tokens{1, 0, prompt}};
    auto got = std::array<std::span<float const>, 1>{};
    lanes->step(part, got);
    CHECK(std::ranges::equal(got[0], want));
  }
}
TEST_CASE("streamed_lanes: a lane has the bits of a stream with bf16 as stored, too") {
  auto const p = made_parameters<small_llama>();
  auto const q = std::make_shared<parameters_of<small_llama, compact<float, as_stored<bf16>>>>();
  pack_parameters(*p, *q);
  in_any_company<small_llama>(q);
  in_any_company<small_llama, relaxed>(q);
}
TEMPLATE_TEST_CASE("streamed_lanes: an engine's sequences are those of a stream", "", small_gpt,
                   small_llama) {
  auto const p = made_parameters<TestType>();
  auto one = engine(make_lanes<TestType, 4, 6>(p, options.context));
  auto texts = std::vector<std::vector<std::uint32_t>>(9);
  for (auto i = std::uint32_t{0}; i < texts.size(); ++i) {
    auto prompt = std::vector<std::uint32_t>{};
    for (auto t = std::uint32_t{0}; t < 1 + 2 * i; ++t) prompt.push_back((i + 5 * t) % 24);
    auto request = generation_request{.prompt = prompt, .options = {.max_tokens = 12, .seed = i}};
    request.part = [&texts, i](generated_part const& part) {
      texts[i].push_back(part.token->token);
    };
    REQUIRE(one.submit(std::move(request)));
  }
  one.close();
  for (auto i = std::uint32_t{0}; i < texts.size(); ++i) {
    auto alone = stream<TestType>{};
    auto scores = std::vector<float>{};
    for (auto t = std::uint32_t{0}; t < 1 + 2 * i; ++t) scores = alone.read(*p, (i + 5 * t) % 24);
    auto draw = sampler({.seed = i}, options.vocabulary);
    REQUIRE(texts[i].size() == 12);
    for (auto const got : texts[i]) {
      auto const next = draw(scores).token;
      CHECK(got == next);
      if (alone.seen < options.context) scores = alone.read(*p, next);
    }
  }
}
TEST_CASE("streamed_lanes: refuses a token that is none") {
  auto const lanes = make_lanes<small_gpt, 2, 2>(made_parameters<small_gpt>(), options.context);
  auto const bad = std::vector<std::uint32_t>{24};
  auto const part = std::array{lane_tokens{0, 0, bad}};
  auto scores = std::array<std::span<float const>, 1>{};
  CHECK_THROWS_WITH(lanes->step(part, scores), "streamed_lanes: expected tokens below 24, got 24");
}
