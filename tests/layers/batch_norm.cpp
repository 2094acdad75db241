// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/batch_norm.hpp>

#include <thread>
#include <vector>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<batch_norm<3>, shape<4, 3>> && accepts<batch_norm<3>, shape<4, 5, 5, 3>>);
static_assert(not accepts<batch_norm<3>, shape<4, 2>> && not accepts<batch_norm<3>, shape<3>>);
template <std::size_t Lanes> using by_lanes = batch_norm<3, batch_norm_options{.lanes = Lanes}>;
static_assert(accepts<by_lanes<2>, shape<at_most(4), 3>> && not accepts<by_lanes<3>, shape<4, 3>>);
static_assert(parameter_count<batch_norm<3>> == 6);
static_assert(parameter_count<batch_norm<3, batch_norm_options{.affine = false}>> == 0);
static_assert(std::is_empty_v<batch_norm<3>>);

namespace {

/// A model's parameters and statistics as it starts.
template <class Model, class X> struct started {
  parameters_of<Model, storage_of<X>> parameters{};
  statistics_of<Model, storage_of<X>> statistics{};
  started() {
    auto generator = torch_generator(1);
    initialize_layer<Model>(parameters, statistics, generator);
  }
};

template <class P> auto names_of(P const& p) -> std::string {
  auto names = std::string{};
  for_each_parameter(
      [&](path_name const& path, auto const&) { names += std::string{path.c_str()} + " "; }, p);
  return names;
}

}  // namespace

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("batch_norm: a batch has mean 0 and deviation 1, and is taken up once at the update") {
  using X = tensor<double, shape<2, 2, 1>>;
  using model = batch_norm<1, batch_norm_options{.momentum_1e6 = 500'000, .epsilon_1e12 = 0}>;
  auto t = std::make_unique<training<model, X, gradient_descent>>();
  *t = {};
  auto generator = torch_generator(1);
  initialize_layer<model>(t->parameters, t->statistics, generator);
  CHECK(t->statistics.running_var.values[0] == 1);
  auto const x = X{{1, 3, 3, 1}};
  t->differentiate(0, as_const(x), as_const(x), mse{}, 4, plain_context{});
  CHECK(test::distance(t->passes[0].y, {-1, 1, 1, -1}) == 0);
  CHECK(t->statistics.running_mean.values[0] == 0);
  t->update(gradient_descent{.rate = 0});
  CHECK(t->statistics.running_mean.values[0] == 1);                     // 0.5·2
  CHECK(t->statistics.running_var.values[0] == Approx(0.5 + 2.0 / 3));  // 4 / (4 - 1), halved
  CHECK(t->statistics.num_batches_tracked.values[0] == 1);
  auto const run = std::make_unique<inference<model, X>>();
  auto const y = (*run)(t->parameters, t->statistics, x);
  CHECK(y.data()[0] == 0);
  CHECK(y.data()[1] == Approx(2 / std::sqrt(0.5 + 2.0 / 3)));
}
TEST_CASE("batch_norm: a momentum of 1 takes the last batch alone, whatever came before") {
  using X = tensor<float, shape<2, 1>>;
  using model = batch_norm<1, batch_norm_options{.momentum_1e6 = 1'000'000}>;
  auto t = std::make_unique<training<model, X, gradient_descent>>();
  auto generator = torch_generator(1);
  initialize_layer<model>(t->parameters, t->statistics, generator);
  for (auto const& x : {X{{1e8F, 3e8F}}, X{{1, 2}}}) {
    t->differentiate(0, as_const(x), as_const(x), mse{}, 2, plain_context{});
    t->update(gradient_descent{.rate = 0});
  }
  CHECK(t->statistics.running_mean.values[0] == 1.5F);
  CHECK(t->statistics.running_var.values[0] == 0.5F);
}
TEST_CASE("batch_norm: many rows far from zero keep their mean and deviation") {
  using X = tensor<float, shape<400'000, 1>>;
  using model = batch_norm<1>;
  auto t = std::make_unique<training<model, X, gradient_descent>>();
  auto generator = torch_generator(1);
  initialize_layer<model>(t->parameters, t->statistics, generator);
  auto const x = std::make_unique<X>();
  test::fill(*x, 1, 5);
  *x = *x + 290;  // temperatures
  t->differentiate(0, as_const(*x), as_const(*x), mse{}, 400'000, plain_context{});
  auto sum = 0.0;
  auto squares = 0.0;
  for (auto const number : t->passes[0].y.values) {
    sum += double{number};
    squares += double{number} * double{number};
  }
  CHECK(std::abs(sum / 400'000) < 1e-4);
  CHECK(std::abs(squares / 400'000 - 1) < 1e-3);
}
TEST_CASE("batch_norm: nothing is learnt from an empty chunk") {
  using X = tensor<float, shape<at_most(4), 3>>;
  using model = batch_norm<3>;
  auto const t = std::make_unique<training<model, X, gradient_descent, 2>>();
  auto const one = std::make_unique<training<model, X, gradient_descent>>();
  test::poison(*t);
  test::poison(*one);
  auto const start = started<model, X>{};
  one->parameters = t->parameters = start.parameters;
  one->statistics = t->statistics = start.statistics;
  auto x = X{};
  test::fill(x, 1);
  auto const target = X{};
  auto const feed = [&](auto& object, std::size_t chunk, std::size_t n) {
    object.differentiate(chunk, as_const(x.sized(n)), as_const(target.sized(n)), mse{}, 12,
                         plain_context{});
  };
  feed(*t, 0, 4);
  feed(*t, 1, 0);
  feed(*one, 0, 4);
  t->gradient();
  t->update(gradient_descent{});
  one->update(gradient_descent{});
  CHECK(test::same_parameters(t->statistics, one->statistics));
  CHECK(test::same_parameters(t->parameters, one->parameters));
  feed(*one, 0, 0);
  auto const before = one->statistics;
  one->update(gradient_descent{});
  CHECK(test::same_parameters(one->statistics, before));
}

// -- laws -----------------------------------------------------------------------------------------
/// What three steps leave of parameters and statistics, and the answer then.
template <class Model, class B> auto after_three_steps() -> std::vector<float> {
  using X = tensor<float, shape<at_most(6), 5, 19>, B>;
  auto const t = std::make_unique<training<Model, X, adam>>();
  test::poison(*t);
  auto const start = started<Model, X>{};
  t->parameters = start.parameters;
  t->statistics = start.statistics;
  t->moments = {};
  auto x = std::make_unique<X>();
  auto target = std::make_unique<X>();
  for (auto step = 0U; step < 3; ++step) {
    test::fill(*x, step, 2);
    test::fill(*target, step + 9);
    t->step(x->sized(5), target->sized(5), mse{}, adam{.rate = 0.1});
  }
  auto numbers = std::vector<float>{};
  auto const append = [&](path_name const&, auto const& w) {
    numbers.insert(numbers.end(), w.data(), w.data() + w.size());
  };
  for_each_parameter(append, t->parameters);
  for_each_parameter(append, t->statistics);
  auto const run = std::make_unique<inference<Model, X>>();
  append({}, (*run)(t->parameters, t->statistics, x->sized(5)));
  return numbers;
}
TEST_CASE("batch_norm: vectors have the bits of the reference") {
  using model = batch_norm<19, batch_norm_options{.lanes = 2}>;
  CHECK(after_three_steps<model, simd>() == after_three_steps<model, reference>());
}
template <class Activation> void takes_along() {
  using norm = batch_norm<19, batch_norm_options{.lanes = 2}>;
  using joined = sequential<linear<19, 19>, norm, Activation, linear<19, 19>>;
  using apart = sequential<linear<19, 19>, sequential<norm>, Activation, linear<19, 19>>;
  static_assert(joined::template taken_along<simd>(2) && not apart::template taken_along<simd>(2));
  CHECK(after_three_steps<joined, simd>() == after_three_steps<apart, simd>());
  CHECK(after_three_steps<joined, simd>() == after_three_steps<joined, reference>());
  using evaluates = sequential<linear<19, 19>, evaluated<sequential<norm, Activation>>>;
  using evaluates_apart =
      sequential<linear<19, 19>, evaluated<sequential<sequential<norm>, Activation>>>;
  CHECK(after_three_steps<evaluates, simd>() == after_three_steps<evaluates_apart, simd>());
  CHECK(after_three_steps<evaluates, simd>() == after_three_steps<evaluates, reference>());
  using not_its_own = sequential<evaluated<norm>, Activation>;
  static_assert(not not_its_own::template taken_along<simd>(1));
  // No memory more than for the norm alone.
  using X = tensor<float, shape<6, 5, 19>>;
  static_assert(memory_of<sequential<norm, Activation>, X, call_mode::training>.total ==
                memory_of<sequential<norm>, X, call_mode::training>.total);
}
TEST_CASE("batch_norm: an activation behind it is taken along, to the same bits") {
  takes_along<relu_layer>();
  takes_along<silu_layer>();
}
TEMPLATE_TEST_CASE("batch_norm: gradient check, by the batch and by running statistics", "",
                   batch_norm<3>, (batch_norm<3, batch_norm_options{.lanes = 2}>),
                   (batch_norm<3, batch_norm_options{.affine = false}>), evaluated<batch_norm<3>>,
                   (sequential<batch_norm<3, batch_norm_options{.lanes = 2}>, silu_layer>),
                   (sequential<batch_norm<3>, tanh_layer>),
                   (evaluated<sequential<batch_norm<3>, silu_layer>>)) {
  using X = tensor<double, shape<at_most(6), 2, 3>>;
  using model = sequential<linear<3, 3>, TestType>;
  auto s = started<model, X>{};
  test::fill_parameters(s.parameters, 2, 0.9);
  for_each_parameter([](path_name const&, auto& w) { w += 0.75; }, s.statistics);
  auto x = X{};
  test::fill(x, 3, 1.5);
  for (auto const n : {6, 5}) {
    auto const report =
        gradient_check<model, X>(s.parameters, s.statistics, x.sized(static_cast<std::size_t>(n)),
                                 state_of<model, X, training_call>{}, gradient_check_options{});
    INFO(report.parameter.c_str() << "[" << report.index << "]: " << report.backward << " and "
                                  << report.difference);
    CHECK(report.passed);
    CHECK(report.worst < 1e-7);
  }
}

namespace {

template <std::size_t Chunks, class Model> auto trained(std::size_t threads) {
  constexpr auto lanes = std::size_t{16};
  using X = tensor<float, shape<at_most(lanes / Chunks), 3, 5>>;
  using object = training<Model, X, adam, Chunks>;
  auto t = std::make_unique<object>();
  test::poison(*t);
  auto const start = started<Model, X>{};
  t->parameters = start.parameters;
  t->statistics = start.statistics;
  t->moments = {};
  auto every = tensor<float, shape<lanes, 3, 5>>{};
  for (auto step = 0U; step < 4; ++step) {
    test::fill(every, step, 2);
    // 14 of 16 lanes: the last group has half of its lanes
    auto const one = [&](std::size_t c) {
      auto const first = c * lanes / Chunks;
      auto const n = std::min(lanes / Chunks, 14 - first);
      auto const part = const_view_of<X>{every.data() + first * 15, {{{n}}}};
      t->differentiate(c, part, part, mse{}, 14 * 15, plain_context{});
    };
    auto workers = std::vector<std::thread>{};
    for (auto w = std::size_t{0}; w < threads; ++w)
      workers.emplace_back([&, w] {
        for (auto c = w; c < Chunks; c += threads) one(c);
      });
    for (auto& worker : workers) worker.join();
    t->gradient();
    t->update(adam{.rate = 0.05});
  }
  return t;
}

}  // namespace

TEST_CASE("batch_norm: one chunk and four, one thread and four, have the same bits") {
  using norm = batch_norm<5, batch_norm_options{.lanes = 4}>;
  auto const one = trained<1, norm>(1);
  auto const four = trained<4, norm>(4);
  CHECK(test::same_parameters(one->parameters, four->parameters));
  CHECK(test::same_parameters(one->statistics, four->statistics));
  CHECK(one->statistics.num_batches_tracked.values[0] == 4);
  CHECK(one->parameters.weight.values[0] != 1);

  using deep = sequential<linear<5, 5>, norm, relu_layer, linear<5, 5>, norm>;
  auto const alone = trained<4, deep>(1);
  auto const shared = trained<4, deep>(4);
  CHECK(test::same_parameters(alone->parameters, shared->parameters));
  CHECK(test::same_parameters(alone->statistics, shared->statistics));
}
TEST_CASE("batch_norm: statistics have torch's names, and a step is by the running ones") {
  using model = sequential<linear<5, 5>, batch_norm<5>>;
  using X = tensor<float, shape<4, 5>>;
  auto s = started<model, X>{};
  CHECK(names_of(s.statistics) == "1.running_mean 1.running_var 1.num_batches_tracked ");
  test::fill_parameters(s.parameters, 1);
  for_each_parameter([](path_name const&, auto& w) { w += 0.75F; }, s.statistics);
  auto x = X{};
  test::fill(x, 2);
  auto const whole = std::make_unique<inference<model, X>>();
  auto const stream = std::make_unique<streaming<model, X>>();
  test::poison(*whole);
  test::poison(*stream);
  CHECK(test::same_bits((*whole)(s.parameters, s.statistics, x),
                        stream->step(s.parameters, s.statistics, x)));
}

// -- reference: tests/reference/batch_norm.py -----------------------------------------------------
namespace {

template <class Layer, class X> void agrees(test::golden const& g, std::string const& prefix) {
  using model = sequential<Layer>;
  using evaluation = sequential<evaluated<Layer>>;
  auto s = started<model, X>{};
  test::load(s.parameters, g, prefix);
  auto const learning = std::make_unique<differentiation<model, X>>();
  auto const evaluating = std::make_unique<differentiation<evaluation, X>>();
  auto const x = std::make_unique<X>();
  auto const dx = std::make_unique<X>();
  auto const pass = [&](auto& one, auto const& p, auto const& statistics, std::string const& at) {
    test::poison(one);
    test::load(*x, g[at + "x"]);
    CHECK(test::distance(one.forward(p, statistics, *x), g[at + "y"]) <= 1e-6);
    test::load(one.dy, g[at + "dy"]);
    one.gradient = {};
    one.backward(p, statistics, *x, view_of<X>(*dx), one.gradient, plain_context{});
    CHECK(test::distance(*dx, g[at + "dx"]) <= 1e-5);
    for_each_parameter(
        [&](path_name const& path, auto const& slope) {
          INFO(path.c_str());
          CHECK(test::distance(slope, g[at + "d" + path.c_str()]) <= 1e-5);
        },
        one.gradient);
  };
  for (auto const* const step : {"0", "1", "2", "3"}) {
    INFO(prefix << step);
    auto const at = prefix + step;
    if (*step == '3') {
      auto p = parameters_of<evaluation, owned<float>>{};
      auto statistics = statistics_of<evaluation, owned<float>>{};
      test::load(p, g, prefix);
      test::load(statistics, g, at);
      pass(*evaluating, p, statistics, at);
    } else {
      pass(*learning, s.parameters, s.statistics, at);
      absorb_observed<model>(s.statistics, learning->observed);
    }
    for_each_parameter(
        [&](path_name const& path, auto const& value) {
          INFO(path.c_str());
          CHECK(test::distance(value, g[at + path.c_str()]) <= 1e-6);
        },
        s.statistics);
  }
}

}  // namespace

TEST_CASE("batch_norm: agrees with torch, in training and in evaluation") {
  auto const g = test::golden("batch_norm");
  agrees<batch_norm<6>, tensor<float, shape<8, 6>>>(g, "rows.");
  agrees<
      batch_norm<5, batch_norm_options{.momentum_1e6 = 300'000, .epsilon_1e12 = 100'000'000'000}>,
      tensor<float, shape<2, 7, 5>>>(g, "sequence.");
  agrees<batch_norm<12>, tensor<float, shape<2, 4, 3, 12>>>(g, "images.");
  agrees<batch_norm<3, batch_norm_options{.affine = false}>, tensor<float, shape<2, 4, 4, 3>>>(
      g, "bare.");
}
TEST_CASE("batch_norm: what is initialized starts as torch's, whatever was there") {
  using layer = as_layer<batch_norm<3>>;
  auto p = parameters_of<layer, owned<float>>{};
  auto s = statistics_of<layer, owned<float>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(s, 2);
  auto g = torch_generator(1);
  initialize_layer<layer>(p, s, g);
  CHECK(test::distance(p.weight, {1, 1, 1}) == 0);
  CHECK(test::distance(p.bias, {0, 0, 0}) == 0);
  CHECK(test::distance(s.running_mean, {0, 0, 0}) == 0);
  CHECK(test::distance(s.running_var, {1, 1, 1}) == 0);
  CHECK(s.num_batches_tracked() == 0);
}
