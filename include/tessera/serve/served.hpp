// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/serve/model.hpp>
#include <tessera/tensor/packed.hpp>

/// Models of the library behind a server's interface.
namespace tessera {

struct served_names {
  std::string input = "input";
  std::string output = "output";
};

namespace detail {

/// Where the bounded extent of a shape is: elements are (outer, row, inner).
struct batch_place {
  std::size_t axis = 0;
  std::size_t outer = 1;
  std::size_t inner = 1;
  std::size_t bound = 0;
};
template <class S> [[nodiscard]] constexpr auto batch_place_of() -> batch_place {
  auto place = batch_place{};
  for (auto i = std::size_t{0}; i < S::rank; ++i)
    if (is_bounded(S::extents[i])) {
      place.axis = i;
      place.bound = bound_of(S::extents[i]);
    }
  for (auto i = std::size_t{0}; i < S::rank; ++i)
    if (i != place.axis) (i < place.axis ? place.outer : place.inner) *= bound_of(S::extents[i]);
  return place;
}
/// Rows of a request, (row, outer, inner), from `first` on among the n rows of a batch.
template <class T>
void rows_to_batch(batch_place const& place, T const* from, T* to, std::size_t first,
                   std::size_t rows, std::size_t n) {
  for (auto r = std::size_t{0}; r < rows; ++r)
    for (auto o = std::size_t{0}; o < place.outer; ++o)
      std::memcpy(to + (o * n + first + r) * place.inner,
                  from + (r * place.outer + o) * place.inner, place.inner * sizeof(T));
}
template <class T>
void rows_from_batch(batch_place const& place, T const* from, T* to, std::size_t first,
                     std::size_t rows, std::size_t n) {
  for (auto r = std::size_t{0}; r < rows; ++r)
    for (auto o = std::size_t{0}; o < place.outer; ++o)
      std::memcpy(to + (r * place.outer + o) * place.inner,
                  from + (o * n + first + r) * place.inner, place.inner * sizeof(T));
}
template <class X> [[nodiscard]] auto spec_of_tensor(std::string const& name) -> tensor_spec {
  using S = shape_of<X>;
  using T = scalar_of<X>;
  static_assert(S::bounded == 1, "served: one extent is bounded, that of the batch: at_most(n)");
  static_assert(std::same_as<T, float> || std::same_as<T, double>,
                "served: numbers are float or double");
  auto spec = tensor_spec{name, std::same_as<T, float> ? datatype::fp32 : datatype::fp64, {-1}};
  for (auto i = std::size_t{0}; i < S::rank; ++i)
    if (not is_bounded(S::extents[i]))
      spec.shape.push_back(static_cast<std::int64_t>(bound_of(S::extents[i])));
  return spec;
}
[[nodiscard]] inline auto sized_shape(tensor_spec const& spec, std::size_t rows)
    -> std::vector<std::int64_t> {
  auto shape = spec.shape;
  if (not shape.empty() && shape[0] < 0) shape[0] = static_cast<std::int64_t>(rows);
  return shape;
}
[[nodiscard]] inline auto rows_of_steps(std::span<inference_step const> steps) -> std::size_t {
  auto n = std::size_t{0};
  for (auto const& step : steps) n += step.rows;
  return n;
}

template <class X> void gather_steps(std::span<inference_step> steps, X& x, std::size_t n) {
  constexpr auto place = batch_place_of<shape_of<X>>();
  auto first = std::size_t{0};
  for (auto const& step : steps) {
    auto const& values = std::get<std::vector<scalar_of<X>>>(step.inputs[0].values);
    rows_to_batch(place, values.data(), x.data(), first, step.rows, n);
    first += step.rows;
  }
}
template <class Y>
void scatter_steps(auto const& y, std::span<inference_step> steps, tensor_spec const& spec,
                   std::size_t n) {
  constexpr auto place = batch_place_of<shape_of<Y>>();
  auto first = std::size_t{0};
  for (auto& step : steps) {
    auto values = std::vector<scalar_of<Y>>(step.rows * place.outer * place.inner);
    rows_from_batch(place, y.data(), values.data(), first, step.rows, n);
    step.outputs = {{spec.name, sized_shape(spec, step.rows), std::move(values)}};
    first += step.rows;
  }
}

/// What a model has learnt, as a file has it, and what is told of it.
template <class Model, class X, class Output> class loaded_model : public served_model {
 public:
  using storage = packed<scalar_of<X>>;
  using parameters_type = parameters_of<Model, storage>;
  using statistics_type = statistics_of<as_layer<Model>, owned<scalar_of<X>>>;

  loaded_model(std::filesystem::path const& weights, served_names const& names)
      : inputs_{spec_of_tensor<X>(names.input)}, outputs_{spec_of_tensor<Output>(names.output)} {
    if constexpr (has_statistics<as_layer<Model>, X>)
      load_parameters(weights, learnt_->parameters, learnt_->statistics);
    else
      load_parameters(weights, learnt_->parameters);
  }
  [[nodiscard]] auto inputs() const -> std::vector<tensor_spec> const& override { return inputs_; }
  [[nodiscard]] auto outputs() const -> std::vector<tensor_spec> const& override {
    return outputs_;
  }
  [[nodiscard]] auto most_rows() const -> std::size_t override {
    return batch_place_of<shape_of<X>>().bound;
  }

 protected:
  struct learnt {
    parameters_type parameters;
    [[no_unique_address]] statistics_type statistics;
  };
  /// Calls f with the parameters, and the statistics where there are some.
  static auto with_learnt(learnt const& all, auto const& f) -> decltype(auto) {
    if constexpr (has_statistics<as_layer<Model>, X>)
      return f(all.parameters, all.statistics);
    else
      return f(all.parameters);
  }
  /// A batch in the memory of one thread: `call(object, parameters..., x)` answers it.
  template <class Object> class batch_runner : public model_runner {
   public:
    batch_runner(std::shared_ptr<learnt const> from, tensor_spec spec)
        : learnt_(std::move(from)), spec_(std::move(spec)) {}

   protected:
    void answer(std::span<inference_step> steps, std::size_t n, auto const& call) {
      gather_steps(steps, *x_, n);
      auto const y = with_learnt(
          *learnt_, [&](auto const&... p) { return call(*object_, p..., x_->sized(n)); });
      scatter_steps<Output>(y, steps, spec_, n);
    }
    std::unique_ptr<Object> object_ = std::make_unique<Object>();

   private:
    std::shared_ptr<learnt const> learnt_;
    tensor_spec spec_;
    std::unique_ptr<X> x_ = std::make_unique<X>();
  };
  std::shared_ptr<learnt> learnt_ = std::make_shared<learnt>();
  std::vector<tensor_spec> inputs_;
  std::vector<tensor_spec> outputs_;
};

/// The tensors of a state, each with a row for every sample of a batch.
template <class State, class F> void for_each_row_tensor(State& state, F const& f) {
  using S = std::remove_const_t<State>;
  if constexpr (is_empty<S>) {
    return;
  } else if constexpr (owning<S>) {
    static_assert(shape_of<S>::bounded == 1, "served_stream: the state of a batch has its rows");
    f(state, batch_place_of<shape_of<S>>());
  } else if constexpr (requires { S::count; }) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (for_each_row_tensor(state.template get<I>(), f), ...);
    }(std::make_index_sequence<S::count>{});
  } else if constexpr (requires { state.each; }) {
    for (auto& one : state.each) for_each_row_tensor(one, f);
  } else {
    static_assert(
        requires { state.h; }, "served_stream: the state is not that of recurrent layers");
    for_each_row_tensor(state.h, f);
    if constexpr (requires { state.c; }) for_each_row_tensor(state.c, f);
  }
}

}  // namespace detail

