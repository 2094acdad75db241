// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>

#include <memory>
#include <tuple>

namespace tessera {

/// What gradient_check found: the number whose derivative differs most from central differences.
struct gradient_report {
  path_name parameter;      ///< its path, or "x" for the input
  std::size_t index = 0;    ///< its place in that tensor
  double backward = 0;      ///< by the backward pass
  double difference = 0;    ///< by central differences
  double worst = 0;         ///< the largest |backward - difference|
  std::size_t checked = 0;  ///< how many derivatives were compared
  bool passed = true;

  constexpr void compare(path_name const& where, std::size_t i, double by_backward,
                         double by_difference, double atol, double rtol) {
    auto const error =
        by_backward > by_difference ? by_backward - by_difference : by_difference - by_backward;
    auto const magnitude = by_difference < 0 ? -by_difference : by_difference;
    ++checked;
    if (not(error <= atol + rtol * magnitude)) passed = false;
    if (worst == worst && not(error <= worst)) {  // NaN is worst, the first one
      worst = error;
      parameter = where;
      index = i;
      backward = by_backward;
      difference = by_difference;
    }
  }
};

struct gradient_check_options {
  double step = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};

namespace detail {

/// Memory for the slopes of the inputs of a call: given(value) becomes given(value, slope).
template <class Context> struct input_slopes;
template <class S, class... Tag, class... E>
struct input_slopes<call_context<S, given_as<Tag, E>...>> {
  std::tuple<std::unique_ptr<E>...> memory{std::make_unique<E>()...};

  [[nodiscard]] auto with_slopes(call_context<S, given_as<Tag, E>...> const& c) const {
    return std::apply(
        [&](auto const&... m) {
          return call_context<S, given_as<Tag, E>...>{
              c.stream(), entry<Tag, E>{c.template value<Tag>(),
                                        view_of<E>{m->data(), c.template value<Tag>().actual}}...};
        },
        memory);
  }
  /// f(values, slopes, count) for each input that holds real numbers.
  void for_each(call_context<S, given_as<Tag, E>...> const& c, auto&& f) const {
    std::apply([&](auto const&... m) { (one(c.template value<Tag>(), *m, f), ...); }, memory);
  }

 private:
  static void one(auto value, auto const& slope, auto& f) {
    if constexpr (std::is_same_v<scalar_of<decltype(value)>, double>)
      f(const_cast<double*>(value.data()), slope.data(), value.size());
  }
};

}  // namespace detail

/// Compares the backward pass of a model with central differences: the derivative of
/// sum(y·(y/2 + w)), with weights w of its own, by every parameter, every element of x and of the
/// inputs that the context gives.
///
/// Shapes    X is the input's tensor type, of double; x a view of it. Weights that are stored
///           otherwise (packed, compact) are no numbers that move: of them only x is checked
/// State     `start` is what both passes begin with; backward does not go through it
/// Cost      two forward passes for each number; allocates its objects once (hosted)
/// Source    torch.autograd.gradcheck: the same step and tolerances
template <class Model, class X, class P, class S, class State, class Context = plain_context>
[[nodiscard]] auto gradient_check(P& p, S const& statistics, view_of<X> x, State const& start,
                                  gradient_check_options options, Context const& c = {})
    -> gradient_report {
  static_assert(std::same_as<scalar_of<X>, double>,
                "gradient_check: central differences need double");
  return [&]<class Stream, class... Inputs>(call_context<Stream, Inputs...> const& given) {
    using pass_type = differentiation<Model, X, Inputs...>;
    auto const pass = std::make_unique<pass_type>();
    auto const run = std::make_unique<pass_type>();
    auto const dx = std::make_unique<X>();
    auto const slopes = detail::input_slopes<call_context<Stream, Inputs...>>{};
    auto const weight = [](std::size_t i) { return 0.1 * static_cast<double>(i % 7) - 0.2; };
    auto const derivative = view_of<X>{dx->data(), x.actual};
    auto const wanted = slopes.with_slopes(given);
    auto const forward = [&](pass_type& one) {
      if constexpr (not std::is_empty_v<State>) one.state = start;
      if constexpr (detail::has_statistics<typename pass_type::model, X>)
        return one.forward(p, statistics, x, wanted);
      else
        return one.forward(p, x, wanted);
    };

    auto const y = forward(*pass);
    for (auto i = std::size_t{0}; i < y.size(); ++i) pass->dy.data()[i] = y.data()[i] + weight(i);
    if constexpr (detail::has_statistics<typename pass_type::model, X>)
      pass->backward(p, statistics, x, derivative, pass->gradient, wanted);
    else
      pass->backward(p, x, derivative, pass->gradient, wanted);

    auto const objective = [&] {
      auto const out = forward(*run);
      auto total = 0.0;
      for (auto i = std::size_t{0}; i < out.size(); ++i)
        total += out.data()[i] * (0.5 * out.data()[i] + weight(i));
      return total;
    };
    auto report = gradient_report{};
    auto const check = [&](path_name const& where, double* values, double const* by_backward,
                           std::size_t n) {
      for (auto i = std::size_t{0}; i < n; ++i) {
        auto const before = values[i];
        values[i] = before + options.step;
        auto const above = objective();
        values[i] = before - options.step;
        auto const below = objective();
        values[i] = before;
        report.compare(where, i, by_backward[i], (above - below) / (2 * options.step), options.atol,
                       options.rtol);
      }
    };
    for_each_parameter(
        [&](path_name const& where, auto& values, auto const& slope) {
          if constexpr (tensor_like<decltype(values)>)
            check(where, values.data(), slope.data(), shape_of<decltype(values)>::capacity);
        },
        p, pass->gradient);
    check(path_name("x"), x.data(), derivative.data(), x.size());
    auto input_number = std::size_t{0};
    slopes.for_each(wanted, [&](double* values, double const* slope, std::size_t n) {
      check(path_name("input ", input_number++), values, slope, n);
    });
    return report;
  }(as_context(c));
}
template <class Model, class X, class P, class State, class Context = plain_context>
[[nodiscard]] auto gradient_check(P& p, view_of<X> x, State const& start,
                                  gradient_check_options options, Context const& c = {})
    -> gradient_report {
  return gradient_check<Model, X>(p, nothing{}, x, start, options, c);
}
template <class Model, class X, class P>
[[nodiscard]] auto gradient_check(P& p, view_of<X> x, gradient_check_options options = {})
    -> gradient_report {
  return gradient_check<Model, X>(p, x, state_of<as_layer<Model>, X, training_call>{}, options);
}

}  // namespace tessera
