// SPDX-License-Identifier: MIT
#include <support/inner_lanes.hpp>
#include <support/test.hpp>
#include <tessera/layers/self_attention.hpp>

using namespace tessera;

using options = self_attention_options;
template <std::size_t F, options O> using layer = self_attention<F, O>;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<self_attention<8>, shape<5, 2, 8>> &&
              accepts<self_attention<8>, shape<5, 8>>);
static_assert(not accepts<self_attention<8>, shape<5, 2, 7>>);
static_assert(not accepts<self_attention<8>, shape<8>>, "there is no time");
using cached =
    layer<16,
          options{.heads = 4, .kv_heads = 2, .causal = true, .context = 20, .rotary_base = 1e4}>;
static_assert(streams<cached> && stateful<cached>);
static_assert(not streams<layer<16, options{.causal = true}>>, "without a cache there is no step");
static_assert(parameter_count<cached> == 16 * (16 + 8 + 8 + 16) + 16 + 8 + 8 + 16);
static_assert(memory_of<cached, tensor<float, shape<3, 16>>, call_mode::streaming>.state ==
              2 * 20 * 3 * 8 * sizeof(float) + storage_alignment);
static_assert(memory_of<cached, tensor<float, shape<9, 3, 16>>, call_mode::training>.state == 0);

/// The attention of a forecasting model: no output projection, and the names of its own.
struct plain_names {
  static constexpr auto query = "query";
  static constexpr auto key = "key";
  static constexpr auto value = "value";
};
template <std::size_t H>
using forecast = sequential<
    named<"lstm", lstm<15, H, lstm_options{.layers = 2}>>,
    named<"", residual<named<"attention",
                             self_attention<H, options{.out_projection = false}, plain_names>>>>,
    named<"layer_norm", layer_norm<H>>, named<"fc", linear<H, 1>>>;
