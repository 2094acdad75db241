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
template <class Layer, std::size_t N> struct repeat : any_shape {
  static_assert(N > 0, "repeat: at least once");
  using inner = as_layer<Layer>;
  static constexpr bool keeps = about_of<inner>.backward_reads != reads::neither;
  static constexpr auto about = [] {
    auto f = about_of<inner>;
    f.in_place = false;
    f.adds_dx = N == 1 && f.adds_dx;
    f.kept = f.scratch = f.slopes = true;
    return f;
  }();

  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    using found = decltype(mismatch_inside<0, inner, X, Call>());
    if constexpr (not std::same_as<found, detail::no_finding>)
      return found{};
    else
      return same_shape<repeat, shape_of<X>, tessera::output_shape<inner, shape_of<X>>>();
  }
  template <class X, class Call> static constexpr void for_each_child(auto&& f) {
    for_each_index<N>(
        [&]<std::size_t I>() { f.template operator()<I, Layer, X, Call>(path_name("", I)); });
  }

  // -- roles
  template <class Part> struct row {
    using parts = hana::basic_tuple<Part>;
    Part each[N];
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      for (auto i = std::size_t{0}; i < N; ++i) f(path_name("", i), p.each[i]...);
    }
  };
  /// A row of parts, or nothing of nothing.
  template <class Part> using row_if = either<is_empty<Part>, nothing, row<Part>>;
  template <class Storage> struct parameters : row<parameters_of<inner, Storage>> {};
  template <class Storage> using statistics = row_if<statistics_of<inner, Storage>>;
  template <class Storage> using observed = row_if<observed_of<inner, Storage>>;
  template <class X, class Call> using state = row_if<state_of<inner, X, Call>>;
  template <class X, class Call> struct one_kept {
    [[no_unique_address]] detail::member_if<keeps, X> output;
    [[no_unique_address]] kept_of<inner, X, Call> layer;
  };
  template <class X, class Call> struct all_kept {
    one_kept<X, Call> each[N];
  };
  template <class X, class Call> using kept = either<Call::training, all_kept<X, Call>, nothing>;
  template <class X, class Call> struct scratch {
    X even;
    X odd;
    [[no_unique_address]] scratch_of<inner, X, Call> layer;
    [[no_unique_address]] either<Call::training, detail::no_member<0>, kept_of<inner, X, Call>>
        kept;
  };
  template <class X, class Call> struct slopes {
    X even;
    X odd;
    [[no_unique_address]] slopes_of<inner, X, Call> layer;
  };

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    auto from = as_const(x);
    for (auto i = std::size_t{0}; i < N; ++i) {
      auto const to = i + 1 == N ? y : after(i, x, m);
      forward_or_step<inner>(p.each[i], from, to, inside(m, kept_of_layer(m, i), i));
      from = as_const(to);
    }
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using constant = const_view_of<kind_of<decltype(x)>>;
    auto d_out = as_const(dy);
    for (auto i = N; i-- > 0;) {
      auto in = constant{nullptr, x.actual};
      auto out = constant{nullptr, x.actual};
      if constexpr (keeps) {
        in = i == 0 ? as_const(x) : as_const(m.kept.each[i - 1].output.sized_like(x));
        out = i + 1 == N ? as_const(y) : as_const(m.kept.each[i].output.sized_like(x));
      }
      auto const d_in = (i % 2 == 0 ? m.work.even : m.work.odd).sized_like(x);
      auto const back = [&](auto target) {
        inner::backward(p.each[i], in, out, d_out, target, gradient.each[i],
                        inside(m, m.kept.each[i].layer, i));
      };
      if (i == 0)
        back(dx);
      else
        back(writes(d_in));
      d_out = as_const(d_in);
    }
  }
  static constexpr void initialize(auto& p, auto& s, auto& generator) {
    for (auto i = std::size_t{0}; i < N; ++i)
      if constexpr (requires { s.each[i]; })
        initialize_layer<inner>(p.each[i], s.each[i], generator);
      else
        initialize_layer<inner>(p.each[i], generator);
  }
  static constexpr void initialize(auto& p, auto& generator) {
    initialize_layer<repeat>(p, generator);
  }
  static constexpr void fold(auto& to, auto const& from) {
    for (auto i = std::size_t{0}; i < N; ++i) fold_observed<inner>(to.each[i], from.each[i]);
  }
  static constexpr void absorb(auto& s, auto const& o) {
    for (auto i = std::size_t{0}; i < N; ++i) absorb_observed<inner>(s.each[i], o.each[i]);
  }

 private:
  /// What layer i gives to the next one.
  [[nodiscard]] static constexpr auto after(std::size_t i, auto x, auto m) {
    if constexpr (m.training && keeps)
      return m.kept.each[i].output.sized_like(x);
    else
      return (i % 2 == 0 ? m.work.even : m.work.odd).sized_like(x);
  }
  [[nodiscard]] static constexpr auto kept_of_layer(auto m, [[maybe_unused]] std::size_t i)
      -> auto& {
    if constexpr (m.training)
      return m.kept.each[i].layer;
    else
      return m.work.kept;
  }
  /// Part i of a row as a U; an empty U is some object without memory.
  template <class U> [[nodiscard]] static constexpr auto one_of(auto& whole, std::size_t i) -> U& {
    if constexpr (is_empty<U>)
      return empty_object<std::remove_const_t<U>>;
    else
      return whole.each[i];
  }
  [[nodiscard]] static constexpr auto inside(auto m, auto& kept, std::size_t i) {
    using M = decltype(m);
    using X = typename M::input_type;
    using Call = typename M::call_type;
    auto const context = m.context.inside(i);
    using storage = storage_of<X>;
    return loan<inner, X, Call, std::remove_reference_t<decltype((m.work.layer))>,
                std::remove_const_t<decltype(context)>>{
        one_of<state_of<inner, X, Call>>(m.state, i),
        kept,
        m.work.layer,
        one_of<statistics_of<inner, storage> const>(m.statistics, i),
        one_of<observed_by<inner, X, Call>>(m.observed, i),
        context};
  }
};

}  // namespace tessera
