// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

// -- what a user writes: forward-only layers ------------------------------------------------------
template <std::size_t Features> struct gate {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    tensor_in<Storage, shape<Features>> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class S> using expected_shape = with_last<S, Features>;
  static constexpr auto forward(auto const& p, auto x) {
    return x * sigmoid(p.weight * x + p.bias);
  }
};
template <std::size_t Features> struct mean_square_norm {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using expected_shape = with_last<S, Features>;
  static constexpr auto forward(auto const& p, auto x) {
    return x * rsqrt(mean(square(x), axis<-1>, keepdims) + 1e-5) * p.weight;
  }
};
struct nested_means {  // a mean of an expression that has a mean
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    auto const centered = x - mean(x * x, axis<-1>, keepdims);
    return centered / sqrt(mean(centered * centered, axis<-1>, keepdims) + 1e-5);
  }
};
struct over_time {
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) {
    return x - mean(x, axis<0>, keepdims) * max(x, axis<0, -1>, keepdims) +
           tanh(logsumexp(x, axis<-1>, keepdims));
  }
};
struct modulate {
  template <class Storage> struct parameters {};
  template <class S> using expected_shape = with_last<S, 6>;
  static constexpr auto forward(auto const&, auto x) {
    return chunk<0, 3>(x) * chunk<1, 3>(x) +
           where(chunk<2, 3>(x) > 0, chunk<2, 3>(x), 0.1 * chunk<2, 3>(x));
  }
};
struct one_number {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<>> scale;
    tensor_in<Storage, shape<3, 1>> column;
    TESSERA_PARAMETERS(scale, column)
  };
  static constexpr auto forward(auto const& p, auto x) {
    return sum(x * p.scale, axis<-1>, keepdims) * p.column;
  }
};
struct every_function {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    return exp(-abs(x)) * log1p(square(x)) + sqrt(x * x + 1) / (softplus(x) + 1) +
           pow(x * x + 0.5, 1.5) * sin(x) + gelu(x) - silu(x) * cos(x) + erf(x) * expm1(0.3 * x) +
           clamp(x, -0.7, 0.9) + min(x, 0.3) - max(-x, 0.2);
  }
};

static_assert(row_wise<as_layer<gate<4>>> && not row_wise<as_layer<over_time>>);
static_assert(
    std::is_empty_v<typename as_layer<gate<4>>::template kept<tensor<float, shape<2, 4>>>>,
    "elementwise layers keep nothing");
static_assert(parameter_count<gate<4>> == 8);

