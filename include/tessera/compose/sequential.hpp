// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>
#include <tessera/compose/named.hpp>

namespace tessera {

namespace detail {

/// True of a layer that applies the activation behind it where it writes (`forward_with` and
/// `backward_with`), on a backend whose kernel can. What is derived from such a layer, or from an
/// activation, may compute something else.
template <class Layer, class Behind, class Backend>
concept takes_along = std::same_as<typename Layer::template takes_activation<Backend>, Layer> &&
                      std::same_as<typename Behind::applied, Behind>;

}  // namespace detail

/// Layers applied left to right.
///
/// Shapes  the output of each layer is the input of the next; boundary 0 is the input, boundary
///         `count` the output
/// State   that of its layers, by index
/// Cost    between two layers only what a backward reads is kept; the other activations, the
///         slopes and the layers' scratch share one arena, placed by their lifetimes. An activation
///         behind a layer that takes it along (`group_norm`) has no pass and no memory of its own
/// Errors  the first layer that refuses its input is named with its path:
///         tests/fail/sequential_third_layer.cpp
template <class... Layers> struct sequential : composition<sequential<Layers...>, Layers...> {
  static_assert(sizeof...(Layers) > 0, "sequential: at least one layer");
  static constexpr auto last = sizeof...(Layers) - 1;
  template <std::size_t I> using layer = as_layer<detail::nth<I, Layers...>>;

  // -- shapes
  template <class S, std::size_t K> struct boundary {
    using type = tessera::output_shape<layer<K - 1>, typename boundary<S, K - 1>::type>;
  };
  template <class S> struct boundary<S, 0> {
    using type = S;
  };
  template <class S, std::size_t K> using shape_at = typename boundary<S, K>::type;
  template <class S> using output_shape = shape_at<S, last + 1>;
  template <class X, class Call, std::size_t K>
  using input = either<K == 0, X, tensor<model_scalar<X>, shape_at<shape_of<X>, K>, backend_of<X>>>;
  /// The actual extents of boundary K.
  template <std::size_t K = last + 1>
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    if constexpr (K == 0)
      return actual;
    else
      return tessera::output_extents<layer<K - 1>>(output_extents<K - 1>(actual));
  }

