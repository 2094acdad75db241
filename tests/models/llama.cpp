// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>
#include <tessera/models/llama.hpp>

using namespace tessera;

namespace {

constexpr auto base = llama_options{.vocabulary = 13,
                                    .width = 8,
                                    .blocks = 2,
                                    .heads = 4,
                                    .kv_heads = 2,
                                    .hidden = 12,
                                    .context = 20};
constexpr auto changed(auto const& change) -> llama_options {
  auto o = base;
  change(o);
  return o;
}
constexpr auto llama2 = changed([](auto& o) { o.epsilon = 1e-5; });
constexpr auto llama3 = changed([](auto& o) {
  o.epsilon = 1e-5;
  o.rotary_base = 500;
  o.scaling = {.kind = rotary_kind::llama3, .factor = 8, .context = 32};
  o.tied = true;
});
constexpr auto qwen2 = changed([](auto& o) { o.rotary_base = 1e6, o.tied = o.qkv_bias = true; });
constexpr auto qwen3 =
    changed([](auto& o) { o.rotary_base = 1e6, o.head_width = 6, o.qk_norm = true; });

template <class I, extent Time> using tokens = tensor<I, shape<Time, 2>>;
template <class X> auto drawn(X& x) -> X& {
  auto generator = torch_generator(3);
  for (auto& token : x) token = static_cast<scalar_of<X>>(generator.randint(13));
  return x;
}
template <class P> void started(P& p) { test::fill_parameters(p, 1, 0.6); }

}  // namespace

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<llama<llama2>, tokens<std::int32_t, 9>>);
static_assert(std::same_as<output_of<llama<qwen3>, tokens<std::int32_t, at_most(9)>>,
                           tensor<float, shape<at_most(9), 2, 13>>>);
static_assert(std::same_as<output_of<llama_prompt<qwen3>, tokens<std::int32_t, at_most(9)>>,
                           tensor<float, shape<2, 13>>>);
static_assert(streams<llama<llama2>> && stateful<llama<llama2>> &&
              not streams<llama_prompt<qwen2>>);
constexpr auto block_count = 8 * (4 + 2 + 2 + 4) * 2 + 3 * 8 * 12 + 2 * 8;
static_assert(parameter_count<llama<llama2>> == 2 * 13 * 8 + 2 * block_count + 8);
static_assert(parameter_count<llama<llama3>> == 13 * 8 + 2 * block_count + 8, "one matrix, once");
static_assert(parameter_count<llama<qwen2>> == 13 * 8 + 2 * (block_count + 8 + 4 + 4) + 8);
static_assert(std::same_as<parameters_of<llama<qwen2>, owned<float>>,
                           parameters_of<llama_prompt<qwen2>, owned<float>>>);
// SmolLM2-135M
constexpr auto smollm2 = llama_options{.vocabulary = 49'152,
                                       .width = 576,
                                       .blocks = 30,
                                       .heads = 9,
                                       .kv_heads = 3,
                                       .hidden = 1536,
                                       .context = 2048,
                                       .rotary_base = 1e5,
                                       .epsilon = 1e-5,
                                       .tied = true,
                                       .interleaved = true};
