// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>
#include <tessera/tensor/slicing.hpp>

namespace tessera {

/// Layers beside each other: all take x, their outputs are joined along the last axis.
///
/// Shapes  x (..., In) to every branch; y (..., Out_0 + Out_1 + ...)
/// State   that of its branches, by index
/// Cost    one copy of each branch's output, and of its slope; dx is the sum over the branches
/// Errors  a branch that refuses x, or gives other leading extents:
///         tests/fail/parallel_branch.cpp
template <class... Branches> struct parallel : composition<parallel<Branches...>, Branches...> {
  static_assert(sizeof...(Branches) > 1, "parallel: at least two branches");
  static constexpr std::size_t branches = sizeof...(Branches);
  template <std::size_t I> using branch = as_layer<detail::nth<I, Branches...>>;

  /// The first column of branch I; of one behind the last, the width of y.
  template <class S, std::size_t I>
  static constexpr std::size_t start = [] {
    auto const widths = std::array{last_of<tessera::output_shape<as_layer<Branches>, S>>...};
    auto sum = std::size_t{0};
    for (auto k = std::size_t{0}; k < I; ++k) sum += widths[k];
    return sum;
  }();
  template <class S>
  using output_shape = with_last<tessera::output_shape<branch<0>, S>, start<S, branches>>;
  template <class S> [[nodiscard]] static constexpr auto output_extents(actual_extents<S> actual) {
    return tessera::output_extents<branch<0>>(actual).template as<output_shape<S>>();
  }
  template <class X, class Call, std::size_t I = 1> [[nodiscard]] static constexpr auto rule() {
    if constexpr (I == branches) {
      return detail::no_finding{};
    } else {
      using mine = tessera::output_shape<branch<I>, shape_of<X>>;
      using needed = with_last<tessera::output_shape<branch<0>, shape_of<X>>, last_of<mine>>;
      using found = decltype(same_shape<parallel, needed, mine, I>());
      if constexpr (std::same_as<found, detail::no_finding>)
        return rule<X, Call, I + 1>();
      else
        return found{};
    }
  }
  template <class X, class I = std::index_sequence_for<Branches...>> struct parts;
  template <class X, std::size_t... I> struct parts<X, std::index_sequence<I...>> {
    template <std::size_t K>
    static constexpr bool keeps = reads_output(about_of<branch<K>>.backward_reads);
    using values = type_list<buffer_between<output_of<branch<I>, X>, I, I, keeps<I>>...>;
    // The slope of each branch's output, then the parts of dx that cannot be added.
    using slopes = type_list<
        buffer_between<output_of<branch<I>, X>, I, I>...,
        buffer_between<either<(I == 0 || about_of<branch<I>>.adds_dx), nothing, X>, I, I>...>;
  };
  template <class X, class Call> using values = typename parts<X>::values;
  template <class X, class Call> using slopes_between = typename parts<X>::slopes;

  static constexpr void run(auto inside, auto x, auto y) {
    for_each_index<branches>([&]<std::size_t I>() {
      auto const out = inside.template value<I>(tessera::output_extents<branch<I>>(x.actual));
      inside.template forward<I>(x, out);
      assign(columns<I>(y, x), as_const(out));
    });
  }
  static constexpr void run_back(auto inside, auto x, auto, auto dy, auto dx) {
    for_each_index<branches>([&]<std::size_t I>() {
      auto const d = inside.template slope<I>(tessera::output_extents<branch<I>>(x.actual));
      assign(d, columns<I>(dy, x));
      auto const out = inside.template value<I>(d.actual);
      if constexpr (I == 0)
        inside.template backward<I>(x, out, d, dx);
      else
        inside.template backward_adding<I, branches + I>(x, out, d, dx);
    });
  }

 private:
  /// The columns of branch I.
  template <std::size_t I> [[nodiscard]] static constexpr auto columns(auto whole, auto x) {
    using S = shape_of<decltype(x)>;
    constexpr auto rank = shape_of<decltype(whole)>::rank;
    return [&]<std::size_t... A>(std::index_sequence<A...>) {
      return slice(whole, (void(A), whole_axis)..., range<start<S, I>, start<S, I + 1>>);
    }(std::make_index_sequence<rank - 1>{});
  }
};

}  // namespace tessera