/// A model whose requests stand alone. X is a batch, its one bounded extent the rows; requests
/// have that extent first, whatever its place in X: x (time, batch, features) is asked for as
/// (-1, time, features).
///
///     served<sequential<linear<4, 2>>, tensor<float, shape<at_most(32), 4>>>("model.safetensors")
///
/// Cost    parameters once; each runner has an object of the largest batch
/// Errors  safetensors_error for weights of another model; an answer does not depend on what it was
///         batched with: tests/serve/served.cpp
template <class Model, class X>
class served final : public detail::loaded_model<Model, X, typename inference<Model, X>::output> {
  using base = detail::loaded_model<Model, X, typename inference<Model, X>::output>;

 public:
  explicit served(std::filesystem::path const& weights, served_names const& names = {})
      : base(weights, names) {}

  [[nodiscard]] auto make_runner() const -> std::unique_ptr<model_runner> override {
    return std::make_unique<runner>(this->learnt_, this->outputs_[0]);
  }

 private:
  struct runner final : base::template batch_runner<inference<Model, X>> {
    using base::template batch_runner<inference<Model, X>>::batch_runner;
    void run(std::span<inference_step> steps) override {
      this->answer(steps, detail::rows_of_steps(steps),
                   [](auto& object, auto const&... given) { return object(given...); });
    }
  };
};

