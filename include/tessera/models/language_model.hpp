// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/embedding.hpp>
#include <tessera/tensor/assign.hpp>

#include <array>

namespace tessera {

struct language_model_options {
  bool tied = true;         ///< the scores are taken by the embedding's own matrix
  bool last_alone = false;  ///< scores of the last token alone: what a prompt is asked for
};

/// What files call the two matrices.
struct llama_matrices {
  static constexpr auto embedding = "model.embed_tokens.weight";
  static constexpr auto head = "lm_head.weight";
};
struct gpt2_matrices {
  static constexpr auto embedding = "transformer.wte.weight";
  static constexpr auto head = "lm_head.weight";
};

/// Tokens through an embedding, a body, and a matrix that gives the scores of all tokens.
///
/// Shapes  tokens (time, ...), whole numbers or in the scalar type of the model -> scores (time,
///         ..., Vocabulary), or (..., Vocabulary) of the last token alone, with the same parameters
///         and state; the body takes and gives vectors of Width; parameters: the embedding
///         (Vocabulary, Width), those of the body, and unless tied the head (Vocabulary, Width). A
///         step whose tokens are those of several sequences (tag::sequences) has scores of each
///         one's last token alone, in its first rows; the others have no value
/// State   that of the body
/// Cost    a copy and Width·Vocabulary multiply-adds for each token that has scores, beside the
///         body; twice that backward; the body's output is kept
/// Errors  a body whose output has another width: tests/fail/language_model_wrong_body.cpp; an x
///         that names no token, and a last token of none, break the contract
/// Source  reference values: tests/reference/llama.py
template <std::size_t Vocabulary, std::size_t Width, class Body,
          language_model_options Options = language_model_options{}, class Names = llama_matrices>
struct language_model : composition<language_model<Vocabulary, Width, Body, Options, Names>, Body> {
  using body = as_layer<Body>;
  static constexpr auto of_all = language_model_options{.tied = Options.tied};
  using whole = language_model<Vocabulary, Width, Body, of_all, Names>;
  using base = composition<language_model, Body>;

  /// Rows are looked up; tied, they are the head's, too.
  template <class Storage, class S>
  using embedding_in = std::conditional_t<Options.tied, tied_in<Storage, S>, table_in<Storage, S>>;
  template <class Storage> struct own {
    using S = shape<Vocabulary, Width>;
    using parts = embedding_in<Storage, S>;
    embedding_in<Storage, S> embedding;
    [[no_unique_address]] matrix_if<not Options.tied, Storage, S, 0> head;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(path_name(Names::embedding), p.embedding...);
      if constexpr (not Options.tied) f(path_name(Names::head), p.head...);
    }
  };
  template <class Storage>
  using parameters = typename composition<whole, Body>::template parameters<Storage>;

  static constexpr facts about = [] {
    auto f = base::about;
    f.row_wise = f.row_wise && not Options.last_alone;
    f.streams = f.streams && not Options.last_alone;
    return f;
  }();

  // -- shapes
  template <class S> using embedded = with_axis<S, S::rank, static_cast<extent>(Width)>;
  template <class S> struct scored {
    using type = S;
  };
  template <class S>
    requires(Options.last_alone && S::rank > 1)
  struct scored<S> {
    using type = without_first<S>;
  };
  template <class S> using scored_shape = typename scored<S>::type;
  template <class S>
  using output_shape =
      with_last<scored_shape<tessera::output_shape<body, embedded<S>>>, Vocabulary>;
  template <class S>
  [[nodiscard]] static constexpr auto output_extents(actual_extents<S> const& actual) {
    auto const made = tessera::output_extents<body>(actual.template as<embedded<S>>());
    if constexpr (Options.last_alone)
      return sample_extents(made).template as<output_shape<S>>();
    else
      return made.template as<output_shape<S>>();
  }
  template <class S> using expected_shape = with_rank_at_least<S, Options.last_alone ? 1 : 0>;

