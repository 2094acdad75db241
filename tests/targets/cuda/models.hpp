// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/cuda.hpp>
#include <tessera/layers/conv1d.hpp>
#include <tessera/layers/dropout.hpp>
#include <tessera/models/gpt.hpp>
#include <tessera/models/gpt2.hpp>
#include <tessera/models/llama.hpp>
#include <tessera/models/unet.hpp>
#include <tessera/optim/averaging.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

/// The same models on `reference` and on `cuda`, trained side by side: what a GPU runs, and what
/// the fake device runs in its place.
namespace on_cuda {

using namespace tessera;

struct distances {
  double loss = 0;        ///< the largest relative one of a step
  double parameters = 0;  ///< the largest one after all steps
  std::size_t kernels = 0;
};

inline void note(double& worst, double a, double b) {
  auto const d = std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : INFINITY;
  worst = std::max(worst, d);
}

/// Trains for `steps`, on cuda by one graph or by single launches.
template <class Model, class S, class R, class Target, class Optimizer, class Loss,
          class Condition = void>
class side_by_side {
 public:
  template <class Backend> using input = tensor<float, S, Backend>;
  template <class Backend> using target = tensor<Target, R, Backend>;
  template <class Backend, class C> struct object_of {
    using type = training<Model, input<Backend>, Optimizer, 1,
                          tessera::given_as<tag::condition, tensor<float, C, Backend>>>;
  };
  template <class Backend> struct object_of<Backend, void> {
    using type = training<Model, input<Backend>, Optimizer>;
  };
  template <class Backend> using object = typename object_of<Backend, Condition>::type;

  side_by_side() {
    auto generator = torch_generator(1);
    Model::initialize(host_->parameters, generator);
    generator = torch_generator(1);
    Model::initialize(device_->parameters, generator);
    device::synchronize();
  }
  /// Numbers of x and the target by f(generator), g(generator).
  void fill(auto const& f, auto const& g) {
    auto generator = torch_generator(2);
    for (auto i = std::size_t{0}; i < x_->size(); ++i)
      x_->values[i] = dx_->values[i] = static_cast<float>(f(generator));
    for (auto i = std::size_t{0}; i < y_->size(); ++i)
      y_->values[i] = dy_->values[i] = static_cast<Target>(g(generator));
  }
  /// The contexts are those of a step, for either. Where it `carries`, a step goes on from the
  /// state that the one before left.
  auto train(int steps, bool as_graph, auto const& host_context, auto const& device_context,
             bool carries = false) -> distances {
    auto result = distances{};
    auto step = 0;
    auto optimizer = Optimizer{};
    auto const on_device = [&] {
      if (not carries) device_->restart();
      auto const context = device_context(step);
      auto const loss = device_->differentiate(0, as_const(*dx_), as_const(*dy_), Loss{},
                                               Loss{}.terms(as_const(*dy_)), context);
      clip_norm(device_->gradient(), 0.5);
      device_->update(optimizer);
      return static_cast<double>(loss);
    };
    auto const compare = [&](auto&& run) {
      for (step = 0; step < steps; ++step) {
        optimizer.rate = 0.01 / (1 + step);
        if (not carries) host_->restart();
        auto const wanted = static_cast<double>(
            host_->differentiate(0, as_const(*x_), as_const(*y_), Loss{},
                                 Loss{}.terms(as_const(*y_)), host_context(step)));
        clip_norm(host_->gradient(), 0.5);
        host_->update(optimizer);
        note(result.loss, run() / wanted, 1);
      }
    };
    if (as_graph) {
      auto graph = device::graph(on_device);
      compare(graph);
      result.kernels = graph.kernels();
    } else {
      compare(on_device);
    }
    device::synchronize();
    for_each_parameter(
        [&](path_name const&, auto const& a, auto const& b) {
          for (auto i = std::size_t{0}; i < a.size(); ++i)
            note(result.parameters, static_cast<double>(a.values[i]),
                 static_cast<double>(b.values[i]));
        },
        host_->parameters, device_->parameters);
    return result;
  }

