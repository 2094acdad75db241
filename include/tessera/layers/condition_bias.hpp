// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/reduction.hpp>

namespace tessera {

/// Which axes of x a condition belongs to: its first ones, as one for each image of a batch, or its
/// last ones by NumPy's rule, as one for each lane of a sequence, or (time, 1, Width) for each
/// step.
enum class condition_axes { leading, trailing };

/// y = x + (W·c + b), where c is the condition: a bias for each channel.
///
/// Shapes  x (batch, ..., Channels) -> the same; condition (batch, Width), or with
///         condition_axes::trailing (..., Width), whose other extents repeat to those of x;
///         parameters: weight (Channels, Width), bias (Channels)
/// Cost    one pass over x; in place
/// Errors  without a condition of that shape it does not compile:
///         tests/fail/with_no_condition.cpp
/// Source  time_emb_proj of diffusers' ResnetBlock2D; reference values: tests/reference/unet.py
template <std::size_t Width, std::size_t Channels, condition_axes Axes = condition_axes::leading>
struct condition_bias {
  static constexpr bool leads = Axes == condition_axes::leading;
  using needs = type_list<tag::condition>;

  template <class Storage> struct parameters {
    matrix_in<Storage, shape<Channels, Width>> weight;
    tensor_in<Storage, shape<Channels>> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class Call> using condition_in = given_type<Call, tag::condition>;
  template <class Call> using shifts_in = resized<condition_in<Call>, Channels>;
  template <class X, class Call> struct scratch {
    shifts_in<Call> shift;
    [[no_unique_address]] detail::packed_in<
        Call, detail::affine_map_fn::packed<condition_in<Call>, Channels>> packed;
  };
  template <class X, class Call> struct slopes {
    shifts_in<Call> shift;
    condition_in<Call> condition;
  };
  template <class S>
  using expected_shape = with_last<with_rank_at_least<S, leads ? 2 : 1>, Channels>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.row_wise = not leads,
                                      .in_place = true,
                                      .reads_parameters_first = true,
                                      .scratch = true,
                                      .slopes = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    if constexpr (fits<decltype(x), decltype(m)>()) {
      auto const c = m.template value<tag::condition>();
      auto const shift = m.work.shift.sized_like(c);
      affine_map.template prepare<backend_of<decltype(x)>>(p.weight, m.work.packed);
      affine_map(c, p.weight, p.bias.data(), shift, m.work.packed);
      assign(seen(y), seen(x) + repeated(shift, x));
    }
  }
  static constexpr void backward(auto const& p, auto, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    if constexpr (fits<decltype(dy), decltype(m)>()) {
      auto const c = m.template value<tag::condition>();
      auto const shift = m.work.shift.sized_like(c);
      auto const to = repeated(shift, dy);
      using axes = decltype(repeated_axes<shape_of<decltype(to)>, shape_of<decltype(seen(dy))>>());
      if constexpr (axes::count == 0)
        assign(to, seen(dy));
      else
        assign(to, sum(seen(dy), typename axes::list{}, keepdims));
      auto const slope = m.template slope<tag::condition>();
      if (slope.has_memory()) {
        auto const part = m.work.condition.sized_like(c);
        affine_map_input(p.weight, as_const(shift), part);
        slope.put(part);
      }
      affine_map_parameters(c, as_const(shift), gradient.weight.data(), gradient.bias.data());
      if (dx.has_memory() && dx.data() != dy.data()) dx.put(dy);
    }
  }
  static constexpr void initialize(auto& p, auto& generator) {
    generator.uniform(p.weight, generator.kaiming_bound(Width));
    generator.uniform(p.bias, generator.reciprocal_root(Width));
  }

 private:
  template <class S, class C> [[nodiscard]] static consteval auto repeats_to() -> bool {
    if constexpr (leads)
      return std::same_as<C, shape<S::extents[0], static_cast<extent>(Width)>>;
    else if constexpr (C::rank > S::rank || last_of<C> != Width)
      return false;
    else
      return broadcasts_to<with_last<C, Channels>, S>;
  }
  template <class X, class M> [[nodiscard]] static consteval auto fits() -> bool {
    using S = shape_of<X>;
    using C = shape_of<condition_in<typename M::call_type>>;
    static_assert(complaint::holds<repeats_to<S, C>(), complaint::in<condition_bias>,
                                   complaint::expected<S>, complaint::got<C>>,
                  "condition_bias: the condition has another shape");
    return repeats_to<S, C>();
  }
  /// (batch, pixels, Channels), where the first axis has a condition each; else x as it is.
  [[nodiscard]] static constexpr auto seen(auto x) {
    using S = shape_of<decltype(x)>;
    if constexpr (leads) {
      constexpr auto channels = S::rank - 1;
      using R = with_merged<S, 1, channels>;
      using V = view<typename decltype(x)::scalar_type, R, backend_of<decltype(x)>>;
      return V{x.data(), merged<1, channels>(x.actual)};
    } else {
      return x;
    }
  }
  /// The shifts, with an extent of 1 for each axis that they are repeated over.
  [[nodiscard]] static constexpr auto repeated(auto shift, auto x) {
    using C = shape_of<decltype(shift)>;
    constexpr auto rank = leads ? 3 : shape_of<decltype(x)>::rank;
    using R = typename padded<C, rank>::type;
    return view<typename decltype(shift)::scalar_type, R, backend_of<decltype(x)>>{
        shift.data(), shift.actual.template as<R>()};
  }
  template <class C, std::size_t Rank> struct padded {
    using type = typename padded<with_axis<C, leads ? 1 : 0, 1>, Rank>::type;
  };
  template <class C, std::size_t Rank>
    requires(C::rank == Rank)
  struct padded<C, Rank> {
    using type = C;
  };
  template <std::ptrdiff_t... A> struct axes_of {
    using list = axis_list<A...>;
    static constexpr auto count = sizeof...(A);
  };
  template <class R, class S, std::size_t I = 0, std::ptrdiff_t... A>
  [[nodiscard]] static constexpr auto repeated_axes() {
    if constexpr (I == S::rank)
      return axes_of<A...>{};
    else if constexpr (R::extents[I] == 1 && (leads ? I == 1 : S::extents[I] != 1))
      return repeated_axes<R, S, I + 1, A..., static_cast<std::ptrdiff_t>(I)>();
    else
      return repeated_axes<R, S, I + 1, A...>();
  }
};

}  // namespace tessera
