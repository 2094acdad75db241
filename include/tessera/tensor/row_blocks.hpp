// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/elementwise.hpp>
#include <tessera/tensor/slicing.hpp>

/// Expressions whose reductions go along the last axis, cut into blocks of rows: each block is
/// reduced and assigned while it is in the nearest cache, and the temporaries are those of a block.
///
/// What has one number a row, as the logarithm of a sum, is computed for a block by vectors.
namespace tessera::nodes {

namespace detail {

/// True for the shapes that differ in their last axis only.
template <class R, class S>
inline constexpr bool same_leading = R::rank == S::rank && [] {
  if constexpr (R::rank != S::rank || R::rank == 0) {
    return false;
  } else {
    for (auto a = std::size_t{0}; a + 1 < R::rank; ++a)
      if (R::extents[a] != S::extents[a]) return false;
    return not is_bounded(R::extents[R::rank - 1]);
  }
}();

/// Whether rows of E follow those of S, and the longest row that it reads.
template <class E, class S> struct rows_of_node {
  static constexpr bool follow = false;
  static constexpr std::size_t longest = 0;
};
template <class T, class S> struct rows_of_node<constant<T>, S> {
  static constexpr bool follow = true;
  static constexpr std::size_t longest = 1;
};
template <class T, class R, class B, class S> struct rows_of_node<leaf<T, R, B>, S> {
  static constexpr bool follow = same_leading<R, S> || (R::rank < 2 && R::bounded == 0);
  static constexpr std::size_t longest = [] {
    if constexpr (R::rank == 0)
      return std::size_t{1};
    else
      return last_of<R>;
  }();
};
template <class F, class... Args, class S> struct rows_of_node<map<F, Args...>, S> {
  using shape_type = shape_of<map<F, Args...>>;
  static constexpr bool follow = (rows_of_node<Args, S>::follow && ...) &&
                                 (same_leading<shape_type, S> || shape_type::rank < 2);
  static constexpr std::size_t longest = [] {
    auto n = std::size_t{1};
    for (auto const each : {rows_of_node<Args, S>::longest...}) n = each > n ? each : n;
    return n;
  }();
};
template <class Op, class Arg, class S>
  requires requires { typename Op::template of_rows<shape_of<Arg>>; }
struct rows_of_node<result<Op, Arg>, S> {
  static constexpr bool follow = not std::is_void_v<typename Op::template of_rows<shape_of<Arg>>> &&
                                 same_leading<shape_of<Arg>, S> && rows_of_node<Arg, S>::follow;
  static constexpr std::size_t longest = rows_of_node<Arg, S>::longest;
};

template <class E> inline constexpr bool is_softmax = false;
template <class E, class Sum>
inline constexpr bool is_softmax<map<op::share, E, result<Sum, E>>> = true;
/// What a softmax is taken of: exp(x - max(x)) is its first operand.
[[nodiscard]] constexpr auto softmax_operand(auto const& e) -> auto const& {
  return e.template arg<0>().template arg<0>().template arg<0>();
}

}  // namespace detail

/// Some rows of what has shape S, with leading axes taken as one.
template <class S, std::size_t Most> struct row_block {
  std::size_t first;
  std::size_t count;

  template <class R>
  using shape_type = shape<at_most(static_cast<extent>(Most)), static_cast<extent>(last_of<R>)>;

  /// The rows of a node, as a node.
  template <class T> [[nodiscard]] constexpr auto of(constant<T> const& e) const { return e; }
  template <class T, class R, class B>
  [[nodiscard]] constexpr auto of(leaf<T, R, B> const& e) const {
    if constexpr (R::rank < 2)
      return e;
    else
      return leaf<T, shape_type<R>, B>{
          {}, {{count}}, e.memory == nullptr ? nullptr : e.memory + first * last_of<R>};
  }
  template <class F, class... Args>
  [[nodiscard]] constexpr auto of(map<F, Args...> const& e) const {
    constexpr auto wide = not detail::one_wide<typename map<F, Args...>::shape_type>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return tessera::detail::make_map<F>(operand<wide>(e.template arg<I>())...);
    }(std::index_sequence_for<Args...>{});
  }
  template <class Op, class Arg> [[nodiscard]] constexpr auto of(result<Op, Arg> const& e) const {
    auto const arg = operand<not detail::one_wide<shape_of<Arg>>>(e.template arg<0>());
    using block = std::remove_const_t<decltype(arg)>;
    return result<typename Op::template of_rows<shape_of<Arg>>, block>{{}, {arg}};
  }

