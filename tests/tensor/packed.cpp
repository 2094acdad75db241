// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

namespace {

/// A stream, and a call for a whole sequence, with weights in another storage has the bits of one
/// with the weights that they stand for, as they are.
template <class Model, class Backend, class Storage = packed<float, float, Backend>>
void streams_alike() {
  using X = tensor<float, shape<3, 5>, Backend>;
  auto const p = std::make_unique<parameters_of<Model, owned<float, Backend>>>();
  auto const q = std::make_unique<parameters_of<Model, Storage>>();
  test::fill_parameters(*p, 1, 0.5);
  test::poison(*q);
  pack_parameters(*p, *q);
  pack_parameters(*q, *p);
  auto const a = std::make_unique<streaming<Model, X>>();
  auto const b = std::make_unique<streaming<Model, X>>();
  a->state = {};
  b->state = {};
  auto x = X{};
  for (auto t = 0U; t < 5; ++t) {
    test::fill(x, t);
    CHECK(test::same_bits(a->step(*p, x), b->step(*q, x)));
  }
  using sequence = tensor<float, shape<4, 3, 5>, Backend>;
  auto xs = sequence{};
  test::fill(xs, 9);
  auto const whole_a = std::make_unique<inference<Model, sequence>>();
  auto const whole_b = std::make_unique<inference<Model, sequence>>();
  CHECK(test::same_bits((*whole_a)(*p, xs), (*whole_b)(*q, xs)));
}
template <class Model> void streams_alike_everywhere() {
  streams_alike<Model, simd>();
  streams_alike<Model, reference>();
}
template <class Model> void streams_alike_in_fewer_bits() {
  streams_alike<Model, simd, packed<float, bf16, simd>>();
  streams_alike<Model, reference, compact<float, std::int8_t, reference>>();
}

}  // namespace

