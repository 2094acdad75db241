// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/attention.hpp>
#include <tessera/ops/rotary.hpp>
#include <tessera/tensor/assign.hpp>

#include <array>

namespace tessera {

/// What a self-attention with separate projections may choose.
struct self_attention_options {
  std::size_t heads = 1;
  std::size_t kv_heads = 0;  ///< heads of keys and values, which groups of queries share; 0: heads
  std::size_t head_width = 0;  ///< 0: Features / heads
  bool causal = false;         ///< a sample sees itself and the ones before
  std::size_t context = 0;     ///< causal: the samples that the cache holds; 0: none, and no step
  double rotary_base = 0;      ///< 10'000 as in RoFormer; 0: positions are not turned in
  bool bias = true;            ///< of queries, keys and values
  bool out_bias = true;
  bool batch_first = false;  ///< x (batch, time..., Features): all axes between are time
};

/// Names of the four projections: those of Llama, and those of diffusers.
struct llama_projections {
  static constexpr auto query = "q_proj";
  static constexpr auto key = "k_proj";
  static constexpr auto value = "v_proj";
  static constexpr auto out = "o_proj";
};
struct diffusers_projections {
  static constexpr auto query = "to_q";
  static constexpr auto key = "to_k";
  static constexpr auto value = "to_v";
  static constexpr auto out = "to_out.0";
};

/// Self-attention with separate projections: multi-head, grouped-query, rotary, with a cache.
///
/// Shapes  x (time, ..., Features) -> the same; parameters: q_proj, o_proj (Features <->
///         heads·head_width), k_proj, v_proj (Features -> kv_heads·head_width)
/// State   with a context: keys and values of the samples before, and their number, in inference
/// and
///         streaming; a training step sees its own samples only
/// Cost    time·batch·(projections + 2·heads·head_width·time) multiply-adds, the second part halved
///         where causal; the tape has no matrix of scores
/// Errors  another last extent: tests/fail/self_attention_wrong_input.cpp; more samples than the
///         context holds break the contract
/// Source  Ainslie et al., GQA, 2023; Su et al., RoFormer, 2021, with Llama's pairs (i, i + width /
///         2); reference values: tests/reference/self_attention.py
template <std::size_t Features, self_attention_options Options = self_attention_options{},
          class Names = llama_projections>
struct self_attention {
  static constexpr auto heads = Options.heads;
  static constexpr auto kv_heads = Options.kv_heads == 0 ? heads : Options.kv_heads;
  static constexpr auto width = Options.head_width == 0 ? Features / heads : Options.head_width;
  static_assert(Options.head_width > 0 || Features % heads == 0,
                "self_attention: heads must divide the features");
  static_assert(heads % kv_heads == 0, "self_attention: kv_heads must divide the heads");
  static_assert(Options.context == 0 || (Options.causal && not Options.batch_first),
                "self_attention: only a causal one, time first, has a cache");
  static constexpr bool turns = Options.rotary_base > 0;
  static_assert(not turns || (width % 2 == 0 && not Options.batch_first),
                "self_attention: rotary positions need an even width, time first");
  static constexpr auto q_width = heads * width;
  static constexpr auto kv_width = kv_heads * width;
  static constexpr bool caches = Options.context > 0;

  using to_query = linear<Features, q_width, linear_options{.bias = Options.bias}>;
  using to_key = linear<Features, kv_width, linear_options{.bias = Options.bias}>;
  using to_out = linear<q_width, Features, linear_options{.bias = Options.out_bias}>;

  template <class Storage> struct parameters {
    using parts = parameters_of<to_query, Storage>;
    parameters_of<to_query, Storage> query;
    parameters_of<to_key, Storage> key;
    parameters_of<to_key, Storage> value;
    parameters_of<to_out, Storage> out;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(name(Names::query), p.query...);
      f(name(Names::key), p.key...);
      f(name(Names::value), p.value...);
      f(name(Names::out), p.out...);
    }
  };

  /// The samples of a call, at the bound.
  template <class S> [[nodiscard]] static constexpr auto most_times() -> std::size_t {
    if (Options.batch_first) return S::capacity / bound_of(S::extents[0]) / Features;
    return bound_of(S::extents[0]);
  }

