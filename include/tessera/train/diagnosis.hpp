// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/train/placement.hpp>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

/// Where a number that is none came from.
namespace tessera {

/// A training whose loss or gradient is no number any more.
struct diverged_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class X> [[nodiscard]] auto all_finite(X const& x) -> bool {
  for (auto i = std::size_t{0}; i < x.size(); ++i)
    if (not std::isfinite(static_cast<double>(x.data()[i]))) return false;
  return true;
}

/// The first parameter, in order, that is not finite; or the last, as a gradient goes backward.
template <class P>
[[nodiscard]] auto not_finite(P const& p, bool last = false) -> std::optional<std::string> {
  auto found = std::optional<std::string>{};
  for_each_parameter(
      [&](path_name const& path, auto const& w) {
        if ((last || not found) && not all_finite(w)) found = path.c_str();
      },
      p);
  return found;
}

namespace detail {

/// True for layers one after another: what one gives, the next takes.
template <class L> inline constexpr bool is_chain = false;
template <class... L> inline constexpr bool is_chain<sequential<L...>> = true;

template <class Model, std::size_t I>
[[nodiscard]] auto search_layers(auto const& p, auto const& statistics, auto x, auto context)
    -> std::optional<std::string> {
  using layer = typename Model::template layer<I>;
  using X = kind_of<decltype(x)>;
  using backend = backend_of<X>;
  auto const run = make_placed<inference_for<layer, X, decltype(context)>, backend>();
  auto const y = [&] {
    if constexpr (has_statistics<layer, X>)
      return (*run)(get<I>(p), get<I>(statistics), x, context.inside(I));
    else
      return (*run)(get<I>(p), x, context.inside(I));
  }();
  wait_on<backend>();
  if (not all_finite(y)) return std::to_string(I);
  if constexpr (I + 1 < Model::count)
    return search_layers<Model, I + 1>(p, statistics, y, context);
  else
    return std::nullopt;
}

}  // namespace detail

/// The first layer of a sequential model whose output is not finite, from zero state, called with a
/// context: its path. Other compositions are not looked into.
///
/// Cost  allocates what each layer needs for inference, one after another
template <class Model>
[[nodiscard]] auto first_not_finite_layer([[maybe_unused]] auto const& p,
                                          [[maybe_unused]] auto const& statistics,
                                          [[maybe_unused]] auto x, [[maybe_unused]] auto context)
    -> std::optional<std::string> {
  if constexpr (detail::is_chain<Model>)
    return detail::search_layers<Model, 0>(p, statistics, x, as_context(context));
  else
    return std::nullopt;
}

/// In words: where a batch went wrong, looking at its input, its target, the parameters, the
/// layers' outputs and the gradient, in this order.
template <class Model>
[[nodiscard]] auto diagnose(auto const& p, auto const& statistics, auto x, auto target,
                            auto const& gradient, auto context) -> std::string {
  if (not all_finite(x)) return "the input of the model is not finite";
  if (not all_finite(target)) return "the target is not finite";
  if (auto const path = not_finite(p)) return "the parameter " + *path + " is not finite";
  if (auto const path = first_not_finite_layer<Model>(p, statistics, x, context))
    return "the output of layer " + *path + " is not finite";
  if (auto const path = not_finite(gradient, true))
    return "the gradient of " + *path + " is not finite";
  return "every layer's output and every gradient are finite: the loss, or the sum of the "
         "gradient's squares, is not";
}

}  // namespace tessera
