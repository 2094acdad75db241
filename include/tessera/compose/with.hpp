// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

namespace tessera {

/// A body that is given, as Into, what Net makes of the input From: an encoder and its decoder, a
/// condition and its conditioned layers.
///
/// Shapes  x to the body; From of any shape that Net takes
/// State   that of both
/// Cost    Net runs once for a call; what it makes is kept in training, and has one buffer for the
///         slope that the layers of the body add to
/// Errors  a call that does not give From: tests/fail/with_no_condition.cpp
template <class From, class Net, class Into, class Body>
struct with : composition<with<From, Net, Into, Body>, Net, Body> {
  using net = as_layer<Net>;
  using body = as_layer<Body>;
  using needs = type_list<From>;
  template <class Call> using raw = given_type<Call, From>;
  template <class Call> using made = output_of<net, raw<Call>>;

  template <class S> using output_shape = tessera::output_shape<body, S>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return tessera::output_extents<body>(actual);
  }
  static constexpr auto backward_reads = about_of<body>.backward_reads;
  static constexpr bool adds_dx = about_of<body>.adds_dx;

  template <class X, class Call, std::size_t I> struct part {
    using input = X;
    using call = call_with<call_without<Call, From>, Into, made<Call>>;
  };
  template <class X, class Call> struct part<X, Call, 0> {
    using input = raw<Call>;
    using call = call_without<Call, From>;
  };
  template <class X, class Call, std::size_t I> using input = typename part<X, Call, I>::input;
  template <class X, class Call, std::size_t I> using call_inside = typename part<X, Call, I>::call;
  template <class X, class Call> using values = type_list<buffer_between<made<Call>, 0, 1, true>>;
  template <class X, class Call>
  using slopes_between =
      type_list<buffer_between<made<Call>, 0, 1>,
                buffer_between<either<about_of<net>.adds_dx, nothing, raw<Call>>, 0, 0>>;

  static constexpr void run(auto inside, auto x, auto y) {
    auto const from = inside.m.template value<From>();
    auto const c = inside.template value<0>(tessera::output_extents<net>(from.actual));
    inside.template forward<0>(from, c);
    inside.template forward<1>(
        x, y, for_body(as_const(c), without_memory<made_in<decltype(inside)>>(c.actual)));
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    auto const from = inside.m.template value<From>();
    auto const c = inside.template value<0>(tessera::output_extents<net>(from.actual));
    auto const dc = inside.template slope<0>(c.actual);
    assign(dc, scalar_of<decltype(dc)>{0});
    inside.template backward<1>(x, y, dy, dx, for_body(c, dc));
    inside.template backward_adding<0, 1>(from, c, dc, inside.m.template slope<From>());
  }

 private:
  template <class Inside> using made_in = made<typename Inside::Call>;
  [[nodiscard]] static constexpr auto for_body(auto c, auto slope) {
    using E = kind_of<decltype(c)>;
    return detail::entry<Into, E>{c, slope};
  }
};

/// A body whose layers all see what Net makes of the condition that the caller gives.
template <class Net, class Body>
using conditioned = with<tag::condition, Net, tag::condition, Body>;

}  // namespace tessera
