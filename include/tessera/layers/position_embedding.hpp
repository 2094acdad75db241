// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/ops/embedding.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

struct position_embedding_options {
  bool streams = false;  ///< a stream, and a call that resumes, goes on counting
};

/// y = x + a learnt vector for each position of a sequence.
///
/// Shapes  x (time, ..., Width) -> the same; parameters: weight (Count, Width)
/// State   where it streams: the number of samples before
/// Cost    an addition forward, a sum over the lanes backward
/// Errors  another last extent: tests/fail/position_embedding_wrong_input.cpp; more samples than
///         Count break the contract
/// Source  Devlin et al., BERT, 2018; reference values: tests/reference/gpt2.py
template <std::size_t Count, std::size_t Width,
          position_embedding_options Options = position_embedding_options{}>
struct position_embedding {
  template <class Storage> struct parameters {
    table_in<Storage, shape<Count, Width>> weight;
    TESSERA_PARAMETERS(weight)
  };
  struct samples_before {
    alignas(storage_alignment) std::size_t length;
    constexpr void each_count(auto const& f) { f(length); }
  };
  template <class X, class Call>
    requires(Options.streams)
  using state = std::conditional_t<Call::training, nothing, samples_before>;
  template <class X> struct scratch {
    reshaped<X, shape<1>> position;
    reshaped<X, shape<Width>> row;
  };
  template <class S> using expected_shape = with_last<with_rank_at_least<S, 2>, Width>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.streams = Options.streams,
                                      .in_place = true,
                                      .adds_dx = true,
                                      .reads_parameters_first = true,
                                      .state = Options.streams,
                                      .scratch = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    auto const times = x.template extent_of<0>();
    auto const first = count(times, m);
    for (auto t = std::size_t{0}; t < times; ++t) add(p, first + t, x[t], y[t], m);
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) {
    add(p, count(1, m), x, y, m);
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto& gradient, auto) {
    if (gradient.weight.data() != nullptr)
      for (auto t = std::size_t{0}; t < dy.template extent_of<0>(); ++t) {
        using T = scalar_of<decltype(dy)>;
        auto row =
            view<T, shape<Width>, backend_of<decltype(dy)>>{gradient.weight.data() + t * Width};
        detail::add_rows(row, dy[t]);
      }
    dx.put(dy);
  }
  static constexpr void initialize(auto& p, auto& generator) { generator.normal(p.weight); }

 private:
  /// The position of the first of so many samples more.
  [[nodiscard]] static constexpr auto count(std::size_t times, auto const& m) -> std::size_t {
    auto first = std::size_t{0};
    if constexpr (requires { m.state.length; }) first = m.state.length;
    require(first + times <= Count, "position_embedding: more samples than positions");
    if constexpr (requires { m.state.length; }) m.state.length += times;
    return first;
  }
  static constexpr void add(auto const& p, std::size_t position, auto x, auto y, auto const& m) {
    using T = scalar_of<decltype(y)>;
    using B = backend_of<decltype(y)>;
    auto const at = view<T, shape<1>, B>{m.work.position.data()};
    auto const row = view<T, shape<Width>, B>{m.work.row.data()};
    assign(at, static_cast<T>(position));
    kernel_for<detail::embedding_fn, B>::forward(std::size_t{1}, as_const(at).data(), Count, Width,
                                                 weights_of<T>(p.weight), row.data());
    assign(y, x + row);
  }
};

}  // namespace tessera
