// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>
#include <tessera/layers/attention.hpp>
#include <tessera/layers/position_embedding.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<attention_layer<8>, shape<5, 2, 8>>);
static_assert(not accepts<attention_layer<8>, shape<5, 2, 7>>);
static_assert(parameter_count<attention_layer<8>> == 3 * 8 * 8 + 3 * 8 + 8 * 8 + 8);
static_assert(not row_wise<attention_layer<8>>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("attention: equal keys give the mean of the values") {
  using model = sequential<attention_layer<2>>;
  auto p = parameters_of<model, owned<double>>{};
  auto& layer = get<0>(p);
  layer.in_proj_weight(4, 0) = 1;  // values are x; queries and keys are zero
  layer.in_proj_weight(5, 1) = 1;
  layer.out_proj.weight = {{1, 0, 0, 1}};
  auto const y = model::forward(p, tensor<double, shape<4, 1, 2>>{{1, 2, 3, 4, 5, 6, 7, 8}});
  for (auto t = std::size_t{0}; t < 4; ++t) {
    CHECK(y(t, 0, 0) == Approx(4));
    CHECK(y(t, 0, 1) == Approx(5));
  }
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<37, 2, 12>, B>;
using causal = sequential<attention_layer<12, attention_options{.heads = 2, .causal = true}>>;
TEST_CASE("attention: vectors have the bits of the reference") {
  test::equals_reference<batch, causal>();
  test::equals_reference<batch, sequential<attention_layer<12, attention_options{.heads = 3}>>>();
}
TEST_CASE("attention: a causal one does not see what comes") {
  auto const p = std::make_unique<parameters_of<causal, owned<float>>>();
  test::fill_parameters(*p, 1);
  using X = tensor<float, shape<37, 2, 12>>;
  auto const x = std::make_unique<X>();
  test::fill(*x, 2);
  auto const run = std::make_unique<inference<causal, X>>();
  (*run)(*p, *x);
  auto const before = run->y;
  for (auto i = std::size_t{20 * 24}; i < 37 * 24; ++i) x->values[i] = 100;
  (*run)(*p, *x);
  CHECK(std::memcmp(before.values, run->y.values, 20 * 24 * sizeof(float)) == 0);
  CHECK(std::memcmp(before.values, run->y.values, 21 * 24 * sizeof(float)) != 0);
}
TEST_CASE("attention: gradient check") {
  test::passes_gradient_check<sequential<attention_layer<4>>, tensor<double, shape<5, 2, 4>>>();
  test::passes_gradient_check<
      sequential<attention_layer<6, attention_options{.heads = 3, .causal = true, .bias = false}>>,
      tensor<double, shape<at_most(6), at_most(3), 6>>>(1, 0.7, 5, 2);
}

// -- a memory, and lengths ------------------------------------------------------------------------
template <attention_options O, class Names = torch_projections>
using cross = attention_layer<8, O, Names>;
template <attention_options O> using separate = cross<O, llama_projections>;
constexpr auto fused = attention_options{.heads = 2, .memory = 8};
constexpr auto apart = attention_options{.heads = 4, .kv_heads = 2, .memory = 5};
template <class T> using entries = given_as<tag::memory, tensor<T, shape<7, 3, 8>>>;
using counts = given_as<tag::lengths, tensor<std::int32_t, shape<3>>>;
static_assert(accepts<cross<fused>, shape<5, 3, 8>, entries<float>>);
static_assert(accepts<cross<fused>, shape<5, 3, 8>, entries<float>, counts>);
static_assert(not accepts<cross<fused>, shape<5, 3, 8>>, "there is no memory");
static_assert(not accepts<cross<fused>, shape<5, 2, 8>, entries<float>>, "other lanes");
static_assert(not accepts<separate<apart>, shape<5, 3, 8>, entries<float>>, "other entries");
static_assert(not accepts<cross<attention_options{.padded = true}>, shape<5, 3, 8>>);
static_assert(parameter_count<separate<apart>> == (8 + 8) * (8 + 1) + 2 * 4 * (5 + 1));
static_assert(streams<cross<fused>> && not stateful<cross<fused>>);

TEST_CASE("attention: gradient check through a memory and x, with lengths") {
  using X = tensor<double, shape<4, at_most(3), 8>>;
  using N = tensor<std::int32_t, shape<at_most(3)>>;
  auto n = N{{5, 0, 2}};
  auto wide = tensor<double, shape<5, at_most(3), 8>>{};
  auto narrow = tensor<double, shape<5, at_most(3), 5>>{};
  test::fill(wide, 1);
  test::fill(narrow, 2);
  auto const lengths = given<tag::lengths>(n.sized(3));
  test::passes_gradient_check_given<sequential<linear<8, 8>, cross<fused>>, X>(
      given<tag::memory>(wide.sized(3), lengths), 1, 0.7, 3);
  test::passes_gradient_check_given<sequential<residual<separate<apart>>, separate<apart>>, X>(
      given<tag::memory>(narrow.sized(3), lengths), 1, 0.7, 3);
  test::passes_gradient_check_given<cross<attention_options{.heads = 2, .padded = true}>,
                                    tensor<double, shape<5, at_most(3), 8>>>(lengths, 1, 0.7, 3);
  constexpr auto bare =
      attention_options{.head_width = 3, .batch_first = true, .out_projection = false, .memory = 5};
  auto images = tensor<double, shape<2, 2, 3, 5>>{};
  auto two = tensor<std::uint8_t, shape<2>>{{4, 6}};
  test::fill(images, 3);
  test::passes_gradient_check_given<sequential<separate<bare>, linear<3, 2>>,
                                    tensor<double, shape<2, 3, 8>>>(
      given<tag::memory>(images, given<tag::lengths>(two)));
}
template <class B, attention_options O, std::size_t M, class Names> auto numbers_of_cross() {
  using X = tensor<float, shape<37, 3, 8>, B>;
  using E = tensor<float, shape<29, 3, M>, B>;
  using N = tensor<float, shape<3>, B>;
  using W = tensor<float, shape<3, static_cast<extent>(O.heads), 37, 29>, B>;
  using model = cross<O, Names>;
  auto const p = std::make_unique<parameters_of<model, owned<float, B>>>();
  auto const pass =
      std::make_unique<differentiation<model, X, given_as<tag::attention_weights, W>,
                                       given_as<tag::lengths, N>, given_as<tag::memory, E>>>();
  auto const x = std::make_unique<X>();
  auto const dx = std::make_unique<X>();
  auto const e = std::make_unique<E>();
  auto const de = std::make_unique<E>();
  auto const w = std::make_unique<W>();
  auto n = N{{29, 0, 11}};
  test::poison(*pass);
  pass->gradient = {};
  test::fill_parameters(*p, 1);
  test::fill(*x, 2);
  test::fill(*e, 3);
  test::fill(pass->dy, 4);
  *de = {};
  auto const context =
      given<tag::memory>(*e, view_of<E>(*de),
                         given<tag::lengths>(n, given<tag::attention_weights>(*w, view_of<W>(*w))));
  auto const y = pass->forward(*p, *x, context);
  auto numbers = std::vector<float>(y.begin(), y.end());
  pass->backward(*p, *x, view_of<X>(*dx), pass->gradient, context);
  for (auto const* v : {dx->values, de->values, w->values})
    numbers.insert(numbers.end(), v,
                   v + (v == dx->values   ? 37 * 24
                        : v == de->values ? 29 * 3 * M
                                          : W::shape_type::capacity));
  for_each_parameter(
      [&](path_name const&, auto& g) { numbers.insert(numbers.end(), g.begin(), g.end()); },
      pass->gradient);
  for (auto lane = std::size_t{0}; lane < 3; ++lane) {
    auto sum = 0.0;
    for (auto j = std::size_t{0}; j < 29; ++j) sum += static_cast<double>((*w)(lane, 1, 36, j));
    CHECK(sum == Approx(lane == 1 ? 0 : 1));
  }
  for (auto j = std::size_t{11}; j < 29; ++j) CHECK((*de)(j, 2, 0) == 0);
  CHECK((*de)(10, 2, 0) != 0);
  return numbers;
}
TEST_CASE("attention: with lengths, vectors have the bits of the reference; lane 1 sees nothing") {
  constexpr auto two = attention_options{.heads = 2, .memory = 8, .weights = true};
  constexpr auto four = attention_options{.heads = 4, .kv_heads = 2, .memory = 5, .weights = true};
  CHECK(numbers_of_cross<simd, two, 8, torch_projections>() ==
        numbers_of_cross<reference, two, 8, torch_projections>());
  CHECK(numbers_of_cross<simd, four, 5, llama_projections>() ==
        numbers_of_cross<reference, four, 5, llama_projections>());
}
TEST_CASE("attention: with lengths on cuda, up to rounding") {
  constexpr auto two = attention_options{.heads = 2, .memory = 8, .weights = true};
  auto const a = numbers_of_cross<cuda, two, 8, torch_projections>();
  auto const b = numbers_of_cross<reference, two, 8, torch_projections>();
  REQUIRE(a.size() == b.size());
  auto worst = 0.0F;
  for (auto i = std::size_t{0}; i < a.size(); ++i) {
    auto const d = std::abs(a[i] - b[i]) / std::max(1.0F, std::abs(b[i]));
    worst = test::larger(worst, d);
  }
  CHECK(worst < 2e-5F);
}
TEST_CASE("attention: a call as a graph begins with an empty cache, and leaves what it has seen") {
  constexpr auto remembers = attention_options{.heads = 2, .causal = true, .context = 12};
  using model = sequential<position_embedding<12, 8, position_embedding_options{.streams = true}>,
                           attention_layer<8, remembers>>;
  using X = tensor<float, shape<4, 1, 8>, cuda>;
  auto const p = std::make_unique<parameters_of<model, owned<float, cuda>>>();
  auto const x = std::make_unique<X>();
  test::fill_parameters(*p, 1);
  test::fill(*x, 2);
  auto const numbers = [](auto const& y) {
    device::synchronize();
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  auto const called = std::make_unique<inference<model, X>>();
  auto const first = numbers((*called)(*p, *x));
  auto const second = numbers(called->resume(*p, *x));
  auto const run = std::make_unique<inference<model, X>>();
  auto graph = device::graph([&] { (*run)(*p, *x); });
  for (auto i = 0; i < 3; ++i) {
    graph();
    CHECK(numbers(run->y) == first);
    CHECK(numbers(run->resume(*p, *x)) == second);
    CHECK(get<1>(run->state).length == 8);
  }
}
TEST_CASE("attention: entries beyond a length change nothing, and lengths that are none throw") {
  using E = tensor<float, shape<7, 3, 8>>;
  using X = tensor<float, shape<5, 3, 8>>;
  auto const p = std::make_unique<parameters_of<cross<fused>, owned<float>>>();
  auto const run = std::make_unique<inference<cross<fused>, X, counts, entries<float>>>();
  auto x = X{};
  auto e = E{};
  auto n = tensor<std::int32_t, shape<3>>{{7, 3, 1}};
  test::fill_parameters(*p, 1);
  test::fill(x, 2);
  test::fill(e, 3);
  (*run)(*p, x, given<tag::memory>(e, given<tag::lengths>(n)));
  auto const before = run->y;
  for (auto j = std::size_t{3}; j < 7; ++j) e(j, 1, 4) = 1e30F;
  (*run)(*p, x, given<tag::memory>(e, given<tag::lengths>(n)));
  CHECK(test::same_bits(before, run->y));
  n = {{7, 8, 1}};
  CHECK_THROWS_WITH((*run)(*p, x, given<tag::memory>(e, given<tag::lengths>(n))),
                    "attention: a length is no whole number of entries");
}
TEST_CASE("attention: a memory, or lengths, of other lanes than x throw") {
  using X = tensor<float, shape<5, at_most(3), 8>>;
  using N = tensor<float, shape<at_most(3)>>;
  using model = cross<fused>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const run =
      std::make_unique<inference<model, X, given_as<tag::lengths, N>, given_as<tag::memory, X>>>();
  auto x = X{};
  auto n = N{};
  auto const of = [&](std::size_t entries, std::size_t lengths) {
    return given<tag::memory>(x.sized(entries), given<tag::lengths>(n.sized(lengths)));
  };
  CHECK_THROWS_WITH((*run)(*p, x.sized(2), of(3, 2)),
                    "attention: the memory has other lanes than x");
  CHECK_THROWS_WITH((*run)(*p, x.sized(2), of(2, 3)), "attention: each lane of x has a length");
  CHECK((*run)(*p, x.sized(2), of(2, 2)).size() == 5 * 2 * 8);
}

// -- an encoder and its decoder -------------------------------------------------------------------
template <class Layer> using around = residual<named<"", Layer>>;
using encoder = sequential<
    named<"attention", around<attention_layer<8, attention_options{.heads = 2, .padded = true}>>>,
    named<"norm", layer_norm<8>>>;
template <class Self>
using decoder = sequential<
    named<"attention", around<Self>>, named<"norm_1", layer_norm<8>>,
    named<"cross",
          around<attention_layer<8, attention_options{.heads = 2, .memory = 8, .weights = true}>>>,
    named<"norm_2", layer_norm<8>>, named<"out", linear<8, 3>>>;
template <class Self>
using translation =
    with<tag::source, named<"encoder", encoder>, tag::memory, named<"decoder", decoder<Self>>>;
using heads = attention_layer<8, attention_options{.heads = 2, .causal = true}>;
using cached = self_attention<8, attention_options{
                                     .heads = 2, .causal = true, .context = 4, .rotary_base = 1e4}>;

TEST_CASE("attention: gradient check of an encoder and its decoder, through both inputs") {
  auto source = tensor<double, shape<6, 3, 8>>{};
  auto n = tensor<std::int32_t, shape<3>>{{6, 1, 4}};
  test::fill(source, 1);
  test::passes_gradient_check_given<translation<heads>, tensor<double, shape<4, 3, 8>>>(
      given<tag::source>(source, given<tag::lengths>(n)));
}
TEST_CASE("attention: a decoder that streams with its memory has the bits of the sequence") {
  using X = tensor<float, shape<4, 3, 8>>;
  using E = tensor<float, shape<6, 3, 8>>;
  using from = given_as<tag::source, E>;
  using memory = given_as<tag::memory, E>;
  auto const p = std::make_unique<parameters_of<translation<cached>, owned<float>>>();
  auto const whole = std::make_unique<inference<translation<cached>, X, counts, from>>();
  auto const encode = std::make_unique<inference<encoder, E, counts>>();
  auto const decode = std::make_unique<streaming<decoder<cached>, sample_of<X>, counts, memory>>();
  auto x = X{};
  auto e = E{};
  auto n = tensor<std::int32_t, shape<3>>{{6, 0, 4}};
  test::fill_parameters(*p, 1, 0.5);
  test::fill(x, 2);
  test::fill(e, 3);
  test::poison(*decode);
  clear(decode->state);
  auto const y = (*whole)(*p, x, given<tag::source>(e, given<tag::lengths>(n)));
  auto const lengths = given<tag::lengths>(n);
  auto const encoded = (*encode)(get<0>(*p), e, lengths);
  for (auto t = std::size_t{0}; t < 4; ++t)
    CHECK(test::same_bits(
        decode->step(get<1>(*p), as_const(x)[t], given<tag::memory>(encoded, lengths)), y[t]));
}

// -- reference: tests/reference/attention.py ------------------------------------------------------
TEST_CASE("attention: agrees with torch") {
  auto const g = test::golden("attention");
  test::agrees_with_torch<sequential<attention_layer<8>>, tensor<float, shape<5, 2, 8>>>(g, "one.");
  test::agrees_with_torch<sequential<attention_layer<8, attention_options{.causal = true}>>,
                          tensor<float, shape<9, 2, 8>>>(g, "causal.");
  test::agrees_with_torch<sequential<attention_layer<12, attention_options{.heads = 3}>>,
                          tensor<float, shape<7, 2, 12>>>(g, "heads.");
  test::agrees_with_torch<
      sequential<attention_layer<16, attention_options{.heads = 4, .causal = true}>>,
      tensor<float, shape<30, 2, 16>>>(g, "causal_heads.");
  test::agrees_with_torch<
      sequential<attention_layer<8, attention_options{.heads = 2, .bias = false}>>,
      tensor<float, shape<4, 2, 8>>>(g, "no_bias.");
}
TEST_CASE("attention: an encoder and its decoder agree with torch, and the weights in it") {
  using X = tensor<float, shape<4, 3, 8>>;
  using E = tensor<float, shape<6, 3, 8>>;
  using W = tensor<float, shape<3, 2, 4, 6>>;
  using model = translation<heads>;
  auto const g = test::golden("attention");
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const pass = std::make_unique<differentiation<model, X, given_as<tag::attention_weights, W>,
                                                     counts, given_as<tag::source, E>>>();
  auto x = X{};
  auto dx = X{};
  auto e = E{};
  auto de = E{};
  auto w = W{};
  auto n = tensor<std::int32_t, shape<3>>{};
  test::load(*p, g, "translate.");
  test::load(x, g["translate.x"]);
  test::load(e, g["translate.source"]);
  test::load(n, g["translate.lengths"]);
  test::load(pass->dy, g["translate.dy"]);
  auto const context = given<tag::source>(
      e, view_of<E>(de), given<tag::lengths>(n, given<tag::attention_weights>(w, view_of<W>(w))));
  CHECK(test::distance(pass->forward(*p, x, context), g["translate.y"]) < 1e-6);
  CHECK(test::distance(w, g["translate.weights"]) < 1e-6);
  pass->backward(*p, x, view_of<X>(dx), pass->gradient, context);
  CHECK(test::distance(dx, g["translate.dx"]) < 1e-5);
  CHECK(test::distance(de, g["translate.dsource"]) < 1e-5);
  for_each_parameter(
      [&](path_name const& path, auto const& slope) {
        INFO(path.c_str());
        CHECK(test::distance(slope, g[std::string("translate.d") + path.c_str()]) < 1e-5);
      },
      pass->gradient);
}
template <bool BatchFirst, class X, class W> auto weights_of_self(X const& x, W& w) {
  using model =
      sequential<attention_layer<8, attention_options{
                                        .heads = 2, .batch_first = BatchFirst, .weights = true}>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1);
  auto const pass =
      std::make_unique<differentiation<model, X, given_as<tag::attention_weights, W>>>();
  (void)pass->forward(*p, x, given<tag::attention_weights>(w, view_of<W>(w)));
}
TEST_CASE("attention: the weights are by lane, head, query and key, with the batch first too") {
  auto x = tensor<float, shape<2, 5, 8>>{};
  auto turned = tensor<float, shape<5, 2, 8>>{};
  auto w = tensor<float, shape<2, 2, 5, 5>>{};
  auto want = w;
  test::fill(x, 2);
  turned = transpose(x, axis<1, 0, 2>);
  weights_of_self<true>(x, w);
  weights_of_self<false>(turned, want);
  CHECK(test::same_bits(w, want));
  auto const sums = evaluate(sum(w, axis<-1>));
  for (auto const one : sums) CHECK(one == Approx(1));
}
