// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/layer_norm.hpp>
#include <tessera/tensor/reduction.hpp>

namespace tessera {

/// What torch.nn.LayerNorm leaves to choose; epsilon in units of 1e-12.
struct layer_norm_options {
  std::uint64_t epsilon_1e12 = 10'000'000;
  bool affine = true;
};

namespace detail {

/// The axes before the last one, as an axis_list: what a parameter of the last axis is summed over.
template <class S> [[nodiscard]] constexpr auto leading_axes() {
  return []<std::size_t... A>(std::index_sequence<A...>) {
    return axis_list<static_cast<std::ptrdiff_t>(A)...>{};
  }(std::make_index_sequence<S::rank - 1>{});
}

/// to += the sum of e over all axes but the last, unless `to` has no memory.
template <class W, class E> constexpr void add_rows(W& to, E const& e) {
  if (to.data() == nullptr) return;
  if constexpr (shape_of<E>::rank == 1)
    assign(view<scalar_of<W>, shape_of<W>, backend_of<W>>{to.data()},
           view<scalar_of<W>, shape_of<W>, backend_of<W>>{to.data()} + e);
  else
    assign(view<scalar_of<W>, shape_of<W>, backend_of<W>>{to.data()},
           view<scalar_of<W>, shape_of<W>, backend_of<W>>{to.data()} +
               sum(e, leading_axes<shape_of<E>>()));
}

}  // namespace detail

/// y = (x - mean) / sqrt(variance + epsilon) · weight + bias over the last axis.
///
/// Shapes  x (..., Features) -> y (..., Features); parameters: weight and bias (Features)
/// Cost    one pass over memory forward, one backward; the tape has two numbers a row
/// Errors  an input whose last extent is not Features: tests/fail/layer_norm_wrong_input.cpp
/// Source  torch.nn.LayerNorm; reference values: tests/reference/layer_norm.py
template <std::size_t Features, layer_norm_options Options = layer_norm_options{}>
struct layer_norm {
  template <class Storage> struct parameters {
    [[no_unique_address]] tensor_if<Options.affine, Storage, shape<Features>, 0> weight;
    [[no_unique_address]] tensor_if<Options.affine, Storage, shape<Features>, 1> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class X> struct kept {
    resized<X, 1> mean;
    resized<X, 1> scale;
  };
  template <class X> struct means_of_rows {
    resized<X, 1> mean;     ///< of the slope
    resized<X, 1> product;  ///< of the slope times the normal x
  };
  template <class X> struct sums_of_features {
    reshaped<X, shape<2 * Features>> sums;
  };
  template <class X>
  using slopes =
      std::conditional_t<on_device<backend_of<X>>, means_of_rows<X>, sums_of_features<X>>;
  template <class S> using expected_shape = with_last<S, Features>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .row_wise = true,
                                      .adds_dx = true,
                                      .reads_parameters_first = true,
                                      .kept = true,
                                      .slopes = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    auto const average = m.kept.mean.sized_like(x);  // (..., 1)
    auto const scale = m.kept.scale.sized_like(x);   // (..., 1)
    constexpr auto epsilon = static_cast<T>(static_cast<double>(Options.epsilon_1e12) * 1e-12);
    if constexpr (on_device<backend_of<decltype(x)>>) {
      assign(average, mean(x, axis<-1>, keepdims));
      assign(scale, mean(square(x - average), axis<-1>, keepdims));
      assign(scale, rsqrt(scale + epsilon));
      if constexpr (Options.affine)
        assign(y, (x - average) * scale * p.weight + p.bias);
      else
        assign(y, (x - average) * scale);
    } else {
      kernel_for<detail::layer_norm_fn, backend_of<decltype(x)>>::template forward<T>(
          {x.size() / Features, Features}, x.data(), data_or_null<T const>(p.weight),
          data_or_null<T const>(p.bias), epsilon, y.data(), average.data(), scale.data());
    }
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    auto const average = m.kept.mean.sized_like(x);
    auto const scale = m.kept.scale.sized_like(x);
    if constexpr (on_device<backend_of<decltype(x)>>)
      backward_by_expressions(p, x, dy, dx, gradient, m, (x - average) * scale);
    else
      kernel_for<detail::layer_norm_fn, backend_of<decltype(x)>>::template backward<T>(
          {x.size() / Features, Features}, x.data(), data_or_null<T const>(p.weight),
          average.data(), scale.data(), dy.data(),
          {dx.data(), dx.adds, data_or_null<T>(gradient.weight), data_or_null<T>(gradient.bias)},
          m.work.sums.data());
  }
  static constexpr void initialize(auto& p, auto&) {
    if constexpr (Options.affine) {
      p.weight = scalar_of<decltype(p.weight)>{1};
      p.bias = scalar_of<decltype(p.bias)>{0};
    }
  }

 private:
  static constexpr void backward_by_expressions(auto const& p, auto x, auto dy, auto dx,
                                                auto& gradient, auto m, auto const& normal) {
    constexpr auto count = static_cast<scalar_of<decltype(x)>>(Features);
    if (dx.has_memory()) {
      auto const d = [&] {
        if constexpr (Options.affine)
          return dy * p.weight;
        else
          return dy * scalar_of<decltype(dy)>{1};
      }();
      auto const scale = m.kept.scale.sized_like(x);
      auto const mean_d = m.work.mean.sized_like(x);
      auto const mean_product = m.work.product.sized_like(x);
      assign(mean_d, sum(d, axis<-1>, keepdims));
      assign(mean_d, mean_d / count);
      assign(mean_product, sum(d * normal, axis<-1>, keepdims));
      assign(mean_product, mean_product / count);
      dx.put((d - mean_d - normal * mean_product) * scale);
    }
    if constexpr (Options.affine) {
      detail::add_rows(gradient.weight, dy * normal);
      detail::add_rows(gradient.bias, dy);
    }
  }
};

}  // namespace tessera