  /// True where writing a block would change what is read for a later one.
  template <class E>
  [[nodiscard]] static constexpr auto conflicts(E const& e, written_memory const& w) -> bool {
    return e.template conflicts<S>(w);
  }
  template <class F, class... Args>
  [[nodiscard]] static constexpr auto conflicts(map<F, Args...> const& e, written_memory const& w)
      -> bool {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (conflicts(e.template arg<I>(), w) || ...);
    }(std::index_sequence_for<Args...>{});
  }
  template <class Op, class Arg>
  [[nodiscard]] static constexpr auto conflicts(result<Op, Arg> const& e, written_memory const& w)
      -> bool {
    return conflicts(e.template arg<0>(), w);
  }

 private:
  /// A number a row that is computed is so before the rows that read it.
  template <bool Wide, class E> [[nodiscard]] constexpr auto operand(E const& e) const {
    auto const rows = of(e);
    using block = std::remove_const_t<decltype(rows)>;
    if constexpr (Wide && detail::one_wide<shape_of<E>> && has_temporaries<E> &&
                  not is_result<block>)
      return result<value_of, block>{{}, {rows}};
    else
      return rows;
  }
};

}  // namespace tessera::nodes

namespace tessera::detail {

/// kernel_for<softmax_fn, Backend>::run(y, x): the softmax of rows, which may be written where x
/// is.
struct softmax_fn {};

/// A block has about half of the nearest cache, so that what is written fits as well.
inline constexpr std::size_t block_bytes = 16 * 1024;
inline constexpr std::size_t most_block_rows = 64;

template <class T, class S> [[nodiscard]] consteval auto rows_of_block(std::size_t longest) {
  auto const rows = S::capacity / last_of<S>;
  auto most = block_bytes / sizeof(T) / longest;
  most = most < 1 ? 1 : most > most_block_rows ? most_block_rows : most;
  return rows < most ? rows : most;
}

/// The blocks of E that go to Y: of fewer rows where the stack has no place for the temporaries.
template <class Y, class E,
          std::size_t Most = rows_of_block<compute_of<scalar_of<E>>, shape_of<Y>>(
              nodes::detail::rows_of_node<E, shape_of<Y>>::longest)>
struct blocks_of_rows {
  using type = nodes::row_block<shape_of<Y>, Most>;
  using block_type = decltype(type{}.of(std::declval<E const&>()));
  static constexpr auto bytes = sizeof(typename block_type::temporaries);
  static constexpr auto most = [] {
    if constexpr (bytes <= stack_limit || Most == 1)
      return Most;
    else
      return blocks_of_rows<Y, E, Most / 2>::most;
  }();
};

/// True for an assignment to Y that goes block by block.
template <class Y, class E>
inline constexpr bool by_row_blocks = [] {
  using S = shape_of<Y>;
  if constexpr (not contiguous<Y> || S::rank < 2 || not std::same_as<shape_of<E>, S> ||
                std::is_empty_v<typename E::temporaries> || on_device<backend_of<Y>>)
    return false;
  else
    return not nodes::is_result<E> && not is_bounded(S::extents[S::rank - 1]) &&
           nodes::detail::rows_of_node<E, S>::follow;
}();

/// True where the exponentials of a softmax fit where its result goes.
template <class Y, class E>
inline constexpr bool softmax_in_place =
    nodes::detail::is_softmax<E> && std::same_as<typename Y::scalar_type, scalar_of<E>>;

template <class Y, class E> constexpr void assign_row_blocks(Y y, E const& e, auto const& assign) {
  using S = shape_of<Y>;
  using T = typename Y::scalar_type;
  constexpr auto most = blocks_of_rows<Y, E>::most;
  using found = blocks_of_rows<Y, E, most>;
  using blocks = typename found::type;
  using block_type = typename found::block_type;
  static_assert(complaint::holds<found::bytes <= stack_limit,
                                 std::integral_constant<std::size_t, found::bytes>>,
                "assign: the temporaries of this expression are too large for the stack; "
                "assign its products and reductions to tensors of their own");
  auto memory = typename block_type::temporaries{};
  auto const rows = y.size() / last_of<S>;
  for (auto first = std::size_t{0}; first < rows; first += most) {
    auto const count = rows - first < most ? rows - first : most;
    auto block = blocks{first, count}.of(e);
    block.bind(memory);
    block.compute();
    assign(
        view<T, typename blocks::template shape_type<S>, backend_of<Y>>{
            y.memory + first * last_of<S>, {count}},
        block);
  }
}

}  // namespace tessera::detail
