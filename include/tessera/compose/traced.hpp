// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/contract.hpp>
#include <tessera/grad/forward_only.hpp>

namespace tessera {

namespace detail {

/// The expression that a forward-only layer returns for inputs of type X; a number where it returns
/// none, which has been refused.
template <class L, class X> [[nodiscard]] constexpr auto returned_expression() {
  using p = parameters_of<L, owned<scalar_of<X>, backend_of<X>>>;
  using returned = decltype(L::forward(std::declval<p const&>(), std::declval<const_view_of<X>>()));
  if constexpr (array_operand<returned>)
    return std::type_identity<node_of<scalar_of<X>, returned>>{};
  else
    return std::type_identity<node::constant<scalar_of<X>>>{};
}
template <class L, class X>
using expression_of = typename decltype(returned_expression<L, X>())::type;

}  // namespace detail

/// A whole layer, made of one that has `forward(p, x)` alone: an expression.
///
/// State    none
/// Cost     the tape keeps the results that are computed before the row pass (reductions, products)
/// Errors   an expression that is not of the output's shape: tests/fail/traced_wrong_shape.cpp;
/// what
///          grad/forward_only.hpp refuses
template <class L> struct traced {
  template <class X> using expression = detail::expression_of<L, X>;
  template <class X> using values = typename expression<X>::temporaries;

  template <class Storage> using parameters = parameters_of<L, Storage>;
  template <class X> struct tape {
    [[no_unique_address]] values<X> kept;
  };
  template <class X, mode M> struct scratch {
    [[no_unique_address]] values<X> kept;
  };
  template <class X> struct scratch<X, mode::training> {
    [[no_unique_address]] values<X> derivatives;
  };
  template <class S>
  using output_shape = typename grad::forward_only<L, tensor<float, S>>::shape_type;
  template <class S> [[nodiscard]] static constexpr auto mismatch() {
    return find_mismatch<L, S>();
  }

  static constexpr auto backward_reads = reads::input;
  static constexpr bool stateful = false;
  static constexpr bool row_wise = [] {
    if constexpr (requires { L::row_wise; })
      return L::row_wise;
    else
      return true;
  }();

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    if constexpr (m.purpose == mode::streaming && not requires { L::row_wise; }) {
      using S = shape_of<decltype(x)>;
      using sequence = reshaped<decltype(x), with_axis<S, 0, 2>>;
      static_assert(error::holds<expression<sequence>::rows_apart, error::in<L>>,
                    "streaming: this forward-only layer mixes the samples of a sequence");
    }
    auto e = tessera::detail::as_node<scalar_of<decltype(x)>>(L::forward(p, x));
    if constexpr (m.training)
      run(e, y, m.tape.kept);
    else
      run(e, y, m.scratch.kept);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    if (dx.has_memory()) tessera::assign(dx, 0);
    auto e = tessera::detail::as_node<T>(L::forward(p, x));
    auto place = tessera::detail::as_node<T>(L::forward(gradient, dx));
    e.bind(m.tape.kept);
    place.bind(m.scratch.derivatives);
    grad::pull_back(e, place, dy);
  }

 private:
  static constexpr void run(auto& e, auto y, auto& kept) {
    e.bind(kept);
    e.compute();
    tessera::detail::assign_pass(y, e);
  }
};

namespace detail {
template <class L> [[nodiscard]] constexpr auto whole_layer() {
  if constexpr (requires { L::backward_reads; })
    return std::type_identity<L>{};
  else
    return std::type_identity<traced<L>>{};
}
template <class Model, class S> [[nodiscard]] constexpr auto checked() {
  if constexpr (accepts<Model, S>)
    return whole_layer<Model>();
  else
    return std::type_identity<refused>{};
}
}  // namespace detail

/// L itself, or what tracing makes of it.
template <class L> using as_layer = typename decltype(detail::whole_layer<L>())::type;

/// The model as a layer for inputs of type X; after one message, a stand-in.
template <class Model, class X>
using checked = typename decltype(detail::checked<Model, shape_of<X>>())::type;

/// The start that torch gives a layer; one that says nothing has zeros.
template <class L> constexpr void initialize_layer(auto& p, auto& generator) {
  if constexpr (requires { L::initialize(p, generator); }) L::initialize(p, generator);
}

}  // namespace tessera
