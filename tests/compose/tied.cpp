// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/tied.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
using mlp = sequential<linear<6, 9>, tanh_layer, linear<9, 6>>;
using model = tied<11, 6, mlp>;
template <class I> using tokens = tensor<I, shape<5, 3>>;
using words = tokens<std::int32_t>;
static_assert(layer_for<model, words> && layer_for<model, tokens<float>>);
static_assert(std::same_as<output_of<model, words>, tensor<float, shape<5, 3, 11>>>);
static_assert(std::same_as<output_of<model, words>, output_of<model, tokens<float>>>);
static_assert(parameter_count<model> == 11 * 6 + parameter_count<mlp>, "one matrix, once");
static_assert(row_wise<model> && streams<tied<11, 6, lstm<6, 6>>>);
static_assert(not layer_for<tied<11, 6, linear<6, 5>>, words>);

namespace {

template <class I> auto numbered() -> tokens<I> {
  auto x = tokens<I>{};
  for (auto i = std::size_t{0}; i < x.size(); ++i) x.values[i] = static_cast<I>(i * 7 % 11);
  return x;
}
/// Forward and backward of one batch: y and the gradient.
template <class Model, class X, class P> auto passed(P const& p, X const& x) {
  auto pass = std::make_unique<differentiation<Model, X>>();
  test::poison(*pass);
  pass->gradient = {};
  if constexpr (stateful<Model>) pass->state = {};
  pass->forward(p, x);
  test::fill(pass->dy, 3);
  pass->backward(p, x);
  return pass;
}

}  // namespace

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("tied: without a body y holds the products of the vectors") {
  using one = tied<3, 2, identity>;
  auto p = parameters_of<one, owned<float>>{};
  p.mine.weight = {{1, 0,  //
                    2, 1,  //
                    0, 3}};
  using X = tensor<std::int32_t, shape<2>>;
  auto const x = X{{1, 2}};
  auto const pass = std::make_unique<differentiation<one, X>>();
  *pass = {};
  CHECK(test::distance(pass->forward(p, x), {2, 5, 3, 0, 3, 9}) == 0);
  pass->dy = {{1, 0, 0, 0, 0, 0}};  // y(0, 0) = w(1)·w(0)
  pass->backward(p, x);
  CHECK(test::distance(pass->gradient.mine.weight, {2, 1, 1, 0, 0, 0}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("tied: tokens as whole numbers or in the model's scalar have the same bits") {
  auto p = parameters_of<model, owned<float>>{};
  test::fill_parameters(p, 1);
  auto const a = passed<model>(p, numbered<std::int32_t>());
  auto const b = passed<model>(p, numbered<float>());
  CHECK(test::same_bits(a->y, b->y));
  CHECK(test::same_parameters(a->gradient, b->gradient));
}
TEST_CASE("tied: gradient check") {
  auto const check = []<class Model>(std::type_identity<Model>) {
    auto p = parameters_of<Model, owned<double>>{};
    test::fill_parameters(p, 1, 0.7);
    auto x = numbered<double>();
    auto start = state_of<Model, tokens<double>, training_call>{};
    // A step of 1e-6 names the same token: dx is zero, and so are the differences.
    auto const report =
        gradient_check<Model, tokens<double>>(p, x.sized(), start, gradient_check_options{});
    INFO(report.parameter.c_str() << "[" << report.index << "]");
    CHECK(report.passed);
    CHECK(report.worst < 1e-7);
    CHECK(report.checked == parameter_count<Model> + 15);
  };
  check(std::type_identity<model>{});
  check(std::type_identity<tied<11, 6, lstm<6, 6>>>{});
}
TEST_CASE("tied: a stream of tokens has the bits of the sequence") {
  using stepping = tied<11, 6, lstm<6, 6>>;
  auto p = parameters_of<stepping, owned<float>>{};
  test::fill_parameters(p, 1, 0.5);
  auto const x = numbered<std::int32_t>();
  auto const whole = std::make_unique<inference<stepping, words>>();
  auto const stream = std::make_unique<streaming<stepping, sample_of<words>>>();
  test::poison(*whole);
  test::poison(*stream);
  auto const y = (*whole)(p, x);
  stream->state = {};
  for (auto t = std::size_t{0}; t < 5; ++t)
    CHECK(test::same_bits(stream->step(p, as_const(x)[t]), y[t]));
}
TEST_CASE("tied: a number that names no token is refused") {
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const run = std::make_unique<inference<model, words>>();
  *p = {};
  for (auto const wrong : {-1, 11})
    CHECK_THROWS_WITH((*run)(*p, words{{wrong}}), "embedding: x names no row of the table");
}
TEST_CASE("tied: vectors and the device have the numbers of the reference") {
  auto const numbers = []<class B>(std::type_identity<B>) {
    using X = tensor<std::int32_t, shape<5, 3>, B>;
    auto const p = device::make<parameters_of<model, owned<float, B>>>();
    auto const x = device::make<X>();
    auto const pass = device::make<differentiation<model, X>>();
    auto seed = 1U;
    for_each_parameter([&](path_name const&, auto& w) { test::fill(w.data(), w.size(), seed++); },
                       *p);
    for (auto i = std::size_t{0}; i < x->size(); ++i)
      x->values[i] = static_cast<std::int32_t>(i * 7 % 11);
    pass->forward(*p, *x);
    device::synchronize();
    test::fill(pass->dy.data(), pass->dy.size(), 3);
    pass->backward(*p, *x);
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
  CHECK(test::distance(numbers(std::type_identity<cuda>{}), slow) < 1e-6);
}

// -- reference: tests/reference/tied.py -----------------------------------------------------------
TEST_CASE("tied: agrees with torch") {
  auto const g = test::golden("tied");
  auto p = parameters_of<model, owned<float>>{};
  test::load(p, g);
  auto x = words{};
  test::load(x, g["x"]);
  auto const pass = std::make_unique<differentiation<model, words>>();
  *pass = {};
  CHECK(test::distance(pass->forward(p, x), g["y"]) <= 1e-6);
  test::load(pass->dy, g["dy"]);
  pass->backward(p, x);
  for_each_parameter(
      [&](path_name const& path, auto const& slope) {
        INFO(path.c_str());
        CHECK(test::distance(slope, g["d" + std::string{path.c_str()}]) <= 1e-5);
      },
      pass->gradient);
}
