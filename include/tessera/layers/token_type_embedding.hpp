// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/ops/embedding.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// y = x + a learnt vector for the type of each token: given<tag::token_types>, or type 0 of all.
///
/// Shapes  x (..., Width) -> the same; types (...), whole numbers 0 .. Count - 1; parameters:
/// weight
///         (Count, Width)
/// Cost    a copy and an addition forward, an addition backward
/// Errors  another last extent: tests/fail/token_type_embedding_wrong_input.cpp; types of another
///         shape: tests/fail/token_type_embedding_wrong_types.cpp; a type that is none breaks the
///         contract
/// Source  Devlin et al., BERT, 2018; reference values: tests/reference/bert.py
template <std::size_t Count, std::size_t Width> struct token_type_embedding {
  template <class Storage> struct parameters {
    table_in<Storage, shape<Count, Width>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class Call> static constexpr bool is_told = gives<Call, tag::token_types>;
  template <class X, class Call> struct scratch {
    [[no_unique_address]] detail::member_if<not is_told<Call>, reshaped<X, shape<1>>, 0> type;
    std::conditional_t<is_told<Call>, X, reshaped<X, shape<Width>>> rows;
  };
  template <class S> using expected_shape = with_last<S, Width>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.row_wise = true,
                                      .in_place = true,
                                      .adds_dx = true,
                                      .reads_parameters_first = true,
                                      .scratch = true};

  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    if constexpr (is_told<Call>) {
      using wanted = without_last<shape_of<X>>;
      using got = shape_of<given_type<Call, tag::token_types>>;
      if constexpr (not std::same_as<wanted, got>)
        return same_shape<token_type_embedding, wanted, got>();
      else
        return detail::find_breach<token_type_embedding, X, Call>();
    } else {
      return detail::find_breach<token_type_embedding, X, Call>();
    }
  }

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(y)>;
    using B = backend_of<decltype(y)>;
    using rows_of_types = kernel_for<detail::embedding_fn, B>;
    if constexpr (is_told<typename decltype(m)::call_type>) {
      auto const types = m.template value<tag::token_types>();
      auto const rows = m.work.rows.sized_like(x);
      require(types.size() * Width == x.size(), "token_type_embedding: each token has a type");
      rows_of_types::forward(types.size(), types.data(), Count, Width, weights_of<T>(p.weight),
                             rows.data());
      assign(y, x + rows);
    } else {
      auto const type = view<T, shape<1>, B>{m.work.type.data()};
      auto const row = view<T, shape<Width>, B>{m.work.rows.data()};
      assign(type, T{0});
      rows_of_types::forward(std::size_t{1}, as_const(type).data(), Count, Width,
                             weights_of<T>(p.weight), row.data());
      assign(y, x + row);
    }
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using B = backend_of<decltype(dy)>;
    using T = scalar_of<decltype(dy)>;
    if constexpr (is_told<typename decltype(m)::call_type>) {
      auto const types = m.template value<tag::token_types>();
      if (gradient.weight.data() != nullptr)
        kernel_for<detail::embedding_fn, B>::parameters(types.size(), types.data(), Count, Width,
                                                        dy.data(), gradient.weight.data());
    } else {
      auto first = view<T, shape<Width>, B>{gradient.weight.data()};
      detail::add_rows(first, dy);
    }
    dx.put(dy);
  }
  static constexpr void initialize(auto& p, auto& generator) { generator.normal(p.weight); }
};

}  // namespace tessera
