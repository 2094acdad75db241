// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/base.hpp>

/// The leaves of an expression: memory, and constants.
namespace tessera::nodes {

/// A row of contiguous elements, or of elements at a distance.
template <class T, bool Wanted = true> struct contiguous_row {
  static constexpr bool wants_slope = Wanted;
  T* data;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t i) const {
    return lanes.load(data + i);
  }
};
template <class T> struct strided_row {
  T* data;
  std::ptrdiff_t stride;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t i) const {
    if constexpr (L::width == 1)
      return lanes.load(data + static_cast<std::ptrdiff_t>(i) * stride);
    else
      return lanes.gather(data + static_cast<std::ptrdiff_t>(i) * stride, stride);
  }
};

template <class T, bool W> [[nodiscard]] constexpr auto stride_of(contiguous_row<T, W> const&) {
  return std::ptrdiff_t{1};
}
template <class T> [[nodiscard]] constexpr auto stride_of(strided_row<T> const& row) {
  return row.stride;
}

/// A tensor or view, by its address.
template <class T, class S, class Backend> struct leaf : base, with_extents<S> {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = true;

  T* memory;

  [[nodiscard]] constexpr auto data() const -> T* { return memory; }
  [[nodiscard]] constexpr auto row(leading_index<S::rank> const& index) const {
    auto at = std::size_t{0};
    for (auto a = std::size_t{0}; a + 1 < S::rank; ++a)
      at = (at + index[a]) * this->extents()[a + 1];
    return contiguous_row<T>{memory == nullptr ? nullptr : memory + at};
  }
  [[nodiscard]] constexpr auto flat_row() const { return contiguous_row<T>{memory}; }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class Result>
  [[nodiscard]] constexpr auto conflicts(written_memory const& w) const -> bool {
    if constexpr (std::same_as<Result, S>) {
      if (static_cast<void const*>(memory) == w.begin) return false;  // element by element
    }
    return w.overlaps(memory, memory + this->extents().size());
  }
};

/// A strided view, by its address. UnitLast: the elements of a row lie one after another.
template <class T, class S, class Backend, bool UnitLast>
struct strided_leaf : base, with_extents<S> {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  using temporaries = nothing;
  static constexpr bool flat = false;
  static constexpr bool rows_apart = true;

  T* memory;
  std::array<std::ptrdiff_t, S::rank> strides;

  [[nodiscard]] constexpr auto row(leading_index<S::rank> const& index) const {
    auto at = std::ptrdiff_t{0};
    for (auto a = std::size_t{0}; a + 1 < S::rank; ++a)
      at += static_cast<std::ptrdiff_t>(index[a]) * strides[a];
    auto* const start = memory == nullptr ? nullptr : memory + at;
    if constexpr (UnitLast)
      return contiguous_row<T>{start};
    else
      return strided_row<T>{start, S::rank == 0 ? 0 : strides[S::rank - 1]};
  }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class> [[nodiscard]] constexpr auto conflicts(written_memory const& w) const -> bool {
    auto const extents_of_all = this->extents();
    auto last = std::ptrdiff_t{0};
    for (auto a = std::size_t{0}; a < S::rank; ++a)
      last += static_cast<std::ptrdiff_t>(extents_of_all[a] - 1) * strides[a];
    return extents_of_all.size() > 0 && w.overlaps(memory, memory + last + 1);
  }
};

/// A temporary tensor, by its value: what `a + make()` keeps of make().
template <class X> struct owned_leaf : base {
  using scalar_type = typename X::scalar_type const;
  using shape_type = typename X::shape_type;
  using backend_type = typename X::backend_type;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = true;

  X value;

  [[nodiscard]] constexpr auto extents() const { return actual_extents<shape_type>{}; }
  [[nodiscard]] constexpr auto data() const { return value.data(); }
  [[nodiscard]] constexpr auto row(leading_index<shape_type::rank> const& index) const {
    auto const at = leaf<scalar_type, shape_type, backend_type>{{}, {}, value.data()}.row(index);
    return contiguous_row<scalar_type, false>{at.data};
  }
  [[nodiscard]] constexpr auto flat_row() const {
    return contiguous_row<scalar_type, false>{value.data()};
  }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class> [[nodiscard]] constexpr auto conflicts(written_memory const&) const -> bool {
    return false;
  }
};

template <class T> struct constant_row {
  T number;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t) const {
    return lanes.splat(number);
  }
  [[nodiscard]] constexpr auto is_readable() const { return true; }
};

/// False for the row of a view without memory, of which nothing is read.
template <class Row> [[nodiscard]] constexpr auto readable(Row const& row) -> bool {
  if constexpr (requires { row.data; })
    return row.data != nullptr;
  else
    return row.is_readable();
}

/// An operand of one element a row: read once, repeated along the row.
template <class Row, class T> struct repeated_row {
  Row row;
  T number;
  template <class L> [[nodiscard]] TESSERA_INLINE constexpr auto get(L lanes, std::size_t) const {
    return lanes.splat(number);
  }
  [[nodiscard]] constexpr auto is_readable() const { return readable(row); }
};
template <class Row> [[nodiscard]] constexpr auto repeat_row(Row const& row) {
  using T = decltype(row.get(one_lane{}, 0));
  return repeated_row<Row, T>{row, readable(row) ? row.get(one_lane{}, 0) : T{}};
}
template <class T> [[nodiscard]] constexpr auto repeat_row(constant_row<T> const& row) {
  return row;
}

template <class T> struct constant : base {
  using scalar_type = T;
  using shape_type = shape<>;
  using backend_type = any_backend;
  using temporaries = nothing;
  static constexpr bool flat = true;
  static constexpr bool rows_apart = true;

  T number;

  [[nodiscard]] constexpr auto extents() const { return actual_extents<shape<>>{}; }
  [[nodiscard]] constexpr auto row(leading_index<0> const&) const {
    return constant_row<T>{number};
  }
  [[nodiscard]] constexpr auto flat_row() const { return constant_row<T>{number}; }
  constexpr void bind(auto&) {}
  constexpr void compute() const {}
  template <class> [[nodiscard]] constexpr auto conflicts(written_memory const&) const -> bool {
    return false;
  }
};

/// An element that a function reads as a number, where tensors exist in types only: as a number it
/// leaves the expression, and with it the gradient.
template <class T> struct read_number : constant<T> {
  [[nodiscard]] constexpr operator T() const {
    static_assert(std::is_void_v<T>,
                  "forward-only: `forward` reads an element as a number, which no gradient "
                  "passes; slice(x, i, j) stays in the expression");
    return {};
  }
};

}  // namespace tessera::nodes
