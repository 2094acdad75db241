// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/named.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/dropout.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/lstm_cell.hpp>
#include <tessera/tensor/whole.hpp>

namespace tessera {

/// What torch.nn.LSTM leaves to choose.
struct lstm_options {
  std::size_t layers = 1;
  probability dropout = {};  ///< after every layer but the last, in training
  bool bias = true;
  std::size_t projection = 0;  ///< h = W_hr·(o·tanh(c)) with this many values, where not 0
};

/// One layer of long short-term memory over time, the first axis.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Out), Out = Hidden or the projection; a step takes
///         and gives one sample
/// State   {h, c}, read as the start and left as the end; backward does not go through the start
/// Cost    a step: 4·Hidden·(In + Out) multiply-adds; backward consumes the tape
/// Errors  an input whose last extent is not In does not compile: tests/fail/lstm_wrong_input.cpp
/// Source  torch.nn.LSTM: gates in the order input, forget, candidate, output, and two biases;
///         reference values: tests/reference/lstm.py
template <std::size_t In, std::size_t Hidden, lstm_options Options = lstm_options{},
          std::size_t Level = 0>
struct lstm_layer {
  static constexpr bool projected = Options.projection > 0;
  static constexpr std::size_t out = projected ? Options.projection : Hidden;

  template <class Storage> struct parameters {
    matrix_in<Storage, shape<4 * Hidden, In>> weight_ih;
    matrix_in<Storage, shape<4 * Hidden, static_cast<extent>(out)>> weight_hh;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<4 * Hidden>, 0> bias_ih;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<4 * Hidden>, 1> bias_hh;
    [[no_unique_address]] matrix_if<projected, Storage, shape<static_cast<extent>(out), Hidden>, 2>
        weight_hr;
    [[nodiscard]] constexpr auto members() {
      return detail::tie(weight_ih, weight_hh, bias_ih, bias_hh, weight_hr);
    }
    [[nodiscard]] constexpr auto members() const {
      return detail::tie(weight_ih, weight_hh, bias_ih, bias_hh, weight_hr);
    }
    /// weight_ih_l0, and so on.
    [[nodiscard]] static constexpr auto member_name(std::size_t index) -> name {
      auto result = detail::listed_name("weight_ih, weight_hh, bias_ih, bias_hh, weight_hr", index);
      result.add("_l");
      result.add(Level);
      return result;
    }
  };
  template <class X> struct state {
    resized<X, out> h;
    resized<X, Hidden> c;
  };
  template <class X> struct all_gates {
    resized<X, 4 * Hidden> gates;
    resized<X, Hidden> cells;
    state<sample_of<X>> start;
    [[no_unique_address]] detail::member_if<projected, resized<X, Hidden>> hidden;
  };
  template <class X, class Call>
  using kept = std::conditional_t<Call::training, all_gates<X>, detail::no_member<0>>;
  template <class X, class Call> struct scratch {
    using sample = detail::sample_in<X, Call>;
    using step_weights = detail::lstm_step_fn::packed<X, Hidden, out>;
    using projection_weights = detail::affine_map_fn::packed<resized<X, Hidden>, out>;

    [[no_unique_address]] detail::packed_in<Call, step_weights> packed;
    [[no_unique_address]] detail::member_if<projected, detail::packed_in<Call, projection_weights>,
                                            1> packed_hr;
    [[no_unique_address]] detail::member_if<projected, resized<sample, Hidden>, 2> hidden;
    [[no_unique_address]] detail::member_if<not Call::carries, state<sample>, 3> start;
  };
  template <class X> struct slopes {
    using sample = sample_of<X>;
    [[no_unique_address]] detail::member_if<projected, resized<sample, Hidden>, 2> hidden;
    resized<sample, out> dh;
    resized<sample, Hidden> dc;
  };
  template <class S> using expected_shape = with_last<S, In>;
  template <class S> using output_shape = with_last<S, out>;
  static constexpr auto about = facts{.backward_reads = reads::both,
                                      .streams = true,
                                      .reads_parameters_first = not projected,
                                      .kept = true,
                                      .state = true,
                                      .scratch = true,
                                      .slopes = true};

