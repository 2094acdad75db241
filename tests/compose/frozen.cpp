// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/frozen.hpp>

#include <set>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
using generator = sequential<linear<2, 4>, tanh_layer, linear<4, 3>>;
using critic = sequential<linear<3, 5>, batch_norm<5>, tanh_layer, dropout<0.5>, linear<5, 1>>;
using model = sequential<generator, frozen<critic>>;
using X = tensor<float, shape<6, 2>>;

static_assert(parameter_count<model> == parameter_count<generator>);
constexpr auto needs = memory_of<model, X, call_mode::training, adam>;
constexpr auto alone = memory_of<generator, X, call_mode::training, adam>;
static_assert(needs.gradient == alone.gradient && needs.moments == alone.moments);
static_assert(needs.statistics >= sizeof(parameters_of<critic, owned<float>>) +
                                      sizeof(statistics_of<critic, owned<float>>));
static_assert(reads_parameters_first<frozen<group_norm<2, 4>>>, "it adds to no gradient");
static_assert(not accepts<model, shape<6, 3>> && accepts<model, shape<6, 2>>);

namespace {

auto names_of(auto const& p) {
  auto names = std::set<std::string>{};
  for_each_parameter([&](path_name const& path, auto const&) { names.insert(path.c_str()); }, p);
  return names;
}
template <class T> struct trained_critic {
  parameters_of<critic, owned<T>> parameters{};
  statistics_of<critic, owned<T>> statistics{};
  trained_critic() {
    test::fill_parameters(parameters, 5, 0.9);
    for_each_parameter([](path_name const&, auto& w) { w += T(0.75); }, statistics);
  }
};

}  // namespace

