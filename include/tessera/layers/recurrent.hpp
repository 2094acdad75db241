// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/inner_lanes.hpp>
#include <tessera/compose/named.hpp>
#include <tessera/compose/parallel.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/dropout.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/recurrent.hpp>
#include <tessera/tensor/gate_panels.hpp>
#include <tessera/tensor/slicing.hpp>
#include <tessera/tensor/whole.hpp>

namespace tessera {

/// Where a layer stands in its stack, and which way it goes: what torch's names say.
struct recurrent_place {
  std::size_t level = 0;
  bool reversed = false;
};

/// One layer of a cell over time, the first axis; reversed: from the last sample to the first.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Out), Out = Hidden or Options.projection, if there is
///         one; a step takes and gives one sample
/// State   what the cell names, read as the start and left as the end; backward does not go through
///         the start
/// Cost    a step: Cell::gates·Hidden·(In + Out) multiply-adds, and Hidden·Out more with a
///         projection; backward consumes what was kept
/// Source  torch.nn.LSTM, torch.nn.GRU: names, order of gates, two biases
template <class Cell, std::size_t In, std::size_t Hidden, auto Options,
          recurrent_place Place = recurrent_place{}>
struct recurrent_layer {
  static constexpr std::size_t projection = [] {
    if constexpr (requires { Options.projection; })
      return Options.projection;
    else
      return std::size_t{0};
  }();
  static constexpr bool projected = projection > 0;
  static constexpr std::size_t out = projected ? projection : Hidden;
  static constexpr std::size_t rows = Cell::gates * Hidden;  ///< of the weights

  template <class Storage> struct parameters {
    gates_in<Storage, shape<static_cast<extent>(rows), In>, Cell::gates> weight_ih;
    gates_in<Storage, shape<static_cast<extent>(rows), static_cast<extent>(out)>, Cell::gates>
        weight_hh;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<static_cast<extent>(rows)>, 0>
        bias_ih;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<static_cast<extent>(rows)>, 1>
        bias_hh;
    [[no_unique_address]] matrix_if<projected, Storage, shape<static_cast<extent>(out), Hidden>, 2>
        weight_hr;
    [[nodiscard]] constexpr auto members() {
      return detail::tie(weight_ih, weight_hh, bias_ih, bias_hh, weight_hr);
    }
    [[nodiscard]] constexpr auto members() const {
      return detail::tie(weight_ih, weight_hh, bias_ih, bias_hh, weight_hr);
    }
    /// weight_ih_l0, weight_ih_l0_reverse, and so on.
    [[nodiscard]] static constexpr auto member_name(std::size_t index) -> path_name {
      auto result = detail::listed_name("weight_ih, weight_hh, bias_ih, bias_hh, weight_hr", index);
      result.add("_l");
      result.add(Place.level);
      if (Place.reversed) result.add("_reverse");
      return result;
    }
  };
  template <class X>
  using state = detail::with_inner_lanes<
      typename detail::recurrent_step_fn<Cell>::template carried<
          X, typename Cell::template state<resized<X, out>, resized<X, Hidden>>, Hidden, out>,
      shape_of<X>>;
  template <class X> struct all_steps {
    resized<X, rows> gates;
    resized<X, Hidden> beside;
    state<sample_of<X>> start;
    [[no_unique_address]] detail::member_if<projected, resized<X, Hidden>> hidden;
  };
  template <class X, class Call>
  using kept = either<Call::training, all_steps<X>, detail::no_member<0>>;
  template <class X, class Call> struct scratch {
    using sample = detail::sample_in<X, Call>;
    using step_weights = typename detail::recurrent_step_fn<Cell>::template packed<X, Hidden, out>;
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
    resized<sample, Hidden> d;
  };
  template <class S> using expected_shape = with_last<S, In>;
  template <class S> using output_shape = with_last<S, out>;
  static constexpr auto about = facts{.backward_reads = reads::both,
                                      .streams = not Place.reversed,
                                      .reads_parameters_first = not projected,
                                      .kept = true,
                                      .state = true,
                                      .scratch = true,
                                      .slopes = true};

