// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/error.hpp>
#include <tessera/tensor/elementwise.hpp>
#include <tessera/tensor/reference/assign.hpp>
#include <tessera/tensor/row_blocks.hpp>
#include <tessera/tensor/slicing.hpp>

#if TESSERA_SIMD
#include <tessera/tensor/simd/assign.hpp>
#endif

#if TESSERA_HOSTED
#include <new>
#endif

namespace tessera {

namespace detail {

template <class Y, class E> constexpr void check_extents(Y const& y, E const& e) {
  using S = shape_of<E>;
  if constexpr (S::bounded > 0) {
    auto const from = e.extents();
    for (auto a = std::size_t{0}; a < S::rank; ++a)
      if (is_bounded(S::extents[a]))
        require(from[a] == y.actual[a + shape_of<Y>::rank - S::rank],
                "assign: the two sides differ in a bounded extent");
  }
}

template <class Y, class E> constexpr void assign_pass(Y y, E const& e) {
  kernel_for<assign_fn, backend_of<Y>>::run(y, e);
}

/// Where the temporaries of an expression are while it is computed.
template <class Backend, class Memory> struct temporary {
  Memory memory{};
  [[nodiscard]] constexpr auto get() -> Memory& { return memory; }
};

/// A tensor for a result that may not be written in place, on the stack or, above stack_limit, on
/// the heap of a hosted program.
template <class X> constexpr void with_temporary(auto&& f) {
  if constexpr (sizeof(X) <= stack_limit || on_device<backend_of<X>>) {
    auto own = temporary<backend_of<X>, X>{};
    f(own.get());
  } else {
#if TESSERA_HOSTED
    struct owner {
      X* x = new X;
      owner() = default;
      owner(owner const&) = delete;
      auto operator=(owner const&) -> owner& = delete;
      constexpr ~owner() { delete x; }
    } own;
    f(*own.x);
#else
    broken_contract("assign: the two sides overlap, and a copy does not fit on the stack");
#endif
  }
}

template <class Y> [[nodiscard]] constexpr auto memory_of_target(Y const& y) -> written_memory {
  if constexpr (contiguous<Y>) {
    return {y.memory, y.memory + y.size()};
  } else {
    auto last = std::ptrdiff_t{0};
    for (auto a = std::size_t{0}; a < shape_of<Y>::rank; ++a)
      last += static_cast<std::ptrdiff_t>(y.actual[a] - 1) * y.strides[a];
    return {y.memory, y.memory + last + 1};
  }
}

/// Computes into a temporary, and from there to y.
template <class Y> constexpr void through_temporary(Y y, auto&& compute) {
  using T = std::remove_const_t<typename Y::scalar_type>;
  using X = tensor<T, shape_of<Y>, backend_of<Y>>;
  with_temporary<X>([&](X& temporary) {
    auto const to = view<T, shape_of<Y>, backend_of<Y>>{temporary.data(), y.actual};
    compute(to);
    assign_pass(y, nodes::leaf<T, shape_of<Y>, backend_of<Y>>{{}, to, to.memory});
  });
}

template <class Y, class E> constexpr void run_row_blocks(Y y, E const& e, auto const& pass) {
  using blocks = nodes::row_block<shape_of<Y>, 1>;
  if (blocks::conflicts(e, memory_of_target(y)))
    through_temporary(y, [&](auto to) { assign_row_blocks(to, e, pass); });
  else
    assign_row_blocks(y, e, pass);
}
template <class Y, class E> constexpr void run_row_blocks(Y y, E const& e) {
  if constexpr (softmax_in_place<Y, E>)
    run_row_blocks(y, nodes::detail::softmax_operand(e), [](auto to, auto const& block) {
      kernel_for<softmax_fn, backend_of<Y>>::run(to, block);
    });
  else
    run_row_blocks(y, e, [](auto to, auto const& block) { assign_pass(to, block); });
}

template <class Y, class E> constexpr void run_assignment(Y y, E& e) {
  using T = std::remove_const_t<typename Y::scalar_type>;
  auto const target = memory_of_target(y);
  constexpr auto whole = nodes::is_result<E> && std::same_as<shape_of<E>, shape_of<Y>> &&
                         std::same_as<scalar_of<E>, T>;
  if constexpr (whole) {  // computed where it goes
    e.compute_args();
    if constexpr (contiguous<Y>) {
      if (not e.operands_conflict(target)) return e.compute_to(y);
    }
    through_temporary(y, [&](auto to) { e.compute_to(to); });
  } else {
    e.compute();
    if (e.template conflicts<std::conditional_t<contiguous<Y>, shape_of<Y>, nothing>>(target))
      through_temporary(y, [&](auto to) { assign_pass(to, e); });
    else
      assign_pass(y, e);
  }
}

template <class Y, class E> constexpr void assign_to(Y y, E const& e) {
  using T = std::remove_const_t<typename Y::scalar_type>;
  using node_type = node_of<compute_of<T>, E const&>;
  using S = shape_of<node_type>;
  using expected = complaint::expected<shape_of<Y>>;
  using got = complaint::got<std::conditional_t<broadcasts_to<S, shape_of<Y>>, shape_of<Y>, S>>;
  static_assert(complaint::shapes_match<complaint::in<Y>, expected, got>, "assign: another shape");
  static_assert(
      std::same_as<scalar_of<node_type>, T> || std::same_as<scalar_of<node_type>, compute_of<T>>,
      "assign: the right side has another scalar type; cast<T>(x) converts");
  static_assert(not is_probing<backend_of<node_type>> || is_computed_apart<backend_of<Y>>,
                "forward-only: `forward` computes a tensor of its own, which no gradient passes; "
                "return one expression of p and x, or write forward(p, x, y, m) and backward");
  if constexpr (broadcasts_to<S, shape_of<Y>> &&
                not is_probing<backend_of<node_type>>) {  // one mistake, one message
    auto n = as_node<compute_of<T>>(e);
    check_extents(y, n);
    if constexpr (std::is_empty_v<typename node_type::temporaries>) {
      run_assignment(y, n);
    } else if constexpr (by_row_blocks<Y, node_type>) {
      run_row_blocks(y, n);
    } else {
      constexpr auto bytes = nodes::bytes_of_temporaries<node_type>(nodes::is_result<node_type> &&
                                                                    std::same_as<S, shape_of<Y>>);
      static_assert(complaint::holds < bytes <= stack_limit || on_device<backend_of<Y>>,
                    std::integral_constant < std::size_t, bytes >>,
                    "assign: the temporaries of this expression are too large for the stack; "
                    "assign its products and reductions to tensors of their own");
      if constexpr (nodes::is_result<node_type> && std::same_as<S, shape_of<Y>>) {
        auto memory = temporary<backend_of<Y>, nodes::argument_temporaries<node_type>>{};
        n.bind_args(memory.get());
        run_assignment(y, n);
      } else {
        auto memory = temporary<backend_of<Y>, typename node_type::temporaries>{};
        n.bind(memory.get());
        run_assignment(y, n);
      }
    }
  }
}

}  // namespace detail

constexpr void nodes::value_of::compute(auto y, auto const& e) {
  tessera::detail::assign_pass(y, e);
}

/// y = e, for a view that has a name.
template <tensor_like Y, operand E> constexpr void assign(Y y, E const& e) {
  detail::assign_to(y, e);
}

// What nobody wants has no memory, and nothing is added to it.
template <class T, class S, class B>
template <operand E>
constexpr void view<T, S, B>::operator+=(E const& e) const {
  if (memory != nullptr) detail::assign_to(*this, *this + e);
}
template <class T, class S, class B>
template <operand E>
constexpr void view<T, S, B>::operator-=(E const& e) const {
  if (memory != nullptr) detail::assign_to(*this, *this - e);
}
template <class T, class S, class B>
template <operand E>
constexpr void view<T, S, B>::operator*=(E const& e) const {
  detail::assign_to(*this, *this * e);
}
template <class T, class S, class B>
template <operand E>
constexpr void view<T, S, B>::operator/=(E const& e) const {
  detail::assign_to(*this, *this / e);
}
template <class T, class S, class B, bool U>
template <operand E>
constexpr void strided_view<T, S, B, U>::operator+=(E const& e) const {
  if (memory != nullptr) detail::assign_to(*this, *this + e);
}
template <class T, class S, class B, bool U>
template <operand E>
constexpr void strided_view<T, S, B, U>::operator-=(E const& e) const {
  if (memory != nullptr) detail::assign_to(*this, *this - e);
}
template <class T, class S, class B, bool U>
template <operand E>
constexpr void strided_view<T, S, B, U>::operator*=(E const& e) const {
  detail::assign_to(*this, *this * e);
}
template <class T, class S, class B, bool U>
template <operand E>
constexpr void strided_view<T, S, B, U>::operator/=(E const& e) const {
  detail::assign_to(*this, *this / e);
}

/// The value of an expression, as a tensor.
template <expression E>
  requires(fixed_shape<shape_of<E>> && not on_device<backend_of<E>>)
[[nodiscard]] constexpr auto evaluate(E const& e)
    -> tensor<scalar_of<E>, shape_of<E>,
              std::conditional_t<std::same_as<backend_of<E>, any_backend>, default_backend,
                                 value_backend<backend_of<E>>>> {
  return e;
}

namespace detail {

/// kernel_for<number_fn, Backend>::of(e): the one number of an expression, for the host.
struct number_fn {};
template <class E> [[nodiscard]] constexpr auto number_of(E const& e) -> scalar_of<E> {
  return kernel_for<number_fn, backend_of<E>>::of(e);
}

}  // namespace detail

template <> struct kernel_for<detail::number_fn, reference> {
  template <class E> [[nodiscard]] static constexpr auto of(E const& e) -> scalar_of<E> {
    return evaluate(e).values[0];
  }
};
template <>
struct kernel_for<detail::number_fn, simd> : kernel_for<detail::number_fn, reference> {};

}  // namespace tessera