  // -- memory
  template <class X> struct projected {
    resized<X, q_width> query;
    resized<X, kv_width> key;
    resized<X, kv_width> value;
    resized<X, q_width> mixed;
  };
  template <class Lanes> struct cache {
    using rows =
        resized<reshaped<Lanes, with_axis<shape_of<Lanes>, 0,
                                          static_cast<extent>(caches ? Options.context : 1)>>,
                kv_width>;
    rows keys;
    rows values;
    std::size_t length;  ///< of what the lanes have seen
  };
  template <class X, class Call> struct cache_in {
    using type = cache<detail::sample_in<X, Call>>;
  };
  template <class X, class Call>
    requires Call::training
  struct cache_in<X, Call> {
    using type = nothing;
  };
  template <class X, class Call>
    requires caches
  using state = typename cache_in<X, Call>::type;
  template <class X> struct kept : projected<X> {
    resized<X, heads> log_sum;
  };
  template <class X, class Call>
  static constexpr std::size_t keys_of =
      caches && not Call::training       ? Options.context
      : Call::purpose == mode::streaming ? 1
                                         : most_times<shape_of<X>>();
  template <class X, class Call>
  using head_work = detail::attention_fn::workspace<X, keys_of<X, Call>, width>;
  template <class X, class Call> struct scratch {
    template <class In, std::size_t Out>
    using weights = detail::packed_in<Call, detail::affine_map_fn::packed<In, Out>>;

    [[no_unique_address]] weights<X, q_width> query;
    [[no_unique_address]] weights<X, kv_width> key;
    [[no_unique_address]] weights<resized<X, q_width>, Features> out;
    head_work<X, Call> head;
  };
  template <class X, class Call> struct slopes : projected<X> {
    X input;
    head_work<X, Call> head;
  };