static_assert(parameter_count<forecast<64>> == 66'689);
static_assert(
    reads_output(about_of<self_attention<8, options{.out_projection = false}>>.backward_reads));

// -- norms of heads, and one matrix for all, with a cache
constexpr auto qwen3 = options{.heads = 4,
                               .kv_heads = 2,
                               .head_width = 6,
                               .causal = true,
                               .context = 20,
                               .rotary_base = 1e4,
                               .pairs = rotary_pairs::neighbours,
                               .head_norms = true,
                               .bias = false,
                               .out_bias = false};
static_assert(parameter_count<layer<16, qwen3>> == 16 * 6 * (4 + 2 + 2 + 4) + 2 * 6);
constexpr auto one_head =
    options{.causal = true, .context = 20, .bias = false, .out_projection = true};
constexpr auto halves_of_24 = options{.heads = 6,
                                      .kv_heads = 2,
                                      .head_width = 10,
                                      .causal = true,
                                      .half_cache = true,
                                      .context = 40,
                                      .rotary_base = 1e4};
constexpr auto one_matrix = options{.heads = 4, .causal = true, .context = 20};
template <std::size_t F, options O> using fused = attention_layer<F, O, gpt2_projections>;
static_assert(parameter_count<fused<16, one_matrix>> == 4 * 16 * 17);
static_assert(
    memory_of<fused<16, one_matrix>, tensor<float, shape<3, 16>>, call_mode::streaming>.state ==
    2 * 20 * 3 * 16 * sizeof(float) + storage_alignment);

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<37, 2, 24>, B>;
TEST_CASE("self_attention: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<layer<24, options{.heads = 4}>>>();
  test::equals_reference<batch, sequential<layer<24, options{.heads = 6,
                                                             .kv_heads = 2,
                                                             .head_width = 10,
                                                             .causal = true,
                                                             .rotary_base = 1e4,
                                                             .bias = false}>>>();
  test::equals_reference<batch, sequential<layer<24, options{.heads = 2, .batch_first = true}>>>();
}
TEST_CASE("self_attention: gradient check") {
  using X = tensor<double, shape<at_most(7), at_most(3), 6>>;
  test::passes_gradient_check<sequential<layer<6, options{.heads = 2}>>, X>(1, 0.7, 5, 2);
  test::passes_gradient_check<sequential<layer<6, options{.heads = 4,
                                                          .kv_heads = 2,
                                                          .head_width = 2,
                                                          .causal = true,
                                                          .context = 9,
                                                          .rotary_base = 100,
                                                          .out_bias = false}>>,
                              X>(1, 0.7, 6, 2);
  test::passes_gradient_check<sequential<layer<6, options{.heads = 3, .batch_first = true}>>,
                              tensor<double, shape<2, 2, 3, 6>>>();
}
TEST_CASE("self_attention: norms of heads, neighbours and one matrix have the laws of the rest") {
  test::equals_reference<batch, sequential<layer<24, qwen3>>>();
  test::equals_reference<
      batch, sequential<fused<24, options{.heads = 2, .causal = true, .context = 40}>>>();
  using X = tensor<double, shape<at_most(7), at_most(3), 6>>;
  test::passes_gradient_check<residual<layer<6, qwen3>>, X>(1, 0.7, 5, 2);
  test::passes_gradient_check<
      sequential<fused<6, options{.heads = 2, .causal = true, .context = 9}>>, X>(1, 0.7, 6, 2);
  using Y = tensor<float, shape<20, 3, 16>>;
  test::streams_like_a_sequence<sequential<layer<16, qwen3>>, Y>();
  test::streams_like_a_sequence<sequential<fused<16, one_matrix>, residual<fused<16, one_matrix>>>,
                                Y>();
}
TEST_CASE("self_attention: names of GPT-2 and of Qwen3") {
  auto const paths = []<class Model>(std::type_identity<Model>) {
    auto text = std::string{};
    auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
    for_each_parameter(
        [&](path_name const& path, auto const&) { text += path.c_str() + std::string(" "); }, *p);
    return text;
  };
  CHECK(paths(std::type_identity<fused<16, one_matrix>>{}) ==
        "c_attn.weight c_attn.bias c_proj.weight c_proj.bias ");
  CHECK(paths(std::type_identity<layer<16, qwen3>>{}) ==
        "q_proj.weight k_proj.weight v_proj.weight o_proj.weight q_norm.weight k_norm.weight ");
}
TEST_CASE("self_attention: one matrix with a cache has the bits of one without") {
  using plain = attention_layer<16, options{.heads = 4, .causal = true}>;
  using X = tensor<float, shape<20, 3, 16>>;
  auto const p = std::make_unique<parameters_of<plain, owned<float>>>();
  auto const q = std::make_unique<parameters_of<fused<16, one_matrix>, owned<float>>>();
  auto const x = std::make_unique<X>();
  test::fill_parameters(*p, 1);
  test::fill_parameters(*q, 1);
  test::fill(*x, 2);
  auto const a = std::make_unique<inference<plain, X>>();
  auto const b = std::make_unique<inference<fused<16, one_matrix>, X>>();
  CHECK(test::same_bits((*a)(*p, *x), (*b)(*q, *x)));
}
TEST_CASE("self_attention: a stream has the bits of the sequence") {
  using X = tensor<float, shape<20, 3, 16>>;
  test::streams_like_a_sequence<sequential<cached>, X>();
  test::streams_like_a_sequence<sequential<linear<16, 16>, residual<cached>, cached>, X>();
}
/// An inference of so many samples, and of as many again as the cache has room for.
template <class Model, std::size_t Times> void has_bits_of_reference() {
  auto const results = []<class B>(std::type_identity<B>) {
    using X = tensor<float, shape<Times, 2, 24>, B>;
    auto const p = std::make_unique<parameters_of<Model, owned<float, B>>>();
    auto const x = std::make_unique<X>();
    auto const run = std::make_unique<inference<Model, X>>();
    test::fill_parameters(*p, 4);
    test::fill(*x, 5);
    auto const y = (*run)(*p, *x);
    auto all = std::vector<float>(y.data(), y.data() + y.size());
    if constexpr (2 * Times <= 40) {
      auto const next = run->resume(*p, *x);
      all.insert(all.end(), next.data(), next.data() + next.size());
    }
    return all;
  };
  CHECK(test::same_bits(results(std::type_identity<simd>{}),
                        results(std::type_identity<reference>{})));
}
TEST_CASE("self_attention: a cache of halves sees keys and values rounded to f16") {
  constexpr auto rounded = [] {
    auto o = one_head;
    o.half_cache = true;
    return o;
  }();
  using exact = sequential<layer<4, one_head>>;
  using halves = sequential<layer<4, rounded>>;
  using X = tensor<float, shape<20, 3, 4>>;
  constexpr auto state_of = []<class Model>(std::type_identity<Model>) {
    return memory_of<Model, tensor<float, shape<16, 4>>, call_mode::streaming>.state;
  };
  static_assert(state_of(std::type_identity<exact>{}) - state_of(std::type_identity<halves>{}) ==
                2 * 20 * 16 * 4 * (sizeof(float) - sizeof(f16)));
  test::streams_like_a_sequence<halves, X>();
  test::streams_like_a_sequence<sequential<layer<24, halves_of_24>>,
                                tensor<float, shape<40, 2, 24>>>();
  has_bits_of_reference<sequential<layer<24, halves_of_24>>, 40>();
  has_bits_of_reference<sequential<layer<24, halves_of_24>>, 3>();
  // Without turns and projections a key is a sample: where samples are halves, nothing is rounded.
  auto const x = std::make_unique<X>();
  test::fill(*x, 3);
  auto const y_of = [&]<class Model>(std::type_identity<Model>, X const& from) {
    auto p = parameters_of<Model, owned<float>>{};
    for_each_parameter(
        [](path_name const&, auto& w) {
          w = {};
          if constexpr (shape_of<std::remove_cvref_t<decltype(w)>>::rank == 2)
            for (auto i = std::size_t{0}; i < 4; ++i) w(i, i) = 1;
        },
        p);
    auto const run = std::make_unique<inference<Model, X>>();
    auto result = std::make_unique<X>();
    *result = (*run)(p, from);
    return result;
  };
  auto const of_floats = y_of(std::type_identity<exact>{}, *x);
  auto const of_halves = y_of(std::type_identity<halves>{}, *x);
  auto apart = 0.0F;
  for (auto i = std::size_t{0}; i < x->size(); ++i)
    apart = std::max(apart, std::abs(of_floats->values[i] - of_halves->values[i]));
  CHECK(apart > 0);
  CHECK(apart < 1e-3);
  for (auto& v : x->values) v = static_cast<float>(f16(v));
  CHECK(test::same_bits(*y_of(std::type_identity<exact>{}, *x),
                        *y_of(std::type_identity<halves>{}, *x)));
  // What no half holds becomes infinite, and the scores say so.
  x->values[0] = 1e6F;
  CHECK_FALSE(std::isfinite(y_of(std::type_identity<halves>{}, *x)->values[0]));
}
TEST_CASE("self_attention: a prompt and steps after it have the bits of the sequence") {
  using X = tensor<float, shape<at_most(20), 2, 16>>;
  using model = sequential<cached>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const x = std::make_unique<X>();
  test::fill_parameters(*p, 1, 0.5);
  test::fill(*x, 2);
  auto const all_at_once = std::make_unique<inference<model, X>>();
  auto const in_parts = std::make_unique<inference<model, X>>();
  auto const stream = std::make_unique<streaming<model, tensor<float, shape<2, 16>>>>();
  auto const y = (*all_at_once)(*p, x->sized(20));
  auto const first = (*in_parts)(*p, x->sized(7));
  for (auto t = std::size_t{0}; t < 7; ++t) CHECK(test::same_bits(first[t], y[t]));
  stream->state = in_parts->state;
  auto const next = view<float const, shape<at_most(20), 2, 16>>{x->data() + 7 * 32, {{{5}}}};
  auto const second = in_parts->resume(*p, next);
  for (auto t = std::size_t{0}; t < 5; ++t) {
    CHECK(test::same_bits(second[t], y[7 + t]));
    CHECK(test::same_bits(stream->step(*p, x->sized(20)[7 + t]), y[7 + t]));
  }
  CHECK_THROWS_WITH(
      in_parts->resume(*p, view<float const, shape<at_most(20), 2, 16>>{x->data(), {{{9}}}}),
      "attention: the context is full");
}
TEST_CASE("self_attention: a cache of other lanes than it began with is refused") {
  using X = tensor<float, shape<at_most(20), at_most(3), 16>>;
  using model = sequential<cached>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const x = std::make_unique<X>();
  test::fill_parameters(*p, 1, 0.5);
  test::fill(*x, 2);
  auto const of_lanes = [&](std::size_t lanes, std::size_t times) {
    return view<float const, shape_of<X>>{x->data(), {{{times, lanes}}}};
  };
  auto const run = std::make_unique<inference<model, X>>();
  (void)(*run)(*p, of_lanes(3, 2));
  CHECK_THROWS_WITH(run->resume(*p, of_lanes(2, 2)),
                    "attention: a cache goes on with the lanes that it began with");
  (void)run->resume(*p, of_lanes(3, 2));
  (void)(*run)(*p, of_lanes(2, 2));  // begins anew
  (void)run->resume(*p, of_lanes(2, 1));
}
TEST_CASE("self_attention: lanes of a second axis go on together") {
  test::refuses_other_inner_lanes<cached,
                                  tensor<float, shape<at_most(6), at_most(2), at_most(3), 16>>>();
}

// -- reference: tests/reference/self_attention.py -------------------------------------------------
template <std::size_t F, options O, class S> void agrees(test::golden const& g, char const* name) {
  INFO(name);
  test::agrees_with_torch<sequential<layer<F, O>>, tensor<float, S>>(g, name);
}
TEST_CASE("self_attention: agrees with torch in eight configurations") {
  auto const g = test::golden("self_attention");
  agrees<8, {}, shape<5, 2, 8>>(g, "one.");
  agrees<8, {.heads = 2, .causal = true}, shape<9, 2, 8>>(g, "causal.");
  agrees<12, {.heads = 4, .kv_heads = 2}, shape<6, 3, 12>>(g, "grouped.");
  agrees<12, {.heads = 6, .kv_heads = 1, .causal = true}, shape<30, 1, 12>>(g, "single.");
  agrees<16, {.heads = 2, .causal = true, .rotary_base = 1e4}, shape<12, 2, 16>>(g, "rotary.");
  agrees<16,
         {.heads = 4,
          .kv_heads = 2,
          .head_width = 6,
          .causal = true,
          .rotary_base = 500,
          .bias = false,
          .out_bias = false},
         shape<18, 2, 16>>(g, "llama.");
  agrees<6, {.heads = 3, .head_width = 4, .out_bias = false}, shape<7, 2, 6>>(g, "wide.");
  agrees<8, {.heads = 2, .batch_first = true}, shape<2, 3, 4, 8>>(g, "image.");
}
TEST_CASE("self_attention: agrees with torch by other pairs, norms of heads and scaled positions") {
  auto const g = test::golden("self_attention");
  agrees<8,
         {.heads = 4,
          .kv_heads = 2,
          .head_width = 4,
          .causal = true,
          .rotary_base = 500,
          .pairs = rotary_pairs::neighbours,
          .out_bias = false},
         shape<9, 1, 8>>(g, "neighbours.");
  agrees<8,
         {.heads = 4,
          .kv_heads = 2,
          .head_width = 4,
          .causal = true,
          .rotary_base = 1e6,
          .head_norms = true,
          .norm = {.epsilon_1e12 = 1'000'000'000},
          .bias = false,
          .out_bias = false},
         shape<9, 2, 8>>(g, "norms.");
  agrees<8,
         {.heads = 2,
          .kv_heads = 1,
          .head_width = 6,
          .causal = true,
          .rotary_base = 100,
          .pairs = rotary_pairs::neighbours,
          .scaling = {.kind = rotary_kind::linear, .factor = 4},
          .head_norms = true,
          .bias = false,
          .out_bias = false},
         shape<9, 1, 8>>(g, "linear.");
}
TEST_CASE("self_attention: without an output projection, by names of its own, as torch") {
  using heads_alone = self_attention<8,
                                     options{.heads = 2,
                                             .kv_heads = 1,
                                             .head_width = 6,
                                             .causal = true,
                                             .rotary_base = 100,
                                             .out_projection = false},
                                     plain_names>;
  static_assert(std::same_as<heads_alone::output_shape<shape<9, 2, 8>>, shape<9, 2, 12>>);
  auto const g = test::golden("self_attention");
  test::agrees_with_torch<sequential<heads_alone>, tensor<float, shape<9, 2, 8>>>(g, "heads.");
  test::passes_gradient_check<sequential<heads_alone, tanh_layer>,
                              tensor<double, shape<5, 2, 8>>>();
  auto paths = std::string{};
  auto const p = std::make_unique<parameters_of<as_layer<forecast<4>>, owned<float>>>();
  for_each_parameter(
      [&](path_name const& path, auto const&) { paths += path.c_str() + std::string(" "); }, *p);
  CHECK(paths.find("attention.query.weight attention.query.bias attention.key.weight") !=
        std::string::npos);
  CHECK(paths.find("out") == std::string::npos);
}
