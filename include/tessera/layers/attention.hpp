// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/inner_lanes.hpp>
#include <tessera/compose/layer.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/rms_norm.hpp>
#include <tessera/ops/attention.hpp>
#include <tessera/ops/rotary.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/elementwise.hpp>

#include <array>

namespace tessera {

struct attention_options {
  std::size_t heads = 1;
  std::size_t kv_heads = 0;  ///< heads of keys and values, which groups of queries share; 0: heads
  std::size_t head_width = 0;  ///< 0: Features / heads
  bool causal = false;         ///< a sample sees itself and the ones before
  bool half_cache = false;     ///< the cache holds f16, of floats on a host; 65504 is the most
  std::size_t context = 0;     ///< causal: the samples that the cache holds; 0: none, and no step
  double rotary_base = 0;      ///< 10'000 as in RoFormer; 0: positions are not turned in
  rotary_pairs pairs = rotary_pairs::halves;
  rotary_scaling scaling = rotary_scaling{};  ///< of the frequencies, for a longer context
  bool head_norms = false;  ///< an RMS norm of each query and each key, before they are turned
  rms_norm_options norm = rms_norm_options{};  ///< of these
  bool bias = true;  ///< of queries, keys and values; by torch's names of all
  bool out_bias = true;
  bool batch_first = false;    ///< x (batch, time..., Features): all axes between are time
  bool out_projection = true;  ///< or the heads are what comes out
  std::size_t memory = 0;      ///< keys and values are of given<tag::memory>, so many numbers each
  bool padded = false;         ///< needs given<tag::lengths>; of a memory they count when given
  bool weights = false;        ///< writes given<tag::attention_weights>, where a call has it
};

/// Names of the projections, and whether queries, keys and values have one matrix: as in torch's
/// MultiheadAttention and in GPT-2; or a layer each, named as by Llama or by diffusers.
struct torch_projections {
  static constexpr auto weight = "in_proj_weight";
  static constexpr auto bias = "in_proj_bias";
  static constexpr auto out = "out_proj";
};
struct llama_projections {
  static constexpr auto query = "q_proj";
  static constexpr auto key = "k_proj";
  static constexpr auto value = "v_proj";
  static constexpr auto out = "o_proj";
  static constexpr auto query_norm = "q_norm";  ///< as Qwen3 calls them
  static constexpr auto key_norm = "k_norm";
};
/// One matrix again, (Out, In): the files of GPT-2 have it turned.
struct gpt2_projections {
  static constexpr auto weight = "c_attn.weight";
  static constexpr auto bias = "c_attn.bias";
  static constexpr auto out = "c_proj";
};
struct diffusers_projections {
  static constexpr auto query = "to_q";
  static constexpr auto key = "to_k";
  static constexpr auto value = "to_v";
  static constexpr auto out = "to_out.0";
};

/// Attention: every sample of x looks at all of x, or at all entries of a memory; multi-head,
/// grouped-query, rotary, with a cache.
///
/// Shapes  x (time, lanes..., Features) -> (time, lanes..., Features), or heads·head_width without
///         an output projection; memory (entries, lanes..., memory); lengths (lanes...), whole
///         numbers of any type: what lies beyond is not seen, and a lane of length 0 has zeros.
///         Fused: in_proj_weight ((heads + 2·kv_heads)·head_width, Features), queries, keys and
///         values in this order, in_proj_bias, out_proj; else a linear layer for each. With norms
///         of heads: query_norm and key_norm (head_width)
/// State   with a context: keys and values of the samples before, and their number, in inference
///         and streaming; a training step sees its own samples only. A step that is given
///         tag::sequences (lanes, 2) has a cache for each of these lanes instead, and x has rows of
///         several, lane by lane: each lane's samples seen before and its rows in x, which are its
///         next samples. The caller counts: a lane begins anew with 0 samples seen. Without it the
///         lanes are those that the cache began with
/// Cost    time·lanes·(projections + 2·heads·head_width·time) multiply-adds, the second part halved
///         where causal; no matrix of scores is kept. A step projects its whole memory
/// Errors  another last extent: tests/fail/attention_wrong_input.cpp; without its memory:
///         tests/fail/attention_no_memory.cpp; lengths of another shape:
///         tests/fail/attention_wrong_lengths.cpp; a half_cache of doubles:
///         tests/fail/attention_half_cache_of_doubles.cpp; more samples than the context, or
///         lengths than entries, break the contract
/// Source  torch.nn.MultiheadAttention; Ainslie et al., GQA, 2023; Su et al., RoFormer, 2021, with
///         Llama's pairs (i, i + width / 2); Yang et al., Qwen3, 2025, for the norms of heads;
///         reference values: tests/reference/attention.py, tests/reference/self_attention.py
template <std::size_t Features, attention_options Options = attention_options{},
          class Names = torch_projections>
struct attention_layer {
  static constexpr auto heads = Options.heads;
  static constexpr auto kv_heads = Options.kv_heads == 0 ? heads : Options.kv_heads;
  static constexpr auto width = Options.head_width == 0 ? Features / heads : Options.head_width;
  static constexpr bool fused = requires { Names::weight; };
  static constexpr bool projects_out = Options.out_projection;
  static constexpr bool crosses = Options.memory > 0;
  static constexpr bool turns = Options.rotary_base > 0;
  static constexpr bool caches = Options.context > 0;
  static constexpr bool norms = Options.head_norms;
  static_assert(caches || not Options.half_cache, "attention: half_cache needs a context");
  static_assert(Options.head_width > 0 || Features % heads == 0,
                "attention: heads must divide the features");
  static_assert(heads % kv_heads == 0, "attention: kv_heads must divide the heads");
  static_assert(not caches || (Options.causal && not Options.batch_first),
                "attention: only a causal one, time first, has a cache");
  static_assert(not turns || (width % 2 == 0 && not Options.batch_first),
                "attention: rotary positions need an even width, time first");
  static_assert(not crosses || not(Options.causal || turns),
                "attention: a memory has no order to be causal or rotary in");
  static_assert(not(fused && crosses) || Options.memory == Features,
                "attention: fused projections read entries as wide as x");
  static_assert(not norms || not(fused || crosses),
                "attention: norms of heads need a projection each, of x");
  static_assert(not caches || not(Options.padded || Options.weights),
                "attention: a cache goes without lengths and weights");
  static constexpr auto q_width = heads * width;
  static constexpr auto kv_width = kv_heads * width;

