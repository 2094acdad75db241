// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/tensor/parameters.hpp>
#include <tessera/tensor/reduction.hpp>

namespace tessera {

namespace detail {

/// The root of the sum of squares as one expression. Columns are added by more threads than a row.
template <class G> [[nodiscard]] auto norm_on_device(G g) {
  constexpr auto columns = storage_alignment / sizeof(scalar_of<G>);
  using table = view<std::remove_pointer_t<decltype(g.data())>,
                     shape<G::shape_type::capacity / columns, columns>, backend_of<G>>;
  return sqrt(sum(sum(square(table{g.data()}), axis<0>)));
}

}  // namespace detail

/// The norm of all numbers of a struct of parameters: the root of the sum of the squares of the
/// tensors' norms, in their order; on a device, of one sum.
template <class P> [[nodiscard]] constexpr auto global_norm(P const& p) -> double {
  if constexpr (on_device<backend_of_parameters<P>>)
    return static_cast<double>(detail::number_of(detail::norm_on_device(numbers_of(p))));
  auto squares = 0.0;
  for_each_parameter(
      [&](path_name const&, auto const& w) {
        auto const n = static_cast<double>(detail::number_of(sum(square(w))));
        squares += n;
      },
      p);
  return lane::sqrt(squares);
}

namespace detail {

/// The same as one expression, whose factor no host waits for; of min, a NaN is the second.
template <class G> auto clip_on_device(G g, double most) -> double {
  using T = scalar_of<G>;
  auto const norm = norm_on_device(g);
  auto const found = static_cast<double>(number_of(norm));
  assign(g, g * min(T{1}, static_cast<T>(most) / (norm + static_cast<T>(1e-6))));
  return found;
}

}  // namespace detail

/// Scales a gradient whose norm is known down so that it is at most `most`; returns the norm that
/// it has then.
///
/// Errors  a norm below 0, or none, breaks the contract
/// Source  as clip_norm
template <class P> constexpr auto clip_to(P& gradient, double norm, double most) -> double {
  require(most >= 0, "clipping: the largest norm must be 0 or more");
  auto const factor = most / (norm + 1e-6);
  if (factor >= 1) return norm;
  for_each_parameter(
      [&](path_name const&, auto& g) { g *= static_cast<scalar_of<decltype(g)>>(factor); },
      gradient);
  return norm * factor;
}

/// Scales a gradient down so that its norm is at most `most`; returns the norm it had. Of a norm
/// that is NaN the whole gradient becomes NaN, on a device with the padding between its tensors,
/// until clear_parameters.
///
/// Source  torch.nn.utils.clip_grad_norm_: the factor is most / (norm + 1e-6), at most 1
template <class P> constexpr auto clip_norm(P& gradient, double most) -> double {
  require(most >= 0, "clipping: the largest norm must be 0 or more");
  if constexpr (on_device<backend_of_parameters<P>>) {
    return detail::clip_on_device(numbers_of(gradient), most);
  } else {
    auto const norm = global_norm(gradient);
    (void)clip_to(gradient, norm, most);
    return norm;
  }
}

/// Limits every number of a gradient to [-most, most].
template <class P> constexpr void clip_value(P& gradient, double most) {
  require(most >= 0, "clipping: the largest value must be 0 or more");
  for_each_parameter(
      [&](path_name const&, auto& g) {
        auto const limit = static_cast<scalar_of<decltype(g)>>(most);
        g = clamp(g, -limit, limit);
      },
      gradient);
}

}  // namespace tessera