// -- values ---------------------------------------------------------------------------------------
TEST_CASE("frozen: parameters are statistics, by the names that they had") {
  auto const c = trained_critic<float>{};
  auto wanted = names_of(c.parameters);
  wanted.merge(names_of(c.statistics));
  CHECK(wanted.contains("1.running_mean"));
  CHECK(names_of(statistics_of<frozen<critic>, owned<float>>{}) == wanted);
  CHECK(names_of(parameters_of<frozen<critic>, owned<float>>{}).empty());
  CHECK(names_of(statistics_of<model, owned<float>>{}).contains("1.4.bias"));
}
TEST_CASE("frozen: a discriminator behind a generator runs as in evaluation and stays as it is") {
  auto const c = trained_critic<float>{};
  auto const t = std::make_unique<training<model, X, adam>>();
  test::poison(*t);
  t->moments = {};
  auto start = torch_generator(1);
  t->parameters = {};
  t->statistics = {};
  model::initialize(t->parameters, t->statistics, start);
  get<0>(get<1>(t->statistics).fixed) = c.parameters;
  get<0>(get<1>(t->statistics).moving) = c.statistics;

  auto x = X{};
  test::fill(x, 2);
  auto const made = std::make_unique<inference<generator, X>>();
  auto const judged = std::make_unique<inference<critic, tensor<float, shape<6, 3>>>>();
  auto const wanted = (*judged)(c.parameters, c.statistics, (*made)(get<0>(t->parameters), x));
  auto const random = random_context{.seed = 1};
  CHECK(test::same_bits(t->passes[0].forward(t->parameters, t->statistics, x, random), wanted));

  auto const before = t->statistics;
  auto const from = t->parameters;
  auto const target = tensor<float, shape<6, 1>>{{1, 1, 1, 1, 1, 1}};
  auto const first = t->step(x, target, mse{}, adam{.rate = 0.01}, random);
  auto last = first;
  for (auto i = 0; i < 30; ++i) last = t->step(x, target, mse{}, adam{.rate = 0.01}, random);
  CHECK(last < first);
  CHECK(test::same_parameters(before, t->statistics));
  CHECK_FALSE(test::same_parameters(from, t->parameters));
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("frozen: gradient check of the generator, through the discriminator") {
  using D = tensor<double, shape<at_most(6), 2>>;
  auto p = parameters_of<model, owned<double>>{};
  auto s = statistics_of<model, owned<double>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(s, 2, 0.3);
  for_each_parameter([](path_name const&, auto& w) { w += 0.5; }, s);
  auto x = D{};
  test::fill(x, 3);
  auto const report = gradient_check<model, D>(
      p, s, x.sized(5), state_of<model, D, training_call>{}, gradient_check_options{});
  CHECK(report.passed);
  CHECK(report.worst < 1e-7);
  CHECK(report.checked == parameter_count<model> + 10);
}

namespace {

/// Its slope is that of the layer, of which nothing but dx is left.
template <class Layer, class X> void has_the_slope_of_the_layer(X x = {}) {
  using P = parameters_of<Layer, storage_of<X>>;
  using S = statistics_of<frozen<Layer>, storage_of<X>>;
  auto const p = std::make_unique<P>();
  auto const s = std::make_unique<S>();
  test::fill_parameters(*p, 1, 0.5);
  test::fill_parameters(*s, 1, 0.5);
  if (x.values[0] == 0) test::fill(x, 2);
  auto const pass = std::make_unique<differentiation<Layer, X>>();
  auto const still = std::make_unique<differentiation<frozen<Layer>, X>>();
  *pass = {};
  test::poison(*still);
  if constexpr (stateful<Layer>) still->state = {};
  auto const none = parameters_of<frozen<Layer>, storage_of<X>>{};
  CHECK(test::same_bits(pass->forward(*p, x), still->forward(none, *s, x)));
  test::fill(pass->dy, 3);
  test::fill(still->dy, 3);
  auto dx = X{};
  auto dz = X{};
  pass->backward(*p, x, view_of<X>(dx), pass->gradient, plain_context{});
  still->backward(none, *s, x, view_of<X>(dz), still->gradient, plain_context{});
  CHECK(test::same_bits(dx, dz));
}

}  // namespace

TEST_CASE("frozen: any layer, of which no gradient is wanted") {
  has_the_slope_of_the_layer<linear<5, 3>, tensor<float, shape<4, 5>>>();
  has_the_slope_of_the_layer<layer_norm<5>, tensor<float, shape<4, 5>>>();
  has_the_slope_of_the_layer<group_norm<2, 6>, tensor<float, shape<2, 4, 6>>>();
  has_the_slope_of_the_layer<conv1d<5, 3, 2>, tensor<float, shape<6, 2, 5>>>();
  has_the_slope_of_the_layer<conv2d<3, 4, 3>, tensor<float, shape<2, 5, 5, 3>>>();
  has_the_slope_of_the_layer<lstm<5, 3, lstm_options{.layers = 2}>,
                             tensor<float, shape<6, 2, 5>>>();
  has_the_slope_of_the_layer<embedding<7, 4>>(tensor<float, shape<3, 2>>{{1, 2, 3, 4, 5, 6}});
  has_the_slope_of_the_layer<self_attention<8>, tensor<float, shape<6, 2, 8>>>();
  has_the_slope_of_the_layer<sequential<linear<5, 5>, residual<sequential<linear<5, 5>>>>,
                             tensor<float, shape<4, 5>>>();
}
namespace {
/// y = w·x with a gradient that is written by expressions, or element by element.
template <bool Elements> struct scaled {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<3>> w;
    TESSERA_PARAMETERS(w)
  };
  template <class S> using expected_shape = with_last<S, 3>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input, .row_wise = true};
  static constexpr void forward(auto const& p, auto x, auto y, auto) { assign(y, x * p.w); }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto) {
    if constexpr (not Elements)
      gradient.w += sum(dy * x, axis<0>);
    else if (gradient.w.data() != nullptr)
      for (auto i = std::size_t{0}; i < dy.size(); ++i)
        gradient.w.data()[i % 3] += dy.data()[i] * x.data()[i];
    dx.put(dy * p.w);
  }
  static constexpr void initialize(auto& p, auto&) { p.w = scalar_of<decltype(p.w)>{2}; }
};
}  // namespace
TEMPLATE_TEST_CASE("frozen: a layer of one's own, whose gradient has no memory then", "",
                   scaled<false>, scaled<true>) {
  using rows = tensor<double, shape<4, 3>>;
  using whole = sequential<linear<3, 3>, frozen<TestType>>;
  auto p = parameters_of<whole, owned<double>>{};
  auto s = statistics_of<whole, owned<double>>{};
  auto g = torch_generator(1);
  whole::initialize(p, s, g);
  auto x = rows{};
  test::fill(x, 1);
  auto const report = gradient_check<whole, rows>(p, s, x, state_of<whole, rows, training_call>{},
                                                  gradient_check_options{});
  CHECK(report.passed);
  auto q = parameters_of<TestType, owned<double>>{};
  q.w = 2.0;
  CHECK(gradient_check<TestType, rows>(q, x).passed);
}
