// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>

using namespace tessera;

using model = sequential<lstm<3, 19, lstm_options{.layers = 2, .dropout = 0.3}>, layer_norm<19>,
                         linear<19, 2>>;
using X = tensor<float, shape<6, 4, 3>>;
using target_type = tensor<float, shape<6, 4, 2>>;

// -- contract -------------------------------------------------------------------------------------
using trained = training<model, X, adam>;
static_assert(std::is_trivially_copyable_v<trained>);
static_assert(sizeof(trained::pass_type) == memory_of<model, X, call_mode::training>.object);
static_assert(memory_of<model, X, call_mode::training, adam>.moments ==
              sizeof(trained::moments_type));
static_assert(sizeof(trained) == aligned(memory_of<model, X, call_mode::training, adam>.total));

TEST_CASE("training: a step allocates nothing, and learns") {
  auto const t = std::make_unique<trained>();
  *t = {};
  auto g = torch_generator(1);
  model::initialize(t->parameters, g);
  auto x = X{};
  auto y = target_type{};
  test::fill(x, 1);
  test::fill(y, 2, 0.5);
  auto const optimizer = adam{.rate = 0.01};
  auto first = 0.0F;
  auto last = 0.0F;
  auto const before = test::allocations();
  for (auto step = 0; step < 200; ++step) {
    t->restart();
    last = t->step(x, y, mse{}, optimizer,
                   random_context{.seed = 1, .step = static_cast<std::uint64_t>(step)});
    if (step == 0) first = last;
  }
  CHECK(test::allocations() == before);
  CHECK(last < 0.3F * first);
}
TEST_CASE("training: a gradient that is clipped before the update makes the step as short") {
  using plain = sequential<lstm<3, 8>, linear<8, 2>>;
  auto const t = std::make_unique<training<plain, X, gradient_descent>>();
  *t = {};
  auto g = torch_generator(1);
  plain::initialize(t->parameters, g);
  auto x = X{};
  auto y = target_type{};
  test::fill(x, 1);
  test::fill(y, 2);
  auto way = t->parameters;
  auto const before = test::allocations();
  (void)t->differentiate(0, as_const(x), as_const(y), mse{}, y.size(), plain_context{});
  CHECK(clip_norm(t->gradient(), 0.01) > 0.02);
  t->update({.rate = 0.5});
  CHECK(test::allocations() == before);
  for_numbers([](auto from, auto to) { from -= to; }, way, t->parameters);
  CHECK(global_norm(way) == Approx(0.5 * 0.01).epsilon(1e-4));
}
TEST_CASE("training: chunks add up to the gradient of the whole batch") {
  using plain = sequential<lstm<3, 8>, linear<8, 2>>;
  using part = tensor<double, shape<6, 1, 3>>;
  using all_of_it = tensor<double, shape<6, 4, 3>>;
  auto const one = std::make_unique<training<plain, all_of_it, sgd>>();
  auto const four = std::make_unique<training<plain, part, sgd, 4>>();
  *one = {};
  *four = {};
  auto g = torch_generator(1);
  plain::initialize(one->parameters, g);
  four->parameters = one->parameters;
  auto x = all_of_it{};
  auto y = tensor<double, shape<6, 4, 2>>{};
  test::fill(x, 1);
  test::fill(y, 2);
  auto loss = 0.0;
  for (auto lane = std::size_t{0}; lane < 4; ++lane) {
    auto xs = part{};
    auto ys = tensor<double, shape<6, 1, 2>>{};
    for (auto t = std::size_t{0}; t < 6; ++t) {
      for (auto i = std::size_t{0}; i < 3; ++i) xs(t, 0, i) = x(t, lane, i);
      for (auto i = std::size_t{0}; i < 2; ++i) ys(t, 0, i) = y(t, lane, i);
    }
    loss += four->differentiate(lane, as_const(xs), as_const(ys), mse{}, 48, plain_context{});
  }
  auto const want = one->differentiate(0, as_const(x), as_const(y), mse{}, 48, plain_context{});
  CHECK(loss == Approx(want).epsilon(1e-14));
  for_each_parameter(
      [](path_name const&, auto const& a, auto const& b) {
        for (auto i = std::size_t{0}; i < a.size(); ++i)
          CHECK(a.values[i] == Approx(b.values[i]).margin(1e-14));
      },
      one->gradient(), four->gradient());
}
/// A step whose update is fused into the backward pass is the step with a gradient, without its
/// memory.
template <class Model, class X, class... Inputs> void fuses(auto const& x, auto context) {
  using plain = training<Model, X, gradient_descent, 1, Inputs...>;
  using fused = training<Model, X, fused_gradient_descent, 1, Inputs...>;
  constexpr auto memory =
      memory_of<Model, X, call_mode::training, fused_gradient_descent, Inputs...>;
  static_assert(memory.gradient == 0 && aligned(memory.total) == sizeof(fused));
  static_assert(memory_of<Model, X, call_mode::training, gradient_descent, Inputs...>.total -
                    memory.total ==
                sizeof(typename plain::parameters_type));
  auto const a = std::make_unique<plain>();
  auto const b = std::make_unique<fused>();
  clear(*a);
  clear(*b);
  test::fill_parameters(a->parameters, 3, 0.7);
  b->parameters = a->parameters;
  auto target = output_of<Model, X>{};
  test::fill(target, 2);
  for (auto step = 0; step < 3; ++step)
    CHECK(b->step(x, target, mse{}, fused_gradient_descent{.rate = 0.5}, context) ==
          Approx(a->step(x, target, mse{}, gradient_descent{.rate = 0.5}, context)).epsilon(1e-12));
  for_each_parameter(
      [](path_name const& path, auto const& one, auto const& two) {
        INFO(path.c_str());
        for (auto i = std::size_t{0}; i < one.size(); ++i)
          CHECK(two.values[i] == Approx(one.values[i]).margin(1e-12));
      },
      a->parameters, b->parameters);
}
template <class Model, class X> void fuses() {
  auto x = X{};
  test::fill(x, 1);
  fuses<Model, X>(x, plain_context{});
}
TEST_CASE("training: an update fused into the backward pass is the same step") {
  using sequence = tensor<double, shape<6, 3, 4>>;
  fuses<sequential<lstm<4, 5, lstm_options{.layers = 2}>, tanh_layer, linear<5, 2>>, sequence>();
  fuses<sequential<lstm<4, 5, lstm_options{.layers = 2, .bias = false}>, linear<5, 2>>, sequence>();
  fuses<sequential<lstm<4, 5, lstm_options{.layers = 2, .bidirectional = true}>, linear<10, 2>>,
        sequence>();
  fuses<sequential<gru<4, 5, gru_options{.layers = 2}>, linear<5, 2>>, sequence>();
  fuses<sequential<conv1d<4, 6, 3>, silu_layer, layer_norm<6>, linear<6, 2>>, sequence>();
  fuses<sequential<
            linear<4, 6>,
            residual<sequential<layer_norm<6>, attention_layer<6, attention_options{.heads = 2}>>>>,
        sequence>();
  using grouped = self_attention<8, self_attention_options{
                                        .heads = 4, .kv_heads = 2, .causal = true, .context = 6}>;
  fuses<sequential<linear<4, 8>, repeat<residual<sequential<layer_norm<8>, grouped>>, 2>,
                   recompute<sequential<linear<8, 8>, gelu_layer>>>,
        sequence>();
  fuses<parallel<linear<4, 2>, added<linear<4, 3>, linear<4, 3>>>, sequence>();

  using image = tensor<double, shape<2, 4, 4, 3>>;
  using block = sequential<conv2d<3, 4, 3, conv2d_options{.padding = 1}>, condition_bias<2, 4>,
                           silu_layer, conv2d<4, 2, 3>>;
  auto x = image{};
  auto c = tensor<double, shape<2, 2>>{};
  test::fill(x, 1);
  test::fill(c, 5);
  fuses<conditioned<linear<2, 2>, block>, image,
        given_as<tag::condition, tensor<double, shape<2, 2>>>>(x, given(c));

  auto const tokens = tensor<double, shape<4, 2>>{{0, 3, 2, 2, 4, 1, 0, 2}};
  fuses<sequential<embedding<5, 3>, linear<3, 2>>, tensor<double, shape<4, 2>>>(tokens,
                                                                                plain_context{});
  fuses<tied<5, 3, linear<3, 3>>, tensor<double, shape<4, 2>>>(tokens, plain_context{});
}
TEST_CASE("training: a bounded batch steps as a fixed one") {
  using B = tensor<float, shape<6, at_most(16), 3>>;
  auto const fixed = std::make_unique<training<model, X, adam>>();
  auto const bounded = std::make_unique<training<model, B, adam>>();
  *fixed = {};
  *bounded = {};
  auto g = torch_generator(1);
  model::initialize(fixed->parameters, g);
  bounded->parameters = fixed->parameters;
  auto x = X{};
  auto y = target_type{};
  test::fill(x, 1);
  test::fill(y, 2);
  for (auto step = std::uint64_t{0}; step < 3; ++step) {
    auto const context = random_context{.seed = 1, .step = step};
    auto const a = fixed->step(x, y, mse{}, adam{}, context);
    auto const b = bounded->step(view<float const, shape<6, at_most(16), 3>>{x.data(), {{{4}}}},
                                 view<float const, shape<6, at_most(16), 2>>{y.data(), {{{4}}}},
                                 mse{}, adam{}, context);
    CHECK(a == b);
  }
  CHECK(test::same_parameters(fixed->parameters, bounded->parameters));
}