  static constexpr void step(auto const& p, auto x, auto y, auto m)
    requires(not Place.reversed)
  {
    auto& state = start_of<backend_of<decltype(x)>>(m, x);
    auto const h = state.h.sized_like(x);
    auto const c = carried(state, x);
    auto const before = [&] {
      if constexpr (Cell::carries)
        return as_const(c);
      else
        return as_const(h);
    }();
    if constexpr (not projected &&
                  requires { recurrent_step<Cell>.advance(p, x, h, before, c, y, state); }) {
      recurrent_step<Cell>.advance(p, x, h, before, c, y, state);
    } else {
      forward_once(p, x, as_const(h), c, y, m);
      assign(h, as_const(y));
    }
  }
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using backend = backend_of<decltype(x)>;
    auto const time = x.template extent_of<0>();
    if (time == 0) return;
    recurrent_step<Cell>.template prepare<backend>(p, m.work.packed);
    if constexpr (projected) affine_map.template prepare<backend>(p.weight_hr, m.work.packed_hr);
    auto& state = start_of<backend>(m, x);
    auto const h = state.h.sized_like(x[0]);
    if constexpr (m.training) copy_on<backend>(m.kept.start, state);
    if constexpr (in_one_launch<kind_of<decltype(x)>>) {
      forward_all(p, x, h, state, y, m);
    } else {
      for (auto s = std::size_t{0}; s < time; ++s) {
        auto const t = at(s, time);
        auto const h_before = s == 0 ? as_const(h) : as_const(y[at(s - 1, time)]);
        if constexpr (m.training)
          forward_kept(p, x, s, h_before, carried(state, x[0]), y[t], m);
        else
          forward_once(p, x[t], h_before, carried(state, x[t]), y[t], m);
      }
      auto const last = at(time - 1, time);
      assign(h, as_const(y[last]));
      if constexpr (m.training && Cell::carries)
        assign(carried(state, x[0]), as_const(m.kept.beside.sized_like(x)[last]));
    }
  }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    auto const time = x.template extent_of<0>();
    if (time == 0) return;
    auto const values = m.kept.gates.sized_like(x);   // (time, ..., gates), then their slopes
    auto const beside = m.kept.beside.sized_like(x);  // (time, ..., Hidden), slopes too if a sum
    auto const start = as_const(m.kept.start.h.sized_like(x[0]));
    if constexpr (in_one_launch<kind_of<decltype(x)>>) {
      recurrent_sequence<Cell>.backward(p.weight_hh, values, beside_of(beside), before(m, x, y, 0),
                                        seen_by_formulas(m, x, y), dy, Place.reversed);
    } else {
      auto const dh = m.work.dh.sized_like(x[0]);  // (..., Out)
      auto const d = m.work.d.sized_like(x[0]);    // (..., Hidden)
      assign(d, T{0});
      for (auto s = time; s-- > 0;) {
        auto const t = at(s, time);
        auto const arrives = s + 1 < time
                                 ? as_const(dh)
                                 : as_const(without_memory<kind_of<decltype(dh)>>(dh.actual));
        auto const back = [&](auto from_above, auto from_after) {
          recurrent_step_backward<Cell>(values[t], beside_of(beside[t]), before(m, x, y, s),
                                        from_above, from_after, d);
        };
        if constexpr (projected) {
          if (arrives.has_memory())
            assign(dh, dy[t] + arrives);
          else
            assign(dh, dy[t]);
          auto const hidden = m.kept.hidden.sized_like(x)[t];
          auto const dhidden = m.work.hidden.sized_like(x[0]);
          affine_map_input(p.weight_hr, as_const(dh), dhidden);
          affine_map_parameters(as_const(hidden), as_const(dh), gradient.weight_hr.data(),
                                static_cast<T*>(nullptr));
          back(as_const(dhidden),
               as_const(without_memory<kind_of<decltype(dhidden)>>(dhidden.actual)));
        } else {
          back(dy[t], arrives);
        }
        if (s > 0) slope_of_input(p.weight_hh, as_const(values[t]), dh);
      }
    }
    auto const slope = as_const(values);
    auto* const dweight_hh = gradient.weight_hh.data();
    auto* const dbias_hh = data_or_null<T>(gradient.bias_hh);
    affine_map_parameters(start, slope[at(0, time)], dweight_hh, dbias_hh);
    auto* const dweight_ih = gradient.weight_ih.data();
    auto* const dbias_ih = data_or_null<T>(gradient.bias_ih);
    // h of the steps before, and slopes of the later ones, which saw it.
    auto const h = samples(y, Place.reversed ? 1 : 0, time - 1);
    auto const later = samples(slope, Place.reversed ? 0 : 1, time - 1);
    // The gradient may be the parameters: what reads weights comes before what is added to them.
    if constexpr (Cell::carries && Options.bias &&
                  affine_map_parameters.reads_once<T, backend_of<decltype(x)>>) {
      slope_of_input(p.weight_ih, slope, dx.view);
      auto const first_of_x = [&] {
        auto const t = at(0, time);
        affine_map_parameters(x[t], slope[t], dweight_ih, dbias_ih);
      };
      if (not Place.reversed) first_of_x();
      affine_map_parameters(h, samples(x, Place.reversed ? 0 : 1, time - 1), later, dweight_hh,
                            dbias_hh, dweight_ih, dbias_ih);
      if (Place.reversed) first_of_x();
    } else {
      affine_map_parameters(h, later, dweight_hh, dbias_hh);
      if constexpr (not Cell::carries) assign(last_gate(values), as_const(beside));
      slope_of_input(p.weight_ih, slope, dx.view);
      affine_map_parameters(x, slope, dweight_ih, dbias_ih);
    }
  }
  /// Every parameter from U(-1/sqrt(Hidden), 1/sqrt(Hidden)), in the order of the members.
  static constexpr void initialize(auto& p, auto& generator) {
    auto const bound = generator.reciprocal_root(Hidden);
    for_each_parameter([&](path_name const&, auto& w) { generator.uniform(w, bound); }, p);
  }
  template <class S>
  static constexpr std::size_t multiply_adds =
      S::capacity / In * (rows * (In + out) + (projected ? out * Hidden : 0));

 private:
  /// True where a device takes all steps at once.
  template <class X>
  static constexpr bool in_one_launch = [] {
    if constexpr (projected || not on_device<backend_of<X>>)
      return false;
    else
      return recurrent_sequence<Cell>.template fits<X, Hidden>;
  }();
  static void forward_all(auto const& p, auto x, auto h, auto& state, auto y, auto m) {
    auto const c = carried(state, x[0]);
    if constexpr (m.training)
      recurrent_sequence<Cell>.forward(p, x, h, c, m.kept.gates.sized_like(x),
                                       m.kept.beside.sized_like(x), y, Place.reversed);
    else
      recurrent_sequence<Cell>.forward(p, x, h, c, nowhere<rows>(x), nowhere<Hidden>(x), y,
                                       Place.reversed);
  }
  /// The sample of step s.
  [[nodiscard]] static constexpr auto at(std::size_t s, std::size_t time) -> std::size_t {
    return Place.reversed ? time - 1 - s : s;
  }
  /// dx = dy·W; of panels a part after another, which is the order of the outputs.
  static constexpr void slope_of_input(auto const& weight, auto dy, auto dx) {
    if constexpr (by_gate_panels<decltype(weight)>) {
      using T = scalar_of<decltype(dx)>;
      if (dx.data() != nullptr)
        weight.for_each_part([&](std::size_t o, std::size_t count, weight_matrix<T> const& part) {
          detail::multiply<backend_of<decltype(dx)>>(
              detail::matrix_product<T>{.rows = detail::rows_of(dy),
                                        .columns = last_of<shape_of<decltype(dx)>>,
                                        .depth = count,
                                        .a = {dy.data() + o, rows, 1},
                                        .b = part,
                                        .c = dx.data(),
                                        .c_row = last_of<shape_of<decltype(dx)>>,
                                        .adds = o > 0});
        });
    } else {
      affine_map_input(weight, dy, dx);
    }
  }
  /// The state that is lent, or zeros where none is.
  template <class Backend>
  [[nodiscard]] static constexpr auto start_of(auto m, [[maybe_unused]] auto x) -> auto& {
    if constexpr (m.has_state) {
      if constexpr (requires { m.state.inner; }) m.state.inner.go_on(x.actual);
      return m.state;
    } else {
      clear_on<Backend>(m.work.start);
      return m.work.start;
    }
  }
  /// What the cell carries beside h; a view without memory where it carries nothing.
  [[nodiscard]] TESSERA_INLINE static constexpr auto carried([[maybe_unused]] auto& state,
                                                             auto sample) {
    if constexpr (Cell::carries)
      return state.c.sized_like(sample);
    else
      return nowhere<Hidden>(sample);
  }
  template <std::size_t Width> [[nodiscard]] static constexpr auto nowhere(auto sample) {
    using W = resized<kind_of<decltype(sample)>, Width>;
    return without_memory<W>(sample.actual.template as<shape_of<W>>());
  }
  /// What the formulas see of each step, in the next one.
  [[nodiscard]] static constexpr auto seen_by_formulas(auto m, auto x, auto y) {
    if constexpr (Cell::carries)
      return as_const(m.kept.beside.sized_like(x));
    else
      return y;
  }
  /// What the formulas of step s see of the step before.
  [[nodiscard]] TESSERA_INLINE static constexpr auto before(auto m, auto x, auto y, std::size_t s) {
    auto const time = x.template extent_of<0>();
    if constexpr (Cell::carries)
      return s == 0 ? as_const(m.kept.start.c.sized_like(x[0]))
                    : as_const(m.kept.beside.sized_like(x)[at(s - 1, time)]);
    else
      return s == 0 ? as_const(m.kept.start.h.sized_like(x[0])) : as_const(y[at(s - 1, time)]);
  }
  [[nodiscard]] static constexpr auto beside_of(auto beside) {
    if constexpr (Cell::carries)
      return as_const(beside);
    else
      return beside;
  }
  [[nodiscard]] static constexpr auto last_gate(auto values) {
    return [&]<std::size_t... A>(std::index_sequence<A...>) {
      return slice(values, (void(A), whole_axis)..., range<rows - Hidden, rows>);
    }(std::make_index_sequence<shape_of<decltype(values)>::rank - 1>{});
  }
  /// `count` samples of a sequence that is not empty, from `first` on.
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto samples(V x, std::size_t first,
                                                             std::size_t count) {
    using S = with_first<shape_of<V>, at_most(bound_of(shape_of<V>::extents[0]))>;
    auto extents = x.actual.full();
    auto const size = x.size() / extents[0];
    extents[0] = count;
    return view<scalar_of<V> const, S, backend_of<V>>{x.data() + first * size,
                                                      actual_extents<S>::from(extents)};
  }
  /// A sample of which nothing is kept: c is replaced where it stands.
  TESSERA_INLINE static constexpr void forward_once(auto const& p, auto x, auto h, auto c, auto y,
                                                    auto m) {
    auto const before = [&] {
      if constexpr (Cell::carries)
        return as_const(c);
      else
        return h;
    }();
    auto const hidden = [&] {
      if constexpr (projected)
        return m.work.hidden.sized_like(x);
      else
        return y;
    }();
    one(p, x, h, before, nowhere<rows>(x), c, hidden, y, m.work);
  }
  /// Sample `s` of a training pass.
  TESSERA_INLINE static constexpr void forward_kept(auto const& p, auto x, std::size_t s, auto h,
                                                    [[maybe_unused]] auto c, auto y, auto m) {
    auto const time = x.template extent_of<0>();
    auto const t = at(s, time);
    auto const beside = m.kept.beside.sized_like(x);
    auto const before = [&] {
      if constexpr (Cell::carries)
        return s == 0 ? as_const(c) : as_const(beside[at(s - 1, time)]);
      else
        return h;
    }();
    auto const hidden = [&] {
      if constexpr (projected)
        return m.kept.hidden.sized_like(x)[t];
      else
        return y;
    }();
    one(p, x[t], h, before, m.kept.gates.sized_like(x)[t], beside[t], hidden, y, m.work);
  }
  TESSERA_INLINE static constexpr void one(auto const& p, auto x, auto h, auto before, auto gates,
                                           auto beside, auto hidden, [[maybe_unused]] auto y,
                                           auto& work) {
    recurrent_step<Cell>(p, x, h, before, gates, beside, hidden, work.packed);
    if constexpr (projected)
      affine_map(as_const(hidden), p.weight_hr, static_cast<scalar_of<decltype(x)> const*>(nullptr),
                 y, work.packed_hr);
  }
};