  // Columns of the products: queries, keys and values by one each; fused by one, with a memory two,
  // and with a cache, to which keys and values go, three.
  static constexpr bool one_product = fused && not crosses && not caches;
  static constexpr bool two_products = fused && crosses;
  static constexpr std::size_t columns[3] = {q_width + (one_product ? 2 * kv_width : 0),
                                             one_product ? 0 : kv_width*(two_products ? 2 : 1),
                                             one_product || two_products ? 0 : kv_width};
  static constexpr auto kv_row = one_product ? columns[0] : columns[1];

  /// By which a pair turns from one sample to the next.
  template <class T>
  static constexpr auto frequencies = detail::rotary_frequencies<T, (turns ? width : 2)>(
      turns ? Options.rotary_base : 1, Options.scaling);

  using to_query = linear<Features, q_width, linear_options{.bias = Options.bias}>;
  using to_key =
      linear<crosses ? Options.memory : Features, kv_width, linear_options{.bias = Options.bias}>;
  static constexpr auto out_options =
      linear_options{.bias = Options.out_bias && (Options.bias || not fused)};
  using to_out =
      std::conditional_t<projects_out, linear<q_width, Features, out_options>, without_parameters>;

  using head_norm = std::conditional_t<norms, rms_norm<width, Options.norm>, without_parameters>;