/// A batch that makes the loss no number changes nothing, and the next good one goes on.
template <class Optimizer> void survives(auto const& bad, auto const& wrong) {
  using net = sequential<linear<3, 5>, tanh_layer, linear<5, 2>>;
  using batch = tensor<float, shape<4, 3>>;
  using trained_net = training<net, batch, Optimizer>;
  auto const t = std::make_unique<trained_net>();
  clear(*t);
  test::fill_parameters(t->parameters, 1);
  auto x = batch{};
  auto y = tensor<float, shape<4, 2>>{};
  test::fill(x, 1);
  test::fill(y, 2);
  auto const optimizer = Optimizer{.rate = 0.1};
  (void)t->step(x, y, mse{}, optimizer);
  auto const before = std::make_unique<trained_net>(*t);
  CHECK_FALSE(std::isfinite(t->step(bad, y, mse{}, optimizer)));
  CHECK_FALSE(std::isfinite(t->step(x, wrong, mse{}, optimizer)));
  CHECK(test::same_parameters(t->parameters, before->parameters));
  if constexpr (not std::is_empty_v<typename trained_net::moments_type>)
    CHECK(std::memcmp(&t->moments, &before->moments, sizeof t->moments) == 0);
  CHECK(t->step(x, y, mse{}, optimizer) == before->step(x, y, mse{}, optimizer));
  CHECK(test::same_parameters(t->parameters, before->parameters));
}
TEST_CASE("training: a loss that is no number leaves parameters and moments as they are") {
  auto bad = tensor<float, shape<4, 3>>{};
  auto wrong = tensor<float, shape<4, 2>>{};
  bad(2, 1) = NAN;
  wrong(0, 0) = INFINITY;
  survives<adam>(bad, wrong);
  survives<sgd>(bad, wrong);
  survives<gradient_descent>(bad, wrong);
  survives<fused_gradient_descent>(bad, wrong);
}
TEST_CASE("training: a batch whose targets are all ignored has no loss and no slopes") {
  using classifier = sequential<linear<3, 4>>;
  using features = tensor<float, shape<2, 3>>;
  auto t = std::make_unique<training<classifier, features, gradient_descent>>();
  auto random = torch_generator(1);
  classifier::initialize(t->parameters, random);
  auto const before = t->parameters;
  auto x = features{};
  test::fill(x, 1);
  auto const ignored = tensor<std::int32_t, shape<2>>{{-100, -100}};
  CHECK(t->step(x, ignored, cross_entropy{}, gradient_descent{.rate = 1}) == 0);
  CHECK(test::same_parameters(t->parameters, before));
  auto const one = tensor<std::int32_t, shape<2>>{{-100, 2}};
  CHECK(t->step(x, one, cross_entropy{}, gradient_descent{.rate = 1}) > 0);
  CHECK_FALSE(test::same_parameters(t->parameters, before));
}
template <class Model> inline constexpr bool draws = about_of<as_layer<Model>>.random;
TEST_CASE("training: which models draw numbers") {
  CHECK(draws<model>);
  CHECK(draws<dropout<0.1>>);
  CHECK(draws<residual<sequential<linear<3, 3>, dropout<at_run_time>>>>);
  CHECK_FALSE(draws<dropout<0.0>>);
  CHECK_FALSE(draws<lstm<3, 4, lstm_options{.dropout = 0.5}>>);
  CHECK_FALSE(draws<linear<3, 3>>);
}
TEST_CASE("training: inputs and targets are no memory of the training") {
  using square = sequential<linear<4, 4>, tanh_layer>;
  using rows = tensor<float, shape<3, 4>>;
  auto const t = std::make_unique<training<square, rows, adam>>();
  *t = {};
  auto g = torch_generator(1);
  square::initialize(t->parameters, g);
  auto x = rows{};
  test::fill(x, 1);
  CHECK_NOTHROW(t->step(x, x, mse{}, adam{}));
  auto const before = t->parameters;
  auto const& y = t->passes[0].y;
  CHECK_THROWS_WITH(t->step(y, x, mse{}, adam{}), Catch::Contains("copy it first"));
  CHECK_THROWS_WITH(t->step(x, y, mse{}, adam{}), Catch::Contains("copy it first"));
  CHECK(test::same_parameters(t->parameters, before));
  auto const fused = std::make_unique<training<square, rows, fused_gradient_descent>>();
  *fused = {};
  square::initialize(fused->parameters, g);
  CHECK_THROWS_WITH(fused->step(x, fused->passes[0].y, mse{}, fused_gradient_descent{}),
                    Catch::Contains("copy it first"));
  auto const soft_target = rows{y};
  CHECK_NOTHROW(t->step(x, soft_target, mse{}, adam{}));
}