  // -- values
  template <class X, class Call, std::size_t>
  using input = tensor<model_scalar<X>, embedded<shape_of<X>>, backend_of<X>>;
  template <class X, class Call> using made = output_of<body, input<X, Call, 0>>;
  template <class X, class Call>
  using rows = tensor<model_scalar<X>, scored_shape<shape_of<made<X, Call>>>, backend_of<X>>;
  template <class X, class Call>
  using packed = detail::packed_in<Call, detail::affine_map_fn::packed<rows<X, Call>, Vocabulary>>;
  /// Tokens of a step belong to sequences that are at places of their own.
  template <class Call>
  static constexpr bool shared =
      Call::purpose == call_mode::streaming && gives<Call, tag::sequences>;
  /// True for what scores the last tokens alone in such a step.
  static constexpr bool scores_last_tokens = true;
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
    return same_shape<language_model, with_last<S, Width>, S, 0>();
  }

  // -- calls
  static constexpr void run(auto inside, auto x, auto y) {
    using B = backend_of<decltype(x)>;
    auto const& own = inside.p.mine;
    auto const e = inside.template value<0>(embedded_extents(x.actual));
    auto const h = inside.template value<1>(tessera::output_extents<body>(e.actual));
    auto& packed_weight = inside.template memory<2>();
    kernel_for<detail::embedding_fn, B>::forward(x.size(), x.data(), Vocabulary, Width,
                                                 weights_of<scalar_of<decltype(e)>>(own.embedding),
                                                 e.data());
    inside.template forward<0>(as_const(e), h);
    affine_map.template prepare<B>(head_of(own), packed_weight);
    using call = typename std::remove_cvref_t<decltype(inside.m)>::call_type;
    if constexpr (shared<call>) {
      auto const ends = keep_ends(h, inside.m.template value<tag::sequences>());
      affine_map(as_const(first_rows(h, ends)), head_of(own), no_bias<decltype(y)>,
                 first_rows(y, ends), packed_weight);
    } else {
      affine_map(as_const(scored_rows(h)), head_of(own), no_bias<decltype(y)>, y, packed_weight);
    }
  }
  static constexpr void run_back(auto inside, auto x, auto, auto dy, auto dx) {
    using B = backend_of<decltype(x)>;
    auto const& own = inside.p.mine;
    auto& gradient = inside.gradient.mine;
    auto const e = inside.template value<0>(embedded_extents(x.actual));
    auto const h = inside.template value<1>(tessera::output_extents<body>(e.actual));
    auto const de = inside.template slope<0>(e.actual);
    auto const dh = inside.template slope<1>(h.actual);
    if constexpr (Options.last_alone) assign(dh, scalar_of<decltype(dh)>{0});
    affine_map_input(head_of(own), dy, scored_rows(dh));
    affine_map_parameters(scored_rows(h), dy, head_of(gradient).data(),
                          slope_of_no_bias<decltype(h)>);
    inside.template backward<0>(e, h, dh, writes(de));
    if (gradient.embedding.data() != nullptr)
      kernel_for<detail::embedding_fn, B>::parameters(
          x.size(), x.data(), Vocabulary, Width, as_const(de).data(), gradient.embedding.data());
    dx.put(scalar_of<decltype(x)>{0});
  }
  /// The embedding's start, as torch has it, then that of the head, then that of the body.
  static constexpr void initialize_own(auto& p, auto& generator) {
    generator.normal(p.embedding);
    if constexpr (not Options.tied) generator.uniform(p.head, generator.kaiming_bound(Width));
  }

 private:
  template <class Y> static constexpr scalar_of<Y> const* no_bias = nullptr;
  template <class Y> static constexpr scalar_of<Y>* slope_of_no_bias = nullptr;

  [[nodiscard]] static constexpr auto head_of(auto& own) -> auto& {
    if constexpr (Options.tied)
      return own.embedding;
    else
      return own.head;
  }
  /// The rows that have scores: all, or the last sample.
  [[nodiscard]] static constexpr auto scored_rows(auto h) {
    if constexpr (Options.last_alone) {
      auto const time = h.template extent_of<0>();
      require(time > 0, "language_model: the scores of the last token of none");
      return h[time - 1];
    } else {
      return h;
    }
  }
  /// Moves the last row of each sequence to the first ones, and says how many there are.
  [[nodiscard]] static constexpr auto keep_ends(auto h, auto sequences) -> std::size_t {
    auto kept = std::size_t{0};
    auto end = std::size_t{0};
    for (auto lane = std::size_t{0}; lane < sequences.template extent_of<0>(); ++lane) {
      auto const rows = static_cast<std::size_t>(sequences(lane, 1));
      if (rows == 0) continue;
      require(rows <= h.template extent_of<0>() - end,
              "language_model: the sequences have more rows than x");
      end += rows;
      if (kept + 1 < end) assign(h[kept], as_const(h)[end - 1]);
      ++kept;
    }
    return kept;
  }
  /// The first rows of what has a bound; all of what has as many as it says.
  template <class V> [[nodiscard]] static constexpr auto first_rows(V x, std::size_t rows) -> V {
    if constexpr (is_bounded(shape_of<V>::extents[0]))
      return {x.data(),
              actual_extents<shape_of<V>>::from(std::array{rows, x.template extent_of<1>()})};
    else
      return x;
  }
  template <class S>
  [[nodiscard]] static constexpr auto embedded_extents(actual_extents<S> const& actual) {
    return actual.template as<embedded<S>>();
  }
  template <class S> [[nodiscard]] static constexpr auto sample_extents(actual_extents<S> actual) {
    auto const extents = actual.full();
    auto result = std::array<std::size_t, S::rank - 1>{};
    for (auto i = std::size_t{0}; i + 1 < S::rank; ++i) result[i] = extents[i + 1];
    return actual_extents<without_first<S>>::from(result);
  }
};

}  // namespace tessera