 private:
  std::unique_ptr<object<reference>> host_ = std::make_unique<object<reference>>();
  std::unique_ptr<input<reference>> x_ = std::make_unique<input<reference>>();
  std::unique_ptr<target<reference>> y_ = std::make_unique<target<reference>>();
  device::unique<object<cuda>> device_ = device::make<object<cuda>>();
  device::unique_on_host<input<cuda>> dx_ = device::make_on_host<input<cuda>>();
  device::unique_on_host<target<cuda>> dy_ = device::make_on_host<target<cuda>>();
};

inline auto uniform(torch_generator& g) -> double { return 2 * g.rand<double>() - 1; }
inline constexpr auto no_context = [](int) { return plain_context{}; };

/// The frequency filter's network, with dropout between two layers.
struct filter : sequential<lstm<5, 16, lstm_options{.layers = 2, .dropout = 0.3}>, linear<16, 1>> {
};
/// Gated units in both directions, read where they end.
struct gated
    : sequential<transposed_layer,
                 gru<5, 16, gru_options{.layers = 2, .dropout = 0.3, .bidirectional = true}>,
                 parallel<last_step, mean_over_time>, linear<64, 1>> {};
/// More units than a thread holds weights of, with and without biases.
struct wide : sequential<lstm<5, 80>, gru<80, 40>, lstm<40, 200, lstm_options{.bias = false}>,
                         linear<200, 1>> {};
template <class Model, class S, class R, class Optimizer = adam>
[[nodiscard]] auto train_recurrent(int steps, bool as_graph) -> distances {
  auto run = side_by_side<Model, S, R, float, Optimizer, mse>{};
  run.fill(uniform, uniform);
  auto const context = [](int step) {
    return random_context{.seed = 3, .step = static_cast<std::uint64_t>(step)};
  };
  return run.train(steps, as_graph, context, context);
}
inline auto train_filter(int steps, bool as_graph) -> distances {
  return train_recurrent<filter, shape<12, 4, 5>, shape<12, 4, 1>>(steps, as_graph);
}
inline auto train_wide(int steps, bool as_graph) -> distances {
  return train_recurrent<wide, shape<6, 4, 5>, shape<6, 4, 1>, sgd>(steps, as_graph);
}
inline auto train_gated(int steps, bool as_graph) -> distances {
  return train_recurrent<gated, shape<4, 12, 5>, shape<4, 1>>(steps, as_graph);
}

/// The character model, narrower.
struct small_gpt
    : gpt<gpt_options{
          .vocabulary = 20, .width = 16, .blocks = 2, .heads = 4, .kv_heads = 2, .context = 24}> {};
template <class Model, class Optimizer>
[[nodiscard]] auto train_on_tokens(int steps, bool as_graph) -> distances {
  auto run =
      side_by_side<Model, shape<24, 3>, shape<24, 3>, std::int32_t, Optimizer, cross_entropy>{};
  auto const token = [](torch_generator& g) { return g.randint(20); };
  run.fill(token, token);
  return run.train(steps, as_graph, no_context, no_context);
}
inline auto train_language_model(int steps, bool as_graph) -> distances {
  return train_on_tokens<small_gpt, adamw>(steps, as_graph);
}

/// Llama's layers with norms of heads and neighbours as pairs; GPT-2's with its positions.
struct small_llama : llama<llama_options{.vocabulary = 20,
                                         .width = 16,
                                         .blocks = 1,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .hidden = 24,
                                         .context = 24,
                                         .qkv_bias = true,
                                         .qk_norm = true,
                                         .interleaved = true}> {};
inline auto train_llama(int steps, bool as_graph) -> distances {
  return train_on_tokens<small_llama, sgd>(steps, as_graph);
}
struct small_gpt2
    : gpt2<gpt2_options{.vocabulary = 20, .width = 16, .blocks = 1, .heads = 2, .context = 24}> {};
inline auto train_gpt2(int steps, bool as_graph) -> distances {
  return train_on_tokens<small_gpt2, sgd>(steps, as_graph);
}

/// The digit U-Net, narrower, with its condition; by plain gradient descent, since Adam makes whole
/// steps of what rounding leaves of a slope that is zero.
struct denoiser : unet<unet_options{.in = 1,
                                    .out = 1,
                                    .levels = 2,
                                    .channels = {8, 16},
                                    .blocks = 1,
                                    .attention_from = 1,
                                    .head_width = 8,
                                    .groups = 4,
                                    .classes = 11}> {};
inline auto train_denoiser(int steps, bool as_graph) -> distances {
  auto run =
      side_by_side<denoiser, shape<2, 8, 8, 1>, shape<2, 8, 8, 1>, float, sgd, mse, shape<2, 2>>{};
  run.fill(uniform, uniform);
  static auto const host = tensor<float, shape<2, 2>, reference>{{3.0F, 4.0F, 150.0F, 10.0F}};
  auto const on_device = device::make<tensor<float, shape<2, 2>, cuda>>();
  for (auto i = std::size_t{0}; i < 4; ++i) on_device->values[i] = host.values[i];
  return run.train(
      steps, as_graph, [&](int) { return given(as_const(host)); },
      [&](int) { return given(as_const(*on_device)); });
}

/// What the three others have not: convolutions over time.
struct convolutions : sequential<conv1d<3, 8, 3, conv1d_options{.stride = 2, .padding = 1}>,
                                 relu_layer, conv1d<8, 2, 3>> {};
inline auto train_convolutions(int steps, bool as_graph) -> distances {
  auto run = side_by_side<convolutions, shape<16, 2, 3>, shape<6, 2, 2>, float, adam, l1>{};
  run.fill(uniform, uniform);
  return run.train(steps, as_graph, no_context, no_context);
}

/// A convolution that remembers, over fewer samples than it remembers, and over more.
struct remembering
    : sequential<linear<3, 4>, conv1d<4, 6, 3, conv1d_options{.dilation = 3, .causal = true}>,
                 conv1d<6, 6, 3, conv1d_options{.causal = true}>, linear<6, 2>> {};
inline auto train_remembering(int steps, bool as_graph) -> distances {
  auto run = side_by_side<remembering, shape<5, 2, 3>, shape<5, 2, 2>, float, sgd, mse>{};
  run.fill(uniform, uniform);
  return run.train(steps, as_graph, no_context, no_context, true);
}

/// Layers that have a forward pass alone.
template <std::size_t Features> struct soft_gate {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto forward(auto const& p, auto x) {
    return x * sigmoid(p.weight * x) * rsqrt(mean(square(x), axis<-1>, keepdims) + 1e-5);
  }
};
struct traced_layers : sequential<linear<3, 8>, soft_gate<8>, soft_gate<8>, linear<8, 2>> {};
inline auto train_traced_layers(int steps, bool as_graph) -> distances {
  auto run = side_by_side<traced_layers, shape<5, 2, 3>, shape<5, 2, 2>, float, sgd, mse>{};
  run.fill(uniform, uniform);
  return run.train(steps, as_graph, no_context, no_context);
}

/// The largest difference of an expression's numbers.
template <class F> [[nodiscard]] auto distance_of(F const& f) -> double {
  using X = shape<5, 7, 4>;
  auto const x = std::make_unique<tensor<float, X, reference>>();
  auto const dx = device::make<tensor<float, X, cuda>>();
  auto generator = torch_generator(5);
  for (auto i = std::size_t{0}; i < x->size(); ++i)
    x->values[i] = dx->values[i] = static_cast<float>(uniform(generator));
  using S = shape_of<decltype(f(as_const(*x)))>;
  auto const y = std::make_unique<tensor<float, S, reference>>();
  auto const dy = device::make<tensor<float, S, cuda>>();
  *y = f(as_const(*x));
  *dy = f(as_const(*dx));
  device::synchronize();
  auto worst = 0.0;
  for (auto i = std::size_t{0}; i < y->size(); ++i)
    note(worst, static_cast<double>(y->values[i]), static_cast<double>(dy->values[i]));
  return worst;
}
/// Nodes that the models have not: a kernel reads each by its row.
inline auto largest_distance_of_expressions() -> double {
  auto worst = 0.0;
  auto const check = [&](auto const& f) { note(worst, 0, distance_of(f)); };
  check([](auto x) { return transpose(x) * 2; });
  check([](auto x) { return x - mean(x, axis<1>, keepdims); });
  check([](auto x) { return exp(x[2]) * x; });
  check([](auto x) { return where(x > 0, sin(x), sqrt(abs(x))); });
  check([](auto x) { return softmax(x, axis<-1>) + softmax(x, axis<0>); });
  check([](auto x) { return log_softmax(x, axis<-1>); });
  check([](auto x) { return variance(x, axis<0, 1>); });
  check([](auto x) { return max(x, axis<2>) + min(x, axis<-1>); });
  check([](auto x) { return cast<float>(argmax(x, axis<-1>)); });
  check([](auto x) { return cast<float>(argmin(x, axis<0>)); });
  check([](auto x) { return concatenate(axis<1>, x, x * 3.0F) + 1; });
  check([](auto x) { return stack(axis<-1>, x, transpose(transpose(x))); });
  check([](auto x) { return erf(x) + gelu(x) * pow(abs(x), 1.5F); });
  return worst;
}

}  // namespace on_cuda