  // -- what is kept, and whose memory it is in
  /// True where layer k is an activation that the layer before it applies on this backend.
  template <class Backend> [[nodiscard]] static constexpr auto taken_along(std::size_t k) -> bool {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return ((I + 1 == k &&
               detail::takes_along<typename detail::without_name<layer<I>>::type,
                                   typename detail::without_name<layer<I + 1>>::type, Backend>) ||
              ...);
    }(std::make_index_sequence<last>{});
  }
  static constexpr auto read =
      std::array<reads, last + 1>{about_of<as_layer<Layers>>.backward_reads...};
  static constexpr auto same_place =
      std::array<bool, last + 1>{about_of<as_layer<Layers>>.in_place...};
  static constexpr auto backward_reads = reads_of(reads_input(read[0]), reads_output(read[last]));
  static constexpr bool adds_dx = about_of<layer<0>>.adds_dx;

  /// True where boundary k is kept: one of its two neighbours reads it in the backward pass.
  template <class Backend> [[nodiscard]] static constexpr auto kept_at(std::size_t k) -> bool {
    constexpr auto taken = [](std::size_t i) { return taken_along<Backend>(i); };
    return k > 0 && k <= last &&
           ((reads_input(read[k]) && not taken(k)) ||
            (reads_output(read[k - 1]) && not taken(k - 1)));
  }
  /// The boundary whose memory boundary k uses, of values and of slopes.
  template <class Backend>
  [[nodiscard]] static constexpr auto home(std::size_t k, bool training) -> std::size_t {
    while (k > 0 && k <= last && (same_place[k] || taken_along<Backend>(k)) &&
           not(training && kept_at<Backend>(k)))
      ++k;
    return k;
  }
  template <class Backend>
  [[nodiscard]] static constexpr auto slope_home(std::size_t k) -> std::size_t {
    while (k > 1 && k <= last && (same_place[k - 1] || taken_along<Backend>(k - 1))) --k;
    return k;
  }
  /// The first boundary in the memory of h; the last whose slope is in it.
  template <class Backend>
  [[nodiscard]] static constexpr auto first_at(std::size_t h, bool training) -> std::size_t {
    auto k = h;
    while (k > 1 && home<Backend>(k - 1, training) == h) --k;
    return k;
  }
  template <class Backend>
  [[nodiscard]] static constexpr auto last_at(std::size_t h) -> std::size_t {
    auto k = h;
    while (k < last && slope_home<Backend>(k + 1) == h) ++k;
    return k;
  }
  // Boundaries 1 .. last are 0 .. last - 1 among the values.
  template <class X, bool T, class I = std::make_index_sequence<last>> struct boundaries;
  template <class X, bool T, std::size_t... I> struct boundaries<X, T, std::index_sequence<I...>> {
    using B = backend_of<X>;
    template <bool Here, std::size_t K>
    using type_if = either<Here, input<X, training_call, K>, nothing>;
    using values =
        type_list<buffer_between<type_if<home<B>(I + 1, T) == I + 1, I + 1>,
                                 first_at<B>(I + 1, T) - 1, I + 1, kept_at<B>(I + 1)>...>;
    // Between a layer and what it takes along there is no slope.
    using slopes = type_list<
        buffer_between<type_if<slope_home<B>(I + 1) == I + 1 &&
                                   (last_at<B>(I + 1) > I + 1 || not taken_along<B>(I + 1)),
                               I + 1>,
                       I, last_at<B>(I + 1)>...>;
  };
  template <class X, class Call> using values = typename boundaries<X, Call::training>::values;
  template <class X, class Call> using slopes_between = typename boundaries<X, true>::slopes;

  // -- calls
  static constexpr void run(auto inside, auto x, auto y) {
    for_each_index<last + 1>([&]<std::size_t I>() {
      using B = backend_of<decltype(x)>;
      if constexpr (taken_along<B>(I + 1))
        inside.template forward_with<I, layer<I + 1>>(as_const(value<I>(inside, x, y)),
                                                      value<I + 2>(inside, x, y));
      else if constexpr (not taken_along<B>(I))
        inside.template forward<I>(as_const(value<I>(inside, x, y)), value<I + 1>(inside, x, y));
    });
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    for_each_index<last + 1>([&]<std::size_t From>() {
      using B = backend_of<decltype(x)>;
      constexpr auto I = last - From;
      if constexpr (taken_along<B>(I + 1))
        inside.template backward_with<I, layer<I + 1>>(as_const(value<I>(inside, x, y)),
                                                       slope<I + 2>(inside, x, dy),
                                                       target<I>(inside, x, dy, dx));
      else if constexpr (not taken_along<B>(I))
        inside.template backward<I>(as_const(value<I>(inside, x, y)),
                                    as_const(value<I + 1>(inside, x, y)),
                                    slope<I + 1>(inside, x, dy), target<I>(inside, x, dy, dx));
    });
  }
  using composition<sequential<Layers...>, Layers...>::forward;
  /// y = model::forward(p, x), by value: for small models, in constant expressions too.
  template <class X> [[nodiscard]] static constexpr auto forward(auto const& p, X const& x) {
    return forward_by_value<sequential>(p, x);
  }

 private:
  /// The memory of another boundary, in the shape of boundary K.
  template <std::size_t K, class T, class X>
  [[nodiscard]] static constexpr auto seen_as(T* memory, X const& x) {
    using S = shape_at<shape_of<X>, K>;
    if constexpr (fixed_shape<S>)
      return view<T, S, backend_of<X>>{memory};
    else
      return view<T, S, backend_of<X>>{memory, output_extents<K>(x.actual)};
  }
  template <std::size_t K> [[nodiscard]] static constexpr auto value(auto inside, auto x, auto y) {
    constexpr auto h = home<backend_of<decltype(x)>>(K, decltype(inside)::Call::training);
    if constexpr (K == 0)
      return x;
    else if constexpr (K == last + 1)
      return y;
    else if constexpr (h == last + 1)
      return seen_as<K>(y.data(), x);
    else
      return seen_as<K>(inside.template numbers<h - 1>(), x);
  }
  /// The slope of boundary K, as it is read and as it is left.
  template <std::size_t K> [[nodiscard]] static constexpr auto slope(auto inside, auto x, auto dy) {
    if constexpr (K == last + 1)
      return dy;
    else
      return seen_as<K>(inside.template slope_memory<slope_home<backend_of<decltype(x)>>(K) - 1>(),
                        x);
  }
  template <std::size_t K>
  [[nodiscard]] static constexpr auto target(auto inside, auto x, auto dy, auto dx) {
    if constexpr (K == 0)
      return dx;
    else
      return writes(slope<K>(inside, x, dy));
  }
};

}  // namespace tessera
