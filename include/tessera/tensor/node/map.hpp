// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/base.hpp>

/// Elementwise operations: their operands broadcast.
namespace tessera::nodes {

namespace detail {

/// Of two backends the one that an expression of both has; void where they do not go together.
template <class A, class B> struct two_backends {
  using type = std::conditional_t<std::same_as<A, any_backend>, B,
                                  std::conditional_t<std::same_as<B, any_backend>, A, void>>;
};
template <class A> struct two_backends<A, A> {
  using type = A;
};
template <class A> struct two_backends<probing<A>, A> {
  using type = probing<A>;
};
template <class A> struct two_backends<A, probing<A>> {
  using type = probing<A>;
};
template <class A> struct two_backends<computed_apart<A>, A> {
  using type = computed_apart<A>;
};
template <class A> struct two_backends<A, computed_apart<A>> {
  using type = computed_apart<A>;
};
template <class A> struct two_backends<computed_apart<A>, probing<A>> {
  using type = computed_apart<A>;
};
template <class A> struct two_backends<probing<A>, computed_apart<A>> {
  using type = computed_apart<A>;
};
template <class A, class B> using common_backend = typename two_backends<A, B>::type;

template <class... A> struct backend_of_all;
template <class A> struct backend_of_all<A> {
  using type = backend_of<A>;
};
template <class A, class B, class... C> struct backend_of_all<A, B, C...> {
  using rest = typename backend_of_all<B, C...>::type;
  using type = common_backend<backend_of<A>, rest>;
  static_assert(not std::is_void_v<type>,
                "expression: the operands are tensors of different backends");
};

template <class... A> struct shape_of_all;
template <class A> struct shape_of_all<A> {
  using type = shape_of<A>;
};
template <class A, class B> struct shape_of_all<A, B> {
  using type = broadcast<shape_of<A>, shape_of<B>>;
};
template <class A, class B, class C, class... D> struct shape_of_all<A, B, C, D...> {
  using type = broadcast<shape_of<A>, typename shape_of_all<B, C, D...>::type>;
};

/// What a row of `Inner` is asked for by a row of `Outer`: the aligned part of the index.
template <class Inner, class Outer>
[[nodiscard]] constexpr auto inner_index(leading_index<Outer::rank> const& index)
    -> leading_index<Inner::rank> {
  constexpr auto extents = Inner::extents;  // a kernel sees no static array of the host's
  auto inner = leading_index<Inner::rank>{};
  for (auto a = std::size_t{0}; a + 1 < Inner::rank; ++a)
    inner[a] = extents[a] == 1 ? 0 : index[a + Outer::rank - Inner::rank];
  return inner;
}

template <class S>
inline constexpr bool one_wide = S::rank == 0 || [] {
  if constexpr (S::rank == 0)
    return true;
  else
    return S::extents[S::rank - 1] == 1;
}();

/// The cursor of an operand inside a row of `Outer`. An operand of one element a row is read once.
template <class Outer, class A>
[[nodiscard]] constexpr auto operand_row(A const& a, leading_index<Outer::rank> const& index) {
  auto const row = a.row(inner_index<shape_of<A>, Outer>(index));
  if constexpr (one_wide<shape_of<A>> && not one_wide<Outer>)
    return repeat_row(row);
  else
    return row;
}

template <class Outer, class A> [[nodiscard]] constexpr auto operand_flat_row(A const& a) {
  auto const row = a.flat_row();
  if constexpr (shape_of<A>::rank == 0 && Outer::rank > 0)
    return repeat_row(row);
  else
    return row;
}

}  // namespace detail

template <class F, class... Rows> struct map_row {
  items<Rows...> rows;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t i) const {
    if constexpr (sizeof...(Rows) == 1)
      return F::value(rows.a.get(lanes, i));
    else if constexpr (sizeof...(Rows) == 2)
      return F::value(rows.a.get(lanes, i), rows.b.get(lanes, i));
    else
      return F::value(rows.a.get(lanes, i), rows.b.get(lanes, i), rows.c.get(lanes, i));
  }
  [[nodiscard]] constexpr auto is_readable() const -> bool {
    if constexpr (sizeof...(Rows) == 1)
      return readable(rows.a);
    else if constexpr (sizeof...(Rows) == 2)
      return readable(rows.a) && readable(rows.b);
    else
      return readable(rows.a) && readable(rows.b) && readable(rows.c);
  }
};

