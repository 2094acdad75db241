// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
namespace {

template <class Block> using stored_as = compact_matrix<float, shape<6, 64>, simd, Block>;

}  // namespace

static_assert(sizeof(stored_as<q4_1>::values) == 6 * 2 * 20);
static_assert(std::same_as<matrix_in<mapped<float, q4_1, simd, q8_0>, shape<4, 32>>,
                           mapped_matrix<float, shape<4, 32>, simd, q4_1>>);
static_assert(std::same_as<table_in<mapped<float, q4_1, simd, q8_0>, shape<4, 32>>,
                           mapped_matrix<float, shape<4, 32>, simd, q8_0>>);
static_assert(std::same_as<tied_in<mapped<float, q4_1, simd, q8_0>, shape<4, 32>>,
                           mapped_matrix<float, shape<4, 32>, simd, q8_0>>);
static_assert(not storable_as<as_stored<q4_1>, double> && storable_as<q4_1, double>);

namespace {

/// Runs a model on parameters in a storage, and on the numbers that they stand for.
template <class Model, class X, class Storage> void as_widened(X const& x) {
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto const q = std::make_unique<parameters_of<Model, Storage>>();
  test::fill_parameters(*p, 1, 0.5);
  pack_parameters(*p, *q);
  auto const before = *p;
  pack_parameters(*q, *p);
  CHECK_FALSE(test::same_parameters(before, *p));
  auto const a = std::make_unique<inference<Model, X>>();
  auto const b = std::make_unique<inference<Model, X>>();
  CHECK(test::same_bits((*a)(*p, x), (*b)(*q, x)));
}
/// Parameters in compact<...> as mapped<...> sees them.
constexpr void look_at(auto const& from, auto& to) {
  for_each_parameter(
      [](auto const&, auto& seen, auto const& w) {
        if constexpr (requires { seen.has_memory(); })
          seen.values = w.values;
        else
          seen = w;
      },
      to, from);
}

}  // namespace

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("blocks: a matrix has the numbers of its blocks, turned and in parts", "", q4_0,
                   q4_1, q8_0) {
  auto w = tensor<float, shape<6, 64>>{};
  test::fill(w, 1);
  auto const m = std::make_unique<stored_as<TestType>>();
  m->pack(weights_of<float>(w));
  auto const numbers = m->numbers();
  auto const odd = numbers.part(1, 3, 2);
  for (auto o = std::size_t{0}; o < 6; ++o)
    for (auto k = std::size_t{0}; k < 64; ++k) {
      auto const want = decode(m->values[o * 2 + k / 32], k % 32);
      CHECK(std::abs(want - w(o, k)) < (std::same_as<TestType, q8_0> ? 0.005F : 0.13F));
      CHECK(numbers.at(o, k) == want);
      CHECK(numbers.transposed().at(k, o) == want);
      if (o % 2 == 1 && k >= 3) CHECK(odd.at(o / 2, k - 3) == want);
      if (o == 3 && k >= 3) CHECK(odd.transposed().part(0, 1).at(k - 3, 0) == want);
    }
}
TEMPLATE_TEST_CASE("blocks: go from one storage into another as they are", "", q4_0, q4_1, q8_0) {
  auto w = tensor<float, shape<6, 64>>{};
  test::fill(w, 1);
  auto const a = std::make_unique<stored_as<TestType>>();
  auto const b = std::make_unique<stored_as<as_stored<TestType>>>();
  a->pack(weights_of<float>(w));
  a->values[3].d = 0x0301;  // a scale that no rounding of these numbers gives
  b->pack(a->numbers());
  CHECK(std::memcmp(a->values, b->values, sizeof a->values) == 0);
}
TEST_CASE("blocks: rows of bf16 that are multiplied as stored are the same bytes") {
  auto w = tensor<float, shape<6, 48>>{};
  test::fill(w, 1);
  auto const a = std::make_unique<compact_matrix<float, shape<6, 48>, simd, bf16>>();
  auto const b = std::make_unique<compact_matrix<float, shape<6, 48>, simd, as_stored<bf16>>>();
  a->pack(weights_of<float>(w));
  b->pack(weights_of<float>(w));
  static_assert(sizeof a->values == sizeof b->values);
  CHECK(std::memcmp(a->values, b->values, sizeof a->values) == 0);
  for (auto o = std::size_t{0}; o < 6; ++o)
    for (auto k = std::size_t{0}; k < 48; ++k) {
      CHECK(b->numbers().at(o, k) == a->numbers().at(o, k));
      if (o > 0 && k > 1)
        CHECK(b->numbers().part(1, 2).transposed().at(k - 2, o - 1) == a->numbers().at(o, k));
    }
}
TEST_CASE("blocks: mapped weights that see no file are refused") {
  auto const p = parameters_of<linear<32, 2>, mapped<float, q4_1>>{};
  auto const run = std::make_unique<inference<linear<32, 2>, tensor<float, shape<3, 32>>>>();
  CHECK_THROWS_WITH((*run)(p, tensor<float, shape<3, 32>>{}),
                    "mapped weights see no file: map_parameters comes first");
}
TEMPLATE_TEST_CASE("blocks: layers have the bits of the numbers that they stand for", "", q4_0,
                   q4_1, q8_0) {
  auto x = tensor<float, shape<3, 2, 32>>{};
  test::fill(x, 3);
  using model = sequential<linear<32, 96>, tanh_layer, linear<96, 5>>;
  as_widened<model, tensor<float, shape<3, 2, 32>>, compact<float, TestType>>(x);
  as_widened<model, tensor<float, shape<3, 2, 32>>, compact<float, TestType, reference>>(x);
  using attention = self_attention<32, self_attention_options{.heads = 2, .causal = true}>;
  as_widened<attention, tensor<float, shape<3, 2, 32>>, compact<float, TestType>>(x);
  auto const tokens = tensor<float, shape<2, 3>>{{0, 10, 3, 3, 7, 1}};
  using looked_up = sequential<embedding<11, 32>, linear<32, 3>>;
  as_widened<looked_up, tensor<float, shape<2, 3>>, compact<float, TestType>>(tokens);
  using language = tied<11, 32, residual<linear<32, 32>>>;
  as_widened<language, tensor<float, shape<2, 3>>, compact<float, TestType, simd, q8_0>>(tokens);
}
TEST_CASE("blocks: an embedding and its tied head are of the table's blocks, the rest of others") {
  using language = tied<11, 32, residual<linear<32, 32>>>;
  using X = tensor<float, shape<2, 3>>;
  auto const tokens = X{{0, 10, 3, 3, 7, 1}};
  auto const owner = std::make_unique<parameters_of<language, owned<float>>>();
  test::fill_parameters(*owner, 1, 0.5);
  auto const stored = std::make_unique<parameters_of<language, compact<float, q4_1, simd, q8_0>>>();
  auto const seen = std::make_unique<parameters_of<language, mapped<float, q4_1, simd, q8_0>>>();
  pack_parameters(*owner, *stored);
  look_at(*stored, *seen);
  auto const a = std::make_unique<inference<language, X>>();
  auto const b = std::make_unique<inference<language, X>>();
  CHECK(test::same_bits((*a)(*stored, tokens), (*b)(*seen, tokens)));
  auto kinds = std::string{};
  for_each_parameter(
      [&](auto const&, auto const& w) {
        using Stored = stored_of<decltype(w)>;
        kinds += std::same_as<Stored, q8_0> ? "table " : is_block<Stored> ? "matrix " : "floats ";
      },
      *seen);
  CHECK(kinds == "table matrix floats ");
}
TEMPLATE_TEST_CASE("blocks: the slope of x goes through the numbers that they stand for", "", q4_0,
                   q4_1, q8_0) {
  using model = sequential<linear<32, 64>, tanh_layer, linear<64, 3>>;
  using X = tensor<double, shape<2, 32>>;
  auto p = parameters_of<model, owned<double>>{};
  test::fill_parameters(p, 1, 0.3);
  auto const q = std::make_unique<parameters_of<model, compact<double, TestType>>>();
  pack_parameters(p, *q);
  auto x = X{};
  test::fill(x, 7);
  auto const report = gradient_check<model, X>(*q, view_of<X>(x));
  INFO("worst " << report.worst);
  CHECK(report.passed);
  CHECK(report.checked == 64 + 64 + 3);  // x and the two biases
}
TEST_CASE("blocks: constant weights in blocks are made by the compiler") {
  using model = sequential<linear<32, 2>, tanh_layer>;
  static constexpr auto table = [] {
    auto p = parameters_of<model, owned<float, reference>>{};
    auto n = 0.0F;
    for_each_parameter(
        [&](auto const&, auto& w) {
          for (auto& value : w.values) value = (n += 0.37F) - 3;
        },
        p);
    auto q = parameters_of<model, compact<float, as_stored<q4_1>, reference>>{};
    pack_parameters(p, q);
    return q;
  }();
  static constexpr auto x = [] {
    auto result = tensor<float, shape<1, 32>, reference>{};
    auto n = 0.0F;
    for (auto& value : result.values) value = (n += 0.125F) - 2;
    return result;
  }();
  auto const run = std::make_unique<inference<model, tensor<float, shape<1, 32>, reference>>>();
  static constexpr auto y = model::forward(table, x);
  static_assert(y(0, 0) != 0);
  CHECK(test::same_bits((*run)(table, x), y));
}
