// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/condition.hpp>
#include <tessera/compose/pair.hpp>
#include <tessera/compose/traced.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// A body whose layers all see a condition: what Net makes of the one that the caller gave.
///
/// Shapes  x (batch, ...) to the body; the caller's condition (batch, Width) to Net, in the context
/// State   that of both
/// Cost    Net runs once for a call; the tape keeps its output
/// Errors  a call whose context has no condition of that shape: tests/fail/with_no_condition.cpp
template <std::size_t Width, class Net, class Body> struct with {
  using net = as_layer<Net>;
  using body = as_layer<Body>;
  template <class S> using raw_shape = shape<S::extents[0], static_cast<extent>(Width)>;
  template <class X> using raw = reshaped<X, raw_shape<shape_of<X>>>;
  template <class X> using condition = output_of<net, raw<X>>;

  static constexpr bool stateful = tessera::stateful<net> || tessera::stateful<body>;
  static constexpr auto backward_reads = body::backward_reads;
  template <class S> using output_shape = tessera::output_shape<body, S>;
  template <class S> [[nodiscard]] static constexpr auto mismatch() {
    using in_net = decltype(mismatch_inside<0, net, raw_shape<S>>());
    if constexpr (std::same_as<typename in_net::type, error::none>)
      return mismatch_inside<1, body, S>();
    else
      return in_net{};
  }
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return tessera::output_extents<body>(actual);
  }
  template <class X> static constexpr void for_each_child(auto&& f) {
    f.template operator()<0, Net, raw<X>>();
    f.template operator()<1, Body, X>();
  }

  // -- memory
  template <class Storage>
  using parameters =
      detail::pair_of_parameters<parameters_of<net, Storage>, parameters_of<body, Storage>>;
  template <class X, mode M>
  using state_in = detail::pair_of<state_of<net, raw<X>, M>, state_of<body, X, M>>;
  template <class X> struct tape {
    condition<X> c;
    [[no_unique_address]] tape_of<net, raw<X>> first;
    [[no_unique_address]] tape_of<body, X> second;
  };
  template <class X, mode M> struct scratch {
    static constexpr bool trains = M == mode::training;
    condition<X> c;  ///< in training, its slope
    [[no_unique_address]] detail::member_if<trains, raw<X>> slope;
    [[no_unique_address]] scratch_of<net, raw<X>, M> first;
    [[no_unique_address]] scratch_of<body, X, M> second;
  };

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    if constexpr (is_given<decltype(x), decltype(m)>()) {
      auto const given_condition = as_const(m.context.condition);
      auto& kept = [&]() -> auto& {
        if constexpr (decltype(m)::training)
          return m.tape.c;
        else
          return m.scratch.c;
      }();
      auto const c = kept.sized_like(given_condition);
      net::forward(p.first, given_condition, c, detail::lend_first(m));
      auto const unwanted = without_memory<kind_of<decltype(c)>>(c.actual);
      body::forward(p.second, x, y, lend_body(m, as_const(c), unwanted));
    }
  }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    if constexpr (is_given<decltype(x), decltype(m)>()) {
      auto const given_condition = as_const(m.context.condition);
      auto const c = as_const(m.tape.c.sized_like(given_condition));
      auto const dc = m.scratch.c.sized_like(given_condition);
      assign(dc, scalar_of<decltype(dc)>{0});
      body::backward(p.second, x, y, dy, dx, gradient.second, lend_body(m, c, dc));
      auto const outer = m.context.slope;
      auto const d = outer.has_memory() ? m.scratch.slope.sized_like(given_condition) : outer;
      net::backward(p.first, given_condition, c, as_const(dc), d, gradient.first,
                    detail::lend_first(m));
      if (outer.has_memory()) outer += d;
    }
  }
  static constexpr void initialize(auto& p, auto& generator) {
    initialize_layer<net>(p.first, generator);
    initialize_layer<body>(p.second, generator);
  }

 private:
  template <class X, class M> [[nodiscard]] static consteval auto is_given() -> bool {
    using context = typename M::context_type;
    static_assert(error::holds<has_condition<context>, error::in<with>>,
                  "with: the call gives no condition; pass given(condition) as its context");
    if constexpr (has_condition<context>) {
      using got = shape_of<condition_of<context>>;
      using needed = raw_shape<shape_of<X>>;
      static_assert(error::shapes_match<error::in<with>, error::expected<needed>, error::got<got>>,
                    "with: the condition has another shape");
      return std::same_as<got, needed>;
    } else {
      return false;
    }
  }
  [[nodiscard]] static constexpr auto lend_body(auto m, auto c, auto slope) {
    return detail::lend_second(m, given(c, slope, m.context.inside(1).without_condition()));
  }
};

}  // namespace tessera
