// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/inner_lanes.hpp>
#include <tessera/compose/layer.hpp>
#include <tessera/ops/conv1d.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/whole.hpp>

namespace tessera {

/// What torch.nn.Conv1d leaves to choose. Causal: all padding is before the first sample, the layer
/// carries the last inputs as its state, and streams.
struct conv1d_options {
  std::size_t stride = 1;
  std::size_t padding = 0;
  std::size_t dilation = 1;
  std::size_t groups = 1;
  bool bias = true;
  bool causal = false;
};

/// A convolution over time, the first axis: a sliding window of Kernel samples.
///
/// Shapes  x (time, ..., In) -> y (time', ..., Out), time' = (time + 2·padding - dilation·(Kernel -
///         1) - 1) / stride + 1, or time where causal; parameters: weight (Out, In / groups,
///         Kernel), bias (Out)
/// State   causal: the last dilation·(Kernel - 1) inputs of every lane, zeros at the start
/// Cost    time'·batch·Out·In / groups·Kernel multiply-adds forward, twice that backward
/// Errors  an input whose last extent is not In, or too short: tests/fail/conv1d_wrong_input.cpp
/// Source  torch.nn.Conv1d, whose inputs are (batch, In, time); reference values:
///         tests/reference/conv1d.py
template <std::size_t In, std::size_t Out, std::size_t Kernel,
          conv1d_options Options = conv1d_options{}>
struct conv1d {
  static_assert(Kernel > 0 && Options.stride > 0 && Options.dilation > 0);
  static_assert(In % Options.groups == 0 && Out % Options.groups == 0,
                "conv1d: groups must divide the inputs and the outputs");
  static_assert(not Options.causal || (Options.stride == 1 && Options.padding == 0),
                "conv1d: a causal one has stride 1 and no padding of its own");
  static constexpr auto reach = Options.dilation * (Kernel - 1);
  static constexpr bool remembers = Options.causal && reach > 0;

  template <class Storage> struct parameters {
    matrix_in<Storage, shape<Out, In / Options.groups, Kernel>> weight;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<Out>, 0> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class X> struct memory_of_past {
    reshaped<X, with_axis<shape_of<X>, 0, static_cast<extent>(remembers ? reach : 1)>> past;
  };
  template <class X>
    requires remembers
  using state = detail::with_inner_lanes<memory_of_past<X>, shape_of<X>>;
  /// The state that a training pass started from.
  template <class X, class Call>
    requires remembers
  using kept = std::conditional_t<Call::training && Call::carries, state<sample_of<X>>,
                                  detail::no_member<0>>;
  template <class X> struct packed_weights {
    detail::conv1d_fn::packed<X, Out / Options.groups*(In / Options.groups)> packed;
  };
  template <class X> using scratch = packed_weights<X>;
  template <class X> using slopes = packed_weights<X>;

  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .streams = Options.causal,
                                      .reads_parameters_first = true,
                                      .kept = remembers,
                                      .state = remembers,
                                      .scratch = true,
                                      .slopes = true};

  /// How many steps come out of so many.
  [[nodiscard]] static constexpr auto out_time(std::size_t time) -> std::size_t {
    if (Options.causal) return time;
    auto const padded = time + 2 * Options.padding;
    return padded > reach ? (padded - reach - 1) / Options.stride + 1 : 0;
  }
  /// The same of an extent: a bound gives a bound.
  [[nodiscard]] static constexpr auto out_extent(extent time) -> extent {
    auto const n = static_cast<extent>(out_time(bound_of(time)));
    return is_bounded(time) ? at_most(n) : n;
  }
  /// Without padding before it, the window needs a sequence of its own length.
  [[nodiscard]] static constexpr auto needed_time(extent time) -> extent {
    constexpr auto least =
        static_cast<extent>(reach + 1) - static_cast<extent>(2 * Options.padding);
    return Options.causal || static_cast<extent>(bound_of(time)) >= least ? time : least;
  }
  template <class S>
  using expected_shape = with_last<with_first<S, needed_time(S::extents[0])>, In>;
  template <class S> using output_shape = with_last<with_first<S, out_extent(S::extents[0])>, Out>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return extents_of_output(actual);
  }