  static constexpr void step(auto const& p, auto x, auto y, auto m) {
    using gates_type = resized<kind_of<decltype(x)>, 4 * Hidden>;
    auto& state = start_of<backend_of<decltype(x)>>(m);
    auto const h = state.h.sized_like(x);
    auto const c = state.c.sized_like(x);
    auto const none = without_memory<gates_type>(x.actual.template as<shape_of<gates_type>>());
    cell(p, x, as_const(h), as_const(c), none, c, y, hidden_of(m.work.hidden, x), m.work);
    assign(h, as_const(y));
  }
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    auto const time = x.template extent_of<0>();
    if (time == 0) return;
    prepare<backend_of<decltype(x)>>(p, m.work);
    auto const sample = x[0];
    auto& state = start_of<backend_of<decltype(x)>>(m);
    auto const h = state.h.sized_like(sample);
    auto const c = state.c.sized_like(sample);
    if constexpr (m.training) copy_on<backend_of<decltype(x)>>(m.kept.start, state);
    for (auto t = std::size_t{0}; t < time; ++t) {
      auto const h_before = t == 0 ? as_const(h) : as_const(y[t - 1]);
      if constexpr (m.training) {
        auto const cells = m.kept.cells.sized_like(x);
        auto const c_before = t == 0 ? as_const(c) : as_const(cells[t - 1]);
        cell(p, x[t], h_before, c_before, m.kept.gates.sized_like(x)[t], cells[t], y[t],
             hidden_at(m.kept.hidden, x, t), m.work);
      } else {
        using gates_type = resized<kind_of<decltype(sample)>, 4 * Hidden>;
        auto const none =
            without_memory<gates_type>(sample.actual.template as<shape_of<gates_type>>());
        cell(p, x[t], h_before, as_const(c), none, c, y[t], hidden_of(m.work.hidden, x[t]), m.work);
      }
    }
    assign(h, as_const(y[time - 1]));
    if constexpr (m.training) assign(c, as_const(m.kept.cells.sized_like(x)[time - 1]));
  }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    auto const time = x.template extent_of<0>();
    if (time == 0) return;
    auto const gates = m.kept.gates.sized_like(x);  // (time, ..., 4·Hidden), then dgates
    auto const cells = m.kept.cells.sized_like(x);  // (time, ..., Hidden)
    auto const h_start = as_const(m.kept.start.h.sized_like(x[0]));
    auto const c_start = as_const(m.kept.start.c.sized_like(x[0]));
    auto const dh = m.work.dh.sized_like(x[0]);  // (..., Out)
    auto const dc = m.work.dc.sized_like(x[0]);  // (..., Hidden)
    assign(dc, T{0});
    for (auto t = time; t-- > 0;) {
      auto const c_before = t > 0 ? as_const(cells[t - 1]) : c_start;
      auto const d =
          t + 1 < time ? as_const(dh) : as_const(without_memory<kind_of<decltype(dh)>>(dh.actual));
      if constexpr (projected) {
        if (d.has_memory())
          assign(dh, dy[t] + d);
        else
          assign(dh, dy[t]);
        auto const hidden = m.kept.hidden.sized_like(x)[t];
        auto const dhidden = m.work.hidden.sized_like(x[0]);
        affine_map_input(p.weight_hr, as_const(dh), dhidden);
        affine_map_parameters(as_const(hidden), as_const(dh), gradient.weight_hr.data(),
                              static_cast<T*>(nullptr));
        lstm_step_backward(gates[t], as_const(cells[t]), c_before, as_const(dhidden),
                           as_const(without_memory<kind_of<decltype(dhidden)>>(dhidden.actual)),
                           dc);
      } else {
        lstm_step_backward(gates[t], as_const(cells[t]), c_before, dy[t], d, dc);
      }
      if (t > 0) affine_map_input(p.weight_hh, as_const(gates[t]), dh);
    }
    auto const dgates = as_const(gates);
    affine_map_input(p.weight_ih, dgates, dx.view);
    affine_map_parameters(x, dgates, gradient.weight_ih.data(), data_or_null<T>(gradient.bias_ih));
    auto* const dweight_hh = gradient.weight_hh.data();
    auto* const dbias_hh = data_or_null<T>(gradient.bias_hh);
    affine_map_parameters(h_start, dgates[0], dweight_hh, dbias_hh);
    affine_map_parameters(samples(y, 0, time - 1), samples(dgates, 1, time - 1), dweight_hh,
                          dbias_hh);
  }
  /// Every parameter from U(-1/sqrt(Hidden), 1/sqrt(Hidden)), in the order of the members.
  static constexpr void initialize(auto& p, auto& generator) {
    auto const bound = generator.reciprocal_root(Hidden);
    for_each_parameter([&](name const&, auto& w) { generator.uniform(w, bound); }, p);
  }
  template <class S>
  static constexpr std::size_t multiply_adds =
      S::capacity / In * (4 * Hidden * (In + out) + (projected ? out * Hidden : 0));

 private:
  /// The state that is lent, or zeros where none is.
  template <class Backend> [[nodiscard]] static constexpr auto start_of(auto m) -> auto& {
    if constexpr (m.has_state) {
      return m.state;
    } else {
      clear_on<Backend>(m.work.start);
      return m.work.start;
    }
  }
  /// `count` samples of a sequence that is not empty, from `first` on.
  template <class V>
  [[nodiscard]] static constexpr auto samples(V x, std::size_t first, std::size_t count) {
    using S = with_first<shape_of<V>, at_most(bound_of(shape_of<V>::extents[0]))>;
    auto extents = x.actual.full();
    auto const size = x.size() / extents[0];
    extents[0] = count;
    return view<scalar_of<V> const, S, backend_of<V>>{x.data() + first * size,
                                                      actual_extents<S>::from(extents)};
  }
  template <class Backend> static constexpr void prepare(auto const& p, auto& scratch) {
    lstm_step.template prepare<Backend>(p, scratch.packed);
    if constexpr (projected) affine_map.template prepare<Backend>(p.weight_hr, scratch.packed_hr);
  }
  /// The memory that a projection goes through, of one sample or of sample t of x.
  static constexpr auto hidden_of([[maybe_unused]] auto& hidden, [[maybe_unused]] auto x) {
    if constexpr (projected)
      return hidden.sized_like(x);
    else
      return nothing{};
  }
  static constexpr auto hidden_at([[maybe_unused]] auto& hidden, [[maybe_unused]] auto x,
                                  [[maybe_unused]] std::size_t t) {
    if constexpr (projected)
      return hidden.sized_like(x)[t];
    else
      return nothing{};
  }
  static constexpr void cell(auto const& p, auto x, auto h, auto c_before, auto gates, auto c,
                             auto y, [[maybe_unused]] auto between, auto& scratch) {
    if constexpr (projected) {
      using T = scalar_of<decltype(x)>;
      lstm_step(p, x, h, c_before, gates, c, between, scratch.packed);
      affine_map(as_const(between), p.weight_hr, static_cast<T const*>(nullptr), y,
                 scratch.packed_hr);
    } else {
      lstm_step(p, x, h, c_before, gates, c, y, scratch.packed);
    }
  }
};