  // -- shapes
  template <class S> using expected_shape = with_last<with_rank_at_least<S, 2>, Features>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .streams = caches,
                                      .reads_parameters_first = true,
                                      .kept = true,
                                      .state = caches,
                                      .scratch = true,
                                      .slopes = true};

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    run(p, x, y, m, sizes_of(x));
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) {
    run(p, x, y, m, {1, x.size() / Features});
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    auto const s = sizes_of(x);
    auto const& kept = m.kept;
    auto const dmixed = m.work.mixed.sized_like(x);
    auto const dq = m.work.query.sized_like(x);
    auto const dk = m.work.key.sized_like(x);
    auto const dv = m.work.value.sized_like(x);
    affine_map_input(p.out.weight, dy, dmixed);
    affine_map_parameters(as_const(kept.mixed.sized_like(x)), dy, gradient.out.weight.data(),
                          data_or_null<T>(gradient.out.bias));
    attention.template backward<backend_of<decltype(x)>, T>(
        heads_of<T>(s, 0, s.times, kept.query.data(), kept.key.data(), kept.value.data()),
        {kept.mixed.data(), dmixed.data(), m.kept.log_sum.data(), dq.data(), dk.data(), dv.data()},
        m.work.head);
    turn(s, 0, dq, heads, true);
    turn(s, 0, dk, kv_heads, true);
    if (dx.has_memory()) {
      auto const part = m.work.input.sized_like(x);
      affine_map_input(p.query.weight, as_const(dq), dx.view);
      affine_map_input(p.key.weight, as_const(dk), part);
      assign(dx.view, dx.view + part);
      affine_map_input(p.value.weight, as_const(dv), part);
      assign(dx.view, dx.view + part);
    }
    affine_map_parameters(x, as_const(dq), gradient.query.weight.data(),
                          data_or_null<T>(gradient.query.bias));
    affine_map_parameters(x, as_const(dk), gradient.key.weight.data(),
                          data_or_null<T>(gradient.key.bias));
    affine_map_parameters(x, as_const(dv), gradient.value.weight.data(),
                          data_or_null<T>(gradient.value.bias));
  }
  static constexpr void initialize(auto& p, auto& generator) {
    to_query::initialize(p.query, generator);
    to_key::initialize(p.key, generator);
    to_key::initialize(p.value, generator);
    to_out::initialize(p.out, generator);
  }
  template <class S>
  static constexpr std::size_t multiply_adds =
      S::capacity / Features *
      (2 * Features * (q_width + kv_width) +
       2 * q_width * most_times<S>() / (Options.causal ? 2 : 1));

 private:
  struct sizes {
    std::size_t times;
    std::size_t lanes;
    [[nodiscard]] constexpr auto time_distance() const -> std::size_t {
      return Options.batch_first ? 1 : lanes;
    }
    [[nodiscard]] constexpr auto lane_distance() const -> std::size_t {
      return Options.batch_first ? times : 1;
    }
  };
  [[nodiscard]] static constexpr auto sizes_of(auto x) -> sizes {
    auto const first = x.template extent_of<0>();
    auto const others = first == 0 ? 0 : x.size() / Features / first;
    return Options.batch_first ? sizes{others, first} : sizes{first, others};
  }
  template <class T>
  static constexpr auto frequencies = [] {
    auto f = std::array<T, width / 2 + 1>{};
    for (auto i = std::size_t{0}; turns && i < width / 2; ++i)
      f[i] = static_cast<T>(lane::exp(-lane::log(Options.rotary_base) * 2 * static_cast<double>(i) /
                                      static_cast<double>(width)));
    return f;
  }();
  static constexpr void turn(sizes s, std::size_t first, auto x, std::size_t vectors, bool back) {
    using T = scalar_of<decltype(x)>;
    if constexpr (turns)
      kernel<detail::rotary_fn, backend_of<decltype(x)>>::template run<width>(
          {s.times, s.lanes, vectors, s.lanes * vectors * width, vectors * width, first},
          frequencies<T>.data(), x.data(), back);
  }
  template <class T>
  [[nodiscard]] static constexpr auto heads_of(sizes s, std::size_t before, std::size_t keys,
                                               T const* q, T const* k, T const* v)
      -> detail::attention_heads<T> {
    auto const times = s.time_distance();
    auto const lanes = s.lane_distance();
    return {
        {s.times, keys, width, times * q_width, times * kv_width, times * q_width, times * heads,
         before, Options.causal, T{1} / lane::sqrt(static_cast<T>(width)), q, k, v},
        s.lanes,
        heads,
        heads / kv_heads,
        lanes * q_width,
        lanes * kv_width,
        lanes * q_width,
        lanes * heads};
  }
  /// Projections, heads, and the projection of what they give; keys and values go to the cache.
  static constexpr void run(auto const& p, auto x, auto y, auto m, sizes s) {
    auto& kept = m.kept;
    using T = scalar_of<decltype(x)>;
    using B = backend_of<decltype(x)>;
    using KV = view_of<resized<decltype(x), kv_width>>;
    auto const q = kept.query.sized_like(x);
    auto const mixed = kept.mixed.sized_like(x);
    auto k = KV{kept.key.data(), x.actual.template as<shape_of<KV>>()};
    auto v = KV{kept.value.data(), k.actual};
    auto const* keys = k.data();
    auto const* values = v.data();
    auto before = std::size_t{0};
    if constexpr (requires { m.state.length; }) {
      before = m.state.length;
      require(before + s.times <= Options.context, "self_attention: the context is full");
      auto const row = s.lanes * kv_width;
      k = KV{m.state.keys.data() + before * row, k.actual};
      v = KV{m.state.values.data() + before * row, k.actual};
      keys = m.state.keys.data();
      values = m.state.values.data();
      m.state.length = before + s.times;
    }
    project<B>(x, p.query, q, m.work.query);
    project<B>(x, p.key, k, m.work.key);
    project<B>(x, p.value, v, m.work.key);
    turn(s, before, q, heads, false);
    turn(s, before, k, kv_heads, false);
    attention.template forward<B, T>(
        heads_of<T>(s, before, before + s.times, q.data(), keys, values), mixed.data(),
        kept.log_sum.data(), m.work.head);
    project<B>(as_const(mixed), p.out, y, m.work.out);
  }
  template <class Backend>
  static constexpr void project(auto x, auto const& p, auto y, auto& packed) {
    using T = scalar_of<decltype(x)>;
    affine_map.template prepare<Backend>(p.weight, packed);
    affine_map(x, p.weight, data_or_null<T const>(p.bias), y, packed);
  }
};

}  // namespace tessera
