// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/embedding.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// Tokens through an embedding, a body, and a projection by the embedding's own matrix: one tensor,
/// kept once, with one gradient.
///
/// Shapes  x (...), numbers 0 .. Vocabulary - 1, of whole numbers or in the scalar type of the
///         model -> y (..., Vocabulary); the body takes and gives vectors of Width; parameters:
///         weight (Vocabulary, Width) and those of the body
/// State   that of the body
/// Cost    a copy and rows·Width·Vocabulary multiply-adds beside the body, twice that backward; the
///         body's output is kept
/// Errors  a body whose output has another width: tests/fail/tied_wrong_body.cpp; an x that names
///         no token breaks the contract
/// Source  torch.nn.Embedding, and torch.nn.functional.linear by its weight; reference values:
///         tests/reference/tied.py
template <std::size_t Vocabulary, std::size_t Width, class Body>
struct tied : composition<tied<Vocabulary, Width, Body>, Body> {
  using body = as_layer<Body>;
  template <class Storage> struct own {
    tied_in<Storage, shape<Vocabulary, Width>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using embedded = with_axis<S, S::rank, static_cast<extent>(Width)>;
  template <class S>
  using output_shape = with_last<tessera::output_shape<body, embedded<S>>, Vocabulary>;
  template <class S>
  [[nodiscard]] static constexpr auto output_extents(actual_extents<S> const& actual) {
    return tessera::output_extents<body>(embedded_extents(actual)).template as<output_shape<S>>();
  }

  template <class X, class Call, std::size_t>
  using input = tensor<model_scalar<X>, embedded<shape_of<X>>, backend_of<X>>;
  template <class X, class Call> using made = output_of<body, input<X, Call, 0>>;
  template <class X, class Call>
  using packed = detail::packed_in<Call, detail::affine_map_fn::packed<made<X, Call>, Vocabulary>>;
  static constexpr bool keeps_input = reads_input(about_of<body>.backward_reads);
  template <class X, class Call>
  using values =
      type_list<buffer_between<input<X, Call, 0>, 0, 0, keeps_input>,
                buffer_between<made<X, Call>, 0, 0, true>, buffer_between<packed<X, Call>, 0, 0>>;
  template <class X, class Call>
  using slopes_between =
      type_list<buffer_between<input<X, Call, 0>, 0, 0>, buffer_between<made<X, Call>, 0, 0>>;
  static constexpr auto backward_reads = reads::input;
  static constexpr bool reads_own_first = true;

  template <class X, class Call> [[nodiscard]] static constexpr auto rule() {
    using S = shape_of<made<X, Call>>;
    return same_shape<tied, with_last<S, Width>, S, 0>();
  }

  static constexpr void run(auto inside, auto x, auto y) {
    using B = backend_of<decltype(x)>;
    auto const& weight = inside.p.mine.weight;
    auto const e = inside.template value<0>(embedded_extents(x.actual));
    auto const h = inside.template value<1>(tessera::output_extents<body>(e.actual));
    auto& packed_weight = inside.template memory<2>();
    kernel_for<detail::embedding_fn, B>::forward(x.size(), x.data(), Vocabulary, Width,
                                                 weights_of<scalar_of<decltype(e)>>(weight),
                                                 e.data());
    inside.template forward<0>(as_const(e), h);
    affine_map.template prepare<B>(weight, packed_weight);
    affine_map(as_const(h), weight, no_bias<decltype(y)>, y, packed_weight);
  }
  static constexpr void run_back(auto inside, auto x, auto, auto dy, auto dx) {
    auto const& weight = inside.p.mine.weight;
    auto* const slope = inside.gradient.mine.weight.data();
    auto const e = inside.template value<0>(embedded_extents(x.actual));
    auto const h = inside.template value<1>(tessera::output_extents<body>(e.actual));
    auto const de = inside.template slope<0>(e.actual);
    auto const dh = inside.template slope<1>(h.actual);
    affine_map_input(weight, dy, dh);
    affine_map_parameters(h, dy, slope, slope_of_no_bias<decltype(h)>);
    inside.template backward<0>(e, h, dh, writes(de));
    if (slope != nullptr)
      kernel_for<detail::embedding_fn, backend_of<decltype(x)>>::parameters(
          x.size(), x.data(), Vocabulary, Width, as_const(de).data(), slope);
    dx.put(scalar_of<decltype(x)>{0});
  }
  /// The embedding's start, as torch has it, and then that of the body.
  static constexpr void initialize_own(auto& p, auto& generator) { generator.normal(p.weight); }

 private:
  template <class Y> static constexpr scalar_of<Y> const* no_bias = nullptr;
  template <class Y> static constexpr scalar_of<Y>* slope_of_no_bias = nullptr;
  template <class S>
  [[nodiscard]] static constexpr auto embedded_extents(actual_extents<S> const& actual) {
    return actual.template as<embedded<S>>();
  }
};

}  // namespace tessera