TEST_CASE("packed: by columns, each on an aligned address") {
  auto w = tensor<float, shape<3, 2>>{{1, 2, 3, 4, 5, 6}};
  auto m = packed_matrix<float, shape<3, 2>, simd>{};
  m.pack(weights_of<float>(w));
  CHECK(m.values[0] == 1);
  CHECK(m.values[1] == 3);
  CHECK(m.values[2] == 5);
  CHECK(m.values[3] == 0);
  CHECK(m.values[m.stride + 1] == 4);
  CHECK(m.stride * sizeof(float) % storage_alignment == 0);
}
TEST_CASE("packed: streams and sequences have the same bits, whatever the size") {
  streams_alike_everywhere<sequential<lstm<5, 64>, linear<64, 1>>>();
  streams_alike_everywhere<sequential<lstm<5, 7>, linear<7, 3>>>();
  streams_alike_everywhere<sequential<lstm<5, 100, lstm_options{.layers = 2}>, linear<100, 17>>>();
  streams_alike_everywhere<
      sequential<lstm<5, 24, lstm_options{.bias = false, .projection = 9}>, layer_norm<9>,
                 linear<9, 2, linear_options{.bias = false}>>>();
}
TEST_CASE("packed: every layer with weights takes them in fewer bits") {
  streams_alike_in_fewer_bits<sequential<lstm<5, 24>, linear<24, 3>>>();
  streams_alike_in_fewer_bits<gru<5, 9>>();
  streams_alike_in_fewer_bits<conv1d<5, 20, 3, conv1d_options{.causal = true}>>();
  streams_alike_in_fewer_bits<sequential<
      self_attention<5, self_attention_options{.heads = 1, .causal = true, .context = 8}>,
      linear<5, 3>>>();
  using tokens = tensor<float, shape<2, 3>>;
  using model = tied<11, 6, residual<linear<6, 6>>>;
  auto const run = [&]<class Storage>(std::type_identity<Storage>) {
    auto p = parameters_of<model, owned<float>>{};
    auto q = parameters_of<model, Storage>{};
    test::fill_parameters(p, 1, 0.5);
    pack_parameters(p, q);
    pack_parameters(q, p);
    auto const x = tokens{{0, 10, 3, 3, 7, 1}};
    auto const a = std::make_unique<inference<model, tokens>>();
    auto const b = std::make_unique<inference<model, tokens>>();
    CHECK(test::same_bits((*a)(p, x), (*b)(q, x)));
  };
  run(std::type_identity<packed<float>>{});
  run(std::type_identity<packed<float, bf16>>{});
  run(std::type_identity<compact<float, std::int8_t>>{});

  using image = tensor<float, shape<2, 6, 5, 4>>;
  using over_images = sequential<conv2d<4, 6, 3, conv2d_options{.padding = 1}>, group_norm<2, 6>,
                                 conv2d<6, 3, size2(2, 1)>>;
  auto p = parameters_of<over_images, owned<float>>{};
  auto q = parameters_of<over_images, packed<float, std::int8_t>>{};
  test::fill_parameters(p, 1, 0.5);
  pack_parameters(p, q);
  pack_parameters(q, p);
  auto x = image{};
  test::fill(x, 5);
  auto const a = std::make_unique<inference<over_images, image>>();
  auto const b = std::make_unique<inference<over_images, image>>();
  CHECK(test::same_bits((*a)(p, x), (*b)(q, x)));
}
TEST_CASE("packed: fused weights of queries, keys and values are split as they are stored") {
  using X = tensor<float, shape<3, 2, 6>>;
  using E = tensor<float, shape<4, 2, 6>>;
  using model = attention_layer<6, attention_options{.heads = 2, .memory = 6}>;
  auto p = parameters_of<model, owned<float>>{};
  test::fill_parameters(p, 1, 0.5);
  auto x = X{};
  auto e = E{};
  test::fill(x, 2);
  test::fill(e, 3);
  auto const run = [&]<class Storage>(std::type_identity<Storage>) {
    auto q = parameters_of<model, Storage>{};
    pack_parameters(p, q);
    auto rounded = p;
    pack_parameters(q, rounded);
    CHECK_FALSE(test::same_bits(rounded.in_proj_weight, p.in_proj_weight));
    using object = inference<model, X, given_as<tag::memory, E>>;
    auto const a = std::make_unique<object>();
    auto const b = std::make_unique<object>();
    CHECK(test::same_bits((*a)(rounded, x, given<tag::memory>(e)),
                          (*b)(q, x, given<tag::memory>(e))));
  };
  run(std::type_identity<packed<float, bf16>>{});
  run(std::type_identity<packed<float, std::int8_t>>{});
  run(std::type_identity<compact<float, std::int8_t>>{});
}
TEST_CASE("packed: mapped weights that see no file are refused") {
  auto const p = parameters_of<linear<4, 2>, mapped<float, bf16>>{};
  auto const run = std::make_unique<inference<linear<4, 2>, tensor<float, shape<3, 4>>>>();
  CHECK_THROWS_WITH((*run)(p, tensor<float, shape<3, 4>>{}),
                    "mapped weights see no file: map_parameters comes first");
}
TEST_CASE("packed: eight bits have the scale of the largest weight of an output") {
  auto w = tensor<float, shape<4, 3>>{
      {12.7F, -0.1F, 0.05F, 0, 0, 0, -1e-3F, 5e-4F, 1e-3F, 2e-43F, 1e-45F, 0}};
  auto m = compact_matrix<float, shape<4, 3>, reference, std::int8_t>{};
  m.pack(weights_of<float>(w));
  CHECK(m.scales.scale[0] == 12.7F / 127);
  CHECK(m.values[0] == 127);
  CHECK(m.values[1] == -1);
  CHECK(m.values[2] == 0);  // half of a step: to the even one
  CHECK(m.scales.scale[1] == 0);
  CHECK(m.values[4] == 0);
  CHECK(m.values[6] == -127);
  CHECK(m.values[7] == 64);  // 63.5
  CHECK(m.values[9] == 127);
  for (auto const bad : {INFINITY, -INFINITY, NAN}) {
    w(1, 1) = bad;
    CHECK_THROWS_WITH(m.pack(weights_of<float>(w)), "weights in 8 bits: one is not finite");
  }
}
TEST_CASE("packed: the largest numbers stay finite in eight bits") {
  constexpr auto most = std::numeric_limits<float>::max();
  auto m = compact_matrix<float, shape<1, 3>, reference, std::int8_t>{};
  m.pack(weights_of<float>(tensor<float, shape<1, 3>>{{most, -most, most / 2}}));
  CHECK(m.numbers().at(0, 0) <= most);
  CHECK(m.numbers().at(0, 0) >= most * 0.99F);
  CHECK(m.numbers().at(0, 1) == -m.numbers().at(0, 0));
  CHECK(m.numbers().at(0, 2) == Approx(most / 2).epsilon(0.01));
}
TEMPLATE_TEST_CASE("packed: what 16 bits would make infinite is refused", "", f16, bf16) {
  constexpr auto half = std::same_as<TestType, f16>;
  auto const fits = half ? 65519.0F : std::bit_cast<float>(0x7F7F7FFFU);
  auto const beyond = half ? 65520.0F : std::bit_cast<float>(0x7F7F8000U);
  auto w = tensor<float, shape<2, 3>>{};
  auto m = packed_matrix<float, shape<2, 3>, reference, TestType>{};
  for (auto const sign : {1.0F, -1.0F}) {
    w(1, 2) = sign * fits;
    m.pack(weights_of<float>(w));
    CHECK(sign * m.numbers().at(1, 2) >= fits * 0.99F);
    w(1, 2) = sign * beyond;
    CHECK_THROWS_WITH(m.pack(weights_of<float>(w)),
                      "weights in 16 bits: one is beyond the largest of them");
  }
  w(1, 2) = -INFINITY;  // as it is
  w(0, 0) = NAN;
  m.pack(weights_of<float>(w));
  CHECK(m.numbers().at(1, 2) == -INFINITY);
  CHECK(std::isnan(m.numbers().at(0, 0)));
}
TEST_CASE("packed: eight bits go into another layout as they are, and take a quarter") {
  auto w = tensor<float, shape<3, 5>>{};
  test::fill(w, 1);
  auto rows = compact_matrix<float, shape<3, 5>, simd, std::int8_t>{};
  auto columns = packed_matrix<float, shape<3, 5>, simd, std::int8_t>{};
  rows.pack(weights_of<float>(w));
  columns.pack(rows.numbers());
  for (auto o = std::size_t{0}; o < 3; ++o)
    for (auto k = std::size_t{0}; k < 5; ++k)
      CHECK(columns.values[k * columns.stride + o] == rows.values[o * 5 + k]);
  using large = linear<256, 256, linear_options{.bias = false}>;
  CHECK(4 * sizeof(parameters_of<large, packed<float, std::int8_t, simd>>) ==
        sizeof(parameters_of<large, packed<float, float, simd>>) + 4 * 256 * sizeof(float));
  CHECK(2 * sizeof(parameters_of<large, compact<float, bf16>>) ==
        sizeof(parameters_of<large, owned<float>>));
}
TEST_CASE("packed: constant weights of eight bits are made by the compiler") {
  using model = sequential<linear<3, 4>, tanh_layer, linear<4, 2>>;
  static constexpr auto table = [] {
    auto p = parameters_of<model, owned<float, reference>>{};
    auto n = 0.0F;
    for_each_parameter(
        [&](auto const&, auto& w) {
          for (auto& value : w.values) value = (n += 0.37F) - 3;
        },
        p);
    auto q = parameters_of<model, packed<float, std::int8_t, reference>>{};
    pack_parameters(p, q);
    return q;
  }();
  static constexpr auto x = tensor<float, shape<2, 3>, reference>{{1, 2, 3, 4, 5, 6}};
  static_assert(model::forward(table, x)(0, 0) != 0);
  auto const run = std::make_unique<inference<model, tensor<float, shape<2, 3>, reference>>>();
  CHECK(test::same_bits((*run)(table, x), model::forward(table, x)));
}
TEST_CASE("packed: the slope of x goes through weights of 16 and 8 bits") {
  using model = sequential<linear<4, 6>, tanh_layer, linear<6, 3>>;
  using X = tensor<double, shape<2, 4>>;
  auto p = parameters_of<model, owned<double>>{};
  test::fill_parameters(p, 1);
  auto const check = [&]<class Storage>(std::type_identity<Storage>) {
    auto q = parameters_of<model, Storage>{};
    pack_parameters(p, q);
    auto x = X{};
    test::fill(x, 7);
    auto const report = gradient_check<model, X>(q, view_of<X>(x));
    INFO("worst " << report.worst);
    CHECK(report.passed);
    CHECK(report.checked == 8 + 9);  // x and the two biases
  };
  check(std::type_identity<packed<double, bf16>>{});
  check(std::type_identity<packed<double, std::int8_t>>{});
  check(std::type_identity<compact<double, f16>>{});
  check(std::type_identity<compact<double, std::int8_t>>{});
}
TEST_CASE("packed: as torch with weights rounded to bf16, and quantized for each output") {
  auto const g = test::golden("packed");
  using X = tensor<float, shape<4, 7>>;
  using model = linear<7, 5>;
  auto p = parameters_of<model, owned<float>>{};
  test::load(p.weight, g["weight"]);
  test::load(p.bias, g["bias"]);
  auto x = X{};
  test::load(x, g["x"]);
  auto const run = std::make_unique<inference<model, X>>();

  auto q = parameters_of<model, compact<float, bf16>>{};
  pack_parameters(p, q);
  auto rounded = p;
  pack_parameters(q, rounded);
  CHECK(test::distance(rounded.weight, g["bf16.weight"]) == 0);
  CHECK(test::distance((*run)(q, x), g["bf16.y"]) < 1e-6);

  auto r = parameters_of<model, compact<float, std::int8_t>>{};
  pack_parameters(p, r);
  auto const want = g["int8.weight"];
  for (auto i = std::size_t{0}; i < 35; ++i) CHECK(r.weight.values[i] == want[i]);
  CHECK(test::distance((*run)(r, x), g["int8.y"]) < 1e-6);
}
TEST_CASE("packed: the device takes weights of 16 and 8 bits") {
  using model = sequential<embedding<9, 6>, lstm<6, 5>, linear<5, 3>>;
  auto const numbers = []<class B, class Stored>(std::type_identity<B>, Stored) {
    using X = tensor<float, shape<4, 2>, B>;
    auto const p = std::make_unique<parameters_of<model, owned<float, B>>>();
    auto const q = device::make<parameters_of<model, compact<float, Stored, B>>>();
    auto const x = device::make<X>();
    auto const run = device::make<inference<model, X>>();
    auto const pass = device::make<differentiation<model, X>>();
    auto seed = 1U;
    for_each_parameter([&](auto const&, auto& w) { test::fill(w.data(), w.size(), seed++, 0.6); },
                       *p);
    pack_parameters(*p, *q);
    for (auto i = std::size_t{0}; i < x->size(); ++i) x->values[i] = static_cast<float>(i % 9);
    (*run)(*q, *x);
    pass->forward(*q, *x);
    device::synchronize();
    test::fill(pass->dy.data(), pass->dy.size(), 3);
    pass->backward(*q, *x);
    device::synchronize();
    auto found = std::vector<double>(run->y.data(), run->y.data() + run->y.size());
    for_each_parameter(
        [&](auto const&, auto const& w) {
          found.insert(found.end(), w.data(), w.data() + w.size());
        },
        pass->gradient);
    return found;
  };
  auto const check = [&](auto stored) {
    auto const slow = numbers(std::type_identity<reference>{}, stored);
    CHECK(numbers(std::type_identity<simd>{}, stored) == slow);
    CHECK(test::distance(numbers(std::type_identity<cuda>{}, stored), slow) < 1e-6);
  };
  check(bf16{});
  check(std::int8_t{});
}
