// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/condition.hpp>
#include <tessera/compose/contract.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/reduction.hpp>

namespace tessera {

/// y = x + (W·c + b), where c is the condition of the image: a bias for each of its channels.
///
/// Shapes  x (batch, ..., Channels) -> the same; condition (batch, Width), lent by `with`;
///         parameters: weight (Channels, Width), bias (Channels)
/// Cost    one pass over x; in place
/// Errors  without a condition of that shape it does not compile:
///         tests/fail/with_no_condition.cpp
/// Source  time_emb_proj of diffusers' ResnetBlock2D; reference values: tests/reference/unet.py
template <std::size_t Width, std::size_t Channels> struct condition_bias {
  template <class Storage> struct parameters {
    matrix_in<Storage, shape<Channels, Width>> weight;
    tensor_in<Storage, shape<Channels>> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class X> using condition = reshaped<X, shape<shape_of<X>::extents[0], Width>>;
  template <class X> using shifts = reshaped<X, shape<shape_of<X>::extents[0], Channels>>;
  template <class X, mode M> struct scratch {
    shifts<X> shift;  ///< in training, its slope, too
    [[no_unique_address]] detail::member_if<M == mode::training, condition<X>> slope;
    [[no_unique_address]] detail::packed_in<
        M, detail::affine_map_fn::packed<condition<X>, Channels>> packed;
  };
  template <class S> using expected_shape = with_last<with_rank_at_least<S, 2>, Channels>;
  static constexpr auto backward_reads = reads::neither;
  static constexpr bool reads_parameters_first = true;
  static constexpr bool in_place = true;

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    if constexpr (is_given<decltype(x), decltype(m)>()) {
      auto const c = as_const(m.context.condition);
      auto const shift = m.scratch.shift.sized_like(c);
      affine_map.template prepare<backend_of<decltype(x)>>(p.weight, m.scratch.packed);
      affine_map(c, p.weight, p.bias.data(), shift, m.scratch.packed);
      assign(by_image(y), by_image(x) + for_all_pixels(shift));
    }
  }
  static constexpr void backward(auto const& p, auto, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    if constexpr (is_given<decltype(dx), decltype(m)>()) {
      auto const c = as_const(m.context.condition);
      auto const shift = m.scratch.shift.sized_like(c);
      assign(shift, sum(by_image(dy), axis<1>));
      if (m.context.slope.has_memory()) {
        auto const slope = m.scratch.slope.sized_like(c);
        affine_map_input(p.weight, as_const(shift), slope);
        m.context.slope += slope;
      }
      affine_map_parameters(c, as_const(shift), gradient.weight.data(), gradient.bias.data());
      if (dx.has_memory() && dx.data() != dy.data()) assign(dx, dy);
    }
  }
  static constexpr void initialize(auto& p, auto& generator) {
    generator.uniform(p.weight, generator.kaiming_bound(Width));
    generator.uniform(p.bias, generator.reciprocal_root(Width));
  }

 private:
  template <class X, class M> [[nodiscard]] static consteval auto is_given() -> bool {
    using context = typename M::context_type;
    static_assert(error::holds<has_condition<context>, error::in<condition_bias>>,
                  "condition_bias: the layer has no condition; it belongs inside of a `with`");
    if constexpr (has_condition<context>) {
      using got = shape_of<condition_of<context>>;
      using needed = shape_of<condition<X>>;
      static_assert(
          error::shapes_match<error::in<condition_bias>, error::expected<needed>, error::got<got>>,
          "condition_bias: the condition has another shape");
      return std::same_as<got, needed>;
    } else {
      return false;
    }
  }
  /// (batch, pixels, Channels)
  [[nodiscard]] static constexpr auto by_image(auto x) {
    using S = shape_of<decltype(x)>;
    constexpr auto pixels = S::capacity / bound_of(S::extents[0]) / Channels;
    using R = shape<S::extents[0], static_cast<extent>(pixels), Channels>;
    using V = view<typename decltype(x)::scalar_type, R, backend_of<decltype(x)>>;
    return V{x.data(), x.actual.template as<R>()};
  }
  /// (batch, 1, Channels)
  [[nodiscard]] static constexpr auto for_all_pixels(auto x) {
    using R = with_axis<shape_of<decltype(x)>, 1, 1>;
    using V = view<typename decltype(x)::scalar_type, R, backend_of<decltype(x)>>;
    return V{x.data(), x.actual.template as<R>()};
  }
};

}  // namespace tessera