namespace {

/// A loss whose target is no tensor: wanted numbers, and how much each counts.
struct weighted_target {
  view<float const, shape<4, 2>> wanted;
  view<float const, shape<4, 2>> weight;
};
struct weighted_squares {
  static auto terms(weighted_target const&) -> std::size_t { return 8; }
  static auto value(auto y, weighted_target const& t, float scale) {
    auto const total = evaluate(sum(square(y - t.wanted) * t.weight));
    return total.data()[0] * scale;
  }
  static auto value_and_slope(auto y, weighted_target const& t, auto dy, float scale) {
    assign(dy, (y - t.wanted) * t.weight * (2 * scale));
    return value(y, t, scale);
  }
};

}  // namespace
TEST_CASE("training: a target may be whatever its loss takes") {
  using net = linear<3, 2>;
  using input = tensor<float, shape<4, 3>>;
  using output = tensor<float, shape<4, 2>>;
  auto a = std::make_unique<training<net, input, gradient_descent>>();
  auto b = std::make_unique<training<net, input, gradient_descent>>();
  auto x = input{};
  auto wanted = output{};
  auto weight = output{};
  test::fill_parameters(a->parameters, 1);
  b->parameters = a->parameters;
  test::fill(x, 2);
  test::fill(wanted, 3);
  weight = 1.0F;
  auto const target = weighted_target{as_const(wanted), as_const(weight)};
  auto const want = a->step(x, wanted, mse{}, gradient_descent{});
  auto const got = b->differentiate(0, as_const(x), target, weighted_squares{}, 8, plain_context{});
  CHECK(std::abs(got - want) < 1e-6F);
}
