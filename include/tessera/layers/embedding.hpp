// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/embedding.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// A learnt vector for each of Count things.
///
/// Shapes  x (...), numbers 0 .. Count - 1, of whole numbers or in the scalar type of the model ->
///         y (..., Width); parameters: weight (Count, Width)
/// Cost    a copy forward, an addition backward; dx is zero
/// Errors  an x that names none of them breaks the contract; on cuda, which throws nothing, it
///         gives NaN and adds nothing to slopes: tests/ops/embedding.cpp
/// Source  torch.nn.Embedding; reference values: tests/reference/embedding.py
template <std::size_t Count, std::size_t Width> struct embedding {
  template <class Storage> struct parameters {
    table_in<Storage, shape<Count, Width>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using output_shape = with_axis<S, S::rank, static_cast<extent>(Width)>;
  template <class S> using expected_shape = S;
  static constexpr auto about =
      facts{.backward_reads = reads::input, .row_wise = true, .reads_parameters_first = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto) {
    using T = scalar_of<decltype(x)>;
    if constexpr (not std::integral<T>)
      static_assert(Count < (std::size_t{1} << (lane::format<T>::mantissa + 1)),
                    "embedding: the scalar type does not hold all whole numbers below Count");
    kernel_for<detail::embedding_fn, backend_of<decltype(x)>>::forward(
        x.size(), x.data(), Count, Width, weights_of<scalar_of<decltype(y)>>(p.weight), y.data());
  }
  static constexpr void backward(auto const&, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto) {
    using T = scalar_of<decltype(x)>;
    dx.put(T{0});
    if (gradient.weight.data() != nullptr)
      kernel_for<detail::embedding_fn, backend_of<decltype(x)>>::parameters(
          x.size(), x.data(), Count, Width, dy.data(), gradient.weight.data());
  }
  static constexpr void initialize(auto& p, auto& generator) { generator.normal(p.weight); }
};

}  // namespace tessera