  template <class Storage> struct fused_parameters {
    using S = shape<q_width + 2 * kv_width, Features>;
    using parts = matrix_in<Storage, S>;
    matrix_in<Storage, S> in_proj_weight;
    [[no_unique_address]] tensor_if<Options.bias, Storage, without_last<S>, 0> in_proj_bias;
    [[no_unique_address]] parameters_of<to_out, Storage> out_proj;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(path_name(Names::weight), p.in_proj_weight...);
      if constexpr (Options.bias) f(path_name(Names::bias), p.in_proj_bias...);
      if constexpr (projects_out) f(path_name(Names::out), p.out_proj...);
    }
  };
  template <class Storage> struct separate_parameters {
    using parts = parameters_of<to_query, Storage>;
    parameters_of<to_query, Storage> query;
    parameters_of<to_key, Storage> key;
    parameters_of<to_key, Storage> value;
    [[no_unique_address]] parameters_of<to_out, Storage> out;
    [[no_unique_address]] detail::member_if<norms, parameters_of<head_norm, Storage>, 1> query_norm;
    [[no_unique_address]] detail::member_if<norms, parameters_of<head_norm, Storage>, 2> key_norm;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(path_name(Names::query), p.query...);
      f(path_name(Names::key), p.key...);
      f(path_name(Names::value), p.value...);
      if constexpr (projects_out) f(path_name(Names::out), p.out...);
      if constexpr (norms) f(path_name(Names::query_norm), p.query_norm...);
      if constexpr (norms) f(path_name(Names::key_norm), p.key_norm...);
    }
  };
  template <class Storage>
  using parameters =
      std::conditional_t<fused, fused_parameters<Storage>, separate_parameters<Storage>>;

  // -- inputs
  using needs =
      std::conditional_t<crosses,
                         std::conditional_t<Options.padded, type_list<tag::memory, tag::lengths>,
                                            type_list<tag::memory>>,
                         std::conditional_t<Options.padded, type_list<tag::lengths>, type_list<>>>;
  template <class Call>
  static constexpr bool counts = (crosses || Options.padded) && gives<Call, tag::lengths>;
  template <class Call>
  static constexpr bool shows = Options.weights && gives<Call, tag::attention_weights>;
  template <class Call> static constexpr bool steps = Call::purpose == call_mode::streaming;
  /// What keys and values are made of.
  template <class X, class Call>
  using entries_of = std::conditional_t<crosses, given_type<Call, tag::memory>, X>;

  /// The samples of a call, at the bound.
  template <class S> [[nodiscard]] static constexpr auto most_times() -> std::size_t {
    if (Options.batch_first) return S::capacity / bound_of(S::extents[0]) / last_of<S>;
    return bound_of(S::extents[0]);
  }
  /// Rows of x belong to sequences that are at places of their own.
  template <class Call>
  static constexpr bool shared = caches && steps<Call> && gives<Call, tag::sequences>;
  template <class Call>
  static constexpr bool carried = caches && Call::carries && not Call::training && not shared<Call>;
  template <class X, class Call>
  static constexpr std::size_t keys_of =
      carried<Call> || shared<Call> ? Options.context
      : not crosses && steps<Call>  ? 1
                                    : most_times<shape_of<entries_of<X, Call>>>();

  // -- memory
  template <class X, std::size_t I, bool Wanted = true>
  using product_if =
      detail::member_if<Wanted && columns[I] != 0, resized<X, (columns[I] == 0 ? 1 : columns[I])>,
                        static_cast<int>(I)>;
  template <class X, class M, bool Carried> struct projected {
    resized<X, columns[0]> query;
    [[no_unique_address]] product_if<M, 1, not Carried> key;
    [[no_unique_address]] product_if<M, 2, not Carried> value;
    [[no_unique_address]] detail::member_if<projects_out, resized<X, q_width>, 3> mixed;
  };
  template <class X, class Call>
  using projected_in = projected<X, entries_of<X, Call>, carried<Call> && not Options.half_cache>;
  template <class X, class Call, bool Counts> struct counted_lengths {
    using type = detail::no_member<4>;
  };
  template <class X, class Call> struct counted_lengths<X, Call, true> {
    using type = reshaped<X, shape_of<given_type<Call, tag::lengths>>>;
  };
  /// Of the norms: scales of rows, and in training what they were given.
  template <class X, bool Training> struct normed {
    template <bool Wanted, std::size_t N, int Tag>
    using rows = detail::member_if<norms && Wanted, resized<X, (norms && Wanted ? N : 1)>, Tag>;
    [[no_unique_address]] rows<true, heads, 0> query_scale;
    [[no_unique_address]] rows<true, kv_heads, 1> key_scale;
    [[no_unique_address]] rows<Training, q_width, 2> query;
    [[no_unique_address]] rows<Training, kv_width, 3> key;
  };
  template <class X, class Call> struct kept : projected_in<X, Call> {
    resized<X, heads> log_sum;
    [[no_unique_address]] detail::member_if<norms, normed<X, Call::training>, 5> before_turns;
    [[no_unique_address]] typename counted_lengths<X, Call, counts<Call>>::type lengths;
  };
  template <class X, class Call>
  using head_work = detail::attention_fn::workspace<X, keys_of<X, Call>, width>;
  template <class X, class Call> struct scratch {
    template <class In, std::size_t Out>
    using weights =
        detail::packed_in<Call, detail::affine_map_fn::packed<In, (Out == 0 ? 1 : Out)>>;
    template <std::size_t I>
    using shared_by = detail::member_if<columns[I] != 0, weights<entries_of<X, Call>, columns[I]>,
                                        static_cast<int>(I)>;
    [[no_unique_address]] weights<X, columns[0]> query;
    [[no_unique_address]] shared_by<1> key;
    [[no_unique_address]] detail::member_if<projects_out, weights<resized<X, q_width>, Features>, 3>
        out;
    head_work<X, Call> head;
  };
  template <class X, class Call> struct slopes : projected_in<X, Call> {
    head_work<X, Call> head;
    [[no_unique_address]] detail::member_if<norms, reshaped<X, shape<width>>, 6> norm_sums;
  };
  /// What a cache has numbers of T as.
  template <class T> using cached = std::conditional_t<Options.half_cache, f16, T>;
  template <class X, class S> using cached_rows = tensor<cached<scalar_of<X>>, S, backend_of<X>>;
  template <class X>
  static constexpr bool keeps_halves =
      not Options.half_cache || (std::same_as<scalar_of<X>, float> && not on_device<backend_of<X>>);
  template <class Lanes> struct cache {
    static_assert(keeps_halves<Lanes>, "attention: half_cache is for floats, on a host");
    using rows = cached_rows<
        Lanes,
        with_last<with_axis<shape_of<Lanes>, 0, static_cast<extent>(caches ? Options.context : 1)>,
                  kv_width>>;
    rows keys;
    rows values;
    std::size_t length;  ///< of what the lanes have seen
    /// Whose keys follow each other, of as many as there may be.
    [[no_unique_address]] detail::member_if<shape_of<Lanes>::bounded != 0, std::size_t> lanes;
    [[no_unique_address]] detail::member_if<detail::bounds_inner_lanes<shape_of<Lanes>>,
                                            detail::inner_lanes<shape_of<Lanes>>, 1> inner;
    constexpr void each_count(auto const& f) {
      f(length);
      if constexpr (not is_empty<decltype(lanes)>) f(lanes);
      if constexpr (not is_empty<decltype(inner)>) f(inner);
    }
  };
  template <class X, class Call> struct shared_cache {
    static_assert(keeps_halves<X>, "attention: half_cache is for floats, on a host");
    using rows = cached_rows<
        X, shape<shape_of<given_type<Call, tag::sequences>>::extents[0],
                 static_cast<extent>(caches ? Options.context : 1), static_cast<extent>(kv_width)>>;
    rows keys;
    rows values;
  };
  template <class X, class Call>
    requires caches
  using state = std::conditional_t<
      Call::training, nothing,
      std::conditional_t<shared<Call>, shared_cache<X, Call>, cache<detail::sample_in<X, Call>>>>;

  // -- shapes
  template <class S> using expected_shape = with_last<with_rank_at_least<S, 2>, Features>;
  template <class S> using output_shape = with_last<S, projects_out ? Features : q_width>;
  static constexpr auto about = facts{.backward_reads = projects_out ? reads::input : reads::both,
                                      .streams = caches || crosses,
                                      .adds_dx = one_product || crosses,
                                      .reads_parameters_first = true,
                                      .kept = true,
                                      .state = caches,
                                      .scratch = true,
                                      .slopes = true};

  /// The first input that has another shape than x asks for.
  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    using S = shape_of<X>;
    using wants = wanted_inputs<S, Call>;
    using memory = decltype(same_input<Call, tag::memory, crosses, wants>());
    using lengths = decltype(same_input<Call, tag::lengths, counts<Call>, wants>());
    using weights = decltype(same_input<Call, tag::attention_weights, shows<Call>, wants>());
    using sequences = decltype(same_input<Call, tag::sequences, shared<Call>, wants>());
    if constexpr (not std::same_as<memory, detail::no_finding>)
      return memory{};
    else if constexpr (not std::same_as<lengths, detail::no_finding>)
      return lengths{};
    else if constexpr (not std::same_as<weights, detail::no_finding>)
      return weights{};
    else if constexpr (not std::same_as<sequences, detail::no_finding>)
      return sequences{};
    else
      return detail::find_breach<attention_layer, X, Call>();
  }

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    run(p, x, y, m, sizes_of(x));
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) {
    run(p, x, y, m, {1, x.size() / Features});
  }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    using B = backend_of<decltype(x)>;
    auto const e = seen_by(x, m);
    auto const s = sizes_of(x);
    auto const d = places_in(m.work);
    T const* mixed = y.data();
    T const* dmixed = dy.data();
    if constexpr (projects_out) {
      auto const from = as_const(m.kept.mixed.sized_like(x));
      auto const slope = m.work.mixed.sized_like(x);
      affine_map_input(out_of(p).weight, dy, slope);
      affine_map_parameters(from, dy, out_of(gradient).weight.data(),
                            data_or_null<T>(out_of(gradient).bias));
      mixed = from.data();
      dmixed = slope.data();
    }
    auto const keys = crosses ? sizes_of(e).times : s.times;
    scaled_dot_product_attention.template backward<B, T>(
        heads_of<T>(s, 0, keys, places_in(m.kept), lengths_in(m)),
        {.y = mixed,
         .dy = dmixed,
         .log_sum = m.kept.log_sum.data(),
         .dq = d.q,
         .dk = d.k,
         .dv = d.v},
        m.work.head);
    turn<B>(s, 0, d.q, columns[0], heads, true);
    turn<B>(s, 0, d.k, kv_row, kv_heads, true);
    if constexpr (norms) {
      auto const& kept = m.kept.before_turns;
      norm_back<B>(s, heads, p.query_norm, kept.query, kept.query_scale, d.q, gradient.query_norm,
                   m.work.norm_sums);
      norm_back<B>(s, kv_heads, p.key_norm, kept.key, kept.key_scale, d.k, gradient.key_norm,
                   m.work.norm_sums);
    }
    auto const de = [&] {
      if constexpr (crosses)
        return m.template slope<tag::memory>();
      else
        return dx.again();
    }();
    back_to<0>(p, d.q, dx);
    back_to<1>(p, d.k, de);
    back_to<2>(p, d.v, de);
    add_parameters<0>(gradient, x, d.q);
    add_parameters<1>(gradient, e, d.k);
    add_parameters<2>(gradient, e, d.v);
  }
  /// Separate, linear layers in their order. Fused, out_proj as a linear layer and the stacked
  /// matrix by xavier_uniform; biases are zero. The draws come in torch's order.
  static constexpr void initialize(auto& p, auto& generator) {
    if constexpr (not fused) {
      to_query::initialize(p.query, generator);
      to_key::initialize(p.key, generator);
      to_key::initialize(p.value, generator);
    }
    if constexpr (projects_out) to_out::initialize(out_of(p), generator);
    if constexpr (norms) {
      head_norm::initialize(p.query_norm, generator);
      head_norm::initialize(p.key_norm, generator);
    }
    if constexpr (fused) {
      if constexpr (requires { out_of(p).bias.data(); }) out_of(p).bias = {};
      if constexpr (Options.bias) p.in_proj_bias = {};
      generator.uniform(p.in_proj_weight, generator.xavier_bound(Features, q_width + 2 * kv_width));
    }
  }
  /// Without the projections of a memory, whose entries the shape of x does not tell.
  template <class S>
  static constexpr std::size_t multiply_adds =
      S::capacity / Features *
      (Features * (q_width * (projects_out ? 2 : 1) + (crosses ? 0 : 2 * kv_width)) +
       (crosses ? 0 : 2 * q_width * most_times<S>() / (Options.causal ? 2 : 1)));

 private:
  // -- the shapes of inputs
  /// The extent of time, or of all axes between the first and the last one where that is the batch.
  template <class S> [[nodiscard]] static consteval auto time_of() -> extent {
    if constexpr (not Options.batch_first)
      return S::extents[0];
    else if constexpr (S::rank == 3)
      return S::extents[1];
    else
      return static_cast<extent>(S::capacity / (bound_of(S::extents[0]) * last_of<S>));
  }
  template <class S, class Call> struct wanted_inputs {
    static constexpr extent first = S::extents[0];
    using sample = typename std::conditional_t<steps<Call>, std::type_identity<S>,
                                               std::type_identity<without_first<S>>>::type;
    using lanes = std::conditional_t<Options.batch_first, shape<first>, without_last<sample>>;
    template <class G> [[nodiscard]] static constexpr auto want(tag::memory) {
      if constexpr (Options.batch_first)
        return with_last<with_first<with_rank_at_least<G, 3>, first>, Options.memory>{};
      else
        return with_axis<with_last<sample, Options.memory>, 0, G::extents[0]>{};
    }
    template <class G> [[nodiscard]] static constexpr auto want(tag::lengths) { return lanes{}; }
    template <class G> [[nodiscard]] static constexpr auto want(tag::sequences) {
      return shape<G::extents[0], 2>{};
    }
    template <class G> [[nodiscard]] static constexpr auto want(tag::attention_weights) {
      constexpr auto lane = lanes::rank == 1 ? lanes::extents[0] : extent(lanes::capacity);
      constexpr auto keys = time_of<shape_of<entries_of<tensor<float, S>, Call>>>();
      return shape<lane, static_cast<extent>(heads), steps<Call> ? 1 : time_of<S>(), keys>{};
    }
  };
  template <class Call, class Tag, bool Used, class Wanted>
  [[nodiscard]] static constexpr auto same_input() {
    if constexpr (Used) {
      using G = shape_of<given_type<Call, Tag>>;
      return same_shape<attention_layer, decltype(Wanted::template want<G>(Tag{})), G>();
    } else {
      return detail::no_finding{};
    }
  }

  // -- geometry
  struct sizes {
    std::size_t times;
    std::size_t lanes;
    [[nodiscard]] constexpr auto time_distance() const -> std::size_t {
      return Options.batch_first ? 1 : lanes;
    }
  };
  [[nodiscard]] static constexpr auto sizes_of(auto x) -> sizes {
    auto const first = x.template extent_of<0>();
    auto const others = first == 0 ? 0 : x.size() / last_of<shape_of<decltype(x)>> / first;
    return Options.batch_first ? sizes{others, first} : sizes{first, others};
  }
  /// The first query, key and value.
  template <class T, class K = T> struct places {
    T* q;
    K* k;
    K* v;
  };
  [[nodiscard]] static constexpr auto places_in(auto& of) {
    auto* const q = of.query.data();
    using T = std::remove_reference_t<decltype(*q)>;
    if constexpr (one_product)
      return places<T>{q, q + q_width, q + q_width + kv_width};
    else if constexpr (two_products)
      return places<T>{q, of.key.data(), of.key.data() + kv_width};
    else
      return places<T>{q, data_or_null<T>(of.key), data_or_null<T>(of.value)};
  }
  template <class T, class K>
  [[nodiscard]] static constexpr auto heads_of(sizes s, std::size_t before, std::size_t keys,
                                               places<T, K> at, T const* lengths)
      -> detail::attention_heads<T, K> {
    auto const times = s.time_distance();
    auto const lane_of_q = Options.batch_first ? s.times : 1;
    auto const lane_of_kv = Options.batch_first ? keys : 1;
    return {.first = {.queries = s.times,
                      .keys = keys,
                      .width = width,
                      .q_row = times * columns[0],
                      .kv_row = times * kv_row,
                      .out = times * q_width,
                      .sum = times * heads,
                      .before = before,
                      .causal = Options.causal,
                      .scale = T{1} / lane::sqrt(static_cast<T>(width)),
                      .q = at.q,
                      .k = at.k,
                      .v = at.v},
            .lanes = s.lanes,
            .heads = heads,
            .sharing = heads / kv_heads,
            .q_lane = lane_of_q * columns[0],
            .kv_lane = lane_of_kv * kv_row,
            .out_lane = lane_of_q * q_width,
            .sum_lane = lane_of_q * heads,
            .lengths = lengths};
  }
  template <class Backend, class T>
  static constexpr void turn(sizes s, std::size_t first, T* x, std::size_t row, std::size_t vectors,
                             bool back) {
    if constexpr (turns)
      kernel_for<detail::rotary_fn, Backend>::template run<width>({.times = s.times,
                                                                   .lanes = s.lanes,
                                                                   .vectors = vectors,
                                                                   .time_distance = s.lanes * row,
                                                                   .lane_distance = row,
                                                                   .first = first,
                                                                   .pairs = Options.pairs},
                                                                  frequencies<T>.data(), x, back);
  }
  /// Every head of the rows of x through its norm; `before` is x, or where x comes from.
  template <class Backend, class T>
  static constexpr void norm(sizes s, std::size_t vectors, auto const& p, T const* before, T* x,
                             auto& scale) {
    kernel_for<detail::rms_norm_fn, Backend>::template forward<T>(
        {s.times * s.lanes * vectors, width}, before, p.weight.data(),
        head_norm::template epsilon<T>, x, scale.data());
  }
  template <class Backend, class T>
  static constexpr void norm_back(sizes s, std::size_t vectors, auto const& p, auto const& before,
                                  auto const& scale, T* slope, auto& gradient, auto& sums) {
    kernel_for<detail::rms_norm_fn, Backend>::template backward<T>(
        {s.times * s.lanes * vectors, width}, before.data(), p.weight.data(), scale.data(), slope,
        {slope, false, gradient.weight.data()}, sums.data());
  }

  // -- inputs of a call
  [[nodiscard]] static constexpr auto seen_by(auto x, auto const& m) {
    if constexpr (crosses)
      return m.template value<tag::memory>();
    else
      return x;
  }
  [[nodiscard]] static constexpr auto lengths_in(auto const& m) {
    using T = scalar_of<decltype(m.kept.query)>;
    return static_cast<T const*>(data_or_null<T>(m.kept.lengths));
  }
  static constexpr void read_lengths(auto const& m, std::size_t keys, std::size_t lanes) {
    if constexpr (requires { m.kept.lengths.data(); }) {
      auto const n = m.template value<tag::lengths>();
      require(n.size() == lanes, "attention: each lane of x has a length");
      if constexpr (not on_device<backend_of<decltype(n)>>)
        for (auto const length : n) {
          auto const v = static_cast<double>(length);
          require(v >= 0 && v <= static_cast<double>(keys) &&
                      v == static_cast<double>(static_cast<std::size_t>(v)),
                  "attention: a length is no whole number of entries");
        }
      using T = scalar_of<decltype(m.kept.lengths)>;
      if constexpr (std::same_as<scalar_of<decltype(n)>, T>)
        assign(m.kept.lengths.sized_like(n), n);
      else
        assign(m.kept.lengths.sized_like(n), cast<T>(n));
    }
  }

  // -- products
  /// A matrix and a bias, or rows of fused ones: product I.
  template <std::size_t I> [[nodiscard]] static constexpr auto weight(auto& p) -> decltype(auto) {
    if constexpr (one_product) {
      return (p.in_proj_weight);
    } else if constexpr (fused && requires { p.in_proj_weight.numbers(); }) {
      using W = std::remove_cvref_t<decltype(p.in_proj_weight)>;
      return some_weights<W, first_column<I>, columns[I] == 0 ? 1 : columns[I]>{p.in_proj_weight};
    } else if constexpr (fused) {
      auto* const from = p.in_proj_weight.data();
      using U = std::remove_reference_t<decltype(*from)>;
      using S = shape<static_cast<extent>(columns[I] == 0 ? 1 : columns[I]), Features>;
      return view<U, S, backend_of<decltype(p.in_proj_weight)>>{after<I>(from, Features)};
    } else {
      return (separate<I>(p).weight);
    }
  }
  template <class T, std::size_t I> [[nodiscard]] static constexpr auto bias(auto& p) -> T* {
    if constexpr (fused)
      return after<I>(data_or_null<T>(p.in_proj_bias), 1);
    else
      return data_or_null<T>(separate<I>(p).bias);
  }
  template <std::size_t I> [[nodiscard]] static constexpr auto separate(auto& p) -> auto& {
    if constexpr (I == 0)
      return p.query;
    else if constexpr (I == 1)
      return p.key;
    else
      return p.value;
  }
  [[nodiscard]] static constexpr auto out_of(auto& p) -> auto& {
    if constexpr (fused)
      return p.out_proj;
    else
      return p.out;
  }
  template <std::size_t I>
  static constexpr auto first_column = (I > 0 ? q_width : 0) + (I > 1 ? kv_width : 0);
  template <std::size_t I, class T>
  [[nodiscard]] static constexpr auto after(T* data, std::size_t row) -> T* {
    return data == nullptr ? data : data + first_column<I> * row;
  }
  /// The numbers of product I, as wide as it is, for the rows of `from`.
  template <std::size_t I, class T> [[nodiscard]] static constexpr auto rows(T* data, auto from) {
    using S = with_last<shape_of<decltype(from)>, columns[I]>;
    return view<T, S, backend_of<decltype(from)>>{data, from.actual.template as<S>()};
  }
  template <std::size_t I>
  static constexpr void project(auto const& p, auto from, auto* to, auto& packed) {
    if constexpr (columns[I] != 0) {
      using T = scalar_of<decltype(from)>;
      auto const& w = weight<I>(p);
      affine_map.template prepare<backend_of<decltype(from)>>(w, packed);
      affine_map(from, w, bias<T const, I>(p), rows<I>(to, from), packed);
    }
  }
  template <std::size_t I> static constexpr void back_to(auto const& p, auto* slope, auto to) {
    if constexpr (columns[I] != 0)
      affine_map_input(weight<I>(p), as_const(rows<I>(slope, to.view)), to.view, to.adds);
  }
  template <std::size_t I>
  static constexpr void add_parameters(auto& gradient, auto from, auto* slope) {
    if constexpr (columns[I] != 0)
      affine_map_parameters(from, as_const(rows<I>(slope, from)), weight<I>(gradient).data(),
                            bias<scalar_of<decltype(from)>, I>(gradient));
  }

  /// The heads of rows of several sequences, whose keys and values go to their lanes' caches.
  static constexpr void attend_by_lane(auto at, auto* mixed, std::size_t rows, auto m) {
    using T = std::remove_reference_t<decltype(*mixed)>;
    using B = backend_of<decltype(m.kept.query)>;
    static_assert(not on_device<B>, "attention: sequences at places of their own are a host's");
    for_each_lane(rows, m, [&](std::size_t lane, std::size_t row, std::size_t before, sizes s) {
      auto const own =
          places<T>{at.q + row * columns[0], at.k + row * kv_width, at.v + row * kv_width};
      turn<B>(s, before, own.q, columns[0], heads, false);
      turn<B>(s, before, own.k, kv_width, kv_heads, false);
      put_in_cache<B>(own, cache_of<T>(own.q, lane, m), before * kv_width, s.times * kv_width, m);
    });
    scaled_dot_product_attention.template forward_each<B, T, cached<T>>(
        [&](auto const& take) {
          for_each_lane(rows, m,
                        [&](std::size_t lane, std::size_t row, std::size_t before, sizes s) {
                          auto const seen = cache_of<T>(at.q + row * columns[0], lane, m);
                          take(heads_of<T>(s, before, before + s.times, seen, nullptr),
                               mixed + row * q_width, static_cast<T*>(nullptr));
                        });
        },
        m.work.head);
  }
  template <class T>
  [[nodiscard]] static constexpr auto cache_of(T* q, std::size_t lane, auto m)
      -> places<T, cached<T>> {
    auto const first = lane * Options.context * kv_width;
    return {q, m.state.keys.data() + first, m.state.values.data() + first};
  }
  template <class B, class T>
  static constexpr void put_in_cache(places<T> own, places<T, cached<T>> to, std::size_t first,
                                     std::size_t count, auto m) {
    using S = shape<at_most(shape_of<decltype(m.state.keys)>::capacity)>;
    auto const extents = actual_extents<S>{{count}};
    auto const put = [&](T const* from, cached<T>* at) {
      assign(view<cached<T>, S, B>{at + first, extents}, view<T const, S, B>{from, extents});
    };
    put(own.k, to.k);
    put(own.v, to.v);
  }
  /// Keys and values that the heads see: all that a cache has, with `count` numbers of this call
  /// from `first` on, or those of the call alone.
  template <class B, class T>
  [[nodiscard]] static constexpr auto seen_from(places<T> at, std::size_t first, std::size_t count,
                                                auto m) {
    if constexpr (requires { m.state.length; }) {
      auto const cache = cache_of<T>(at.q, 0, m);
      if constexpr (Options.half_cache) put_in_cache<B>(at, cache, first, count, m);
      return cache;
    } else {
      return at;
    }
  }
  /// f(lane, its first row, the samples that it has seen, its rows) of each lane that has rows.
  static constexpr void for_each_lane(std::size_t rows, auto m, auto const& f) {
    auto const lanes = m.template value<tag::sequences>();
    auto row = std::size_t{0};
    for (auto lane = std::size_t{0}; lane < first_of<shape_of<decltype(lanes)>>; ++lane) {
      auto const before = static_cast<std::size_t>(lanes(lane, 0));
      auto const count = static_cast<std::size_t>(lanes(lane, 1));
      if (count == 0) continue;
      require(count <= rows - row, "attention: the lanes have more rows than x");
      require(before <= Options.context && count <= Options.context - before,
              "attention: the context is full");
      f(lane, row, before, sizes{count, 1});
      row += count;
    }
    require(row == rows, "attention: x has rows that are no lane's");
  }
  /// Projections, heads, and the projection of what they give; keys and values go to the cache.
  static constexpr void run(auto const& p, auto x, auto y, auto m, sizes s) {
    using T = scalar_of<decltype(x)>;
    using B = backend_of<decltype(x)>;
    auto const e = seen_by(x, m);
    auto at = places_in(m.kept);
    auto keys = crosses ? sizes_of(e).times : s.times;
    if constexpr (crosses)
      require(e.size() == 0 || sizes_of(e).lanes == s.lanes,
              "attention: the memory has other lanes than x");
    auto before = std::size_t{0};
    if constexpr (requires { m.state.length; }) {
      before = m.state.length;
      keys += before;
      require(keys <= Options.context, "attention: the context is full");
      if constexpr (requires { m.state.inner.go_on(x.actual); }) m.state.inner.go_on(x.actual);
      if constexpr (requires { m.state.lanes = s.lanes; }) {
        require(s.times == 0 || before == 0 || m.state.lanes == s.lanes,
                "attention: a cache goes on with the lanes that it began with");
        if (s.times > 0) m.state.lanes = s.lanes;
      }
      m.state.length = keys;
      if constexpr (not Options.half_cache) {
        auto const cache = cache_of<T>(at.q, 0, m);
        at.k = cache.k + before * s.lanes * kv_width;
        at.v = cache.v + before * s.lanes * kv_width;
      }
    }
    if constexpr (norms) {
      auto& kept = m.kept.before_turns;
      auto* q = at.q;
      auto* k = at.k;
      if constexpr (decltype(m)::training) q = kept.query.data(), k = kept.key.data();
      project<0>(p, x, q, m.work.query);
      project<1>(p, e, k, m.work.key);
      norm<B>(s, heads, p.query_norm, q, at.q, kept.query_scale);
      norm<B>(s, kv_heads, p.key_norm, k, at.k, kept.key_scale);
    } else {
      project<0>(p, x, at.q, m.work.query);
      project<1>(p, e, at.k, m.work.key);
    }
    project<2>(p, e, at.v, m.work.key);
    auto* mixed = y.data();
    if constexpr (projects_out) mixed = m.kept.mixed.data();
    if constexpr (shared<typename decltype(m)::call_type>) {
      attend_by_lane(at, mixed, s.lanes, m);
    } else {
      turn<B>(s, before, at.q, columns[0], heads, false);
      turn<B>(s, before, at.k, kv_row, kv_heads, false);
      read_lengths(m, keys, s.lanes);
      auto const seen =
          seen_from<B>(at, before * s.lanes * kv_width, s.times * s.lanes * kv_width, m);
      auto const every = heads_of<T>(s, before, keys, seen, lengths_in(m));
      scaled_dot_product_attention.template forward<B, T>(every, mixed, m.kept.log_sum.data(),
                                                          m.work.head);
      if constexpr (shows<typename decltype(m)::call_type>) {
        auto const to = m.template slope<tag::attention_weights>();
        if (to.has_memory()) {
          require(to.view.size() == s.lanes * heads * s.times * keys,
                  "attention: the weights have a place for each lane, head, query and key");
          scaled_dot_product_attention.template weights<B, T>(every, m.kept.log_sum.data(),
                                                              to.data());
        }
      }
    }
    if constexpr (projects_out) {
      affine_map.template prepare<B>(out_of(p).weight, m.work.out);
      affine_map(as_const(m.kept.mixed.sized_like(x)), out_of(p).weight,
                 data_or_null<T const>(out_of(p).bias), y, m.work.out);
    }
  }
};

}  // namespace tessera
