// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/leaf.hpp>

/// Operations that are computed before the row pass.
namespace tessera::nodes {

template <class Own, class... Temporaries> struct temporaries_with {
  items<Temporaries...> of;
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

  items<Args...> args;
  scalar_type* memory = nullptr;

  template <std::size_t I> [[nodiscard]] constexpr auto arg() const -> auto const& {
    return item<I>(args);
  }
  [[nodiscard]] constexpr auto extents() const -> actual_extents<shape_type> {
    return
        [&]<std::size_t... I>(std::index_sequence<I...>) { return Op::extents(arg<I>()...); }(each);
  }
  [[nodiscard]] constexpr auto data() const -> scalar_type const* { return memory; }
  [[nodiscard]] constexpr auto as_leaf() const {
    auto x = leaf<scalar_type const, shape_type, backend_type>{{}, {}, memory};
    if constexpr (shape_type::bounded > 0) x.actual = extents();
    return x;
  }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    return as_leaf().row(index);
  }
  [[nodiscard]] constexpr auto flat_row() const {
    return contiguous_row<scalar_type const>{memory};
  }
  [[nodiscard]] constexpr auto as_view() const {
    return view<scalar_type, shape_type, backend_type>{memory, extents()};
  }
  constexpr void bind_args([[maybe_unused]] auto& of) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (item<I>(args).bind(item<I>(of)), ...);
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
    compute_to(as_view());
  }
  /// Its memory is its own.
  template <class> [[nodiscard]] constexpr auto conflicts(written_memory const&) const -> bool {
    return false;
  }
  /// True where the operands must not be written before compute() is over.
  [[nodiscard]] constexpr auto operands_conflict(written_memory const& w) const -> bool {
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
      return is_empty<argument_temporaries<E>> ? 0 : sizeof(argument_temporaries<E>);
  }
  return is_empty<typename E::temporaries> ? 0 : sizeof(typename E::temporaries);
}

}  // namespace tessera::nodes
