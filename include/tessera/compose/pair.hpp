// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/contract.hpp>
#include <tessera/core/name.hpp>

/// What compositions of two parts share.
namespace tessera::detail {

template <class First, class Second> struct pair_of {
  [[no_unique_address]] First first;
  [[no_unique_address]] Second second;
};

/// The parameters of two parts, by their names or as 0 and 1.
template <class First, class Second> struct pair_of_parameters {
  [[no_unique_address]] First first;
  [[no_unique_address]] Second second;

  using parts = hana::basic_tuple<First, Second>;
  template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
    f(name_inside<First>(0), p.first...);
    f(name_inside<Second>(1), p.second...);
  }
};

/// Of what is lent for both, the part of one; nothing stays nothing.
[[nodiscard]] constexpr auto first_of_pair(auto& lent) -> auto& {
  if constexpr (requires { lent.first; })
    return lent.first;
  else
    return lent;
}
[[nodiscard]] constexpr auto second_of_pair(auto& lent) -> auto& {
  if constexpr (requires { lent.second; })
    return lent.second;
  else
    return lent;
}
[[nodiscard]] constexpr auto lend_first(auto m) {
  return lend<m.purpose>(first_of_pair(m.state), first_of_pair(m.tape), first_of_pair(m.scratch),
                         m.context.inside(0));
}
[[nodiscard]] constexpr auto lend_second(auto m, auto const& context) {
  return lend<m.purpose>(second_of_pair(m.state), second_of_pair(m.tape), second_of_pair(m.scratch),
                         context);
}
[[nodiscard]] constexpr auto lend_second(auto m) { return lend_second(m, m.context.inside(1)); }

}  // namespace tessera::detail
