// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/error.hpp>
#include <tessera/tensor/node.hpp>
#include <tessera/tensor/operation.hpp>

#include <utility>

/// Elementwise functions of tensors, views, expressions and plain numbers: each builds a node.
///
/// Scalars   those of the arrays; whole numbers divide toward zero, as in C++, where a divisor of 0
///           and the least number by -1 break the contract: NumPy's `/` gives fractions, as
///           cast<float>(x) does here, and its `//` rounds down
/// Shapes    operands broadcast by NumPy's rule; a bounded extent agrees with the same bound
/// Cost      nothing until the expression is assigned; then one pass over memory
/// Accuracy  that of tessera::lane, core/elementary.hpp; the same bits on every host backend. min
///           and max of two operands are the instructions: where one is NaN, the result is the
///           second (the reductions max(x) and min(x) find a NaN)
/// Errors    shapes that do not broadcast, scalar types that differ: tests/fail/expression_*.cpp
namespace tessera {

namespace detail {

template <class F, class... Nodes> [[nodiscard]] constexpr auto make_map(Nodes const&... nodes) {
  return nodes::map<F, Nodes...>{{}, nodes::make_items(nodes...)};
}

template <class A, class B>
concept builds = operand<A> && operand<B> && (array_operand<A> || array_operand<B>);

template <class A>
concept named_owner = owning<A> && std::is_lvalue_reference_v<A>;

template <class A> struct operand_shape {
  using type = shape<>;
};
template <array_operand A> struct operand_shape<A> {
  using type = shape_of<A>;
};
template <class A> using shape_of_operand = typename operand_shape<A>::type;

/// True where the operands that are arrays have one scalar type to compute with.
template <class... E>
inline constexpr bool one_scalar_type = [] {
  using T = scalar_among<E...>;
  auto const same = []<class A>(std::type_identity<A>) {
    if constexpr (array_operand<A>)
      return std::same_as<compute_of<scalar_of<A>>, T>;
    else
      return true;
  };
  return (same(std::type_identity<std::remove_cvref_t<E>>{}) && ...);
}();
template <class E> struct operand_scalar : std::type_identity<std::remove_cvref_t<E>> {};
template <array_operand E> struct operand_scalar<E> : std::type_identity<scalar_of<E>> {};
template <class E> using scalar_of_operand = typename operand_scalar<E>::type;

template <class F, class A, class B> [[nodiscard]] constexpr auto binary(A&& a, B&& b) {
  using T = scalar_among<A, B>;
  constexpr auto same = one_scalar_type<A, B>;
  static_assert(complaint::holds<same, scalar_of_operand<A>, scalar_of_operand<B>>,
                "expression: the operands have different scalar types; cast<T>(x) converts");
  using S = shape_of_operand<A>;
  using R = shape_of_operand<B>;
  constexpr auto fits = broadcasts_with<S, R>;
  static_assert(complaint::holds<fits, S, R>, "expression: these shapes do not broadcast");
  if constexpr (fits && same)
    return make_map<F>(as_node<T>(std::forward<A>(a)), as_node<T>(std::forward<B>(b)));
  else if constexpr (array_operand<A>)  // one mistake, one message
    return as_node<T>(std::forward<A>(a));
  else
    return as_node<T>(std::forward<B>(b));
}
template <class F, class A> [[nodiscard]] constexpr auto unary(A&& a) {
  return make_map<F>(as_node<scalar_among<A>>(std::forward<A>(a)));
}

}  // namespace detail

// The node of a tensor that has a name points to it: so the arithmetic operators have an overload
// for such, which lets clang see that a node of local tensors is returned.
// clang-format off
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator+(A&& a, B&& b) { return detail::binary<op::add>(std::forward<A>(a), std::forward<B>(b)); }
template <owning A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator+(A& a TESSERA_LIFETIMEBOUND, B&& b) { return detail::binary<op::add>(a, std::forward<B>(b)); }
template <class A, owning B> requires detail::builds<A, B> && (not detail::named_owner<A>)
[[nodiscard]] constexpr auto operator+(A&& a, B& b TESSERA_LIFETIMEBOUND) { return detail::binary<op::add>(std::forward<A>(a), b); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator-(A&& a, B&& b) { return detail::binary<op::subtract>(std::forward<A>(a), std::forward<B>(b)); }
template <owning A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator-(A& a TESSERA_LIFETIMEBOUND, B&& b) { return detail::binary<op::subtract>(a, std::forward<B>(b)); }
template <class A, owning B> requires detail::builds<A, B> && (not detail::named_owner<A>)
[[nodiscard]] constexpr auto operator-(A&& a, B& b TESSERA_LIFETIMEBOUND) { return detail::binary<op::subtract>(std::forward<A>(a), b); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator*(A&& a, B&& b) { return detail::binary<op::multiply>(std::forward<A>(a), std::forward<B>(b)); }
template <owning A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator*(A& a TESSERA_LIFETIMEBOUND, B&& b) { return detail::binary<op::multiply>(a, std::forward<B>(b)); }
template <class A, owning B> requires detail::builds<A, B> && (not detail::named_owner<A>)
[[nodiscard]] constexpr auto operator*(A&& a, B& b TESSERA_LIFETIMEBOUND) { return detail::binary<op::multiply>(std::forward<A>(a), b); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator/(A&& a, B&& b) { return detail::binary<op::divide>(std::forward<A>(a), std::forward<B>(b)); }
template <owning A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator/(A& a TESSERA_LIFETIMEBOUND, B&& b) { return detail::binary<op::divide>(a, std::forward<B>(b)); }
template <class A, owning B> requires detail::builds<A, B> && (not detail::named_owner<A>)
[[nodiscard]] constexpr auto operator/(A&& a, B& b TESSERA_LIFETIMEBOUND) { return detail::binary<op::divide>(std::forward<A>(a), b); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator<(A&& a, B&& b) { return detail::binary<op::less>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator>(A&& a, B&& b) { return detail::binary<op::less>(std::forward<B>(b), std::forward<A>(a)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator<=(A&& a, B&& b) { return detail::binary<op::less_equal>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator>=(A&& a, B&& b) { return detail::binary<op::less_equal>(std::forward<B>(b), std::forward<A>(a)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator==(A&& a, B&& b) { return detail::binary<op::equal>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator!=(A&& a, B&& b) { return detail::binary<op::not_equal>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator&&(A&& a, B&& b) { return detail::binary<op::both>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto operator||(A&& a, B&& b) { return detail::binary<op::either>(std::forward<A>(a), std::forward<B>(b)); }
template <array_operand A>
[[nodiscard]] constexpr auto operator-(A&& a) { return detail::unary<op::negate>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto operator!(A&& a) { return detail::unary<op::inverse>(std::forward<A>(a)); }

template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto min(A&& a, B&& b) { return detail::binary<op::min>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto max(A&& a, B&& b) { return detail::binary<op::max>(std::forward<A>(a), std::forward<B>(b)); }
template <class A, class B> requires detail::builds<A, B>
[[nodiscard]] constexpr auto pow(A&& a, B&& b) { return detail::binary<op::pow>(std::forward<A>(a), std::forward<B>(b)); }
template <array_operand A>
[[nodiscard]] constexpr auto abs(A&& a) { return detail::unary<op::abs>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto sqrt(A&& a) { return detail::unary<op::sqrt>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto rsqrt(A&& a) { return detail::unary<op::rsqrt>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto exp(A&& a) { return detail::unary<op::exp>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto expm1(A&& a) { return detail::unary<op::expm1>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto log(A&& a) { return detail::unary<op::log>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto log1p(A&& a) { return detail::unary<op::log1p>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto tanh(A&& a) { return detail::unary<op::tanh>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto sigmoid(A&& a) { return detail::unary<op::sigmoid>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto relu(A&& a) { return detail::unary<op::relu>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto silu(A&& a) { return detail::unary<op::silu>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto gelu(A&& a) { return detail::unary<op::gelu>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto gelu_tanh(A&& a) { return detail::unary<op::gelu_tanh>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto softplus(A&& a) { return detail::unary<op::softplus>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto erf(A&& a) { return detail::unary<op::erf>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto sin(A&& a) { return detail::unary<op::sin>(std::forward<A>(a)); }
template <array_operand A>
[[nodiscard]] constexpr auto cos(A&& a) { return detail::unary<op::cos>(std::forward<A>(a)); }
// clang-format on

/// a * a, with a read once.
template <array_operand A> [[nodiscard]] constexpr auto square(A&& a) {
  return detail::unary<op::square>(std::forward<A>(a));
}
/// The number in [low, high] nearest to a.
template <array_operand A, operand Low, operand High>
[[nodiscard]] constexpr auto clamp(A&& a, Low&& low, High&& high) {
  using T = detail::scalar_among<A>;
  static_assert(complaint::holds<detail::one_scalar_type<A, Low, High>, T>,
                "clamp: the operands have different scalar types; cast<T>(x) converts");
  return detail::make_map<op::clamp>(detail::as_node<T>(std::forward<A>(a)),
                                     detail::as_node<T>(std::forward<Low>(low)),
                                     detail::as_node<T>(std::forward<High>(high)));
}
namespace detail {
/// Between two plain numbers: floating-point ones stay what they are, integers are float.
template <class A, class B> struct choice_scalar {
  using type = scalar_among<A, B>;
};
template <plain_number A, plain_number B> struct choice_scalar<A, B> {
  using common = std::common_type_t<A, B>;
  using type = std::conditional_t<std::is_floating_point_v<common>, common, float>;
};
/// Whether a choice between plain numbers has this one: a whole number may be too long for float.
template <class T> [[nodiscard]] constexpr auto is_choice(T const& number) -> bool {
  if constexpr (std::integral<T>) {
    auto odd = +number;
    while (odd != 0 && odd % 2 == 0) odd /= 2;
    constexpr auto end = 1 << 24;
    return std::cmp_greater(odd, -end) && std::cmp_less(odd, end);
  } else {
    return true;
  }
}
template <class A, class B> inline constexpr bool choices_have_one_scalar = one_scalar_type<A, B>;
template <plain_number A, plain_number B>
inline constexpr bool choices_have_one_scalar<A, B> = true;
}  // namespace detail

/// a where the condition holds, else b. Between two whole numbers it chooses floats.
///
/// Errors  two whole numbers of which float does not hold one break the contract
template <array_operand Condition, operand A, operand B>
[[nodiscard]] constexpr auto where(Condition&& condition, A&& a, B&& b) {
  using T = typename detail::choice_scalar<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::type;
  static_assert(complaint::holds<detail::choices_have_one_scalar<A, B>,
                                 detail::scalar_of_operand<A>, detail::scalar_of_operand<B>>,
                "where: the operands have different scalar types; cast<T>(x) converts");
  if constexpr (std::integral<std::remove_cvref_t<A>> && std::integral<std::remove_cvref_t<B>>)
    require(detail::is_choice(a) && detail::is_choice(b),
            "where: float does not hold one of the whole numbers; 16777217.0 is a double");
  return detail::make_map<op::where>(detail::as_node<bool>(std::forward<Condition>(condition)),
                                     detail::as_node<T>(std::forward<A>(a)),
                                     detail::as_node<T>(std::forward<B>(b)));
}
/// The elements as another scalar type.
template <class To, array_operand A> [[nodiscard]] constexpr auto cast(A&& a) {
  return detail::unary<op::cast<To>>(std::forward<A>(a));
}

}  // namespace tessera
