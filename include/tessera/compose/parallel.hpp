// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/plan.hpp>
#include <tessera/compose/traced.hpp>

#include <tuple>
#include <utility>

namespace tessera {

namespace detail {

/// kernel<copy_columns_fn, Backend>::run(rows, width, from, from_row, to, to_row): rows of `width`
/// numbers, at the distances from_row and to_row.
struct copy_columns_fn {};

/// Copies each row of `part` to columns first .. of `whole`.
constexpr void join_columns(auto part, auto whole, std::size_t first) {
  constexpr auto width = last_of<shape_of<decltype(part)>>;
  kernel<copy_columns_fn, backend_of<decltype(part)>>::run(part.size() / width, width, part.data(),
                                                           width, whole.data() + first,
                                                           last_of<shape_of<decltype(whole)>>);
}
/// Copies columns first .. of `whole` to the rows of `part`.
constexpr void split_columns(auto part, auto whole, std::size_t first) {
  constexpr auto width = last_of<shape_of<decltype(part)>>;
  kernel<copy_columns_fn, backend_of<decltype(part)>>::run(
      part.size() / width, width, whole.data() + first, last_of<shape_of<decltype(whole)>>,
      part.data(), width);
}

}  // namespace detail

template <> struct kernel<detail::copy_columns_fn, reference> {
  template <class T>
  static constexpr void run(std::size_t rows, std::size_t width, T const* from,
                            std::size_t from_row, T* to, std::size_t to_row) {
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto i = std::size_t{0}; i < width; ++i) to[r * to_row + i] = from[r * from_row + i];
  }
};
template <>
struct kernel<detail::copy_columns_fn, simd> : kernel<detail::copy_columns_fn, reference> {};

