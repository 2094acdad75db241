// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/reference/reduction.hpp>

#include <limits>

#if TESSERA_SIMD
#include <tessera/tensor/simd/reduction.hpp>
#endif

/// Reductions along any axes, by NumPy's names: sum(x), mean(x, axis<1>) and
/// max(x, axis<-1>, keepdims).
///
/// Scalars   as x; whole numbers of 32 bits at least, and no mean of them: cast<float>(x) converts
/// Shapes    the axes named go away, or stay with extent 1 where `keepdims` is said; all
///           of them where none is named
/// Cost      one pass over x, which may be an expression: it is not stored
/// Accuracy  trailing axes are added in 64 interleaved lanes and folded by halves, other axes in
///           order: error about (n/64 + 6)·eps·sum|x| of trailing axes and n·eps·sum|x| of others,
///           the same bits on every host backend
namespace tessera {

/// Leaves reduced axes with extent 1.
struct keepdims_type {};
inline constexpr auto keepdims = keepdims_type{};

namespace detail {

template <class S, bool Keep, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto reduced_extents(actual_extents<S> const& actual) {
  using R = reduced<S, Keep, Axes...>;
  auto all = std::array<std::size_t, R::rank>{};
  for (auto a = std::size_t{0}, to = std::size_t{0}; a < S::rank; ++a) {
    if (not reduced_axes<S, Axes...>[a])
      all[to++] = actual[a];
    else if (Keep)
      all[to++] = 1;
  }
  return actual_extents<R>::from(all);
}

}  // namespace detail

namespace nodes {

/// A reduction as an operation of an expression.
template <class Join, bool Keep, std::ptrdiff_t... Axes> struct reduction {
  template <class E>
  using result =
      tensor<compute_of<scalar_of<E>>, reduced<shape_of<E>, Keep, Axes...>, backend_of<E>>;
  /// Of a tensor of shape S, the same for rows alone; void where it joins rows.
  template <class S>
  using of_rows =
      std::conditional_t<Keep && tessera::detail::reduction_axes<S, Axes...>::rows_alone,
                         reduction<Join, true, -1>, void>;
  template <class E> static constexpr bool rows_apart = shape_of<E>::rank == 0 || not[] {
    if constexpr (shape_of<E>::rank == 0)
      return false;
    else
      return tessera::detail::reduced_axes<shape_of<E>, Axes...>[0];
  }
  ();
  template <class E> static constexpr auto extents(E const& e) {
    return tessera::detail::reduced_extents<shape_of<E>, Keep, Axes...>(e.extents());
  }
  template <class Y, class E> static constexpr void compute(Y y, E const& e) {
    // The sum of no elements is 0, where those of a kernel start from -0.
    if constexpr (shape_of<E>::bounded > 0 && std::same_as<Join, reductions::adds>)
      if (actual_extents<shape_of<E>>(e.extents()).size() == 0) return tessera::assign(y, 0);
    kernel_for<tessera::detail::reduce_fn<Join>, backend_of<Y>>::run(axis_list<Axes...>{}, y, e);
  }
};

}  // namespace nodes

namespace detail {

template <class Join, bool Keep, std::ptrdiff_t... Axes, class X>
[[nodiscard]] constexpr auto reduce_by(X&& x) {
  using T = scalar_among<X>;
  static_assert(sizeof(T) >= 4,  // bool, and integers of 8 and 16 bits
                "reduction: these numbers are too small for what they give; cast<float>(x) "
                "converts");
  auto const e = as_node<T>(std::forward<X>(x));
  using E = std::remove_const_t<decltype(e)>;
  static_assert(
      complaint::holds<(has_axis<shape_of<E>>(Axes) && ...), shape_of<E>, axis_list<Axes...>>,
      "reduction: there is no such axis");
  return nodes::result<nodes::reduction<Join, Keep, Axes...>, E>{{}, {e}};
}

/// The number of elements that go into one of the result.
template <std::ptrdiff_t... Axes, class X> [[nodiscard]] constexpr auto reduced_count(X const& x) {
  using S = shape_of<X>;
  using T = scalar_among<X>;
  auto const actual = actual_extents<S>(extents_of(x));
  auto n = T{1};
  for (auto a = std::size_t{0}; a < S::rank; ++a)
    if (reduced_axes<S, Axes...>[a]) n *= static_cast<T>(actual[a]);
  return n;
}

/// An operand that is named more than once: a node, which holds a temporary itself.
template <class X> [[nodiscard]] constexpr auto as_operand(X&& x) {
  return as_node<scalar_among<X>>(std::forward<X>(x));
}

}  // namespace detail

// clang-format off
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto sum(X&& x, axis_list<Axes...> = {}) { return detail::reduce_by<reductions::adds, false, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto sum(X&& x, axis_list<Axes...>, keepdims_type) { return detail::reduce_by<reductions::adds, true, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto max(X&& x, axis_list<Axes...> = {}) { return detail::reduce_by<reductions::takes_larger, false, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto max(X&& x, axis_list<Axes...>, keepdims_type) { return detail::reduce_by<reductions::takes_larger, true, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto min(X&& x, axis_list<Axes...> = {}) { return detail::reduce_by<reductions::takes_smaller, false, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto min(X&& x, axis_list<Axes...>, keepdims_type) { return detail::reduce_by<reductions::takes_smaller, true, Axes...>(std::forward<X>(x)); }
// clang-format on

/// The sum divided by the number of elements.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto mean(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  using T = detail::scalar_among<X>;
  static_assert(static_cast<T>(0.5F) != static_cast<T>(0),
                "mean: whole numbers have none of their type; cast<float>(x) converts");
  auto const n = detail::reduced_count<Axes...>(x);
  return sum(std::forward<X>(x), axes, kept...) / n;
}

/// The mean of the squared distances from the mean, by two passes; as NumPy, divided by n.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto variance(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  auto const e = detail::as_operand(std::forward<X>(x));
  return mean(square(e - mean(e, axes, keepdims)), axes, kept...);
}

/// The root of the sum of squares; its slope is 0 where all numbers are, as torch's.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto norm(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  return detail::unary<op::length>(sum(square(std::forward<X>(x)), axes, kept...));
}

/// log(sum(exp(x))), with the maximum taken out, so that nothing overflows; where that is infinite,
/// so is the result.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto logsumexp(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  constexpr auto most = std::numeric_limits<detail::scalar_among<X>>::max();
  auto const e = detail::as_operand(std::forward<X>(x));
  return log(sum(exp(e - clamp(max(e, axes, keepdims), -most, most)), axes, kept...)) +
         clamp(max(e, axes, kept...), -most, most);
}

/// x - logsumexp(x): the logarithm of softmax. What all numbers have in common goes before the
/// logarithm comes, which it would take the digits of.
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto log_softmax(X&& x, axis_list<Axes...> axes) {
  constexpr auto most = std::numeric_limits<detail::scalar_among<X>>::max();
  auto const from = detail::as_operand(std::forward<X>(x));
  auto const e = from - clamp(max(from, axes, keepdims), -most, most);
  return e - log(sum(exp(e), axes, keepdims));
}

/// exp(x - max(x)) / sum(exp(x - max(x))) along the axes: nothing overflows.
///
/// Cost      two exponentials and one division a number; one exponential, and no temporaries, where
///           it alone is assigned to a tensor of two axes or more, along the last one, whose extent
///           is fixed
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto softmax(X&& x, axis_list<Axes...> axes) {
  auto const from = detail::as_operand(std::forward<X>(x));
  auto const e = exp(from - max(from, axes, keepdims));
  return detail::binary<op::share>(e, sum(e, axes, keepdims));
}

}  // namespace tessera
