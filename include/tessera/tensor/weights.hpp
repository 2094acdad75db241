// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/scalar.hpp>
#include <tessera/tensor/block_weights.hpp>
#include <tessera/tensor/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

/// Weights as kernels ask for them, however they are stored.
///
/// The matrix of an affine map is (Out, In) to whoever names it; of a convolution, In is what an
/// output sees: channels, then taps. In memory it lies by rows, as
/// PyTorch has it, or by columns; its numbers are of the scalar type of the model, of 16 bits, of 8
/// with a scale for each output, or in blocks of 32 that share one (core/block_format.hpp); and it
/// is owned, or seen in a file. A type of weights names
///
///   shape_type, scalar_type, backend_type   (Out, In), what is computed in, and where
///   stored_type                             of a number in memory; without it, scalar_type
///   numbers()                               a `weight_matrix`; without it, rows from data() on
///
/// and kernels take `weights_of(w)`. What is stored narrower is widened as it is read, and scaled:
/// the bits of a product are those of the widened weights, but where blocks and bf16 are multiplied
/// as_stored.
namespace tessera {

/// True where a number stands for its value times a scale, which an output has.
template <class Stored> inline constexpr bool is_scaled = std::same_as<Stored, std::int8_t>;
/// What weights of a model that computes in T can be stored in.
template <class Stored, class T>
inline constexpr bool storable_as =
    std::same_as<Stored, T> || is_storage_scalar<Stored> || is_scaled<Stored> ||
    (is_block<Stored> && (std::same_as<T, float> || not is_as_stored<Stored>));

/// The scales of a matrix, by distances like its numbers: one of the two is 0.
template <class T, bool Scaled> struct weight_scales {
  T const* first;
  std::size_t row;
  std::size_t column;
  [[nodiscard]] TESSERA_DEVICE constexpr auto at(std::size_t r, std::size_t c) const -> T {
    return first[r * row + c * column];
  }
  [[nodiscard]] constexpr auto transposed() const -> weight_scales { return {first, column, row}; }
  [[nodiscard]] constexpr auto part(std::size_t r, std::size_t c, std::size_t step) const
      -> weight_scales {
    return {first + r * row + c * column, row * step, column};
  }
};
template <class T> struct weight_scales<T, false> {
  [[nodiscard]] constexpr auto transposed() const -> weight_scales { return {}; }
};

/// A matrix of numbers T that are stored as Stored, by the distances of its rows and columns.
template <class T, class Stored> struct weight_matrix {
  static constexpr weight_scales<T, false> scales{};

  Stored const* data;
  std::size_t row;
  std::size_t column;

  [[nodiscard]] TESSERA_DEVICE constexpr auto at(std::size_t r, std::size_t c) const -> T {
    return widened<T>(data[r * row + c * column]);
  }
  [[nodiscard]] constexpr auto transposed() const -> weight_matrix { return {data, column, row}; }
  /// Every `step`th row from r on, and the columns from c on.
  [[nodiscard]] constexpr auto part(std::size_t r, std::size_t c, std::size_t step = 1) const
      -> weight_matrix {
    return {data + r * row + c * column, row * step, column};
  }
};
/// The same, with a scale for each output.
template <class T, class Stored>
  requires is_scaled<Stored>
struct weight_matrix<T, Stored> {
  Stored const* data;
  std::size_t row;
  std::size_t column;
  weight_scales<T, true> scales{};

  [[nodiscard]] TESSERA_DEVICE constexpr auto at(std::size_t r, std::size_t c) const -> T {
    return widened<T>(data[r * row + c * column]) * scales.at(r, c);
  }
  [[nodiscard]] constexpr auto transposed() const -> weight_matrix {
    return {data, column, row, scales.transposed()};
  }
  [[nodiscard]] constexpr auto part(std::size_t r, std::size_t c, std::size_t step = 1) const
      -> weight_matrix {
    return {data + r * row + c * column, row * step, column, scales.part(r, c, step)};
  }
};

namespace detail {

template <class W> struct stored_in {
  using type = scalar_of<W>;
};
template <class W>
  requires requires { typename W::stored_type; }
struct stored_in<W> {
  using type = typename W::stored_type;
};

}  // namespace detail

/// The type of a number of weights in memory.
template <class W> using stored_of = typename detail::stored_in<std::remove_cvref_t<W>>::type;

/// Weights (Out, In) as a matrix of numbers T: row o has those of output o.
template <class T, class W> [[nodiscard]] constexpr auto weights_of(W const& w) {
  if constexpr (requires { w.numbers(); })
    return w.numbers();
  else
    return weight_matrix<T, scalar_of<W>>{
        w.data(), shape_of<W>::capacity / static_cast<std::size_t>(shape_of<W>::extents[0]), 1};
}

/// True where the numbers of a column follow one another, with a distance that the type knows.
template <class W>
inline constexpr bool by_columns = requires { std::remove_cvref_t<W>::column_distance; };

namespace detail {
template <class W> struct column_distance_of {};
template <class W>
  requires by_columns<W>
struct column_distance_of<W> {
  static constexpr auto column_distance = W::column_distance;
};
}  // namespace detail

/// Weights of Count outputs, from First on, of more.
template <class W, std::size_t First, std::size_t Count>
struct some_weights : detail::column_distance_of<W> {
  using scalar_type = scalar_of<W>;
  using shape_type = shape<static_cast<extent>(Count), static_cast<extent>(W::in)>;
  using backend_type = backend_of<W>;
  using stored_type = stored_of<W>;

  constexpr explicit some_weights(W const& weights) : all_{weights} {}
  [[nodiscard]] constexpr auto numbers() const { return all_.numbers().part(First, 0); }

 private:
  W const& all_;
};

}  // namespace tessera
