// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/tensor/join.hpp>

/// The derivatives of what is joined.
namespace tessera::nodes {

/// Of joined operands, each gets its part of the slope.
template <std::size_t Axis, bool New, class... E, class... Place>
constexpr void pull_operation(joined<Axis, New>, auto const&, auto const& slope,
                              tracing::operands<E...> const& of,
                              tracing::operands<Place...> const& places) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (tracing::pull_elements(
         of.template get<I>(), places.template get<I>(),
         tessera::detail::as_node<void>(joined<Axis, New>::template part_of<I, E...>(slope))),
     ...);
  }(std::index_sequence_for<E...>{});
}

}  // namespace tessera::nodes