template <class F, class... Rows> [[nodiscard]] constexpr auto make_map_row(Rows const&... rows) {
  return map_row<F, Rows...>{make_items(rows...)};
}

template <class... Temporaries> struct all_temporaries {
  items<Temporaries...> of;
};

/// y = F(a), F(a, b) or F(a, b, c), element by element, with broadcasting.
template <class F, class... Args> struct map : base {
  using shape_type = typename detail::shape_of_all<Args...>::type;
  using backend_type = typename detail::backend_of_all<Args...>::type;
  using scalar_type = decltype(F::value(std::declval<compute_of<scalar_of<Args>>>()...));
  using temporaries = std::conditional_t<(is_empty<typename Args::temporaries> && ...), nothing,
                                         all_temporaries<typename Args::temporaries...>>;
  static constexpr bool flat =
      ((Args::flat && (shape_of<Args>::rank == 0 || std::same_as<shape_of<Args>, shape_type>)) &&
       ...);
  static constexpr bool rows_apart = (Args::rows_apart && ...);
  static constexpr auto count = sizeof...(Args);
  static_assert(count <= 3, "map: at most three operands");

  items<Args...> args;

  template <std::size_t I> [[nodiscard]] constexpr auto arg() const -> auto const& {
    return item<I>(args);
  }
  [[nodiscard]] constexpr auto extents() const {
    auto all = actual_extents<shape_type>{};
    if constexpr (shape_type::bounded > 0) {
      auto full = actual_extents<shape_type>::unknown();
      merge(args.a, full);
      if constexpr (count > 1) merge(args.b, full);
      if constexpr (count > 2) merge(args.c, full);
      all = actual_extents<shape_type>::from(full);
    }
    return all;
  }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    using S = shape_type;
    if constexpr (count == 1)
      return make_map_row<F>(detail::operand_row<S>(args.a, index));
    else if constexpr (count == 2)
      return make_map_row<F>(detail::operand_row<S>(args.a, index),
                             detail::operand_row<S>(args.b, index));
    else
      return make_map_row<F>(detail::operand_row<S>(args.a, index),
                             detail::operand_row<S>(args.b, index),
                             detail::operand_row<S>(args.c, index));
  }
  [[nodiscard]] constexpr auto flat_row() const {
    using S = shape_type;
    if constexpr (count == 1)
      return make_map_row<F>(detail::operand_flat_row<S>(args.a));
    else if constexpr (count == 2)
      return make_map_row<F>(detail::operand_flat_row<S>(args.a),
                             detail::operand_flat_row<S>(args.b));
    else
      return make_map_row<F>(detail::operand_flat_row<S>(args.a),
                             detail::operand_flat_row<S>(args.b),
                             detail::operand_flat_row<S>(args.c));
  }
  constexpr void bind([[maybe_unused]] auto& memory) {
    if constexpr (not is_empty<temporaries>) {
      args.a.bind(memory.of.a);
      if constexpr (count > 1) args.b.bind(memory.of.b);
      if constexpr (count > 2) args.c.bind(memory.of.c);
    }
  }
  constexpr void compute() const {
    if constexpr (not is_empty<temporaries>) {
      args.a.compute();
      if constexpr (count > 1) args.b.compute();
      if constexpr (count > 2) args.c.compute();
    }
  }
  template <class Result>
  [[nodiscard]] constexpr auto conflicts(written_memory const& w) const -> bool {
    if constexpr (count == 1)
      return args.a.template conflicts<Result>(w);
    else if constexpr (count == 2)
      return args.a.template conflicts<Result>(w) || args.b.template conflicts<Result>(w);
    else
      return args.a.template conflicts<Result>(w) || args.b.template conflicts<Result>(w) ||
             args.c.template conflicts<Result>(w);
  }

 private:
  static constexpr void merge(auto const& operand, std::array<std::size_t, shape_type::rank>& to) {
    using S = shape_of<decltype(operand)>;
    auto const from = operand.extents().full();
    for (auto a = std::size_t{0}; a < S::rank; ++a) {
      auto& at = to[a + shape_type::rank - S::rank];
      if (not is_bounded(S::extents[a])) continue;
      require(at == unknown_extent || at == from[a],
              "expression: operands differ in a bounded extent");
      at = from[a];
    }
  }
};

}  // namespace tessera::nodes
