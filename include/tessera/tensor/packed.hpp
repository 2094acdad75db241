// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node.hpp>
#include <tessera/tensor/parameters.hpp>

namespace tessera {

/// The matrix of an affine map, by columns: all outputs of an input follow one another, so that a
/// product with one row reads it from end to end, a vector at a time.
///
/// Shapes  S is (Out, In), as of the tensor that it is packed from
/// Cost    In rows of Out numbers, each rounded up to storage_alignment bytes
template <class T, class S, class Backend> struct packed_matrix {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  static constexpr auto out = static_cast<std::size_t>(S::extents[0]);
  static constexpr auto in = static_cast<std::size_t>(S::extents[1]);
  static constexpr auto step = tensor<T, shape<1>, Backend>::padded;
  static constexpr auto stride = (out + step - 1) / step * step;

  alignas(storage_alignment) T values[in * stride];

  constexpr void pack(T const* weight) {
    for (auto k = std::size_t{0}; k < in; ++k)
      for (auto o = std::size_t{0}; o < stride; ++o)
        values[k * stride + o] = o < out ? weight[o * in + k] : T{0};
  }
};
template <class W> inline constexpr bool is_packed = false;
template <class T, class S, class B> inline constexpr bool is_packed<packed_matrix<T, S, B>> = true;

/// Values laid out for calls with few rows: what a stream steps with.
template <class T, class Backend = default_backend> struct packed {
  template <class S> using tensor_type = tensor<T, S, Backend>;
  template <class S> using matrix_type = packed_matrix<T, S, Backend>;
};

/// Copies parameters into their packed form.
///
/// Cost  one pass; no heap
constexpr void pack_parameters(auto const& from, auto& to) {
  for_each_parameter(
      [](path_name const&, auto& target, auto const& source) {
        if constexpr (is_packed<std::remove_cvref_t<decltype(target)>>)
          target.pack(source.data());
        else
          target = source;
      },
      to, from);
}

namespace detail {

/// Element (o, k) of a matrix of either layout.
template <class W>
[[nodiscard]] constexpr auto weight_at(W const& w, std::size_t o, std::size_t k) {
  if constexpr (is_packed<W>)
    return w.values[k * W::stride + o];
  else
    return one_lane::load(w.data() + o * last_of<shape_of<W>> + k);
}

/// Where row o of a matrix of either layout begins.
template <class W> [[nodiscard]] constexpr auto first_weight(W const& w, std::size_t o) {
  if constexpr (is_packed<W>)
    return w.values + o;
  else
    return w.data() + o * last_of<shape_of<W>>;
}
/// The distance of two elements of a row.
template <class W>
inline constexpr std::size_t weight_distance = [] {
  if constexpr (is_packed<W>)
    return W::stride;
  else
    return std::size_t{1};
}();

/// sum[r] += the product of x with row `row(r)` of w, over k ascending, one fma each. The rows
/// share the loads of x, which is what a small machine has to save; those of a packed matrix share
/// a pointer, too.
template <std::size_t In, std::size_t Rows, class T, class W>
constexpr void add_products(T const* x, W const& w, auto const& row, T (&sum)[Rows]) {
  constexpr auto next = weight_distance<W>;
  constexpr auto step = std::size_t{is_packed<W> ? 4 : 8};
  T sums[Rows] = {};
#pragma GCC unroll 16
  for (auto r = std::size_t{0}; r < Rows; ++r) sums[r] = sum[r];
  auto const add = [&](std::size_t k, auto const& weight) TESSERA_INLINE {
    auto const value = one_lane::load(x + k);
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < Rows; ++r)
      sums[r] = lane::fma(value, one_lane::load(weight(r) + k * next), sums[r]);
  };
  auto const walk = [&](auto const& weight, auto const& advance) TESSERA_INLINE {
    for (auto n = In / step; n > 0; --n) {
#pragma GCC unroll 16
      for (auto k = std::size_t{0}; k < step; ++k) add(k, weight);
      x += step;
      advance();
    }
#pragma GCC unroll 16
    for (auto k = std::size_t{0}; k < In % step; ++k) add(k, weight);
  };
  if constexpr (is_packed<W>) {
    auto const* at = first_weight(w, row(0));
    walk([&](std::size_t r) TESSERA_INLINE { return at + (row(r) - row(0)); },
         [&]() TESSERA_INLINE { at += step * next; });
  } else {
    typename W::scalar_type const* at[Rows] = {};
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < Rows; ++r) at[r] = first_weight(w, row(r));
    walk([&](std::size_t r) TESSERA_INLINE { return at[r]; },
         [&]() TESSERA_INLINE {
#pragma GCC unroll 16
           for (auto r = std::size_t{0}; r < Rows; ++r) at[r] += step;
         });
  }
#pragma GCC unroll 16
  for (auto r = std::size_t{0}; r < Rows; ++r) sum[r] = sums[r];
}

}  // namespace detail

}  // namespace tessera
