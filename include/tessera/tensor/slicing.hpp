// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/error.hpp>
#include <tessera/tensor/node.hpp>

/// Parts of tensors, and the same elements in another arrangement, without a copy.
///
/// What stays contiguous is a `view` that layers take; what does not is a `strided_view`, which
/// expressions read and assignments write. Of an expression, its value is computed once and then
/// arranged.
namespace tessera {

namespace nodes {

/// The value of an expression as memory.
struct value_of {
  template <class E> using result = tensor<scalar_of<E>, shape_of<E>, backend_of<E>>;
  template <class> static constexpr bool rows_apart = true;
  static constexpr auto extents(auto const& e) { return e.extents(); }
  static constexpr void compute(auto y, auto const& e);  // tensor/assign.hpp
};

/// The elements of an operand that has memory once it is computed, by distances.
template <class Arg, class S, bool UnitLast> struct arranged : base, with_extents<S> {
  using scalar_type = scalar_of<Arg> const;
  using shape_type = S;
  using backend_type = backend_of<Arg>;
  using temporaries = typename Arg::temporaries;
  static constexpr bool flat = false;
  static constexpr bool rows_apart = false;

  Arg arg;
  std::ptrdiff_t offset;
  std::array<std::ptrdiff_t, S::rank> strides;

  [[nodiscard]] constexpr auto row(leading_index<S::rank> const& index) const {
    return strided_leaf<scalar_type, S, backend_type, UnitLast>{
        {}, *this, arg.data() + offset, strides}
        .row(index);
  }
  constexpr void bind(auto& memory) { arg.bind(memory); }
  constexpr void compute() const { arg.compute(); }
  template <class> [[nodiscard]] constexpr auto conflicts(written_memory const& w) const -> bool {
    return arg.template conflicts<nothing>(w);
  }
};

}  // namespace nodes

namespace detail {

template <class X> [[nodiscard]] constexpr auto extents_of(X const& x) {
  if constexpr (requires { x.extents(); })
    return x.extents();
  else if constexpr (owning<X>) {
    static_assert(fixed_shape<shape_of<X>>,
                  "expression: a tensor with bounded extents needs its actual ones: x.sized(n)");
    return actual_extents<shape_of<X>>{};
  } else
    return x.actual;
}
template <class X>
[[nodiscard]] constexpr auto strides_of(X const& x)
    -> std::array<std::ptrdiff_t, shape_of<X>::rank> {
  constexpr auto rank = shape_of<X>::rank;
  if constexpr (requires { x.strides; }) {
    return x.strides;
  } else {
    auto strides = std::array<std::ptrdiff_t, rank>{};
    auto distance = std::ptrdiff_t{1};
    for (auto a = rank; a-- > 0;) {
      strides[a] = distance;
      distance *= static_cast<std::ptrdiff_t>(extents_of(x)[a]);
    }
    return strides;
  }
}

/// x with other distances: a view of memory, or a node where x is an expression.
template <class S, bool UnitLast, class X>
[[nodiscard]] constexpr auto arrange(X&& x, actual_extents<S> actual, std::ptrdiff_t offset,
                                     std::array<std::ptrdiff_t, S::rank> strides) {
  using A = std::remove_cvref_t<X>;
  if constexpr (tensor_like<A> && not(owning<A> && not std::is_lvalue_reference_v<X>)) {
    using T = std::remove_pointer_t<decltype(x.data())>;
    return strided_view<T, S, backend_of<A>, UnitLast>{
        x.data() == nullptr ? nullptr : x.data() + offset, actual, strides};
  } else {
    auto node = nodes::arranged<A, S, UnitLast>{{}, {}, std::forward<X>(x), offset, strides};
    if constexpr (S::bounded > 0) node.actual = actual;
    return node;
  }
}

/// All of a tensor that has a name: what is arranged of it points to it, and clang is told so.
template <owning X> [[nodiscard]] constexpr auto named_view(X& x TESSERA_LIFETIMEBOUND) {
  return view<std::remove_pointer_t<decltype(x.data())>, shape_of<X>, backend_of<X>>{x.data()};
}

/// Operands that have an address (a leaf, a result), or the value of those that have none.
template <class X> [[nodiscard]] constexpr auto with_address(X&& x) -> decltype(auto) {
  using A = std::remove_cvref_t<X>;
  if constexpr (tensor_like<A> && std::is_lvalue_reference_v<X>)
    return static_cast<X>(x);
  else if constexpr (tensor_like<A> && not owning<A>)
    return A(x);
  else if constexpr (requires { x.data(); } && expression<A>)
    return A(std::forward<X>(x));
  else if constexpr (owning<A>)
    return as_node<typename A::scalar_type>(std::forward<X>(x));
  else
    return nodes::result<nodes::value_of, A>{{}, {x}};
}

/// An operand as a node whose elements lie one after another once it is computed.
template <class With, class X> [[nodiscard]] constexpr auto as_memory(X&& x) {
  auto const e = as_node<With>(std::forward<X>(x));
  using E = std::remove_const_t<decltype(e)>;
  if constexpr (requires { e.data(); })
    return e;
  else
    return nodes::result<nodes::value_of, E>{{}, {e}};
}

template <class X>
inline constexpr bool last_is_unit = [] {
  using A = std::remove_cvref_t<X>;
  if constexpr (is_strided<A>)
    return unit_last<A>;
  else
    return true;
}();

}  // namespace detail

// -- transpose, broadcast -------------------------------------------------------------------------

/// The axes in another order; reversed where none are named.
template <array_operand X, std::ptrdiff_t... Axes>
  requires detail::is_permutation_of<shape_of<X>, Axes...>
[[nodiscard]] constexpr auto transpose(X&& x, axis_list<Axes...> = {}) {
  using S = shape_of<X>;
  using R = transposed<S, Axes...>;
  constexpr auto order = detail::permutation_of<S, Axes...>;
  auto&& from = detail::with_address(std::forward<X>(x));
  auto const strides = detail::strides_of(from);
  auto const extents = detail::extents_of(from).full();
  auto new_strides = strides;
  auto new_extents = extents;
  for (auto a = std::size_t{0}; a < S::rank; ++a) {
    new_strides[a] = strides[order[a]];
    new_extents[a] = extents[order[a]];
  }
  constexpr auto unit =
      S::rank == 0 || (detail::last_is_unit<X> && order[S::rank - 1] == S::rank - 1);
  return detail::arrange<R, unit>(std::forward<decltype(from)>(from),
                                  actual_extents<R>::from(new_extents), 0, new_strides);
}

template <owning X, std::ptrdiff_t... Axes>
  requires(fixed_shape<shape_of<X>> && detail::is_permutation_of<shape_of<X>, Axes...>)
[[nodiscard]] constexpr auto transpose(X& x TESSERA_LIFETIMEBOUND, axis_list<Axes...> axes = {}) {
  return transpose(detail::named_view(x), axes);
}

/// x repeated along axes of extent 1 and new leading axes until it has shape R: to be read alone,
/// as many of its elements are one.
template <fixed_shape R, array_operand X>
  requires broadcasts_to<shape_of<X>, R>
[[nodiscard]] constexpr auto broadcast_to(X&& x) {
  using S = shape_of<X>;
  auto&& from = detail::with_address(std::forward<X>(x));
  auto const strides = detail::strides_of(from);
  auto repeated = std::array<std::ptrdiff_t, R::rank>{};
  for (auto a = std::size_t{0}; a < S::rank; ++a)
    repeated[a + R::rank - S::rank] = S::extents[a] == 1 ? 0 : strides[a];
  constexpr auto unit = [] {
    if constexpr (S::rank == 0)
      return false;
    else
      return detail::last_is_unit<X> && last_of<S> > 1;
  }();
  auto result = detail::arrange<R, unit>(std::forward<decltype(from)>(from), actual_extents<R>{}, 0,
                                         repeated);
  if constexpr (requires { result.memory; }) {
    using T = std::remove_pointer_t<decltype(result.memory)> const;
    return strided_view<T, R, backend_of<X>, unit>{result.memory, {}, result.strides};
  } else {
    return result;
  }
}

// -- slices ---------------------------------------------------------------------------------------
namespace detail {

template <class T> struct selects {
  static constexpr bool keeps = false;  // an index: the axis goes away
};
template <> struct selects<whole_axis_type> {
  static constexpr bool keeps = true;
  static constexpr std::size_t begin = 0;
  static constexpr auto of(extent e) -> extent { return e; }
};
template <std::size_t Begin, std::size_t End> struct selects<range_type<Begin, End>> {
  static constexpr bool keeps = true;
  static constexpr std::size_t begin = Begin;
  static constexpr auto of(extent) -> extent { return static_cast<extent>(End - Begin); }
};

template <class S, class... Selectors>
inline constexpr auto extents_sliced = [] {
  constexpr auto count = S::rank - sizeof...(Selectors) +
                         (std::size_t{0} + ... + (selects<Selectors>::keeps ? 1U : 0U));
  auto e = std::array<extent, count>{};
  auto from = std::size_t{0};
  auto to = std::size_t{0};
  auto const one_axis = [&]<class T>(std::type_identity<T>) {
    if constexpr (selects<T>::keeps) e[to++] = selects<T>::of(S::extents[from]);
    ++from;
  };
  (one_axis(std::type_identity<Selectors>{}), ...);
  for (; from < S::rank; ++from) e[to++] = S::extents[from];
  return e;
}();

/// A range fits where it ends within the extent; one of a bounded axis may not.
template <class S, class... Selectors>
inline constexpr bool ranges_fit = [] {
  if (sizeof...(Selectors) > S::rank) return false;
  auto a = std::size_t{0};
  auto fits = true;
  auto const one_axis = [&]<class T>(std::type_identity<T>) {
    if constexpr (selects<T>::keeps && not std::same_as<T, whole_axis_type>)
      fits = fits && selects<T>::begin + bound_of(selects<T>::of(0)) <= bound_of(S::extents[a]) &&
             not is_bounded(S::extents[a]);
    ++a;
  };
  (one_axis(std::type_identity<Selectors>{}), ...);
  return fits;
}();

template <class S, class... Selectors>
inline constexpr bool keeps_last = sizeof...(Selectors) < S::rank || [] {
  auto last = false;
  ((last = selects<Selectors>::keeps), ...);
  return last;
}();

}  // namespace detail

/// A part of x: for each axis `whole_axis`, `range<Begin, End>` or an index, which takes the axis
/// away; axes that are not named are whole.
///
/// Errors  a range beyond its extent does not compile: tests/fail/slice_out_of_range.cpp; an index
///         beyond it breaks the contract
template <array_operand X, class... Selectors>
[[nodiscard]] constexpr auto slice(X&& x, Selectors... selectors) {
  using S = shape_of<X>;
  static_assert(complaint::holds<detail::ranges_fit<S, Selectors...>, S, Selectors...>,
                "slice: a range ends beyond its axis, or the axis is bounded");
  if constexpr (detail::ranges_fit<S, Selectors...>) {
    using R = shape_from<detail::extents_sliced<S, Selectors...>>;
    auto&& from = detail::with_address(std::forward<X>(x));
    auto const strides = detail::strides_of(from);
    auto const extents = detail::extents_of(from).full();
    auto new_strides = std::array<std::ptrdiff_t, R::rank>{};
    auto new_extents = std::array<std::size_t, R::rank>{};
    auto offset = std::ptrdiff_t{0};
    auto a = std::size_t{0};
    auto to = std::size_t{0};
    [[maybe_unused]] auto const one_axis = [&]<class T>(T selector) {
      if constexpr (detail::selects<T>::keeps) {
        offset += strides[a] * static_cast<std::ptrdiff_t>(detail::selects<T>::begin);
        new_extents[to] =
            std::same_as<T, whole_axis_type> ? extents[a] : bound_of(detail::selects<T>::of(0));
        new_strides[to++] = strides[a];
      } else {
        auto const i = static_cast<std::size_t>(selector);
        require(i < extents[a], "slice: an index beyond its axis");
        offset += strides[a] * static_cast<std::ptrdiff_t>(i);
      }
      ++a;
    };
    (one_axis(selectors), ...);
    for (; a < S::rank; ++a, ++to) new_strides[to] = strides[a], new_extents[to] = extents[a];
    return detail::arrange < R, detail::last_is_unit<X> && detail::keeps_last < S,
           Selectors... >> (std::forward<decltype(from)>(from),
                            actual_extents<R>::from(new_extents), offset, new_strides);
  } else {
    return std::forward<X>(x);
  }
}

namespace detail {

template <std::size_t I, std::size_t Parts, class S, std::size_t Axis, std::size_t... Before>
[[nodiscard]] constexpr auto chunk_at(auto&& x, std::index_sequence<Before...>) {
  constexpr auto size = bound_of(S::extents[Axis]) / Parts;
  return slice(std::forward<decltype(x)>(x), (void(Before), whole_axis)...,
               range<I * size, (I + 1) * size>);
}

}  // namespace detail

template <owning X, class... Selectors>
  requires(fixed_shape<shape_of<X>> && detail::ranges_fit<shape_of<X>, Selectors...>)
[[nodiscard]] constexpr auto slice(X& x TESSERA_LIFETIMEBOUND, Selectors... selectors) {
  return slice(detail::named_view(x), selectors...);
}

/// Part I of `Parts` equal parts of an axis, of the last one where none is named.
template <std::size_t I, std::size_t Parts, array_operand X, std::ptrdiff_t Axis = -1>
  requires(I < Parts) && requires {
    typename chunked<shape_of<X>, detail::normal_axis<shape_of<X>::rank>(Axis), Parts>;
  }
[[nodiscard]] constexpr auto chunk(X&& x, axis_list<Axis> = {}) {
  constexpr auto a = detail::normal_axis<shape_of<X>::rank>(Axis);
  return detail::chunk_at<I, Parts, shape_of<X>, a>(std::forward<X>(x),
                                                    std::make_index_sequence<a>{});
}

// -- the same elements under another shape --------------------------------------------------------
namespace detail {

template <class R, class X> [[nodiscard]] constexpr auto reshape_contiguous(X&& x) {
  using S = shape_of<X>;
  auto&& from = with_address(std::forward<X>(x));
  using A = std::remove_cvref_t<decltype(from)>;
  auto const actual = extents_of(from).template as<R>();
  if constexpr (tensor_like<A>) {
    using T = std::remove_pointer_t<decltype(from.data())>;
    return view<T, R, backend_of<A>>{from.data(), actual};
  } else {
    auto strides = std::array<std::ptrdiff_t, R::rank>{};
    auto distance = std::ptrdiff_t{1};
    for (auto a = R::rank; a-- > 0; distance *= static_cast<std::ptrdiff_t>(actual[a]))
      strides[a] = distance;
    static_assert(S::capacity == R::capacity);
    return arrange<R, true>(std::forward<decltype(from)>(from), actual, 0, strides);
  }
}

}  // namespace detail

/// The elements of x, in their order, as shape R; bounded extents stay in front.
template <shape_like R, array_operand X>
  requires(reshapes_to<shape_of<X>, R> && not detail::is_strided<std::remove_cvref_t<X>>)
[[nodiscard]] constexpr auto reshape(X&& x) {
  return detail::reshape_contiguous<R>(std::forward<X>(x));
}

template <shape_like R, owning X>
  requires(fixed_shape<shape_of<X>> && reshapes_to<shape_of<X>, R>)
[[nodiscard]] constexpr auto reshape(X& x TESSERA_LIFETIMEBOUND) {
  return detail::reshape_contiguous<R>(x);
}

/// x with a new axis of extent 1 before axis Axis.
template <std::ptrdiff_t Axis, array_operand X>
  requires(not detail::is_strided<std::remove_cvref_t<X>>)
[[nodiscard]] constexpr auto expand_dims(X&& x, axis_list<Axis>) {
  using R = with_axis<shape_of<X>, detail::normal_axis<shape_of<X>::rank + 1>(Axis), 1>;
  return detail::reshape_contiguous<R>(std::forward<X>(x));
}

/// x without axis Axis, whose extent is 1.
template <std::ptrdiff_t Axis, array_operand X>
  requires(bound_at<shape_of<X>, Axis> == 1 && not detail::is_strided<std::remove_cvref_t<X>>)
[[nodiscard]] constexpr auto squeeze(X&& x, axis_list<Axis>) {
  return detail::reshape_contiguous<reduced<shape_of<X>, false, Axis>>(std::forward<X>(x));
}

}  // namespace tessera
