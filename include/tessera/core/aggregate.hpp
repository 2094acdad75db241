// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tessera {

namespace detail {

struct anything {
  template <class T> operator T() const;
};
template <class A, std::size_t... I>
[[nodiscard]] constexpr auto takes_fields(std::index_sequence<I...>) -> bool {
  return requires { A{(static_cast<void>(I), anything{})...}; };
}
template <class A, std::size_t N> [[nodiscard]] constexpr auto count_fields() -> std::size_t {
  if constexpr (N == 0 || takes_fields<A>(std::make_index_sequence<N>{}))
    return N;
  else
    return count_fields<A, N - 1>();
}

}  // namespace detail

/// The members of an aggregate, up to 12, as its braces count them: each element of an array is
/// one.
template <class A>
  requires std::is_aggregate_v<A>
inline constexpr std::size_t fields_of = detail::count_fields<A, 12>();

/// Calls f(member) for every member of an aggregate, in order; it holds no array.
template <class A, class F> constexpr void for_each_field(A const& a, F&& f) {
  constexpr auto n = fields_of<A>;
  static_assert(n <= 8, "for_each_field: at most eight members");
  auto const each = [&](auto const&... member) { (f(member), ...); };
  if constexpr (n == 1) {
    auto const& [m0] = a;
    each(m0);
  } else if constexpr (n == 2) {
    auto const& [m0, m1] = a;
    each(m0, m1);
  } else if constexpr (n == 3) {
    auto const& [m0, m1, m2] = a;
    each(m0, m1, m2);
  } else if constexpr (n == 4) {
    auto const& [m0, m1, m2, m3] = a;
    each(m0, m1, m2, m3);
  } else if constexpr (n == 5) {
    auto const& [m0, m1, m2, m3, m4] = a;
    each(m0, m1, m2, m3, m4);
  } else if constexpr (n == 6) {
    auto const& [m0, m1, m2, m3, m4, m5] = a;
    each(m0, m1, m2, m3, m4, m5);
  } else if constexpr (n == 7) {
    auto const& [m0, m1, m2, m3, m4, m5, m6] = a;
    each(m0, m1, m2, m3, m4, m5, m6);
  } else if constexpr (n == 8) {
    auto const& [m0, m1, m2, m3, m4, m5, m6, m7] = a;
    each(m0, m1, m2, m3, m4, m5, m6, m7);
  }
}

}  // namespace tessera