TEST_CASE("trace: a forward-only layer has its gradient") {
  using X = tensor<double, shape<5, 3, 6>>;
  test::passes_gradient_check<sequential<linear<6, 4>, gate<4>, gate<4>>, X>();
  test::passes_gradient_check<sequential<linear<6, 4>, mean_square_norm<4>, linear<4, 2>>, X>();
  test::passes_gradient_check<sequential<linear<6, 4>, nested_means>, X>();
  test::passes_gradient_check<sequential<linear<6, 4>, over_time>, X>();
  test::passes_gradient_check<sequential<linear<6, 6>, modulate, linear<2, 2>>, X>();
  test::passes_gradient_check<sequential<linear<6, 4>, one_number>, X>();
  test::passes_gradient_check<sequential<linear<6, 4>, every_function>, X>();
}
TEST_CASE("trace: bounded extents, other backends") {
  using B = tensor<double, shape<at_most(5), at_most(4), 6>>;
  test::passes_gradient_check<sequential<linear<6, 4>, mean_square_norm<4>, over_time>, B>(1, 0.7,
                                                                                           4, 2);
  using R = tensor<double, shape<5, 3, 6>, reference>;
  test::passes_gradient_check<sequential<linear<6, 4>, mean_square_norm<4>, every_function>, R>();
}
template <class B> using batch = tensor<float, shape<5, 3, 6>, B>;
TEST_CASE("trace: vectors have the bits of the reference") {
  test::equals_reference<
      batch, sequential<linear<6, 37>, gate<37>, mean_square_norm<37>, every_function>>();
  test::equals_reference<batch, sequential<linear<6, 19>, over_time, one_number>>();
}
// What is infinitely steep where its operand is cut off.
struct root_of_relu {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return sqrt(relu(x)); }
};
struct root_of_choice {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return sqrt(where(x > 0, x, 0)); }
};
struct root_of_clamped {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return sqrt(clamp(x, 0, 10)); }
};
struct root_of_larger {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return sqrt(max(x, 0)); }
};
struct root_of_smaller {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return sqrt(-min(-x, 0)); }
};
struct power_of_relu {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) { return pow(relu(x), 0.5); }
};
TEMPLATE_TEST_CASE("trace: what is cut off has the slope 0, as torch's, however steep what follows",
                   "", root_of_relu, root_of_choice, root_of_clamped, root_of_larger,
                   root_of_smaller, power_of_relu, (sequential<relu_layer, root_of_relu>)) {
  auto const on = []<class Backend>(Backend) {
    using X = tensor<float, shape<3>, Backend>;
    using pass_type = differentiation<sequential<TestType>, X>;
    auto const pass = std::make_unique<pass_type>();
    auto const p = typename pass_type::parameters_type{};
    *pass = {};
    auto const x = X{{-1, -2, 4}};
    auto dx = X{};
    pass->forward(p, x);
    pass->dy = 1;
    pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
    CHECK(test::distance(dx, {0, 0, 0.25}) == 0);
  };
  on(reference{});
  on(default_backend{});
}
TEST_CASE("trace: a forward-only layer streams where its rows are apart") {
  test::streams_like_a_sequence<sequential<linear<6, 4>, gate<4>, mean_square_norm<4>>,
                                tensor<float, shape<5, 2, 6>>>();
}
TEST_CASE("trace: frozen parameters and an unwanted dx") {
  using model = sequential<gate<4>, mean_square_norm<4>>;
  using X = tensor<double, shape<2, 4>>;
  auto const pass = std::make_unique<differentiation<model, X>>();
  auto p = parameters_of<model, owned<double>>{};
  test::fill_parameters(p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto dx = X{};
  auto dx_frozen = X{};
  *pass = {};
  pass->forward(p, x);
  test::fill(pass->dy, 3);
  pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
  auto frozen = parameters_of<model, viewed<double>>{};
  pass->forward(p, x);
  pass->backward(p, x, view_of<X>(dx_frozen), frozen, plain_context{});
  CHECK(test::same_bits(dx, dx_frozen));
  auto const before = pass->gradient;
  clear_parameters(pass->gradient);
  pass->forward(p, x);
  pass->backward(p, x);
  CHECK(test::same_parameters(before, pass->gradient));
}

namespace {

/// Columns that two operands share.
struct shifted {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    return slice(x, whole_axis, whole_axis, range<0, 3>) *
           slice(x, whole_axis, whole_axis, range<1, 4>);
  }
};
/// Rows that two operands share.
struct neighbours {
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) {
    return slice(x, range<0, 4>) * slice(x, range<1, 5>);
  }
};

/// The gradient and dx of one pass.
template <class Model, class Backend> [[nodiscard]] auto slopes_on() {
  using X = tensor<float, shape<5, 3, 4>, Backend>;
  using pass = differentiation<Model, X>;
  auto const d = device::make<pass>();
  auto const p = device::make<parameters_of<Model, owned<float, Backend>>>();
  auto const x = device::make<X>();
  auto const dx = device::make<X>();
  test::fill_parameters(*p, 1);
  test::fill(*x, 2);
  d->forward(*p, *x);
  test::fill(d->dy, 3);
  d->backward(*p, *x, view_of<X>(*dx), d->gradient, plain_context{});
  auto all = std::vector<float>(dx->values, dx->values + dx->size());
  for_each_parameter([&](path_name const&, auto& w) { all.insert(all.end(), w.begin(), w.end()); },
                     d->gradient);
  return all;
}
template <class Model> [[nodiscard]] auto device_differs() -> double {
  auto const host = slopes_on<Model, reference>();
  auto const other = slopes_on<Model, cuda>();
  auto worst = host.size() == other.size() ? 0.0 : 1.0;
  for (auto i = std::size_t{0}; i < host.size(); ++i)
    worst =
        test::larger(worst, std::abs(static_cast<double>(host[i]) - static_cast<double>(other[i])));
  return worst;
}

}  // namespace

TEST_CASE("trace: slopes on the device are those of the reference, in their order") {
  CHECK(device_differs<gate<4>>() == 0);              // by columns
  CHECK(device_differs<every_function>() == 0);       // by elements
  CHECK(device_differs<nested_means>() == 0);         // by rows
  CHECK(device_differs<mean_square_norm<4>>() == 0);  // by columns, and by rows
  CHECK(device_differs<over_time>() < 1e-6);          // sums of columns are cut into parts there
  CHECK(device_differs<one_number>() == 0);           // a number that all rows share
  CHECK(device_differs<shifted>() == 0);              // one thread
  CHECK(device_differs<neighbours>() == 0);           // one thread
  CHECK(device_differs<root_of_relu>() == 0);         // of an infinite slope
  CHECK(device_differs<root_of_choice>() == 0);
}
