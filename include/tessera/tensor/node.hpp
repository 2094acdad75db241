// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/core/scalar.hpp>
#include <tessera/tensor/tensor.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

/// The nodes of an expression tree.
///
/// A node is a small value: a leaf points to its operand, a temporary operand lives in its node. It
/// names scalar_type, shape_type and backend_type, and answers
///   extents()         its actual extents
///   row(index)        a cursor on one row of the last axis; index holds the leading axes
///   temporaries       the memory of the operations that are computed before the row pass
///   bind(t)           tells the tree where those temporaries are; compute() fills them
///   conflicts(w)      true where writing to w would change what a later row reads
///   rows_apart        true where no row of the result depends on another row of an operand
/// A cursor reads through lanes: get(lanes, i), with `one` a number, with vector lanes a vector.
namespace tessera {

namespace hana = boost::hana;

/// A constant of any backend.
struct any_backend {};

template <std::size_t Rank> using leading_index = std::array<std::size_t, Rank == 0 ? 0 : Rank - 1>;

/// One number at a time, of whatever scalar type an operand has.
struct one {
  static constexpr std::size_t width = 1;
  [[nodiscard]] static constexpr auto count() -> std::size_t { return 1; }
  template <class V> [[nodiscard]] TESSERA_INLINE static constexpr auto at(V v, std::size_t) -> V {
    return v;
  }
  template <class U> [[nodiscard]] TESSERA_INLINE static constexpr auto load(U const* p) {
    return static_cast<compute_of<U>>(*p);
  }
  template <class U, class V> TESSERA_INLINE static constexpr void store(U* p, V v) {
    *p = static_cast<U>(v);
  }
  template <class U> [[nodiscard]] TESSERA_INLINE static constexpr auto splat(U v) -> U {
    return v;
  }
};

/// The memory that an assignment writes.
struct written {
  void const* begin;
  void const* end;

  [[nodiscard]] static auto address(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }
  /// True where [p, q) shares a byte with it. Unrelated addresses have no order in a constant
  /// expression: there the answer is yes, and costs a temporary.
  [[nodiscard]] constexpr auto overlaps(void const* p, void const* q) const -> bool {
    if (std::is_constant_evaluated()) return true;
    return address(p) < address(end) && address(begin) < address(q);
  }
};

namespace node {

template <class E>
concept has_temporaries = not std::is_empty_v<typename E::temporaries>;

// -- leaves ---------------------------------------------------------------------------------------

/// A row of contiguous elements, or of elements at a distance.
template <class T, bool Wanted = true> struct contiguous_row {
  static constexpr bool wants_slope = Wanted;
  T* data;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t i) const {
    return lanes.load(data + i);
  }
};
template <class T> struct strided_row {
  T* data;
  std::ptrdiff_t stride;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t i) const {
    if constexpr (L::width == 1)
      return lanes.load(data + static_cast<std::ptrdiff_t>(i) * stride);
    else
      return lanes.gather(data + static_cast<std::ptrdiff_t>(i) * stride, stride);
  }
};

template <class T, bool W> [[nodiscard]] constexpr auto stride_of(contiguous_row<T, W> const&) {
  return std::ptrdiff_t{1};
}
template <class T> [[nodiscard]] constexpr auto stride_of(strided_row<T> const& row) {
  return row.stride;
}

/// A tensor or view, by its address.
template <class T, class S, class Backend> struct leaf : base {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = true;

  T* memory;
  [[no_unique_address]] actual_extents<S> actual;

  [[nodiscard]] constexpr auto extents() const { return actual; }
  [[nodiscard]] constexpr auto data() const -> T* { return memory; }
  [[nodiscard]] constexpr auto row(leading_index<S::rank> const& index) const {
    auto at = std::size_t{0};
    for (auto a = std::size_t{0}; a + 1 < S::rank; ++a) at = (at + index[a]) * actual[a + 1];
    return contiguous_row<T>{memory == nullptr ? nullptr : memory + at};
  }
  [[nodiscard]] constexpr auto flat_row() const { return contiguous_row<T>{memory}; }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class Result> [[nodiscard]] constexpr auto conflicts(written const& w) const -> bool {
    if constexpr (std::same_as<Result, S>) {
      if (static_cast<void const*>(memory) == w.begin) return false;  // element by element
    }
    return w.overlaps(memory, memory + actual.size());
  }
};

