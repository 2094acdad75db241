// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/base.hpp>

/// Elementwise operations: their operands broadcast.
namespace tessera::node {

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
  auto inner = leading_index<Inner::rank>{};
  for (auto a = std::size_t{0}; a + 1 < Inner::rank; ++a)
    inner[a] = Inner::extents[a] == 1 ? 0 : index[a + Outer::rank - Inner::rank];
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
  hana::basic_tuple<Rows...> rows;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t i) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) TESSERA_INLINE {
      return F::value(hana::at_c<I>(rows).get(lanes, i)...);
    }(std::index_sequence_for<Rows...>{});
  }
  [[nodiscard]] constexpr auto is_readable() const -> bool {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (readable(hana::at_c<I>(rows)) && ...);
    }(std::index_sequence_for<Rows...>{});
  }
};

template <class F, class... Rows> [[nodiscard]] constexpr auto make_map_row(Rows const&... rows) {
  return map_row<F, Rows...>{hana::basic_tuple<Rows...>{rows...}};
}

template <class... Temporaries> struct all_temporaries {
  hana::basic_tuple<Temporaries...> of;
};

/// y = F(a, b, ...), element by element, with broadcasting.
template <class F, class... Args> struct map : base {
  using shape_type = typename detail::shape_of_all<Args...>::type;
  using backend_type = typename detail::backend_of_all<Args...>::type;
  using scalar_type = decltype(F::value(std::declval<compute_of<scalar_of<Args>>>()...));
  using temporaries = std::conditional_t<(std::is_empty_v<typename Args::temporaries> && ...),
                                         nothing, all_temporaries<typename Args::temporaries...>>;
  static constexpr bool flat =
      ((Args::flat && (shape_of<Args>::rank == 0 || std::same_as<shape_of<Args>, shape_type>)) &&
       ...);
  static constexpr bool rows_apart = (Args::rows_apart && ...);
  static constexpr auto each = std::index_sequence_for<Args...>{};

  hana::basic_tuple<Args...> args;

  template <std::size_t I> [[nodiscard]] constexpr auto arg() const -> auto const& {
    return hana::at_c<I>(args);
  }
  [[nodiscard]] constexpr auto extents() const {
    auto all = actual_extents<shape_type>{};
    if constexpr (shape_type::bounded > 0) {
      auto full = actual_extents<shape_type>::unknown();
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (merge<shape_of<Args>>(arg<I>().extents().full(), full), ...);
      }(each);
      all = actual_extents<shape_type>::from(full);
    }
    return all;
  }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return make_map_row<F>(detail::operand_row<shape_type>(arg<I>(), index)...);
    }(each);
  }
  [[nodiscard]] constexpr auto flat_row() const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return make_map_row<F>(detail::operand_flat_row<shape_type>(arg<I>())...);
    }(each);
  }
  constexpr void bind([[maybe_unused]] auto& memory) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (bind_one<I>(memory), ...); }(each);
  }
  constexpr void compute() const {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (arg<I>().compute(), ...); }(each);
  }
  template <class Result> [[nodiscard]] constexpr auto conflicts(written const& w) const -> bool {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (arg<I>().template conflicts<Result>(w) || ...);
    }(each);
  }

 private:
  template <std::size_t I> constexpr void bind_one(auto& memory) {
    if constexpr (not std::is_empty_v<temporaries>)
      hana::at_c<I>(args).bind(hana::at_c<I>(memory.of));
  }
  template <class S>
  static constexpr void merge(std::array<std::size_t, S::rank> const& from,
                              std::array<std::size_t, shape_type::rank>& to) {
    for (auto a = std::size_t{0}; a < S::rank; ++a) {
      auto& at = to[a + shape_type::rank - S::rank];
      if (not is_bounded(S::extents[a])) continue;
      require(at == unknown_extent || at == from[a],
              "expression: operands differ in a bounded extent");
      at = from[a];
    }
  }
};

}  // namespace tessera::node