  static constexpr void step(auto const& p, auto x, auto y, auto m) {
    auto const g = geometry(1, 1, x.size() / In);
    convolve(g, p, x, y, m);
  }
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    auto const time = x.template extent_of<0>();
    auto const g = geometry(time, y.template extent_of<0>(), rows_of(x, y));
    if constexpr (m.training && remembers && m.has_state)
      copy_on<backend_of<decltype(x)>>(m.kept, m.state);
    convolve(g, p, x, y, m);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    using run = kernel_for<detail::conv1d_fn, backend_of<decltype(x)>>;
    auto const time = x.template extent_of<0>();
    auto g = geometry(time, dy.template extent_of<0>(), rows_of(x, dy));
    auto const* const past = [&]() -> T const* {
      if constexpr (remembers && m.has_state) {
        g.past_rows = lanes_of<decltype(m.kept.past)>;
        return m.kept.past.data();
      } else {
        return nullptr;
      }
    }();
    if (dx.has_memory())
      run::input(g, weights_of<T>(p.weight), dy.data(), dx.data(), m.work.packed);
    run::parameters(g, x.data(), past, dy.data(), gradient.weight.data(),
                    data_or_null<T>(gradient.bias), m.work.packed);
  }
  /// Weight and bias from U(-1/sqrt(fan), 1/sqrt(fan)), fan = In / groups·Kernel.
  static constexpr void initialize(auto& p, auto& generator) {
    constexpr auto fan = In / Options.groups * Kernel;
    generator.uniform(p.weight, generator.kaiming_bound(fan));
    if constexpr (Options.bias) generator.uniform(p.bias, generator.reciprocal_root(fan));
  }
  template <class S>
  static constexpr std::size_t multiply_adds =
      output_shape<S>::capacity * In / Options.groups * Kernel;

 private:
  /// Lanes of the batch. Where padding is all there is, they are those of y.
  [[nodiscard]] static constexpr auto rows_of(auto const& x, auto const& y) -> std::size_t {
    if (x.size() > 0) return x.size() / In / x.template extent_of<0>();
    return y.size() > 0 ? y.size() / Out / y.template extent_of<0>() : 0;
  }
  [[nodiscard]] static constexpr auto geometry(std::size_t time, std::size_t out, std::size_t rows)
      -> detail::conv1d_geometry {
    return {time,
            out,
            rows,
            In,
            Out,
            Kernel,
            Options.stride,
            Options.dilation,
            Options.causal ? reach : Options.padding,
            Options.groups};
  }
  template <class S>
  [[nodiscard]] static constexpr auto extents_of_output(actual_extents<S> actual) {
    using R = output_shape<S>;
    auto extents = actual.full();
    extents[0] = out_time(extents[0]);
    return actual_extents<R>::from(extents);
  }
  /// A sample of the past has a place for every lane that there may be: lanes may end before
  /// others.
  template <class Past>
  static constexpr auto lanes_of = shape_of<Past>::capacity / (remembers ? reach * In : 1);
  static constexpr void convolve(detail::conv1d_geometry g, auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    using run = kernel_for<detail::conv1d_fn, backend_of<decltype(x)>>;
    auto* const past = [&]() -> T* {
      if constexpr (remembers && m.has_state) {
        if constexpr (requires { m.state.inner; }) m.state.inner.go_on(x.actual);
        g.past_rows = lanes_of<decltype(m.state.past)>;
        return m.state.past.data();
      } else {
        return nullptr;
      }
    }();
    run::forward(g, x.data(), static_cast<T const*>(past), weights_of<T>(p.weight),
                 data_or_null<T const>(p.bias), y.data(), m.work.packed);
    if constexpr (remembers && m.has_state) run::remember(g, x.data(), past);
  }
};

}  // namespace tessera
