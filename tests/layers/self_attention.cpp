// SPDX-License-Identifier: MIT
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
TEST_CASE("self_attention: a stream has the bits of the sequence") {
  using X = tensor<float, shape<20, 3, 16>>;
  test::streams_like_a_sequence<sequential<cached>, X>();
  test::streams_like_a_sequence<sequential<linear<16, 16>, residual<cached>, cached>, X>();
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
         shape<40, 2, 16>>(g, "llama.");
  agrees<6, {.heads = 3, .head_width = 4, .out_bias = false}, shape<7, 2, 6>>(g, "wide.");
  agrees<8, {.heads = 2, .batch_first = true}, shape<2, 3, 4, 8>>(g, "image.");
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
