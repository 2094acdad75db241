// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/aggregate.hpp>
#include <tessera/core/error.hpp>
#include <tessera/tensor/parameters.hpp>

namespace tessera {

namespace detail {

/// Calls f.template operator()<Member>() for the type of every member that a struct names.
template <class M> constexpr auto with_member_types(auto&& f) {
  using members = std::remove_cvref_t<decltype(std::declval<M&>().members())>;
  return
      [&]<template <class...> class Tuple, class... Member>(std::type_identity<Tuple<Member*...>>) {
        return f.template operator()<Member...>();
      }(std::type_identity<members>{});
}
/// The members that a struct names, counted as fields_of counts them.
template <class M>
inline constexpr std::size_t named_fields = with_member_types<M>([]<class... Member>() {
  return (std::size_t{0} + ... +
          (std::is_array_v<Member> ? std::extent_v<Member> : std::size_t{1}));
});
/// True for what holds numbers beside structs of parameters.
template <class M> [[nodiscard]] constexpr auto holds_numbers() -> bool {
  if constexpr (std::is_arithmetic_v<M>)
    return true;
  else if constexpr (std::is_array_v<M>)
    return holds_numbers<std::remove_extent_t<M>>();
  else if constexpr (std::is_class_v<M> && has_members<M>)
    return with_member_types<M>(
        []<class... Member>() { return (false || ... || holds_numbers<Member>()); });
  else
    return false;
}
struct takes_part {
  constexpr void operator()(path_name const&, auto&) const {}
};
template <class M>
concept parameter_struct =
    std::is_class_v<M> && (is_empty<M> || tuple_length<M> != 0 || has_members<M> ||
                           requires { typename M::shape_type; } || visits_itself<M, takes_part>);

template <class M> constexpr void visit_moments(path_name const& path, M& m, auto& f);

template <class Member>
constexpr void visit_moment(path_name const& path, Member& member, auto& f) {
  using plain = std::remove_const_t<Member>;
  if constexpr (std::is_array_v<plain>) {
    for (auto i = std::size_t{0}; i < std::extent_v<plain>; ++i)
      visit_moment(path / i, member[i], f);
  } else if constexpr (std::is_class_v<plain> && holds_numbers<plain>()) {
    visit_moments(path, member, f);
  } else {
    constexpr auto known = std::is_arithmetic_v<plain> || parameter_struct<plain>;
    static_assert(complaint::holds<known, plain>,
                  "moments: a member must be a number or a struct of parameters");
    if constexpr (known) f(path, member);
  }
}
template <class M> constexpr void visit_moments(path_name const& path, M& m, auto& f) {
  using plain = std::remove_const_t<M>;
  if constexpr (not is_empty<plain>) {
    static_assert(complaint::holds<has_members<plain>, plain>,
                  "moments: name the members, as TESSERA_PARAMETERS(average, steps)");
    if constexpr (has_members<plain>) {
      static_assert(complaint::holds < fields_of<plain> == named_fields<plain>, plain >,
                    "moments: a member is not named in TESSERA_PARAMETERS");
      auto const members = m.members();
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (visit_moment(path / plain::member_name(I), *hana::at_c<I>(members), f), ...);
      }(std::make_index_sequence<tuple_length<std::remove_cvref_t<decltype(members)>>>{});
    }
  }
}

}  // namespace detail

/// Calls f(path, part) for every part of an optimizer's moments, in order: a number, or a struct of
/// parameters. Moments within moments are visited by their parts, arrays by their elements.
///
/// Errors  moments that do not name every member do not compile: tests/fail/moments_unnamed.cpp,
///         tests/fail/moments_forgotten.cpp, tests/fail/moments_unknown.cpp
template <class M> constexpr void for_each_moment(M& moments, auto&& f) {
  detail::visit_moments(path_name{}, moments, f);
}

}  // namespace tessera
