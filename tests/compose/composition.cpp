// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/composition.hpp>

using namespace tessera;

namespace {

/// A composition of a user's own: y = second(first(x)·scale) + x, with a parameter of its own.
template <class First, class Second>
struct scaled : composition<scaled<First, Second>, First, Second> {
  template <class Storage> struct own {
    tensor_in<Storage, shape<1>> scale;
    TESSERA_PARAMETERS(scale)
  };
  template <class S> using output_shape = S;
  template <class X, class Call> using inner = output_of<as_layer<First>, X>;
  template <class X, class Call, std::size_t I>
  using input = std::conditional_t<I == 0, X, inner<X, Call>>;
  template <class X, class Call>
  using values = type_list<buffer_between<inner<X, Call>, 0, 0, true>,
                           buffer_between<inner<X, Call>, 0, 1, true>>;
  template <class X, class Call>
  using slopes_between = type_list<buffer_between<inner<X, Call>, 0, 1>, buffer_between<X, 0, 0>>;
  static constexpr auto backward_reads = reads::input;

  static constexpr void run(auto inside, auto x, auto y) {
    auto const made = inside.template value<0>(tessera::output_extents<as_layer<First>>(x.actual));
    auto const times = inside.template value<1>(made.actual);
    inside.template forward<0>(x, made);
    assign(times, made * inside.p.mine.scale(0));
    inside.template forward<1>(as_const(times), y);
    assign(y, y + x);
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    auto const made = inside.template value<0>(tessera::output_extents<as_layer<First>>(x.actual));
    auto const times = inside.template value<1>(made.actual);
    auto const d = inside.template slope<0>(made.actual);
    inside.template backward<1>(times, as_const(without_memory<kind_of<decltype(y)>>(y.actual)), dy,
                                writes(d));
    if (inside.gradient.mine.scale.data() != nullptr)
      inside.gradient.mine.scale(0) += evaluate(sum(d * made)).values[0];
    assign(d, d * inside.p.mine.scale(0));
    dx.put(dy);
    inside.template backward_adding<0, 1>(x, made, d, dx);
  }
  static constexpr void initialize_own(auto& p, auto&) { p.scale = 2; }
};

using X = tensor<float, shape<4, 3>>;
using model = scaled<linear<3, 5>, linear<5, 3>>;

}  // namespace

// -- contract: what is derived --------------------------------------------------------------------
static_assert(layer_for<model, X> && layer_for<model, X, streaming_call>);
static_assert(row_wise<model> && streams<model> && not stateful<model>);
static_assert(stateful<scaled<linear<3, 3>, lstm<3, 3>>> && streams<scaled<lstm<3, 3>, identity>>);
static_assert(not streams<scaled<attention_layer<3>, identity>>);
static_assert(about_of<scaled<dropout<>, identity>>.random && not about_of<model>.random);
static_assert(not reads_parameters_first<model>);  // it adds to the slope of `scale`, then reads it
static_assert(reads_parameters_first<sequential<linear<3, 5>, linear<5, 3>>>);
static_assert(about_of<scaled<batch_norm<3>, identity>>.statistics);
static_assert(not reads_parameters_first<sequential<group_norm<1, 3>, identity>>);
static_assert(parameter_count<model> == 1 + 20 + 18);
static_assert(bytes_of<kept_of<model, X, inference_call>> == 0);
static_assert(bytes_of<kept_of<model, X, training_call>> == 2 * sizeof(tensor<float, shape<4, 5>>));
static_assert(not accepts<scaled<linear<4, 3>, identity>, shape<4, 3>>);
static_assert(is_composition<model, X>);

// -- values ---------------------------------------------------------------------------------------
TEST_CASE("composition: paths are those of torch, its own parameters first") {
  auto const p = parameters_of<sequential<identity, model>, owned<float>>{};
  auto names = std::string{};
  for_each_parameter(
      [&](path_name const& path, auto const&) { names += path.c_str() + std::string{" "}; }, p);
  CHECK(names == "1.scale 1.0.weight 1.0.bias 1.1.weight 1.1.bias ");
}
TEST_CASE("composition: it starts as its children do, one after the other") {
  auto p = parameters_of<model, owned<float>>{};
  auto generator = torch_generator(1);
  initialize_layer<model>(p, generator);
  CHECK(p.mine.scale.values[0] == 2);
  auto first = parameters_of<linear<3, 5>, owned<float>>{};
  auto second = parameters_of<linear<5, 3>, owned<float>>{};
  auto again = torch_generator(1);
  linear<3, 5>::initialize(first, again);
  linear<5, 3>::initialize(second, again);
  CHECK(test::same_parameters(get<0>(p), first));
  CHECK(test::same_parameters(get<1>(p), second));
}
TEST_CASE("composition: its memory needs no start, and by value it has the same numbers") {
  auto p = parameters_of<model, owned<float>>{};
  test::fill_parameters(p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto const run = std::make_unique<inference<model, X>>();
  auto const pass = std::make_unique<differentiation<model, X>>();
  auto const stream = std::make_unique<streaming<model, X>>();
  test::poison(*run);
  test::poison(*pass);
  test::poison(*stream);
  auto const y = (*run)(p, x);
  CHECK(test::same_bits(pass->forward(p, x), y));
  CHECK(test::same_bits(stream->step(p, x), y));
  CHECK(test::same_bits(forward_by_value<model>(p, x), y));
}
TEST_CASE("composition: layers are visited in order, with their places and inputs") {
  auto seen = std::string{};
  for_each_layer<sequential<identity, model>, X>([&](path_name const& path, auto place) {
    using input = shape_of<typename decltype(place)::input>;
    seen += path.c_str() + std::string{":"} + std::to_string(last_of<input>) + " ";
  });
  CHECK(seen == "0:3 1.0:3 1.1:5 ");
}
TEST_CASE("composition: statistics of its children are folded and taken up by position") {
  using normal = scaled<batch_norm<3>, identity>;
  auto s = statistics_of<normal, owned<float>>{};
  auto a = observed_of<normal, owned<float>>{};
  get<0>(a).count = 2;
  get<0>(a).mean = 1;
  auto b = a;
  get<0>(b).mean = 3;
  fold_observed<normal>(a, b);
  CHECK(get<0>(a).mean.values[0] == 2);
  CHECK(get<0>(a).squares.values[0] == 4);
  absorb_observed<normal>(s, a);
  CHECK(get<0>(s).running_mean.values[0] == Approx(0.2));
  CHECK(get<0>(s).num_batches_tracked.values[0] == 1);
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("composition: gradient check") {
  test::passes_gradient_check<model, tensor<double, shape<at_most(4), 3>>>(1, 0.7, 3);
  test::passes_gradient_check<sequential<model, scaled<lstm<3, 3>, linear<3, 3>>>,
                              tensor<double, shape<4, 2, 3>>>(1, 0.5);
}
