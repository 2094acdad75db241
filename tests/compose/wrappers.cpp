// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/wrappers.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
using X = tensor<float, shape<6, 4>>;
using by_batch = batch_norm<4>;
static_assert(training_call::learns && not training_call::evaluated::learns);
static_assert(about_of<evaluated<by_batch>>.statistics);
static_assert(bytes_of<observed_of<by_batch, owned<float>>> > 0);
static_assert(bytes_of<observed_of<evaluated<by_batch>, owned<float>>> == 0);
static_assert(stateful<restarted<lstm<4, 3>>> && streams<restarted<lstm<4, 3>>>);
static_assert(bytes_of<state_of<restarted<lstm<4, 3>>, X, streaming_call>> == 0);
static_assert(row_wise<evaluated<linear<4, 3>>> && not accepts<evaluated<linear<4, 3>>, shape<3>>);

// -- values ---------------------------------------------------------------------------------------
TEST_CASE("wrappers: what is evaluated drops nothing, forward and backward") {
  using dropped = sequential<linear<4, 4>, dropout<0.5>>;
  auto x = X{};
  test::fill(x, 2);
  auto const run = [&]<class Model>(std::type_identity<Model>, auto const& context) {
    auto pass = std::make_unique<differentiation<Model, X>>();
    test::poison(*pass);
    auto q = parameters_of<Model, owned<float>>{};
    test::fill_parameters(q, 1);
    pass->gradient = {};
    pass->forward(q, x, context);
    test::fill(pass->dy, 3);
    pass->backward(q, x, context);
    return pass;
  };
  auto const random = random_context{.seed = 1};
  auto const plain = run(std::type_identity<dropped>{}, plain_context{});
  auto const evaluation = run(std::type_identity<evaluated<dropped>>{}, random);
  auto const some = run(std::type_identity<dropped>{}, random);
  CHECK(test::same_bits(plain->y, evaluation->y));
  CHECK_FALSE(test::same_bits(plain->y, some->y));
  CHECK(test::same_parameters(plain->gradient, get<0>(evaluation->gradient)));
}
TEST_CASE("wrappers: what is evaluated observes nothing, beside what does") {
  using model =
      sequential<evaluated<by_batch>, linear<4, 4>, repeat<evaluated<by_batch>, 2>, by_batch>;
  auto const t = std::make_unique<training<model, X, gradient_descent, 2>>();
  test::poison(*t);
  auto generator = torch_generator(1);
  t->parameters = {};
  t->statistics = {};
  model::initialize(t->parameters, t->statistics, generator);
  auto const before = t->statistics;
  auto x = X{};
  test::fill(x, 2);
  for (auto const c : {std::size_t{0}, std::size_t{1}})
    t->differentiate(c, as_const(x), as_const(x), mse{}, 48, plain_context{});
  t->gradient();
  t->update(gradient_descent{.rate = 0.1});
  CHECK(test::same_parameters(get<0>(before), get<0>(t->statistics)));
  CHECK(test::same_parameters(get<2>(before), get<2>(t->statistics)));
  CHECK_FALSE(test::same_parameters(get<3>(before), get<3>(t->statistics)));
  for_each_parameter(
      [](path_name const& path, auto const& w) {
        INFO(path.c_str());
        for (auto const value : w) CHECK(std::isfinite(value));
      },
      t->statistics);
}
TEST_CASE("wrappers: what is restarted starts from zero at every call and step") {
  using whole = tensor<float, shape<5, 6, 4>>;
  auto p = parameters_of<lstm<4, 3>, owned<float>>{};
  auto q = parameters_of<restarted<lstm<4, 3>>, owned<float>>{};
  test::fill_parameters(p, 1, 0.5);
  test::fill_parameters(q, 1, 0.5);
  auto x = whole{};
  test::fill(x, 2);
  auto const fresh = std::make_unique<inference<lstm<4, 3>, whole>>();
  auto const run = std::make_unique<inference<restarted<lstm<4, 3>>, whole>>();
  test::poison(*fresh);
  test::poison(*run);
  auto const y = (*fresh)(p, x);
  CHECK(test::same_bits(run->resume(q, x), y));
  CHECK(test::same_bits(run->resume(q, x), y));
  auto const stream = std::make_unique<streaming<restarted<lstm<4, 3>>, X>>();
  auto const step = std::make_unique<streaming<lstm<4, 3>, X>>();
  test::poison(*stream);
  for (auto t = std::size_t{0}; t < 5; ++t) {
    step->state = {};
    CHECK(test::same_bits(stream->step(q, as_const(x)[t]), step->step(p, as_const(x)[t])));
  }
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("wrappers: gradient check") {
  test::passes_gradient_check<sequential<evaluated<linear<4, 4>>, restarted<tanh_layer>>,
                              tensor<double, shape<3, 4>>>();
  test::passes_gradient_check<sequential<linear<4, 3>, restarted<lstm<3, 2>>>,
                              tensor<double, shape<5, 2, 4>>>(1, 0.5);
}
