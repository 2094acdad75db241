// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

namespace tessera {

/// The same layer without what it keeps: the backward pass runs the forward pass once more. Time
/// for memory, as torch.utils.checkpoint.
///
/// Shapes  those of the layer
/// State   that of the layer; kept is the one that the call started from
/// Cost    a second forward pass; what the layer keeps is work, which compositions overlay: N of
///         them after each other need the memory of one
/// Accuracy  the same bits, dropout included; statistics are observed once
template <class Layer> struct recompute : as_layer<Layer> {
  using inner = as_layer<Layer>;
  static constexpr auto about = [] {
    auto f = about_of<inner>;
    f.backward_reads = reads::input;
    f.in_place = false;
    f.kept = f.scratch = f.slopes = true;
    return f;
  }();

  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    return find_mismatch<inner, X, Call>();
  }
  template <class X, class Call>
  using kept = either<Call::training, state_of<inner, X, Call>, nothing>;
  template <class X, class Call> struct scratch {
    [[no_unique_address]] kept_of<inner, X, Call> kept;
    [[no_unique_address]] scratch_of<inner, X, Call> layer;
  };
  template <class X, class Call> struct slopes {
    using forward_work = scratch_of<inner, X, Call>;
    using backward_work = slopes_of<inner, X, Call>;
    output_of<inner, X> y;
    [[no_unique_address]] state_of<inner, X, Call> state;
    [[no_unique_address]] kept_of<inner, X, Call> kept;
    [[no_unique_address]] observed_by<inner, X, Call> unseen;
    [[no_unique_address]] work_arena<more_bytes(bytes_of<forward_work>, bytes_of<backward_work>)>
        work;
  };

  static constexpr void forward(auto const& p, auto x, auto y, auto const& m) {
    if constexpr (not is_empty<std::remove_reference_t<decltype(m.kept)>>)
      copy_on<backend_of<decltype(x)>>(m.kept, m.state);
    step(p, x, y, m);
  }
  TESSERA_INLINE static constexpr void step(auto const& p, auto x, auto y, auto const& m) {
    forward_or_step<inner>(p, x, y, lend(m, m.state, m.work.kept, m.work.layer, m.observed));
  }
  template <class M>
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 M const& m) {
    using X = typename M::input_type;
    using Call = typename M::call_type;
    auto& again = m.work;
    auto const y = view_of<kind_of<decltype(dy)>>{again.y.data(), dy.actual};
    if constexpr (M::has_state) copy_on<backend_of<decltype(x)>>(again.state, m.kept);
    auto& forward_work = detail::placed<0, scratch_of<inner, X, Call>>(again.work.memory, 0);
    auto& backward_work = detail::placed<0, slopes_of<inner, X, Call>>(again.work.memory, 0);
    inner::forward(p, x, y, lend(m, again.state, again.kept, forward_work, again.unseen));
    inner::backward(p, x, as_const(y), dy, dx, gradient,
                    lend(m, again.state, again.kept, backward_work, again.unseen));
  }

 private:
  template <class M, class Work>
  [[nodiscard]] static constexpr auto lend(M const& m, auto& state, auto& kept, Work& work,
                                           auto& observed) {
    return loan<inner, typename M::input_type, typename M::call_type, Work,
                std::remove_cvref_t<decltype(m.context)>>{state,        kept,     work,
                                                          m.statistics, observed, m.context};
  }
};

}  // namespace tessera