namespace detail {

/// Both directions of a level. A pass that learns starts both from zero: what the reversed one left
/// is of no use to the window that follows. Others read and leave the state of each.
template <class Layer> struct both_directions : wrapper<both_directions<Layer>, Layer> {
  template <class X, class Call, std::size_t I>
  using call_inside = either<Call::training, typename Call::restarted, Call>;
};

/// The levels of a stack: each takes what the one below gives, with dropout between two.
template <class Cell, std::size_t In, std::size_t Hidden, auto Options, class Levels>
struct recurrent_stack;
template <class Cell, std::size_t In, std::size_t Hidden, auto Options, std::size_t... Level>
struct recurrent_stack<Cell, In, Hidden, Options, std::index_sequence<Level...>> {
  static constexpr auto below =
      recurrent_layer<Cell, In, Hidden, Options>::out * (Options.bidirectional ? 2 : 1);
  static constexpr bool drops = Options.dropout.is_run_time() || Options.dropout.millionths > 0;
  template <std::size_t K, bool Reversed = false>
  using layer = named<"", recurrent_layer<Cell, (K == 0 ? In : below), Hidden, Options,
                                          recurrent_place{K, Reversed}>>;
  template <std::size_t K> struct directions {
    using type = layer<K>;
  };
  template <std::size_t K>
    requires(Options.bidirectional)
  struct directions<K> {
    using type = named<"", both_directions<parallel<layer<K>, layer<K, true>>>>;
  };
  template <std::size_t K, bool Drops> struct level : directions<K> {};
  template <std::size_t K> struct level<K, true> {
    using type = named<"", sequential<dropout<Options.dropout>, typename directions<K>::type>>;
  };
  using type = sequential<typename level<Level, (drops && Level > 0)>::type...>;
};

}  // namespace detail

