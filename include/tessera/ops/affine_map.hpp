// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/product.hpp>
#include <tessera/ops/reference/affine_map.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/affine_map.hpp>
#include <tessera/ops/simd/affine_map_relaxed.hpp>
#endif

namespace tessera {

namespace detail {

struct affine_map_fn {
  template <class X, std::size_t Out>
  using packed = typename kernel_for<affine_map_fn, backend_of<X>>::template packed<
      scalar_of<X>, shape_of<X>::capacity / last_of<shape_of<X>>, last_of<shape_of<X>>, Out>;

  template <class Backend> static constexpr void prepare(auto const& weight, auto& memory) {
    kernel_for<affine_map_fn, Backend>::prepare(weight, memory);
  }
  constexpr void operator()(auto x, auto const& weight, auto const* bias, auto y,
                            auto& memory) const {
    kernel_for<affine_map_fn, backend_of<decltype(x)>>::run(x, weight, bias, y, memory);
  }
};

struct affine_map_input_fn {
  template <class Dy>
  constexpr void operator()(auto const& weight, Dy dy, auto dx, bool adds = false) const {
    constexpr auto in = last_of<shape_of<decltype(dx)>>;
    constexpr auto out = last_of<shape_of<Dy>>;
    using T = scalar_of<Dy>;
    if (dx.data() == nullptr) return;
    multiply<backend_of<Dy>>(
        matrix_product<T, stored_of<decltype(weight)>>{.rows = rows_of(dy),
                                                       .columns = in,
                                                       .depth = out,
                                                       .a = {dy.data(), out, 1},
                                                       .b = weights_of<T>(weight),
                                                       .c = dx.data(),
                                                       .c_row = in,
                                                       .adds = false,
                                                       .adds_last = adds});
  }
};

struct affine_map_parameters_fn {
  template <class X> constexpr void operator()(X x, auto dy, auto* dweight, auto* dbias) const {
    using kernel = kernel_for<product_fn, backend_of<X>>;
    using T = scalar_of<X>;
    auto const p = slopes<T>(rows_of(x), last_of<shape_of<X>>, last_of<shape_of<decltype(dy)>>,
                             x.data(), dy.data(), dweight);
    if constexpr (requires { kernel::run_with_sums(p, dbias); })
      if (dweight != nullptr && dbias != nullptr) return kernel::run_with_sums(p, dbias);
    if (dweight != nullptr) kernel::run(p);
    if (dbias != nullptr) kernel::add_rows(p.depth, p.rows, dy.data(), dbias);
  }
  /// Of two maps whose outputs were added.
  template <class X, class OtherX, class Dy, class T>
  constexpr void operator()(X x, OtherX other_x, Dy dy, T* dweight, T* dbias, T* other_dweight,
                            T* other_dbias) const {
    if constexpr (reads_once<T, backend_of<X>>)
      if (dweight != nullptr && dbias != nullptr && other_dweight != nullptr &&
          other_dbias != nullptr) {
        constexpr auto out = last_of<shape_of<Dy>>;
        return kernel_for<product_fn, backend_of<X>>::run_both_with_sums(
            slopes<T>(rows_of(x), last_of<shape_of<X>>, out, x.data(), dy.data(), dweight), dbias,
            slopes<T>(rows_of(x), last_of<shape_of<OtherX>>, out, other_x.data(), dy.data(),
                      other_dweight),
            other_dbias);
      }
    (*this)(x, dy, dweight, dbias);
    (*this)(other_x, dy, other_dweight, other_dbias);
  }
  /// True for a backend that reads dy once for two maps, where all their slopes have memory.
  template <class T, class Backend>
  static constexpr bool reads_once = requires(matrix_product<T> p, T* sums) {
    kernel_for<product_fn, Backend>::run_with_sums(p, sums);
    kernel_for<product_fn, Backend>::run_both_with_sums(p, sums, p, sums);
  };

 private:
  template <class T>
  [[nodiscard]] static constexpr auto slopes(std::size_t rows, std::size_t in, std::size_t out,
                                             T const* x, T const* dy, T* dweight)
      -> matrix_product<T> {
    return {.rows = out,
            .columns = in,
            .depth = rows,
            .a = {dy, 1, out},
            .b = {x, in, 1},
            .c = dweight,
            .c_row = in,
            .adds = true};
  }
};

}  // namespace detail

/// y = b + x·Wᵀ for every row of x.
///
/// Shapes    x (..., In), weight (Out, In) however it is stored, bias (Out) or null -> y (..., Out)
/// Cost      rows·In·Out multiply-adds
/// Accuracy  starts from the bias and adds over In ascending, one fused multiply-add each, whatever
///           the number of rows: error at most In·eps·sum|x·w|; without fma, twice that
inline constexpr auto affine_map = detail::affine_map_fn{};

/// dx = dy·W, adding over Out ascending from zero; where it adds, that sum to what is there.
inline constexpr auto affine_map_input = detail::affine_map_input_fn{};

/// dW += dyᵀ·x and db += the rows of dy, adding over the rows ascending to what is there. What has
/// no memory is not computed.
///
/// Of two maps whose outputs were added, with one dy: affine_map_parameters(x, other_x, dy,
/// dweight, dbias, other_dweight, other_dbias) has the same bits, and backends for which
/// `reads_once` is true read dy once.
inline constexpr auto affine_map_parameters = detail::affine_map_parameters_fn{};

}  // namespace tessera
