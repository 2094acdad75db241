// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/tensor/gate_panels.hpp>
#include <tessera/tensor/parameters.hpp>
#include <tessera/tensor/weights.hpp>

#include <limits>

/// Storages of parameters whose matrices lie otherwise than a tensor does: by columns, in fewer
/// bits, or in a file. What is no matrix of weights (a bias, the scale of a norm) stays in T.
namespace tessera {

namespace detail {

/// A scale for each output, where the stored numbers have one.
template <class T, class Stored, std::size_t Count> struct output_scales {
  [[nodiscard]] static constexpr auto matrix(Stored const* values, std::size_t row,
                                             std::size_t column) -> weight_matrix<T, Stored> {
    return {values, row, column};
  }
};
template <class T, std::size_t Count> struct output_scales<T, std::int8_t, Count> {
  alignas(storage_alignment) T scale[Count];
  [[nodiscard]] constexpr auto matrix(std::int8_t const* values, std::size_t row,
                                      std::size_t column) const -> weight_matrix<T, std::int8_t> {
    return {values, row, column, {scale, 1, 0}};
  }
};

/// The scale of numbers in 8 bits, value(k) for k < count: the largest magnitude over 127; 0 where
/// all are zero.
template <class T>
[[nodiscard]] constexpr auto scale_of(std::size_t count, auto const& value) -> T {
  auto largest = T{0};
  for (auto k = std::size_t{0}; k < count; ++k) {
    auto const magnitude = lane::abs(value(k));
    require(is_finite(magnitude), "weights in 8 bits: one is not finite");
    if (magnitude > largest) largest = magnitude;
  }
  constexpr auto most = std::numeric_limits<T>::max() / T{128};  // its 127 steps are finite
  return lane::min(most, largest / T{127});
}
/// Output o of weights to values[k·distance], and its scale: to the nearest number, ties to even.
template <class T, class From, class Stored>
constexpr void store_output(From const& from, std::size_t o, std::size_t in, Stored* values,
                            std::size_t distance, [[maybe_unused]] auto& scales) {
  auto const value = [&](std::size_t k) { return from.at(o, k); };
  if constexpr (is_scaled<Stored> && std::same_as<From, weight_matrix<T, Stored>>) {  // as it is
    scales.scale[o] = from.scales.at(o, 0);
    for (auto k = std::size_t{0}; k < in; ++k)
      values[k * distance] = from.data[o * from.row + k * from.column];
  } else if constexpr (is_scaled<Stored>) {
    auto const scale = scales.scale[o] = scale_of<T>(in, value);
    auto const most = T{127};  // a scale that is not normal is too rough for its numbers
    for (auto k = std::size_t{0}; k < in; ++k) {
      auto const quotient = scale == T{0} ? T{0} : value(k) / scale;
      values[k * distance] =
          static_cast<Stored>(lane::nearest(lane::max(-most, lane::min(most, quotient))).value);
    }
  } else {
    using C = std::conditional_t<is_storage_scalar<Stored>, float, T>;
    for (auto k = std::size_t{0}; k < in; ++k) {
      auto const stored = values[k * distance] = static_cast<Stored>(static_cast<C>(value(k)));
      if constexpr (is_storage_scalar<Stored>)
        require(is_finite(widened<float>(stored)) || not is_finite(value(k)),
                "weights in 16 bits: one is beyond the largest of them");
    }
  }
}

/// What the matrices of this header are: weights (Out, In).
template <class T, class S, class Backend, class Stored> struct stored_weights {
  static_assert(
      storable_as<Stored, T>,
      "weights are stored in the scalar type of the model, bf16, f16 or std::int8_t, or in "
      "blocks of 32; those as_stored are of a model that computes in float");
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  using stored_type = Stored;
  static constexpr auto out = static_cast<std::size_t>(S::extents[0]);
  static constexpr auto in = S::capacity / out;
  static_assert(complaint::holds<(in % numbers_of_stored<Stored> == 0), complaint::got<S>>,
                "weights in blocks of 32: the inputs of an output, In, are a multiple of 32; of "
                "bf16 as_stored, of 16");
};

}  // namespace detail

/// The matrix of an affine map, by columns: all outputs of an input follow one another, so that a
/// product with one row reads it from end to end, a vector at a time.
///
/// Shapes  S is (Out, In), as of the tensor that it is packed from
/// Cost    In rows of Out numbers, each rounded up to storage_alignment bytes of T, unless it is
///         one; and Out scales where they are of 8 bits
template <class T, class S, class Backend, class Stored = T>
struct packed_matrix : detail::stored_weights<T, S, Backend, Stored> {
  using base = detail::stored_weights<T, S, Backend, Stored>;
  using base::in;
  using base::out;
  static_assert(
      complaint::holds<not is_block<Stored>, complaint::got<Stored>>,
      "packed: blocks of 32, and bf16 as_stored, lie by rows; `compact` and `mapped` have them");
  static constexpr auto step = tensor<T, shape<1>, Backend>::padded;
  static constexpr auto stride = out == 1 ? 1 : (out + step - 1) / step * step;
  static constexpr auto column_distance = stride;

  alignas(storage_alignment) Stored values[in * stride];
  [[no_unique_address]] detail::output_scales<T, Stored, stride> scales;