/// A strided view, by its address. UnitLast: the elements of a row lie one after another.
template <class T, class S, class Backend, bool UnitLast> struct strided_leaf : base {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  using temporaries = nothing;
  static constexpr bool flat = false;
  static constexpr bool rows_apart = true;

  T* memory;
  [[no_unique_address]] actual_extents<S> actual;
  std::array<std::ptrdiff_t, S::rank> strides;

  [[nodiscard]] constexpr auto extents() const { return actual; }
  [[nodiscard]] constexpr auto row(leading_index<S::rank> const& index) const {
    auto at = std::ptrdiff_t{0};
    for (auto a = std::size_t{0}; a + 1 < S::rank; ++a)
      at += static_cast<std::ptrdiff_t>(index[a]) * strides[a];
    auto* const start = memory == nullptr ? nullptr : memory + at;
    if constexpr (UnitLast)
      return contiguous_row<T>{start};
    else
      return strided_row<T>{start, S::rank == 0 ? 0 : strides[S::rank - 1]};
  }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class> [[nodiscard]] constexpr auto conflicts(written const& w) const -> bool {
    auto last = std::ptrdiff_t{0};
    for (auto a = std::size_t{0}; a < S::rank; ++a)
      last += static_cast<std::ptrdiff_t>(actual[a] - 1) * strides[a];
    return actual.size() > 0 && w.overlaps(memory, memory + last + 1);
  }
};

/// A temporary tensor, by its value: what `a + make()` keeps of make().
template <class X> struct owned_leaf : base {
  using scalar_type = typename X::scalar_type const;
  using shape_type = typename X::shape_type;
  using backend_type = typename X::backend_type;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = true;

  X value;

  [[nodiscard]] constexpr auto extents() const { return actual_extents<shape_type>{}; }
  [[nodiscard]] constexpr auto data() const { return value.data(); }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    auto const at = leaf<scalar_type, shape_type, backend_type>{{}, value.data(), {}}.row(index);
    return contiguous_row<scalar_type, false>{at.data};
  }
  [[nodiscard]] constexpr auto flat_row() const {
    return contiguous_row<scalar_type, false>{value.data()};
  }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class> [[nodiscard]] constexpr auto conflicts(written const&) const -> bool {
    return false;
  }
};

template <class T> struct constant_row {
  T number;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t) const {
    return lanes.splat(number);
  }
  [[nodiscard]] constexpr auto is_readable() const { return true; }
};

/// False for the row of a view without memory, of which nothing is read.
template <class Row> [[nodiscard]] constexpr auto readable(Row const& row) -> bool {
  if constexpr (requires { row.data; })
    return row.data != nullptr;
  else
    return row.is_readable();
}

/// An operand of one element a row: read once, repeated along the row.
template <class Row, class T> struct repeated_row {
  Row row;
  T number;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t) const {
    return lanes.splat(number);
  }
  [[nodiscard]] constexpr auto is_readable() const { return readable(row); }
};
template <class Row> [[nodiscard]] constexpr auto repeat_row(Row const& row) {
  using T = decltype(row.get(one{}, 0));
  return repeated_row<Row, T>{row, readable(row) ? row.get(one{}, 0) : T{}};
}
template <class T> [[nodiscard]] constexpr auto repeat_row(constant_row<T> const& row) {
  return row;
}

template <class T> struct constant : base {
  using scalar_type = T;
  using shape_type = shape<>;
  using backend_type = any_backend;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = true;

  T number;

  [[nodiscard]] constexpr auto extents() const { return actual_extents<shape<>>{}; }
  [[nodiscard]] constexpr auto row(leading_index<0> const&) const {
    return constant_row<T>{number};
  }
  [[nodiscard]] constexpr auto flat_row() const { return constant_row<T>{number}; }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class> [[nodiscard]] constexpr auto conflicts(written const&) const -> bool {
    return false;
  }
};

