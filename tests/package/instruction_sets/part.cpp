// SPDX-License-Identifier: MIT
// What one instruction set computes. The build compiles this file for two of them, under two NAMEs.
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

using namespace tessera;

namespace {

template <class V> void print(char const* what, V const& values) {
  auto hash = std::uint64_t{1469598103934665603U};
  for (auto v : values)
    hash = (hash ^ std::bit_cast<std::uint32_t>(static_cast<float>(v))) * 1099511628211U;
  std::printf("%s %016llx %.6g\n", what, static_cast<unsigned long long>(hash),
              static_cast<double>(*values.begin()));
}

template <class X> [[nodiscard]] auto ramp() {
  auto x = std::make_unique<X>();
  for (auto i = std::size_t{0}; i < x->size(); ++i)
    x->values[i] = static_cast<float>(i % 17) / 17 - 0.5F;
  return x;
}

/// Twenty steps of training, and what the model says then.
template <class Model, class X> void train(char const* what) {
  using learner = training<Model, X, adam>;
  auto const t = std::make_unique<learner>();
  clear(*t);
  auto generator = torch_generator(1);
  Model::initialize(t->parameters, generator);
  auto const x = ramp<X>();
  auto const target = ramp<typename learner::output>();
  for (auto step = 0; step < 20; ++step) {
    t->restart();
    (void)t->step(*x, *target, mse{}, adam{.rate = 0.01});
  }
  auto const run = std::make_unique<inference<Model, X>>();
  clear(*run);
  print(what, (*run)(t->parameters, *x));
}

template <class T> void express() {
  auto a = tensor<T, shape<7, 37>>{};
  auto generator = torch_generator(2);
  generator.normal(a, 1.0);
  tensor<T, shape<7, 37>> e = exp(a) * tanh(a) + a / (1 + sigmoid(a)) - max(a, axis<1>, keepdims);
  e = e * softmax(a, axis<0>) + gelu(a);
  print("expression", e);
  tensor<T, shape<37>> s = sum(square(e), axis<0>);
  print("reduction", s);
  tensor<T, shape<7, 7>> p = matmul(e, transpose(a));
  print("product", p);
}

/// The reference's product of weights as they are stored, which has no vectors in its name.
template <class Stored> void stored_product(char const* what) {
  using weights = compact_matrix<float, shape<5, 64>, reference, Stored>;
  auto w = std::make_unique<weights>();
  auto const all = ramp<tensor<float, shape<5, 64>>>();
  w->pack(weights_of<float>(*all));
  auto const x = ramp<tensor<float, shape<3, 64>>>();
  auto y = tensor<float, shape<3, 5>>{};
  auto none = nothing{};
  kernel_for<detail::affine_map_fn, reference>::run(
      as_const(view_of<tensor<float, shape<3, 64>>>(*x)), *w, static_cast<float const*>(nullptr),
      view_of<decltype(y)>(y), none);
  print(what, y);
}

/// The functions of single numbers, which have no vectors in their names.
template <class T> void evaluate_numbers(char const* what) {
  auto values = std::vector<T>{};
  for (auto i = -40; i < 40; ++i) {
    auto const x = static_cast<T>(i) / 9;
    for (auto const y : {lane::exp(x), lane::expm1(x), lane::erf(x), lane::erfc(x), lane::sin(x),
                         lane::cos(x), lane::tanh(x), lane::sigmoid(x), lane::gelu(x),
                         lane::log(x * x + 1), lane::pow(x * x + 1, x)})
      values.push_back(y);
  }
  print(what, values);
}

}  // namespace

void NAME() {
  using sequence = tensor<float, shape<12, 3, 20>>;
  using picture = tensor<float, shape<2, 6, 5, 4>>;
  train<sequential<lstm<20, 20>, linear<20, 3>>, sequence>("lstm");
  train<sequential<linear<20, 40>, layer_norm<40>, tanh_layer, linear<40, 5>>, sequence>("linear");
  train<conv1d<20, 8, 3, conv1d_options{.padding = 1}>, sequence>("conv1d");
  train<sequential<conv2d<4, 8, 3>, group_norm<2, 8>, silu_layer>, picture>("conv2d");
  train<attention_layer<20>, sequence>("attention");
  train<self_attention<20, self_attention_options{.heads = 2}>, sequence>("self_attention");
  stored_product<as_stored<q4_1>>("blocks");
  stored_product<as_stored<bf16>>("pairs");
  express<float>();
  express<double>();
  evaluate_numbers<float>("numbers");
  evaluate_numbers<double>("numbers");
}