/// A recurrent model that is asked sample by sample, each request going on where its sequence was.
/// X is a batch of samples, (at_most(n), features): steps of n sequences are one step of it.
///
/// State   of a sequence: the rows of every {h, c}, zeros at first
/// Errors  a state that has no rows of recurrent layers, as attention's, does not compile; a
///         sequence has the bits of a stream of its own: tests/serve/served.cpp
template <class Model, class X>
class served_stream final
    : public detail::loaded_model<Model, X, typename streaming<Model, X>::output> {
  using object = streaming<Model, X>;
  using state_type = typename object::state_type;
  using base = detail::loaded_model<Model, X, typename object::output>;

 public:
  explicit served_stream(std::filesystem::path const& weights, served_names const& names = {})
      : base(weights, names) {}

  [[nodiscard]] auto state_bytes() const -> std::size_t override {
    auto const any = std::make_unique<state_type>();
    auto bytes = std::size_t{0};
    detail::for_each_row_tensor(*any, [&](auto const& tensor, auto place) {
      bytes += place.outer * place.inner * sizeof(*tensor.data());
    });
    return bytes;
  }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<model_runner> override {
    return std::make_unique<runner>(this->learnt_, this->outputs_[0]);
  }

 private:
  class runner final : public base::template batch_runner<object> {
   public:
    using base::template batch_runner<object>::batch_runner;
    void run(std::span<inference_step> steps) override {
      auto const n = detail::rows_of_steps(steps);
      move_state(steps, [&](auto& tensor, auto place, std::byte* bytes, std::size_t row) {
        detail::rows_to_batch(place, as_numbers(tensor, bytes), tensor.data(), row, 1, n);
      });
      this->answer(steps, n,
                   [](auto& stream, auto const&... given) { return stream.step(given...); });
      move_state(steps, [&](auto& tensor, auto place, std::byte* bytes, std::size_t row) {
        detail::rows_from_batch(place, tensor.data(), as_numbers(tensor, bytes), row, 1, n);
      });
    }

   private:
    /// States are vectors of bytes of the heap, aligned for every number.
    static auto as_numbers(auto& tensor, std::byte* bytes) {
      return reinterpret_cast<std::remove_reference_t<decltype(*tensor.data())>*>(bytes);
    }
    void move_state(std::span<inference_step> steps, auto const& move) {
      auto row = std::size_t{0};
      for (auto const& step : steps) {
        auto* bytes = step.state.data();
        detail::for_each_row_tensor(this->object_->state, [&](auto& tensor, auto place) {
          move(tensor, place, bytes, row);
          bytes += place.outer * place.inner * sizeof(*tensor.data());
        });
        row += step.rows;
      }
    }
  };
};

}  // namespace tessera
