// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/wrappers.hpp>

namespace tessera {

/// A part whose parameters are saved and never optimized: they are statistics, by the same names.
/// It runs as in evaluation, and slopes go through it: a discriminator behind a generator.
///
/// Cost    no gradient, no moments; of its backward pass only dx. What backward gets as a gradient
///         are views without memory: see compose/contract.hpp
template <class Layer> struct frozen : as_layer<evaluated<Layer>> {
  using inner = as_layer<evaluated<Layer>>;
  static constexpr auto about = [] {
    auto f = about_of<inner>;
    f.statistics = true;
    f.reads_parameters_first = true;
    return f;
  }();

  template <class Storage> struct parameters {};
  template <class Storage> struct statistics {
    using parts = hana::basic_tuple<parameters_of<inner, Storage>, statistics_of<inner, Storage>>;
    [[no_unique_address]] parameters_of<inner, Storage> fixed;
    [[no_unique_address]] statistics_of<inner, Storage> moving;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(path_name{}, p.fixed...);
      if constexpr (not is_empty<statistics_of<inner, Storage>>) f(path_name{}, p.moving...);
    }
  };

  static constexpr void forward(auto const&, auto x, auto y, auto const& m) {
    inner::forward(m.statistics.fixed, x, y, lend(m));
  }
  TESSERA_INLINE static constexpr void step(auto const&, auto x, auto y, auto const& m) {
    forward_or_step<inner>(m.statistics.fixed, x, y, lend(m));
  }
  static constexpr void backward(auto const&, auto x, auto y, auto dy, auto dx, auto&,
                                 auto const& m) {
    auto unwanted =
        parameters_of<inner, viewed<model_scalar<kind_of<decltype(x)>>, backend_of<decltype(x)>>>{};
    inner::backward(m.statistics.fixed, x, y, dy, dx, unwanted, lend(m));
  }
  static constexpr void initialize(auto&, auto& s, auto& generator) {
    initialize_layer<inner>(s.fixed, s.moving, generator);
  }

 private:
  template <class M> [[nodiscard]] static constexpr auto lend(M const& m) {
    using X = typename M::input_type;
    using Work = std::remove_reference_t<decltype((m.work))>;
    return loan<inner, X, typename M::call_type, Work, std::remove_cvref_t<decltype(m.context)>>{
        m.state,
        m.kept,
        m.work,
        m.statistics.moving,
        empty_object<observed_by<inner, X, typename M::call_type>>,
        m.context};
  }
};

}  // namespace tessera
