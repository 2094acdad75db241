// SPDX-License-Identifier: MIT
#include <tessera/cuda.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <stdexcept>

#include "../characters/network.hpp"
#include "../digits/network.hpp"
#include "steps.hpp"

namespace steps {

namespace {

using namespace tessera;

/// The networks of the other examples, unchanged; a struct of its own keeps their names short.
struct filter : sequential<lstm<5, 64>, linear<64, 1>> {};
struct denoiser : digits::denoiser {};
struct language_model : characters::model {};

template <class Model, class X, class Y, class C, class Loss, class Optimizer>
class trainer_of final : public trainer {
 public:
  explicit trainer_of(std::uint32_t seed) {
    auto generator = torch_generator(seed);
    Model::initialize(learner_->parameters, generator);
    device::synchronize();
  }
  auto shape() const -> batch override {
    auto result = batch{};
    result.x.resize(X::shape_type::capacity);
    result.target.resize(Y::shape_type::capacity);
    if constexpr (has_condition_) result.condition.resize(C::shape_type::capacity);
    return result;
  }
  auto step(batch const& data, double rate) -> double override {
    copy(data.x, *x_);
    copy(data.target, *y_);
    if constexpr (has_condition_) copy(data.condition, *c_);
    optimizer_.rate = rate;
    return graph_();
  }
  void save(std::string const& path) const override {
    device::synchronize();
    save_parameters(path, learner_->parameters);
  }
  auto kernels() const -> std::size_t override { return graph_.kernels(); }

 private:
  static constexpr bool has_condition_ = not std::is_same_v<C, nothing>;

  template <class T> static void copy(std::vector<float> const& from, T& to) {
    if (from.size() != T::shape_type::capacity)
      throw std::invalid_argument("a batch has " + std::to_string(from.size()) +
                                  " numbers, expected " + std::to_string(T::shape_type::capacity));
    for (auto i = std::size_t{0}; i < from.size(); ++i)
      to.values[i] = static_cast<scalar_of<T>>(from[i]);
  }
  struct one_step {
    trainer_of* self;
    auto operator()() const {
      self->learner_->restart();
      auto const loss = [&] {
        auto const x = as_const(*self->x_);
        auto const y = as_const(*self->y_);
        auto const terms = Y::shape_type::capacity;
        if constexpr (has_condition_)
          return self->learner_->differentiate(0, x, y, Loss{}, terms, given(as_const(*self->c_)));
        else
          return self->learner_->differentiate(0, x, y, Loss{}, terms, plain_context{});
      }();
      clip_norm(self->learner_->gradient(), 1.0);
      self->learner_->update(self->optimizer_);
      return loss;
    }
  };

  template <class> struct object_of {
    using type = training<Model, X, Optimizer, 1, given_as<tag::condition, C>>;
  };
  using object =
      typename std::conditional_t<has_condition_, object_of<void>,
                                  std::type_identity<training<Model, X, Optimizer>>>::type;
  device::unique<object> learner_ = device::make<object>();
  device::unique_on_host<X> x_ = device::make_on_host<X>();
  device::unique_on_host<Y> y_ = device::make_on_host<Y>();
  device::unique_on_host<C> c_ = device::make_on_host<C>();
  Optimizer optimizer_;
  device::graph<one_step> graph_{one_step{this}};
};

}  // namespace

auto has_device() -> bool { return device::is_present(); }

auto make_trainer(std::string const& network, std::uint32_t seed) -> std::unique_ptr<trainer> {
  if (network == "filter") {
    using X = tensor<float, shape<50, 32, 5>, cuda>;
    using Y = tensor<float, shape<50, 32, 1>, cuda>;
    return std::make_unique<trainer_of<filter, X, Y, nothing, mse, adam>>(seed);
  }
  if (network == "digits") {
    using X = tensor<float, shape<64, digits::size, digits::size, 1>, cuda>;
    using C = tensor<float, shape<64, 2>, cuda>;
    return std::make_unique<trainer_of<denoiser, X, X, C, mse, adam>>(seed);
  }
  if (network == "characters") {
    using X = tensor<float, shape<characters::context, characters::batch>, cuda>;
    using Y = tensor<std::int32_t, shape<characters::context, characters::batch>, cuda>;
    return std::make_unique<trainer_of<language_model, X, Y, nothing, cross_entropy, adamw>>(seed);
  }
  throw std::invalid_argument("no network is named " + network +
                              ", expected filter, digits or characters");
}

}  // namespace steps