static_assert(parameter_count<llama<smollm2>> == 134'515'008);
static_assert(
    memory_of<llama<smollm2>, tensor<std::int32_t, shape<1>>, call_mode::streaming>.state ==
    30 * (2 * 2048 * 192 * sizeof(float) + storage_alignment) + storage_alignment);

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("llama: memory_of is what the objects take, and a step allocates nothing") {
  using X = tokens<std::int32_t, 9>;
  using model = llama<qwen3>;
  STATIC_REQUIRE(sizeof(inference<model, X>) == memory_of<model, X, call_mode::inference>.object);
  STATIC_REQUIRE(sizeof(inference<llama_prompt<qwen3>, X>) ==
                 memory_of<llama_prompt<qwen3>, X, call_mode::inference>.object);
  STATIC_REQUIRE(sizeof(differentiation<model, X>) ==
                 memory_of<model, X, call_mode::training>.object);
  using sample = sample_of<X>;
  STATIC_REQUIRE(sizeof(streaming<model, sample>) ==
                 memory_of<model, sample, call_mode::streaming>.object);
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const stream = std::make_unique<streaming<model, sample>>();
  started(*p);
  stream->state = {};
  auto const before = test::allocations();
  stream->step(*p, sample{{1, 2}});
  CHECK(test::allocations() == before);
}
TEST_CASE("llama: gradient check of a block") {
  constexpr auto small = llama_options{.width = 6,
                                       .heads = 3,
                                       .kv_heads = 1,
                                       .head_width = 4,
                                       .hidden = 5,
                                       .context = 9,
                                       .qkv_bias = true,
                                       .qk_norm = true,
                                       .interleaved = true};
  using X = tensor<double, shape<at_most(7), 2, 6>>;
  test::passes_gradient_check<llama_block<small>, X>(1, 0.6, 5);
}
TEMPLATE_TEST_CASE("llama: a prompt and steps after it have the bits of the whole sequence", "",
                   llama<qwen2>, llama<qwen3>) {
  using X = tokens<std::int32_t, at_most(20)>;
  auto const p = std::make_unique<parameters_of<TestType, owned<float>>>();
  started(*p);
  auto x = X{};
  drawn(x);
  auto const whole = std::make_unique<inference<TestType, X>>();
  auto const part = std::make_unique<inference<TestType, X>>();
  auto const stream = std::make_unique<streaming<TestType, sample_of<X>>>();
  auto const y = (*whole)(*p, x.sized(20));
  auto const first = (*part)(*p, x.sized(7));
  for (auto t = std::size_t{0}; t < 7; ++t) CHECK(test::same_bits(first[t], y[t]));
  stream->state = part->state;
  for (auto t = std::size_t{7}; t < 20; ++t)
    CHECK(test::same_bits(stream->step(*p, x.sized(20)[t]), y[t]));
}
TEST_CASE("llama: scores of the last token alone are those of all, with the same state") {
  using X = tokens<std::int32_t, at_most(20)>;
  auto const p = std::make_unique<parameters_of<llama<qwen3>, owned<float>>>();
  started(*p);
  auto x = X{};
  drawn(x);
  auto const whole = std::make_unique<inference<llama<qwen3>, X>>();
  auto const prompt = std::make_unique<inference<llama_prompt<qwen3>, X>>();
  auto const stream = std::make_unique<streaming<llama<qwen3>, sample_of<X>>>();
  auto const y = (*whole)(*p, x.sized(20));
  CHECK(test::same_bits((*prompt)(*p, x.sized(11)), y[10]));
  stream->state = prompt->state;
  CHECK(test::same_bits(stream->step(*p, x.sized(20)[11]), y[11]));
  CHECK_THROWS_WITH((*prompt)(*p, x.sized(0)),
                    "language_model: the scores of the last token of none");
}
TEST_CASE("llama: neighbours are turned as halves are, where the projections are permuted") {
  constexpr auto halves = changed([](auto& o) { o.head_width = 6; });
  constexpr auto neighbours = changed([](auto& o) { o.head_width = 6, o.interleaved = true; });
  using X = tokens<double, 9>;
  auto const p = std::make_unique<parameters_of<llama<halves>, owned<double>>>();
  auto const q = std::make_unique<parameters_of<llama<neighbours>, owned<double>>>();
  started(*p);
  for_each_parameter(
      [](path_name const& path, auto& to, auto const& from) {
        auto const name = std::string_view{path};
        auto const turned = name.find("q_proj") != name.npos || name.find("k_proj") != name.npos;
        for (auto i = std::size_t{0}; i < to.size(); ++i) {
          auto const row = i / 8;  // of heads of 6: number 2i comes from i, 2i + 1 from i + 3
          auto const source = row / 6 * 6 + row % 6 / 2 + row % 2 * 3;
          to.data()[i] = from.data()[(turned ? source : row) * 8 + i % 8];
        }
      },
      *q, *p);
  auto x = X{};
  drawn(x);
  auto const a = std::make_unique<inference<llama<halves>, X>>();
  auto const b = std::make_unique<inference<llama<neighbours>, X>>();
  auto const y = (*a)(*p, x);
  CHECK(test::distance((*b)(*q, x), {y.begin(), y.end()}) < 1e-14);
}
TEST_CASE("llama: weights that are seen in a file have the bits of owned ones") {
  using X = tokens<std::int32_t, 9>;
  auto const p = std::make_unique<parameters_of<llama<qwen3>, owned<float>>>();
  auto const seen = std::make_unique<parameters_of<llama<qwen3>, mapped<float>>>();
  started(*p);
  auto matrices = 0;
  for_each_parameter(
      [&](path_name const&, auto& to, auto const& from) {
        if constexpr (requires { to.values = from.data(); })
          to.values = from.data(), ++matrices;
        else
          to = from;
      },
      *seen, *p);
  CHECK(matrices == 2 * 7 + 2);
  auto x = X{};
  drawn(x);
  auto const a = std::make_unique<inference<llama<qwen3>, X>>();
  auto const b = std::make_unique<inference<llama<qwen3>, X>>();
  CHECK(test::same_bits((*a)(*p, x), (*b)(*seen, x)));
  auto const narrow = std::make_unique<parameters_of<llama<qwen3>, compact<float, bf16>>>();
  auto const widened = std::make_unique<parameters_of<llama<qwen3>, owned<float>>>();
  pack_parameters(*p, *narrow);
  pack_parameters(*narrow, *widened);
  CHECK(test::same_bits((*a)(*narrow, x), (*b)(*widened, x)));
  auto const columns = std::make_unique<parameters_of<llama<qwen3>, packed<float>>>();
  pack_parameters(*p, *columns);
  CHECK(test::same_bits((*a)(*columns, x), (*b)(*p, x)));
}

// -- reference: tests/reference/llama.py ----------------------------------------------------------
TEST_CASE("llama: agrees with transformers, gradients too") {
  auto const g = test::golden("llama");
  using X = tokens<float, 9>;
  test::agrees_with_torch<llama<llama2>, X>(g, "llama.", 2e-6);
  test::agrees_with_torch<llama<llama3>, X>(g, "llama3.", 2e-6);
  test::agrees_with_torch<llama<qwen2>, X>(g, "qwen2.", 2e-6);
  test::agrees_with_torch<llama<qwen3>, X>(g, "qwen3.", 2e-6);
}
