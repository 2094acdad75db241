// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>
#include <tessera/models/bert.hpp>

using namespace tessera;

constexpr auto small = bert_options{
    .vocabulary = 13, .width = 8, .blocks = 2, .heads = 2, .hidden = 12, .context = 11};
template <extent Time> using tokens = tensor<float, shape<Time, 3>>;
using counts = given_as<tag::lengths, tensor<std::int32_t, shape<3>>>;
using kinds = given_as<tag::token_types, tensor<std::int32_t, shape<9, 3>>>;

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<bert<small>, tokens<9>, call_for<call_mode::training, counts>>);
static_assert(layer_for<bert<small>, tokens<9>, call_for<call_mode::training, counts, kinds>>);
static_assert(not layer_for<bert<small>, tokens<9>>, "nobody says how many tokens count");
static_assert(
    std::same_as<output_of<sentence_bert<small>, tokens<at_most(9)>>, tensor<float, shape<3, 8>>>);
// all-MiniLM-L6-v2, without its pooler
static_assert(parameter_count<sentence_bert<bert_options{
                  .vocabulary = 30'522, .width = 384, .blocks = 6, .heads = 12, .hidden = 1536}>> ==
              22'713'216 - 384 * 384 - 384);

namespace {

/// A model against transformers, with its lengths, and types where there are some.
template <class Model> void agrees(std::string const& prefix, auto const& context) {
  auto const g = test::golden("bert");
  using pass_type = differentiation_for<Model, tokens<9>, std::remove_cvref_t<decltype(context)>>;
  auto const pass = std::make_unique<pass_type>();
  auto const p = std::make_unique<typename pass_type::parameters_type>();
  auto x = tokens<9>{};
  *pass = {};
  test::load(*p, g, prefix);
  test::load(x, g[prefix + "x"]);
  CHECK(test::distance(pass->forward(*p, x, context), g[prefix + "y"]) <= 2e-6);
  test::load(pass->dy, g[prefix + "dy"]);
  pass->backward(*p, x, context);
  for_each_parameter(
      [&](path_name const& path, auto const& slope) {
        INFO(path.c_str());
        CHECK(test::distance(slope, g[prefix + "d" + path.c_str()]) <= 1e-5);
      },
      pass->gradient);
}

}  // namespace

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("bert: gradient check of a block, with lengths") {
  auto const n = tensor<std::int32_t, shape<2>>{{5, 2}};
  using block = bert_block<bert_options{.width = 6, .heads = 3, .hidden = 7}>;
  test::passes_gradient_check_given<block, tensor<double, shape<at_most(7), 2, 6>>>(
      given<tag::lengths>(n), 1, 0.6, 5);
}
TEST_CASE("bert: what lies beyond a length changes nothing; a sentence alone has its vector") {
  using X = tensor<std::int32_t, shape<at_most(9), 3>>;
  using one = tensor<std::int32_t, shape<at_most(9), 1>>;
  using model = sentence_bert<small>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto const run = std::make_unique<inference<model, X, counts>>();
  auto const n = tensor<std::int32_t, shape<3>>{{9, 1, 6}};
  auto x = X{};
  auto generator = torch_generator(3);
  for (auto& token : x) token = static_cast<std::int32_t>(generator.randint(13));
  auto y = tensor<float, shape<3, 8>>{};
  y = (*run)(*p, x.sized(9), given<tag::lengths>(n));
  auto alone = one{};
  for (auto t = std::size_t{0}; t < 6; ++t) alone.data()[t] = x.data()[t * 3 + 2];
  for (auto t = std::size_t{6}; t < 9; ++t) x.data()[t * 3 + 2] = 12;
  CHECK(test::same_bits((*run)(*p, x.sized(9), given<tag::lengths>(n)), y));
  using count = tensor<std::int32_t, shape<1>>;
  auto const single = std::make_unique<inference<model, one, given_as<tag::lengths, count>>>();
  auto const six = count{{6}};
  CHECK(test::same_bits((*single)(*p, alone.sized(6), given<tag::lengths>(six)), as_const(y)[2]));
}

TEST_CASE("bert: vectors and the device have the numbers of the reference") {
  auto const numbers = []<class B>(std::type_identity<B>) {
    using X = tensor<std::int32_t, shape<7, 2>, B>;
    using N = tensor<std::int32_t, shape<2>, B>;
    using T = tensor<std::int32_t, shape<7, 2>, B>;
    using model = sentence_bert<small>;
    using pass_type =
        differentiation<model, X, given_as<tag::lengths, N>, given_as<tag::token_types, T>>;
    auto const p = device::make<parameters_of<model, owned<float, B>>>();
    auto const pass = device::make<pass_type>();
    auto const x = device::make<X>();
    auto const types = device::make<T>();
    auto const n = device::make<N>();
    auto seed = 1U;
    for_each_parameter([&](path_name const&, auto& w) { test::fill(w.data(), w.size(), seed++); },
                       *p);
    for (auto i = std::size_t{0}; i < x->size(); ++i) {
      x->values[i] = static_cast<std::int32_t>(i * 7 % 13);
      types->values[i] = static_cast<std::int32_t>(i % 2);
    }
    n->values[0] = 7;
    n->values[1] = 3;
    auto const context = given<tag::token_types>(*types, given<tag::lengths>(*n));
    pass->forward(*p, *x, context);
    device::synchronize();
    test::fill(pass->dy.data(), pass->dy.size(), 3);
    pass->backward(*p, *x, context);
    device::synchronize();
    auto found = std::vector<double>(pass->y.data(), pass->y.data() + pass->y.size());
    for_each_parameter(
        [&](path_name const&, auto const& w) {
          found.insert(found.end(), w.data(), w.data() + w.size());
        },
        pass->gradient);
    return found;
  };
  auto const slow = numbers(std::type_identity<reference>{});
  CHECK(numbers(std::type_identity<simd>{}) == slow);
  CHECK(test::distance(numbers(std::type_identity<cuda>{}), slow) < 1e-5);
}

// -- reference: tests/reference/bert.py -----------------------------------------------------------
TEST_CASE("bert: agrees with transformers, with types of tokens and lengths, gradients too") {
  auto n = tensor<std::int32_t, shape<3>>{};
  auto types = tensor<std::int32_t, shape<9, 3>>{};
  auto const g = test::golden("bert");
  test::load(n, g["bert.lengths"]);
  test::load(types, g["bert.types"]);
  agrees<bert<small>>("bert.", given<tag::token_types>(types, given<tag::lengths>(n)));
}
TEST_CASE("bert: vectors of sentences are those of transformers, pooled and normalized") {
  auto n = tensor<std::int32_t, shape<3>>{};
  test::load(n, test::golden("bert")["sentence.lengths"]);
  agrees<sentence_bert<small>>("sentence.", given<tag::lengths>(n));
}