/// Layers beside each other: all take x, their outputs are joined along the last axis.
///
/// Shapes  x (..., In) to every branch; y (..., Out_0 + Out_1 + ...)
/// State   that of its branches, a hana::tuple
/// Cost    one copy of each branch's output, and of its slope; dx is the sum over the branches
/// Errors  a branch that refuses x, or gives other leading extents:
///         tests/fail/parallel_branch.cpp
template <class... Branches> struct parallel {
  static_assert(sizeof...(Branches) > 1, "parallel: at least two branches");
  static constexpr std::size_t count = sizeof...(Branches);
  template <std::size_t I>
  using branch = as_layer<std::tuple_element_t<I, std::tuple<Branches...>>>;
  static constexpr auto indices = std::make_index_sequence<count>{};

  template <std::size_t I, class S>
  static constexpr std::size_t width = last_of<tessera::output_shape<branch<I>, S>>;
  template <class S>
  static constexpr std::size_t total_width =
      (std::size_t{0} + ... + last_of<tessera::output_shape<as_layer<Branches>, S>>);
  template <class S>
  using output_shape = with_last<tessera::output_shape<branch<0>, S>, total_width<S>>;

  template <class S, std::size_t I = 0> [[nodiscard]] static constexpr auto mismatch() {
    if constexpr (I == count) {
      return std::type_identity<error::none>{};
    } else {
      using found = decltype(mismatch_inside<I, branch<I>, S>());
      if constexpr (not std::same_as<typename found::type, error::none>) {
        return found{};
      } else {
        using first = tessera::output_shape<branch<0>, S>;
        using mine = tessera::output_shape<branch<I>, S>;
        using needed = with_last<first, last_of<mine>>;
        if constexpr (std::same_as<mine, needed>)
          return mismatch<S, I + 1>();
        else
          return std::type_identity<error::mismatch<error::at_position<I>, error::in<parallel>,
                                                    error::expected<needed>, error::got<mine>>>{};
      }
    }
  }
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    using S = extents_shape<decltype(actual)>;
    return tessera::output_extents<branch<0>>(actual).template as<output_shape<S>>();
  }
  template <class X> static constexpr void for_each_child(auto&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f.template operator()<I, std::tuple_element_t<I, std::tuple<Branches...>>, X>(), ...);
    }(indices);
  }

  static constexpr bool stateful = (tessera::stateful<as_layer<Branches>> || ...);
  static constexpr bool row_wise = (tessera::row_wise<as_layer<Branches>> && ...);
  static constexpr bool streams = (tessera::streams<as_layer<Branches>> && ...);
  static constexpr bool any_reads_input = (reads_input(as_layer<Branches>::backward_reads) || ...);
  static constexpr auto backward_reads = reads_of(any_reads_input, false);
  template <std::size_t I> static constexpr bool keeps = reads_output(branch<I>::backward_reads);

  // -- memory
  template <class Storage>
  using parameters = hana::tuple<parameters_of<as_layer<Branches>, Storage>...>;
  template <class X, mode M> using state_in = hana::tuple<state_of<as_layer<Branches>, X, M>...>;
  template <class X, class I> struct tapes;
  template <class X, std::size_t... I> struct tapes<X, std::index_sequence<I...>> {
    hana::tuple<std::conditional_t<keeps<I>, output_of<branch<I>, X>, nothing>...> outputs;
    hana::tuple<tape_of<branch<I>, X>...> layers;
  };
  template <class X> using tape = tapes<X, std::make_index_sequence<count>>;

  /// One branch at a time: its output (or slope), the part of dx it adds, its own scratch.
  template <std::size_t I, class X, mode M> struct turn {
    output_of<branch<I>, X> y;
    [[no_unique_address]] detail::member_if<(M == mode::training && I > 0), X> dx;
    [[no_unique_address]] scratch_of<branch<I>, X, M> layer;
  };
  template <class X, mode M, class I> struct turns;
  template <class X, mode M, std::size_t... I> struct turns<X, M, std::index_sequence<I...>> {
    static constexpr auto largest = [] {
      auto most = std::size_t{0};
      ((most = sizeof(turn<I, X, M>) > most ? sizeof(turn<I, X, M>) : most), ...);
      return aligned(most);
    }();
    using separate = hana::tuple<turn<I, X, M>...>;
    using scratch = std::conditional_t<M == mode::by_value, separate, arena<largest>>;
  };
  template <class X, mode M>
  using scratch = typename turns<X, M, std::make_index_sequence<count>>::scratch;

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    each(
        [&]<std::size_t I>(std::integral_constant<std::size_t, I>, std::size_t first) {
          auto& mine = my_turn<I, kind_of<decltype(x)>>(m);
          auto const out = view_of<output_of<branch<I>, kind_of<decltype(x)>>>{
              output_memory<I>(mine, m), tessera::output_extents<branch<I>>(x.actual)};
          forward_or_step<branch<I>>(hana::at_c<I>(p), x, out, inside<I>(m, mine));
          detail::join_columns(out, y, first);
        },
        shape_of<decltype(x)>{});
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    each(
        [&]<std::size_t I>(std::integral_constant<std::size_t, I>, std::size_t first) {
          using Y = output_of<branch<I>, kind_of<decltype(x)>>;
          auto& mine = my_turn<I, kind_of<decltype(x)>>(m);
          auto const actual = tessera::output_extents<branch<I>>(x.actual);
          auto const slope = view_of<Y>{mine.y.data(), actual};
          detail::split_columns(slope, dy, first);
          auto const out = [&] {
            if constexpr (keeps<I>)
              return const_view_of<Y>{hana::at_c<I>(m.tape.outputs).data(), actual};
            else
              return const_view_of<Y>{nullptr, actual};
          }();
          auto const part = [&] {
            if constexpr (I == 0)
              return dx;
            else
              return dx.has_memory() ? mine.dx.sized_like(x) : dx;
          }();
          branch<I>::backward(hana::at_c<I>(p), x, out, as_const(slope), part,
                              hana::at_c<I>(gradient), inside<I>(m, mine));
          if constexpr (I > 0)
            if (dx.has_memory()) dx += part;
        },
        shape_of<decltype(x)>{});
  }
  static constexpr void initialize(auto& p, auto& generator) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (initialize_layer<branch<I>>(hana::at_c<I>(p), generator), ...);
    }(indices);
  }

 private:
  template <class A> struct shape_of_extents;
  template <class S> struct shape_of_extents<actual_extents<S>> {
    using type = S;
  };
  template <class A> using extents_shape = typename shape_of_extents<A>::type;

  /// Calls f(I, the first column of branch I) for every branch.
  template <class S> static constexpr void each(auto const& f, S) {
    auto first = std::size_t{0};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((f(std::integral_constant<std::size_t, I>{}, first), first += width<I, S>), ...);
    }(indices);
  }
  template <std::size_t I, class X, class M>
  [[nodiscard]] static constexpr auto my_turn(M m) -> auto& {
    if constexpr (M::purpose == mode::by_value)
      return hana::at_c<I>(m.scratch);
    else
      return m.scratch.template at<turn<I, X, M::purpose>>(0);
  }
  template <std::size_t I, class M>
  [[nodiscard]] static constexpr auto output_memory(auto& mine, M m) {
    if constexpr (M::training && keeps<I>)
      return hana::at_c<I>(m.tape.outputs).data();
    else
      return mine.y.data();
  }
  template <std::size_t I, class M> [[nodiscard]] static constexpr auto inside(M m, auto& mine) {
    auto& state = [&]() -> auto& {
      if constexpr (stateful)
        return hana::at_c<I>(m.state);
      else
        return m.state;
    }();
    auto& tape = [&]() -> auto& {
      if constexpr (M::training)
        return hana::at_c<I>(m.tape.layers);
      else
        return m.tape;
    }();
    return lend<M::purpose>(state, tape, mine.layer, m.context.inside(I));
  }
};

}  // namespace tessera
