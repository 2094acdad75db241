// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/models/language_model.hpp>

using namespace tessera;

using mlp = sequential<linear<6, 9>, tanh_layer, linear<9, 6>>;
template <bool Tied, bool Last = false, class Body = mlp>
using model = language_model<11, 6, Body, language_model_options{.tied = Tied, .last_alone = Last}>;
template <class I> using tokens = tensor<I, shape<5, 3>>;
using words = tokens<std::int32_t>;

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<model<true>, words> && layer_for<model<false>, tokens<float>>);
static_assert(std::same_as<output_of<model<true>, words>, tensor<float, shape<5, 3, 11>>>);
static_assert(std::same_as<output_of<model<true, true>, words>, tensor<float, shape<3, 11>>>);
static_assert(parameter_count<model<true>> == 66 + parameter_count<mlp>, "one matrix, once");
static_assert(parameter_count<model<false>> == 2 * 66 + parameter_count<mlp>);
static_assert(row_wise<model<true>> && not row_wise<model<true, true>>);
static_assert(not layer_for<model<true, false, linear<6, 5>>, words>);

namespace {
template <class I> auto numbered() -> tokens<I> {
  auto x = tokens<I>{};
  for (auto i = std::size_t{0}; i < x.size(); ++i) x.values[i] = static_cast<I>(i * 7 % 11);
  return x;
}
}  // namespace

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("language_model: tied it has the bits of `tied`, gradient too") {
  auto p = parameters_of<model<true>, owned<float>>{};
  auto q = parameters_of<tied<11, 6, mlp>, owned<float>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(q, 1);
  auto const x = numbered<std::int32_t>();
  auto const a = std::make_unique<differentiation<model<true>, words>>();
  auto const b = std::make_unique<differentiation<tied<11, 6, mlp>, words>>();
  *a = {};
  *b = {};
  CHECK(test::same_bits(a->forward(p, x), b->forward(q, x)));
  test::fill(a->dy, 3);
  test::fill(b->dy, 3);
  a->backward(p, x);
  b->backward(q, x);
  CHECK(test::same_bits(a->gradient.mine.embedding, b->gradient.mine.weight));
}
TEST_CASE("language_model: an untied one whose matrices are alike has the bits of a tied one") {
  auto p = parameters_of<model<true>, owned<float>>{};
  auto q = parameters_of<model<false>, owned<float>>{};
  test::fill_parameters(p, 1);
  q.mine.embedding = q.mine.head = p.mine.embedding;
  q.template get<0>() = p.template get<0>();
  auto const x = numbered<std::int32_t>();
  auto const a = std::make_unique<inference<model<true>, words>>();
  auto const b = std::make_unique<inference<model<false>, words>>();
  CHECK(test::same_bits((*a)(p, x), (*b)(q, x)));
}
TEMPLATE_TEST_CASE("language_model: gradient check", "", (model<true>), (model<false>),
                   (model<true, true>), (model<false, true, lstm<6, 6>>)) {
  auto p = parameters_of<TestType, owned<double>>{};
  test::fill_parameters(p, 1, 0.7);
  auto x = numbered<double>();
  auto start = state_of<TestType, tokens<double>, training_call>{};
  // A step of 1e-6 names the same token: dx is zero, and so are the differences.
  auto const report =
      gradient_check<TestType, tokens<double>>(p, x.sized(), start, gradient_check_options{});
  INFO(report.parameter.c_str() << "[" << report.index << "]");
  CHECK(report.passed);
  CHECK(report.worst < 1e-7);
  CHECK(report.checked == parameter_count<TestType> + 15);
}
