// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/condition.hpp>
#include <tessera/compose/objects.hpp>

#include <memory>

namespace tessera {

/// What gradient_check found: the number whose derivative differs most from central differences.
struct gradient_report {
  name parameter;           ///< its path, or "x" for the input
  std::size_t index = 0;    ///< its place in that tensor
  double backward = 0;      ///< by the backward pass
  double difference = 0;    ///< by central differences
  double worst = 0;         ///< the largest |backward - difference|
  std::size_t checked = 0;  ///< how many derivatives were compared
  bool passed = true;

  constexpr void compare(name const& where, std::size_t i, double by_backward, double by_difference,
                         double atol, double rtol) {
    auto const error =
        by_backward > by_difference ? by_backward - by_difference : by_difference - by_backward;
    auto const magnitude = by_difference < 0 ? -by_difference : by_difference;
    ++checked;
    if (not(error <= atol + rtol * magnitude)) passed = false;
    if (not(error <= worst)) {  // NaN counts as worst
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

/// Compares the backward pass of a model with central differences: the derivative of
/// sum(y·(y/2 + w)), with weights w of its own, by every parameter and every element of x.
///
/// Shapes    X is the input's tensor type, of double; x a view of it; C that of the condition that
///           the context gives, if any
/// State     `start` is what both passes begin with; backward does not go through it
/// Cost      two forward passes for each number; allocates its objects once (hosted)
/// Source    torch.autograd.gradcheck: the same step and tolerances
template <class Model, class X, class C = tensor<double, shape<1, 1>>, class P, class State>
[[nodiscard]] auto gradient_check(P& p, view_of<X> x, State const& start,
                                  gradient_check_options options = {}, view_of<C> condition = {})
    -> gradient_report {
  static_assert(std::same_as<scalar_of<X>, double>,
                "gradient_check: central differences need double");
  auto const pass = std::make_unique<differentiation<Model, X>>();
  auto const run = std::make_unique<differentiation<Model, X>>();
  auto const dx = std::make_unique<X>();
  auto const dc = std::make_unique<C>();
  auto const weight = [](std::size_t i) { return 0.1 * static_cast<double>(i % 7) - 0.2; };
  auto const derivative = view_of<X>{dx->data(), x.actual};
  auto const context = given(condition, view_of<C>{dc->data(), condition.actual});

  pass->state = start;
  auto const y = pass->forward(p, x, context);
  for (auto i = std::size_t{0}; i < y.size(); ++i) pass->dy.data()[i] = y.data()[i] + weight(i);
  pass->backward(p, x, derivative, pass->gradient, context);

  auto const objective = [&] {
    run->state = start;
    auto const out = run->forward(p, x, context);
    auto total = 0.0;
    for (auto i = std::size_t{0}; i < out.size(); ++i)
      total += out.data()[i] * (0.5 * out.data()[i] + weight(i));
    return total;
  };
  auto report = gradient_report{};
  auto const check = [&](name const& where, double* values, double const* slopes, std::size_t n) {
    for (auto i = std::size_t{0}; i < n; ++i) {
      auto const before = values[i];
      values[i] = before + options.step;
      auto const above = objective();
      values[i] = before - options.step;
      auto const below = objective();
      values[i] = before;
      report.compare(where, i, slopes[i], (above - below) / (2 * options.step), options.atol,
                     options.rtol);
    }
  };
  for_each_parameter(
      [&](name const& where, auto& values, auto const& slopes) {
        check(where, values.data(), slopes.data(), shape_of<decltype(values)>::capacity);
      },
      p, pass->gradient);
  check(name("x"), x.data(), derivative.data(), x.size());
  if (condition.has_memory()) check(name("c"), condition.data(), dc->data(), condition.size());
  return report;
}

template <class Model, class X, class P>
[[nodiscard]] auto gradient_check(P& p, view_of<X> x, gradient_check_options options = {})
    -> gradient_report {
  return gradient_check<Model, X>(p, x, state_of<as_layer<Model>, X, mode::training>{}, options);
}

}  // namespace tessera
