// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

namespace tessera {

/// The same kind of layer N times, each with parameters of its own: one instantiation and a loop.
///
/// Shapes  the layer must keep the shape of x
/// State   that of each layer, an array
/// Cost    compile time of one layer; two buffers of the shape of x, whatever N is
/// Errors  a layer that changes the shape: tests/fail/repeat_changes_shape.cpp
template <class Layer, std::size_t N> struct repeat : composition<repeat<Layer, N>, Layer> {
  static_assert(N > 0, "repeat: at least once");
  using inner = as_layer<Layer>;
  static constexpr auto times = N;
  static constexpr bool reads_own_first = true;  // there are none
  static constexpr auto backward_reads = about_of<inner>.backward_reads;
  static constexpr bool keeps = backward_reads != reads::neither;
  static constexpr bool adds_dx = N == 1 && about_of<inner>.adds_dx;
  template <class S> using output_shape = S;
  template <class X, class Call> [[nodiscard]] static constexpr auto rule() {
    return same_shape<repeat, shape_of<X>, tessera::output_shape<inner, shape_of<X>>>();
  }
  template <class X, class Call> static constexpr void for_each_child(auto&& f) {
    for_each_index<N>(
        [&]<std::size_t I>() { f.template operator()<I, Layer, X, Call>(path_name("", I)); });
  }

  // -- one of each layer
  template <class Part> struct named_row : equal_members<Part, N> {
    using parts = hana::basic_tuple<Part>;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      for (auto i = std::size_t{0}; i < N; ++i) f(path_name("", i), p.each[i]...);
    }
  };
  template <class Storage> struct parameters : named_row<parameters_of<inner, Storage>> {};
  template <class Storage> using of_statistics = statistics_of<inner, Storage>;
  template <class Storage>
  using statistics =
      either<is_empty<of_statistics<Storage>>, nothing, named_row<of_statistics<Storage>>>;
  template <class Storage> using observed = equal_members_if<observed_of<inner, Storage>, N>;
  template <class X, class Call> using state = equal_members_if<state_of<inner, X, Call>, N>;
  template <class X, class Call>
  using kept = either<Call::training,
                      equal_members_if<typename detail::layout<repeat, X, Call>::kept, N>, nothing>;
  // The output of each layer where it is kept, else those of even and odd ones.
  template <class X, class Call>
  using values = type_list<buffer_between<X, 0, 0, keeps>,
                           buffer_between<either<keeps && Call::training, nothing, X>, 0, 0>>;
  template <class X, class Call>
  using slopes_between = type_list<buffer_between<X, 0, 0>, buffer_between<X, 0, 0>>;

  static constexpr void run(auto inside, auto x, auto y) {
    auto from = as_const(x);
    for (auto i = std::size_t{0}; i < N; ++i) {
      auto const here = inside.in_row(i);
      auto const to = i + 1 < N ? here.template value_in_turn<0>(x.actual) : y;
      here.template forward<0>(from, to);
      from = as_const(to);
    }
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    auto d_out = as_const(dy);
    for (auto i = N; i-- > 0;) {
      auto const here = inside.in_row(i);
      auto in = as_const(x);
      auto out = as_const(y);
      if constexpr (reads_input(backward_reads))
        if (i > 0) in = inside.in_row(i - 1).template value<0>(x.actual);
      if constexpr (reads_output(backward_reads))
        if (i + 1 < N) out = here.template value<0>(x.actual);
      auto const d_in =
          i % 2 == 0 ? here.template slope<0>(x.actual) : here.template slope<1>(x.actual);
      if (i == 0)
        here.template backward<0>(in, out, d_out, dx);
      else
        here.template backward<0>(in, out, d_out, writes(d_in));
      d_out = as_const(d_in);
    }
  }
};

}  // namespace tessera
