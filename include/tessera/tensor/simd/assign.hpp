// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/backend/simd/lanes.hpp>
#include <tessera/tensor/reference/assign.hpp>

namespace tessera {

namespace detail {

/// The scalar type that all numbers of a tree have, bool aside; void where they differ, and the
/// tree is evaluated one number at a time.
template <class... T> struct one_scalar {
  using type = void;
};
template <> struct one_scalar<> {
  using type = bool;
};
template <class T> struct one_scalar<T> {
  using type = T;
};
template <class A, class B, class... C> struct one_scalar<A, B, C...> {
  using rest = typename one_scalar<B, C...>::type;
  using type = std::conditional_t<std::same_as<A, rest> || std::same_as<rest, bool>, A,
                                  std::conditional_t<std::same_as<A, bool>, rest, void>>;
};

template <class E> struct vector_scalar {
  using type = compute_of<scalar_of<E>>;
};
template <class F, class... Args> struct vector_scalar<nodes::map<F, Args...>> {
  using own = scalar_of<nodes::map<F, Args...>>;
  using type = typename one_scalar<own, typename vector_scalar<Args>::type...>::type;
};

/// True where a pass that stores scalars of type Y and reads E can run by vectors.
template <class Y, class E>
inline constexpr bool by_vectors = [] {
  using T = typename vector_scalar<E>::type;
  return (std::same_as<T, float> || std::same_as<T, double>) &&
         (std::same_as<compute_of<Y>, T> || std::same_as<Y, bool>);
}();

}  // namespace detail

template <> struct kernel_for<detail::assign_fn, simd> {
  template <class Y, class E> static constexpr void run(Y y, E const& e) {
    using U = std::remove_const_t<typename Y::scalar_type>;
    if constexpr (not detail::by_vectors<U, E> || not detail::last_is_unit<Y>) {
      kernel_for<detail::assign_fn, reference>::run(y, e);
    } else {
      if (std::is_constant_evaluated()) return kernel_for<detail::assign_fn, reference>::run(y, e);
      using T = typename detail::vector_scalar<E>::type;
      if constexpr (detail::one_run<Y, E>) {
        auto const row = nodes::detail::operand_flat_row<shape_of<Y>>(e);
        if constexpr (std::same_as<T, U> &&
                      shape_of<Y>::capacity * sizeof(U) >= nontemporal_bytes) {
          auto const n = y.size();
          if (n * sizeof(U) >= nontemporal_bytes &&
              not e.template conflicts<nothing>({y.memory, y.memory + n})) {
            for_each_vector_nontemporal<T>(y.memory, n,
                                           [&](auto lanes, std::size_t i) TESSERA_INLINE {
                                             lanes.store(y.memory + i, row.get(lanes, i));
                                           });
            lane::nontemporal_end();
            return;
          }
        }
        if constexpr (shape_of<Y>::capacity >= detail::numbers_worth_sharing)
          detail::in_shares_of(y.size(), 64, 1,
                               [&](detail::share const& part) { row_of<T>(part, row, y.memory); });
        else
          row_of<T>({0, y.size()}, row, y.memory);
      } else {
        auto const n = detail::row_length(y.actual);
        detail::for_each_row(y.actual, [&](auto const& index) {
          row_of<T>({0, n}, nodes::detail::operand_row<shape_of<Y>>(e, index),
                    detail::destination_row(y, index).data);
        });
      }
    }
  }

 private:
  /// A copy of `from` is this function's alone, so that its places stay in registers: what a vector
  /// is stored to could be one of another's.
  template <class T> static void row_of(detail::share const part, auto const from, auto* to) {
    for_each_vector<T>(part.count, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      lanes.store(to + part.first + i, from.get(lanes, part.first + i));
    });
  }
};

}  // namespace tessera