namespace detail {

/// The layers of a stack: each takes what the one below gives, with dropout between two.
template <std::size_t In, std::size_t Hidden, lstm_options Options, class Levels> struct lstm_stack;
template <std::size_t In, std::size_t Hidden, lstm_options Options, std::size_t... Level>
struct lstm_stack<In, Hidden, Options, std::index_sequence<Level...>> {
  static constexpr auto out = lstm_layer<In, Hidden, Options>::out;
  static constexpr bool drops = Options.dropout.is_run_time() || Options.dropout.millionths > 0;
  template <std::size_t K>
  using layer = named<"", lstm_layer<(K == 0 ? In : out), Hidden, Options, K>>;
  template <std::size_t K>
  using level =
      std::conditional_t<drops && (K > 0),
                         named<"", sequential<dropout<Options.dropout>, layer<K>>>, layer<K>>;
  using type = sequential<level<Level>...>;
};

}  // namespace detail

/// Long short-term memory over time, the first axis: torch.nn.LSTM, with layers on top of each
/// other and dropout between them.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Out), Out = Hidden or the projection; a step takes
///         and gives one sample. Parameters, by torch's names: weight_ih_l0 (4·Hidden, In),
///         weight_hh_l0 (4·Hidden, Out), bias_ih_l0, bias_hh_l0 (4·Hidden), weight_hr_l0 (Out,
///         Hidden), and the same of l1, l2, ...
/// State   that of its layers, by index: {h, c}
/// Cost    as lstm_layer
/// Errors  an input whose last extent is not In does not compile: tests/fail/lstm_wrong_input.cpp
/// Source  torch.nn.LSTM; reference values: tests/reference/lstm.py
template <std::size_t In, std::size_t Hidden, lstm_options Options = lstm_options{}>
struct lstm
    : detail::lstm_stack<In, Hidden, Options, std::make_index_sequence<Options.layers>>::type {
  static_assert(Options.layers > 0, "lstm: at least one layer");
  template <class S> using expected_shape = with_last<S, In>;
};

}  // namespace tessera
