// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/grad/forward_only.hpp>

namespace tessera {

namespace detail {

/// The expression that a forward-only layer returns for inputs of type X; a number where it returns
/// none, which has been refused.
template <class L, class X> [[nodiscard]] constexpr auto returned_expression() {
  using returned = decltype(L::forward(std::declval<parameters_of<L, storage_of<X>> const&>(),
                                       std::declval<const_view_of<X>>()));
  if constexpr (array_operand<returned>)
    return std::type_identity<node_of<scalar_of<X>, returned>>{};
  else
    return std::type_identity<nodes::constant<scalar_of<X>>>{};
}
template <class L, class X>
using expression_of = typename decltype(returned_expression<L, X>())::type;

/// The shape that a forward-only layer insists on.
template <class L, class S> struct shape_expected {
  using type = S;
};
template <class L, class S>
  requires requires { typename L::template expected_shape<S>; }
struct shape_expected<L, S> {
  using type = typename L::template expected_shape<S>;
};

}  // namespace detail

/// A whole layer, made of one that has `forward(p, x)` alone: an expression.
///
/// State    none
/// Cost     kept are the results that are computed before the row pass (reductions, products)
/// Errors   an expression that is not of the output's shape: tests/fail/traced_wrong_shape.cpp
template <class L> struct traced {
  template <class X> using expression = detail::expression_of<L, X>;
  template <class X> using values = typename expression<X>::temporaries;

  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .row_wise =
                                          [] {
                                            if constexpr (requires { L::row_wise; })
                                              return L::row_wise;
                                            else
                                              return true;
                                          }(),
                                      .kept = true,
                                      .slopes = true};
  template <class Storage> using parameters = parameters_of<L, Storage>;
  template <class X> struct kept {
    [[no_unique_address]] values<X> of_rows;
  };
  template <class X> struct slopes {
    [[no_unique_address]] values<X> derivatives;
  };
  template <class S> using expected_shape = S;
  template <class S>
  using output_shape = typename tracing::forward_only<L, tensor<float, S>>::shape_type;
  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    using S = shape_of<X>;
    using needed = typename detail::shape_expected<L, S>::type;
    using asked = tracing::forward_only<L, tensor<float, S>>;
    if constexpr (not std::same_as<needed, S>)
      return same_shape<L, needed, S>();
    else if constexpr (not asked::is_expression)
      return detail::breach_of<L, complaint::forward_only<complaint::returns_an_expression>>{};
    else if constexpr (asked::loses == tracing::lost::outside_tensor)
      return detail::breach_of<L, complaint::forward_only<complaint::takes_a_constant_by_value>>{};
    else if constexpr (asked::loses == tracing::lost::own_tensor)
      return detail::breach_of<L,
                               complaint::forward_only<complaint::computes_no_tensor_of_its_own>>{};
    else if constexpr (asked::loses == tracing::lost::number)
      return detail::breach_of<
          L, complaint::forward_only<complaint::reads_an_element_by_slice_x_i_j>>{};
    else
      return detail::no_finding{};
  }

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    if constexpr (m.purpose == call_mode::streaming && not requires { L::row_wise; }) {
      using of = tracing::by_samples<L, decltype(x)>;
      static_assert(complaint::holds<of::are_apart, complaint::in<L>>,
                    "streaming: this forward-only layer mixes the samples of a sequence");
      static_assert(complaint::holds<of::have_same_axes, complaint::in<L>>,
                    "streaming: this forward-only layer counts axes from the front, which a "
                    "sample has one less of than a sequence; axis<-1> is the last one of both");
    }
    auto e = tessera::detail::as_node<scalar_of<decltype(x)>>(L::forward(p, x));
    e.bind(m.kept.of_rows);
    e.compute();
    tessera::detail::check_extents(y, e);
    tessera::detail::assign_pass(y, e);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    if (dx.has_memory()) tessera::assign(dx.view, T{0});
    auto e = tessera::detail::as_node<T>(L::forward(p, x));
    auto place = tessera::detail::as_node<T>(L::forward(gradient, dx.view));
    e.bind(m.kept.of_rows);
    place.bind(m.work.derivatives);
    tracing::pull_back(e, place, dy);
  }
};

namespace detail {
enum class layer_kind { none, forward_only, whole };
/// One that has a backward pass and says no facts is refused by name.
template <class L>
inline constexpr auto kind_of_layer =
    requires { L::about; } || requires(int a) { L::backward(a, a, a, a, a, a, a); }
        ? layer_kind::whole
    : requires { typename L::template parameters<owned<float>>; } ? layer_kind::forward_only
                                                                  : layer_kind::none;
template <layer_kind> struct made_layer {
  template <class L> using type = L;
};
template <> struct made_layer<layer_kind::forward_only> {
  template <class L> using type = traced<L>;
};
template <> struct made_layer<layer_kind::none> {
  template <class L> using type = no_layer<L>;
};
}  // namespace detail

/// L itself, or what tracing makes of it.
template <class L>
using as_layer = typename detail::made_layer<detail::kind_of_layer<L>>::template type<L>;

/// What is wrong with a model that is called so; complaint::none if nothing is.
template <class Model, class X, class Call> using model_verdict = verdict<as_layer<Model>, X, Call>;

/// The model as a layer for inputs of type X; after one message, a stand-in.
template <class Model, class X, class Call>
using checked_layer = either<layer_for<as_layer<Model>, X, Call>, as_layer<Model>, refused>;

namespace detail {
template <class Model, class X, class Call> struct checked_if {
  using type = checked_layer<Model, X, Call>;
};
}  // namespace detail

}  // namespace tessera