// -- elementwise operations -----------------------------------------------------------------------
namespace detail {

template <class A, class B>
using common_backend = std::conditional_t<std::same_as<A, any_backend>, B, A>;

template <class... A> struct backend_of_all;
template <class A> struct backend_of_all<A> {
  using type = backend_of<A>;
};
template <class A, class B, class... C> struct backend_of_all<A, B, C...> {
  using rest = typename backend_of_all<B, C...>::type;
  static_assert(std::same_as<backend_of<A>, rest> || std::same_as<backend_of<A>, any_backend> ||
                    std::same_as<rest, any_backend>,
                "expression: the operands are tensors of different backends");
  using type = common_backend<backend_of<A>, rest>;
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

// -- operations that are computed before the row pass ---------------------------------------------

template <class Own, class... Temporaries> struct temporaries_with {
  hana::basic_tuple<Temporaries...> of;
  Own own;
};

/// An operation that needs its operands as a whole: a reduction, a product, a softmax.
///
/// Op names result<Args...> (a tensor type) and compute(y, args...). Its result is memory that the
/// tree was bound to, so that every operation runs once, however often the result is read.
template <class Op, class... Args> struct result : base {
  using kind = typename Op::template result<Args...>;
  using scalar_type = scalar_of<kind>;
  using shape_type = shape_of<kind>;
  using backend_type = backend_of<kind>;
  using temporaries = temporaries_with<kind, typename Args::temporaries...>;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = (Args::rows_apart && ...) && Op::template rows_apart<Args...>;
  static constexpr auto each = std::index_sequence_for<Args...>{};

  hana::basic_tuple<Args...> args;
  scalar_type* memory = nullptr;

  template <std::size_t I> [[nodiscard]] constexpr auto arg() const -> auto const& {
    return hana::at_c<I>(args);
  }
  [[nodiscard]] constexpr auto extents() const -> actual_extents<shape_type> {
    return
        [&]<std::size_t... I>(std::index_sequence<I...>) { return Op::extents(arg<I>()...); }(each);
  }
  [[nodiscard]] constexpr auto data() const -> scalar_type const* { return memory; }
  [[nodiscard]] constexpr auto as_leaf() const {
    return leaf<scalar_type const, shape_type, backend_type>{{}, memory, extents()};
  }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    return as_leaf().row(index);
  }
  [[nodiscard]] constexpr auto flat_row() const {
    return contiguous_row<scalar_type const>{memory};
  }
  constexpr void bind_args([[maybe_unused]] auto& of) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (hana::at_c<I>(args).bind(hana::at_c<I>(of)), ...);
    }(each);
  }
  constexpr void bind(temporaries& t) {
    bind_args(t.of);
    memory = t.own.data();
  }
  constexpr void compute_args() const {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (arg<I>().compute(), ...); }(each);
  }
  constexpr void compute_to(auto y) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) { Op::compute(y, arg<I>()...); }(each);
  }
  constexpr void compute() const {
    compute_args();
    compute_to(view<scalar_type, shape_type, backend_type>{memory, extents()});
  }
  /// Its memory is its own.
  template <class> [[nodiscard]] constexpr auto conflicts(written const&) const -> bool {
    return false;
  }
  /// True where the operands must not be written before compute() is over.
  [[nodiscard]] constexpr auto operands_conflict(written const& w) const -> bool {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (arg<I>().template conflicts<nothing>(w) || ...);
    }(each);
  }
};

template <class E> inline constexpr bool is_result = false;
template <class Op, class... Args> inline constexpr bool is_result<result<Op, Args...>> = true;

template <class E> using argument_temporaries = decltype(E::temporaries::of);

/// What the tree needs; `direct`: its own result goes where the assignment writes.
template <class E> [[nodiscard]] constexpr auto bytes_of_temporaries(bool direct) -> std::size_t {
  if (direct) {
    if constexpr (is_result<E>)
      return std::is_empty_v<argument_temporaries<E>> ? 0 : sizeof(argument_temporaries<E>);
  }
  return std::is_empty_v<typename E::temporaries> ? 0 : sizeof(typename E::temporaries);
}

}  // namespace node

// -- operands as nodes ----------------------------------------------------------------------------
namespace detail {

template <class A> inline constexpr bool is_strided = false;
template <class T, class S, class B, bool U>
inline constexpr bool is_strided<strided_view<T, S, B, U>> = true;
template <class A> inline constexpr bool unit_last = false;
template <class T, class S, class B>
inline constexpr bool unit_last<strided_view<T, S, B, true>> = true;

/// An operand as a node. `With` is the scalar type that a plain number takes.
template <class With, class E> [[nodiscard]] constexpr auto as_node(E&& e) {
  using X = std::remove_cvref_t<E>;
  if constexpr (number<X>) {
    return node::constant<With>{{}, static_cast<With>(e)};
  } else if constexpr (expression<X>) {
    return X(std::forward<E>(e));
  } else if constexpr (is_strided<X>) {
    return node::strided_leaf<typename X::scalar_type, shape_of<X>, backend_of<X>, unit_last<X>>{
        {}, e.data(), e.actual, e.strides};
  } else if constexpr (owning<X>) {
    static_assert(fixed_shape<shape_of<X>>,
                  "expression: a tensor with bounded extents needs its actual ones: x.sized(n)");
    using T = std::remove_pointer_t<decltype(e.data())>;
    if constexpr (std::is_lvalue_reference_v<E>)
      return node::leaf<T, shape_of<X>, backend_of<X>>{{}, e.data(), {}};
    else
      return node::owned_leaf<X>{{}, e};
  } else {
    return node::leaf<typename X::scalar_type, shape_of<X>, backend_of<X>>{{}, e.data(), e.actual};
  }
}
template <class With, class E> using node_of = decltype(as_node<With>(std::declval<E>()));

template <class... E> struct common_scalar;
template <class E, class... More>
  requires array_operand<E>
struct common_scalar<E, More...> {
  using type = compute_of<scalar_of<E>>;
};
template <class E, class... More>
  requires number<E>
struct common_scalar<E, More...> : common_scalar<More...> {};

/// The scalar type that the plain numbers among E take: that of the first array.
template <class... E> using scalar_among = typename common_scalar<std::remove_cvref_t<E>...>::type;

}  // namespace detail

}  // namespace tessera
