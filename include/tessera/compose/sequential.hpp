// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/plan.hpp>
#include <tessera/compose/traced.hpp>

#include <tuple>
#include <utility>

namespace tessera {

template <class Model, class X>
[[nodiscard]] constexpr auto forward_by_value(auto const& p, X const& x);  // compose/by_value.hpp

/// Layers applied left to right.
///
/// Shapes  the output of each layer is the input of the next; boundary 0 is the input, boundary
///         `count` the output
/// State   that of its layers, a hana::tuple
/// Cost    between two layers only what a backward reads is kept; the other activations, the
///         gradients and the layers' scratch share one arena, placed by their lifetimes
/// Errors  the first layer that refuses its input is named with its path:
///         tests/fail/sequential_third_layer.cpp
template <class... Layers> struct sequential {
  static_assert(sizeof...(Layers) > 0, "sequential: at least one layer");
  static constexpr std::size_t count = sizeof...(Layers);
  static constexpr auto last = count - 1;
  template <std::size_t I> using layer = as_layer<std::tuple_element_t<I, std::tuple<Layers...>>>;

  // -- shapes
  template <class X, std::size_t K> struct boundary {
    using type = output_of<layer<K - 1>, typename boundary<X, K - 1>::type>;
  };
  template <class X> struct boundary<X, 0> {
    using type = X;
  };
  template <class X, std::size_t K> using at = typename boundary<X, K>::type;
  template <class S> using output_shape = shape_of<at<tensor<float, S>, count>>;

  template <class S, std::size_t I = 0> [[nodiscard]] static constexpr auto mismatch() {
    if constexpr (I == count) {
      return std::type_identity<error::none>{};
    } else {
      using found = decltype(mismatch_inside<I, layer<I>, S>());
      if constexpr (std::same_as<typename found::type, error::none>)
        return mismatch<tessera::output_shape<layer<I>, S>, I + 1>();
      else
        return found{};
    }
  }
  /// The actual extents of boundary K.
  template <std::size_t K = count> [[nodiscard]] static constexpr auto output_extents(auto actual) {
    if constexpr (K == 0)
      return actual;
    else
      return tessera::output_extents<layer<K - 1>>(output_extents<K - 1>(actual));
  }
  template <class X> static constexpr void for_each_child(auto&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f.template operator()<I, std::tuple_element_t<I, std::tuple<Layers...>>, at<X, I>>(), ...);
    }(indices);
  }

  // -- facts of the composition
  static constexpr auto indices = std::make_index_sequence<count>{};
  static constexpr auto read = std::array<reads, count>{as_layer<Layers>::backward_reads...};
  static constexpr auto same_place =
      std::array<bool, count>{tessera::in_place<as_layer<Layers>>...};
  static constexpr auto backward_reads = reads_of(reads_input(read[0]), reads_output(read[last]));
  static constexpr bool stateful = (tessera::stateful<as_layer<Layers>> || ...);
  static constexpr bool row_wise = (tessera::row_wise<as_layer<Layers>> && ...);
  static constexpr bool streams = (tessera::streams<as_layer<Layers>> && ...);

  /// True where the tape keeps boundary k: one of its two neighbours reads it in the backward pass.
  [[nodiscard]] static constexpr auto kept(std::size_t k) -> bool {
    return k > 0 && k < count && (reads_input(read[k]) || reads_output(read[k - 1]));
  }
  /// The boundary whose memory boundary k uses, of values and of gradients.
  [[nodiscard]] static constexpr auto home(std::size_t k, mode m) -> std::size_t {
    while (k > 0 && k < count && same_place[k] && not(m == mode::training && kept(k))) ++k;
    return k;
  }
  [[nodiscard]] static constexpr auto gradient_home(std::size_t k) -> std::size_t {
    while (k > 1 && k < count && same_place[k - 1]) --k;
    return k;
  }

  // -- memory
  template <class Storage>
  using parameters = hana::tuple<parameters_of<as_layer<Layers>, Storage>...>;

  template <class X, mode M, class I> struct roles;
  template <class X, mode M, std::size_t... I> struct roles<X, M, std::index_sequence<I...>> {
    using state = hana::tuple<state_of<layer<I>, at<X, I>, M>...>;
    struct tape {
      hana::tuple<std::conditional_t<kept(I), at<X, I>, nothing>...> boundaries;
      hana::tuple<tape_of<layer<I>, at<X, I>>...> layers;
    };
    struct separate {
      hana::tuple<at<X, I>...> boundaries;
      hana::tuple<scratch_of<layer<I>, at<X, I>, M>...> layers;
    };
    static constexpr auto size = std::array<std::size_t, count>{sizeof(at<X, I>)...};
    /// Pieces 0 .. count - 1 are boundaries, those after them the scratch of the layers.
    static constexpr auto forward_plan = [] {
      auto pieces = std::array<piece, 2 * count>{
          {(void(I), piece{})..., piece{bytes_of<scratch_of<layer<I>, at<X, I>, M>>, I, I}...}};
      for (auto k = std::size_t{1}; k < count; ++k) {
        auto const h = home(k, M);
        if (h == count || (M == mode::training && kept(h))) continue;
        if (pieces[h].bytes == 0) pieces[h] = {size[h], k - 1, h};
      }
      return place(pieces);
    }();
    static constexpr auto backward_plan = [] {
      auto pieces = std::array<piece, 2 * count>{
          {(void(I), piece{})...,
           piece{bytes_of<scratch_of<layer<I>, at<X, I>, M>>, last - I, last - I}...}};
      for (auto k = last; k > 0; --k) {
        auto& p = pieces[gradient_home(k)];
        if (p.bytes == 0) p = {size[gradient_home(k)], last - k, count - k};
        p.last = count - k;
      }
      return place(pieces);
    }();
    static constexpr auto bytes = M == mode::training && backward_plan.bytes > forward_plan.bytes
                                      ? backward_plan.bytes
                                      : forward_plan.bytes;
    using scratch = std::conditional_t<M == mode::by_value, separate, arena<bytes>>;
  };
  template <class X, mode M> using roles_of = roles<X, M, std::make_index_sequence<count>>;
  template <class X> using tape = typename roles_of<X, mode::training>::tape;
  template <class X, mode M> using scratch = typename roles_of<X, M>::scratch;
  template <class X, mode M> using state_in = typename roles_of<X, M>::state;

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    walk<kind_of<decltype(x)>, 0>(p, x, y, m);
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    walk_back<kind_of<decltype(x)>, last>(p, x, y, dy, dx, gradient, m);
  }
  static constexpr void initialize(auto& p, auto& generator) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (tessera::initialize_layer<layer<I>>(hana::at_c<I>(p), generator), ...);
    }(indices);
  }
  /// y = model::forward(p, x), by value: for small models, in constant expressions too.
  template <class X> [[nodiscard]] static constexpr auto forward(auto const& p, X const& x) {
    return forward_by_value<sequential>(p, x);
  }

 private:
  template <std::size_t I, class X, class M>
  [[nodiscard]] static constexpr auto lend_inner(M m, auto const& plan) {
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
    auto& scratch = [&]() -> auto& {
      using own = scratch_of<layer<I>, X, M::purpose>;
      if constexpr (M::purpose == mode::by_value)
        return hana::at_c<I>(m.scratch.layers);
      else if constexpr (bytes_of<own> == 0)
        return empty_object<own>;
      else
        return m.scratch.template at<own>(plan.offset[count + I]);
    }();
    return lend<M::purpose>(state, tape, scratch, m.context.inside(I));
  }
  /// Boundary K of the forward pass; x is boundary K - 1.
  template <class X0, std::size_t K, class Y, class M>
  [[nodiscard]] static constexpr auto value_at(auto x, Y y, M m) -> view_of<at<X0, K>> {
    using B = at<X0, K>;
    constexpr auto h = home(K, M::purpose);
    auto const actual = tessera::output_extents<layer<K - 1>>(x.actual);
    if constexpr (K == count)
      return y;
    else if constexpr (M::purpose == mode::by_value)
      return {hana::at_c<K>(m.scratch.boundaries).data(), actual};
    else if constexpr (h == count)
      return {y.data(), actual};
    else if constexpr (M::training && kept(h))
      return {hana::at_c<h>(m.tape.boundaries).data(), actual};
    else
      return {m.scratch.template at<B>(roles_of<X0, M::purpose>::forward_plan.offset[h]).data(),
              actual};
  }
  template <class X0, std::size_t I, class P, class X, class Y, class M>
  static constexpr void walk(P const& p, X x, Y y, M m) {
    constexpr auto& plan = roles_of<X0, M::purpose>::forward_plan;
    auto const out = value_at<X0, I + 1>(x, y, m);
    forward_or_step<layer<I>>(hana::at_c<I>(p), x, out, lend_inner<I, at<X0, I>>(m, plan));
    if constexpr (I < last) walk<X0, I + 1>(p, as_const(out), y, m);
  }
  /// What backward may read of boundary K; a view without memory where nobody reads it.
  template <class X0, std::size_t K>
  [[nodiscard]] static constexpr auto kept_at(auto x, auto y, auto m) {
    using B = at<X0, K>;
    auto const actual = output_extents<K>(x.actual);
    if constexpr (K == 0)
      return x;
    else if constexpr (K == count)
      return y;
    else if constexpr (kept(K))
      return const_view_of<B>{hana::at_c<K>(m.tape.boundaries).data(), actual};
    else
      return const_view_of<B>{nullptr, actual};
  }
  template <class X0, std::size_t I, class M>
  static constexpr void walk_back(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                  M m) {
    constexpr auto& plan = roles_of<X0, M::purpose>::backward_plan;
    auto const d_in = [&] {
      using B = at<X0, I>;
      if constexpr (I == 0)
        return dx;
      else
        return view_of<B>{m.scratch.template at<B>(plan.offset[gradient_home(I)]).data(),
                          output_extents<I>(x.actual)};
    }();
    layer<I>::backward(hana::at_c<I>(p), kept_at<X0, I>(x, y, m), kept_at<X0, I + 1>(x, y, m), dy,
                       d_in, hana::at_c<I>(gradient), lend_inner<I, at<X0, I>>(m, plan));
    if constexpr (I > 0) walk_back<X0, I - 1>(p, x, y, as_const(d_in), dx, gradient, m);
  }
};

}  // namespace tessera