  [[nodiscard]] constexpr auto numbers() const -> weight_matrix<T, Stored> {
    return scales.matrix(values, 1, stride);
  }
  constexpr void pack(auto const& weights) {
    for (auto o = std::size_t{0}; o < out; ++o)
      detail::store_output<T>(weights, o, in, values + o, stride, scales);
    for (auto o = out; o < stride; ++o) {  // what a vector reads beyond the last output
      if constexpr (is_scaled<Stored>) scales.scale[o] = T{0};
      for (auto k = std::size_t{0}; k < in; ++k) values[k * stride + o] = Stored{};
    }
  }
};

/// The matrix of an affine map by rows, as files have it, in numbers of 16 or 8 bits, or in blocks.
template <class T, class S, class Backend, class Stored>
struct compact_matrix : detail::stored_weights<T, S, Backend, Stored> {
  using base = detail::stored_weights<T, S, Backend, Stored>;
  using base::in;
  using base::out;

  alignas(storage_alignment) Stored values[out * in / numbers_of_stored<Stored>];
  [[no_unique_address]] detail::output_scales<T, Stored, out> scales;

  [[nodiscard]] constexpr auto numbers() const -> weight_matrix<T, Stored> {
    if constexpr (is_block<Stored>)
      return {values, in, 1};
    else
      return scales.matrix(values, in, 1);
  }
  constexpr void pack(auto const& weights) {
    for (auto o = std::size_t{0}; o < out; ++o) {
      auto* const to = values + o * in / numbers_of_stored<Stored>;
      if constexpr (is_block<Stored>)
        detail::store_blocks(weights, o, in, to);
      else
        detail::store_output<T>(weights, o, in, to, 1, scales);
    }
  }
};

/// The same in the memory of another owner: a mapped file. Without memory until it is set.
template <class T, class S, class Backend, class Stored>
struct mapped_matrix : detail::stored_weights<T, S, Backend, Stored> {
  using base = detail::stored_weights<T, S, Backend, Stored>;

  Stored const* values = nullptr;
  [[no_unique_address]] std::conditional_t<is_scaled<Stored>, T const*, nothing> scale{};

  [[nodiscard]] constexpr auto numbers() const -> weight_matrix<T, Stored> {
    require(has_memory(), "mapped weights see no file: map_parameters comes first");
    if constexpr (is_scaled<Stored>)
      return {values, base::in, 1, {scale, 1, 0}};
    else
      return {values, base::in, 1};
  }
  [[nodiscard]] constexpr auto has_memory() const -> bool { return values != nullptr; }
};

/// Values laid out for calls with few rows, which is what a stream steps with; with another Stored
/// in 16 or 8 bits, too.
template <class T, class Stored = T, class Backend = default_backend> struct packed {
  template <class S> using tensor_type = tensor<T, S, Backend>;
  template <class S> using matrix_type = packed_matrix<T, S, Backend, Stored>;
  template <class S, std::size_t Gates>
  using gates_type =
      std::conditional_t<std::same_as<Stored, T> &&
                             (std::same_as<Backend, simd> ||
                              (TESSERA_SIMD && std::same_as<Backend, relaxed>)),
                         std::type_identity<gate_panels<T, S, Backend, Gates>>,
                         std::type_identity<packed_matrix<T, S, Backend, Stored>>>::type;
  template <class S>
  using table_type =
      std::conditional_t<std::same_as<Stored, T>, std::type_identity<tensor<T, S, Backend>>,
                         std::type_identity<compact_matrix<T, S, Backend, Stored>>>::type;
};
/// Values as files have them, matrices in 16 or 8 bits, or in blocks; tables may be stored
/// otherwise.
template <class T, class Stored, class Backend = default_backend, class Table = Stored>
struct compact {
  template <class S> using tensor_type = tensor<T, S, Backend>;
  template <class S> using matrix_type = compact_matrix<T, S, Backend, Stored>;
  template <class S> using table_type = compact_matrix<T, S, Backend, Table>;
  template <class S> using tied_type = table_type<S>;
};
/// The matrices of a mapped file where they stand; the rest is copied. See map_parameters.
template <class T, class Stored = T, class Backend = default_backend, class Table = Stored>
struct mapped {
  template <class S> using tensor_type = tensor<T, S, Backend>;
  template <class S> using matrix_type = mapped_matrix<T, S, Backend, Stored>;
  template <class S> using table_type = mapped_matrix<T, S, Backend, Table>;
  template <class S> using tied_type = table_type<S>;
};

/// Copies parameters into another storage of them: packed, compact, or owned again.
///
/// Cost    one pass; no heap
/// Errors  a weight that is not finite does not go into 8 bits or blocks with a scale, and one that
///         is does not go into 16 bits where it would be infinite: it breaks the contract
constexpr void pack_parameters(auto const& from, auto& to) {
  for_each_parameter(
      [](auto const&, auto& target, auto const& source) {
        constexpr auto fits = std::same_as<shape_of<decltype(target)>, shape_of<decltype(source)>>;
        static_assert(complaint::holds<fits, complaint::expected<shape_of<decltype(target)>>,
                                       complaint::got<shape_of<decltype(source)>>>,
                      "pack_parameters: the parameters are those of another model");
        if constexpr (not fits) {
        } else if constexpr (requires {
                               target.pack(weights_of<scalar_of<decltype(target)>>(source));
                             }) {
          target.pack(weights_of<scalar_of<decltype(target)>>(source));
        } else if constexpr (requires { source.numbers(); }) {
          auto const numbers = source.numbers();
          constexpr auto in = std::remove_cvref_t<decltype(source)>::in;
          for (auto i = std::size_t{0}; i < target.size(); ++i)
            target.data()[i] = numbers.at(i / in, i % in);
        } else {
          target = source;
        }
      },
      to, from);
}

}  // namespace tessera