/// Layers of a cell on top of each other, with dropout between them, each in one direction or in
/// both, whose outputs stand beside each other.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Out), or 2·Out where Options.bidirectional
/// State   of each level and direction what the cell names:
///         layer_state<Level, Direction>(run.state) is torch's h_0 (with `resume`) before a call
///         and h_n behind it. A training pass of both directions carries none. tag::lengths is not
///         asked for: the way back begins with the last sample, whoever's lane ended before
/// Errors  both directions do not stream: tests/fail/lstm_bidirectional_streams.cpp
template <class Cell, std::size_t In, std::size_t Hidden, auto Options>
struct recurrent : detail::recurrent_stack<Cell, In, Hidden, Options,
                                           std::make_index_sequence<Options.layers>>::type {
  static_assert(Options.layers > 0, "recurrent: at least one layer");
  template <class S> using expected_shape = with_last<S, In>;

  /// The state of one layer; direction 1 is the reversed one.
  template <std::size_t Level = 0, std::size_t Direction = 0>
  [[nodiscard]] static constexpr auto layer_state(auto& state) -> auto& {
    constexpr auto drops =
        detail::recurrent_stack<Cell, In, Hidden, Options, std::index_sequence<>>::drops;
    static_assert(Level < Options.layers, "layer_state: there is no such level");
    static_assert(Direction < (Options.bidirectional ? 2 : 1),
                  "layer_state: there is no such direction");
    auto& level = [&]() -> auto& {
      if constexpr (drops && Level > 0)
        return get<1>(get<Level>(state));
      else
        return get<Level>(state);
    }();
    if constexpr (Options.bidirectional)
      return get<Direction>(get<0>(level));
    else
      return level;
  }
};

}  // namespace tessera
