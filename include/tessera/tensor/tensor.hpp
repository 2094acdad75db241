// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/core/error.hpp>
#include <tessera/tensor/concepts.hpp>

#include <cstddef>

namespace tessera {

template <class T, class S, class Backend = default_backend> struct tensor;

namespace detail {

/// y = e, for tensors and views: see tensor/assign.hpp.
template <class Y, class E> constexpr void assign_to(Y y, E const& e);

template <class... I>
concept indices = (std::integral<I> && ...);

/// An element that is read as a number leaves the expression, and with it the gradient.
template <class Backend> constexpr void reads_no_number() {
  static_assert(not is_probing<Backend>,
                "forward-only: `forward` reads an element as a number, which no gradient passes; "
                "slice(x, i, j) stays in the expression");
}

}  // namespace detail

/// Memory of another owner, seen as a shape; carries run-time extents for bounded ones only.
///
/// Elements are contiguous at the actual extents, the last axis innermost. A view without memory
/// means not kept, or not wanted: v += e and v -= e do nothing then. Assigning a view to a named
/// view makes that one see the other's memory, as with std::span; to write through a named view:
/// assign(v, e) or v += e. An unnamed one is written: x[0] = a + b.
///
/// Errors  of a temporary tensor there is no view: tests/fail/view_of_temporary.cpp; an extent
///         above its bound breaks the contract
template <class T, class S, class Backend = default_backend> struct view : with_extents<S> {
  static_assert(complaint::holds<defined_backend<Backend>, Backend>,
                "view: its backend is only declared here; cuda needs tessera/cuda.hpp");

  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  static constexpr bool is_contiguous = true;
  static constexpr bool is_owning = false;

  using with_extents<S>::actual;
  T* memory = nullptr;

  view() = default;
  constexpr explicit view(T* data)
    requires fixed_shape<S>
      : memory{data} {}
  constexpr view(T* data, actual_extents<S> extents) : memory{data} {
    if constexpr (S::bounded > 0) {
      actual = extents;
      require(actual.fits(), "view: an extent above its bound");
    }
  }
  view(view const&) = default;
  auto operator=(view const&) & -> view& = default;

  [[nodiscard]] constexpr auto data() const -> T* { return memory; }
  [[nodiscard]] constexpr auto has_memory() const -> bool { return memory != nullptr; }
  [[nodiscard]] constexpr auto size() const -> std::size_t { return actual.size(); }
  template <std::size_t Axis> [[nodiscard]] constexpr auto extent_of() const -> std::size_t {
    return actual.template get<Axis>();
  }
  /// The number of rows of the last axis.
  [[nodiscard]] constexpr auto rows() const -> std::size_t {
    auto n = std::size_t{1};
    for (auto a = std::size_t{0}; a + 1 < S::rank; ++a) n *= actual[a];
    return n;
  }
  [[nodiscard]] constexpr auto begin() const -> T* {
    detail::reads_no_number<Backend>();
    return memory;
  }
  [[nodiscard]] constexpr auto end() const -> T* { return memory + size(); }

  /// The part at index i of the first axis: a view, or an element where there is one axis.
  [[nodiscard]] constexpr auto operator[](std::size_t i) const -> decltype(auto)
    requires(S::rank > 0)
  {
    if constexpr (S::rank == 1 && is_probing<Backend>) {
      return nodes::read_number<std::remove_const_t<T>>{};
    } else if constexpr (S::rank == 1) {
      return (memory[i]);
    } else {
      using rest = without_first<S>;
      auto extents = actual_extents<rest>{};
      if constexpr (rest::bounded > 0)
        for (auto k = std::size_t{0}; k < rest::bounded; ++k)
          extents.values[k] = actual.values[k + S::bounded - rest::bounded];
      return view<T, rest, Backend>{memory == nullptr ? nullptr : memory + i * extents.size(),
                                    extents};
    }
  }
  /// The element at an index on every axis.
  template <detail::indices... I>
    requires(sizeof...(I) == S::rank && not is_probing<Backend>)
  [[nodiscard]] constexpr auto operator()(I... index) const -> T& {
    auto at = std::size_t{0};
    auto a = std::size_t{0};
    ((at = at * actual[a++] + static_cast<std::size_t>(index)), ...);
    return memory[at];
  }
  template <detail::indices... I>
    requires(sizeof...(I) == S::rank && is_probing<Backend>)
  [[nodiscard]] constexpr auto operator()(I...) const {
    return nodes::read_number<std::remove_const_t<T>>{};
  }
  template <std::same_as<T const> U>  // a template, so that no view converts to itself
    requires(not std::is_const_v<T>)
  [[nodiscard]] constexpr operator view<U, S, Backend>() const {
    return {memory, actual};
  }

  template <operand E> constexpr void operator=(E const& e) const&& { detail::assign_to(*this, e); }
  template <operand E> constexpr void operator+=(E const& e) const;
  template <operand E> constexpr void operator-=(E const& e) const;
  template <operand E> constexpr void operator*=(E const& e) const;
  template <operand E> constexpr void operator/=(E const& e) const;
};

/// Storage for the bounds of a shape: literal, trivially copyable, padded at its end only.
///
/// Shapes  T values of shape S; where extents are bounded, the actual ones travel in views:
///         x.sized(7), gates.sized_like(x)
/// State   tensor{} is zeros; `tensor x;` is not initialized
/// Cost    S::capacity numbers, rounded up to storage_alignment bytes; no other member. A part of a
///         temporary would outlive it: temporaries have no views
/// Errors  more values than elements do not compile: tests/fail/tensor_too_many_values.cpp; nor
///         does a tensor of `cuda` without its kernels: tests/fail/cuda_without_kernels.cpp
template <class T, class S, class Backend> struct tensor {
  static_assert(complaint::holds<defined_backend<Backend>, Backend>,
                "tensor: its backend is only declared here; cuda needs tessera/cuda.hpp");
  static_assert(S::capacity <= static_cast<std::size_t>(PTRDIFF_MAX) / 2 / sizeof(T),
                "tensor: more bytes than can be counted");
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  static constexpr bool is_contiguous = true;
  static constexpr bool is_owning = true;
  static constexpr std::size_t step = storage_alignment / sizeof(T) > 0
                                          ? storage_alignment / sizeof(T)
                                          : 1;
  static constexpr std::size_t padded = (S::capacity + step - 1) / step * step;

  alignas(storage_alignment) T values[padded];

  tensor() = default;
  /// Not for constant expressions, in which a compiler of device code would evaluate every number.
  tensor()
    requires on_device<Backend>
  {
    for (auto& value : values) value = T{};
  }
  /// The elements in row-major order; those not given are zero.
  constexpr tensor(T const (&elements)[S::capacity]) : values{} {
    for (auto i = std::size_t{0}; i < S::capacity; ++i) values[i] = elements[i];
  }
  template <std::size_t N>
    requires(N > S::capacity)
  constexpr tensor(T const (&)[N]) {
    static_assert(complaint::holds<N <= S::capacity, S>, "tensor: more values than elements");
  }
  template <class E>
    requires(expression<E> && fixed_shape<S>)
  constexpr tensor(E const& e) {
    for (auto i = S::capacity; i < padded; ++i) values[i] = T{};
    *this = e;
  }
  template <class E>
    requires(operand<E> && not std::same_as<E, tensor> && fixed_shape<S>)
  constexpr auto operator=(E const& e) -> tensor& {
    detail::assign_to(view<T, S, Backend>{values}, e);
    return *this;
  }

  [[nodiscard]] constexpr auto data() TESSERA_LIFETIMEBOUND -> T* { return values; }
  [[nodiscard]] constexpr auto data() const TESSERA_LIFETIMEBOUND -> T const* { return values; }
  [[nodiscard]] static constexpr auto size() -> std::size_t
    requires fixed_shape<S>
  {
    return S::capacity;
  }

  /// A view with these numbers for the bounded extents, outermost first.
  template <detail::indices... N>
    requires(sizeof...(N) == S::bounded)
  [[nodiscard]] constexpr auto sized(N... n) & TESSERA_LIFETIMEBOUND -> view<T, S, Backend> {
    return {values, extents_of(n...)};
  }
  template <detail::indices... N>
    requires(sizeof...(N) == S::bounded)
  [[nodiscard]] constexpr auto sized(N... n) const& TESSERA_LIFETIMEBOUND
      -> view<T const, S, Backend> {
    return {values, extents_of(n...)};
  }
  template <detail::indices... N> auto sized(N...) const&& = delete;
  /// A view with the bounded extents of x, in their order.
  template <class X>
  [[nodiscard]] constexpr auto sized_like(X const& x) &
      TESSERA_LIFETIMEBOUND -> view<T, S, Backend> {
    return {values, x.actual.template as<S>()};
  }
  template <class X>
  [[nodiscard]] constexpr auto sized_like(X const& x) const& TESSERA_LIFETIMEBOUND
      -> view<T const, S, Backend> {
    return {values, x.actual.template as<S>()};
  }
  template <class X> auto sized_like(X const&) const&& = delete;
  [[nodiscard]] constexpr operator view<T, S, Backend>() & TESSERA_LIFETIMEBOUND
    requires fixed_shape<S>
  {
    return view<T, S, Backend>{values};
  }
  [[nodiscard]] constexpr operator view<T const, S, Backend>() const& TESSERA_LIFETIMEBOUND
    requires fixed_shape<S>
  {
    return view<T const, S, Backend>{values};
  }
  operator view<T const, S, Backend>() const&& = delete;

  [[nodiscard]] constexpr auto operator[](std::size_t i) & TESSERA_LIFETIMEBOUND -> decltype(auto)
    requires(fixed_shape<S> && S::rank > 0)
  {
    return view<T, S, Backend>{values}[i];
  }
  [[nodiscard]] constexpr auto operator[](std::size_t i) const&
      TESSERA_LIFETIMEBOUND
      -> decltype(auto)
    requires(fixed_shape<S> && S::rank > 0)
  {
    return view<T const, S, Backend>{values}[i];
  }
  auto operator[](std::size_t) const&& = delete;
  template <detail::indices... I>
    requires(fixed_shape<S> && sizeof...(I) == S::rank)
  [[nodiscard]] constexpr auto operator()(I... index) & TESSERA_LIFETIMEBOUND -> decltype(auto) {
    return view<T, S, Backend>{values}(index...);
  }
  template <detail::indices... I>
    requires(fixed_shape<S> && sizeof...(I) == S::rank)
  [[nodiscard]] constexpr auto operator()(I... index) const&
      TESSERA_LIFETIMEBOUND -> decltype(auto) {
    return view<T const, S, Backend>{values}(index...);
  }
  template <detail::indices... I>
    requires(fixed_shape<S> && sizeof...(I) == S::rank)
  [[nodiscard]] constexpr auto operator()(I... index) const&& -> T {
    return view<T const, S, Backend>{values}(index...);
  }
  [[nodiscard]] constexpr auto begin() TESSERA_LIFETIMEBOUND -> T* { return values; }
  [[nodiscard]] constexpr auto end() TESSERA_LIFETIMEBOUND -> T* { return values + S::capacity; }
  [[nodiscard]] constexpr auto begin() const TESSERA_LIFETIMEBOUND -> T const* { return values; }
  [[nodiscard]] constexpr auto end() const TESSERA_LIFETIMEBOUND -> T const* {
    return values + S::capacity;
  }

  template <operand E> constexpr auto operator+=(E const& e) -> tensor& {
    view<T, S, Backend>{values} += e;
    return *this;
  }
  template <operand E> constexpr auto operator-=(E const& e) -> tensor& {
    view<T, S, Backend>{values} -= e;
    return *this;
  }
  template <operand E> constexpr auto operator*=(E const& e) -> tensor& {
    view<T, S, Backend>{values} *= e;
    return *this;
  }
  template <operand E> constexpr auto operator/=(E const& e) -> tensor& {
    view<T, S, Backend>{values} /= e;
    return *this;
  }

 private:
  template <class... N> static constexpr auto extents_of(N... n) -> actual_extents<S> {
    if constexpr (S::bounded == 0)
      return {};
    else
      return {{{static_cast<std::size_t>(n)...}}};
  }
};

/// Memory of another owner with a distance for each axis: a slice of an inner axis, a transpose, a
/// broadcast. Elements are not contiguous, so that kernels do not take it; expressions do, and it
/// can be assigned to. UnitLast: the elements of the last axis lie one after another.
template <class T, class S, class Backend = default_backend, bool UnitLast = false>
struct strided_view : with_extents<S> {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  static constexpr bool is_contiguous = false;
  static constexpr bool is_owning = false;

  using with_extents<S>::actual;
  T* memory = nullptr;
  std::array<std::ptrdiff_t, S::rank> strides{};

  strided_view() = default;
  constexpr strided_view(T* data, actual_extents<S> extents,
                         std::array<std::ptrdiff_t, S::rank> distances)
      : memory{data}, strides{distances} {
    if constexpr (S::bounded > 0) actual = extents;
  }
  strided_view(strided_view const&) = default;
  auto operator=(strided_view const&) & -> strided_view& = default;

  [[nodiscard]] constexpr auto data() const -> T* { return memory; }
  [[nodiscard]] constexpr auto size() const -> std::size_t { return actual.size(); }
  template <detail::indices... I>
    requires(sizeof...(I) == S::rank && not is_probing<Backend>)
  [[nodiscard]] constexpr auto operator()(I... index) const -> T& {
    auto at = std::ptrdiff_t{0};
    auto a = std::size_t{0};
    ((at += strides[a++] * static_cast<std::ptrdiff_t>(index)), ...);
    return memory[at];
  }
  template <detail::indices... I>
    requires(sizeof...(I) == S::rank && is_probing<Backend>)
  [[nodiscard]] constexpr auto operator()(I...) const {
    return nodes::read_number<std::remove_const_t<T>>{};
  }
  template <operand E> constexpr void operator=(E const& e) const&& { detail::assign_to(*this, e); }
  template <operand E> constexpr void operator+=(E const& e) const;
  template <operand E> constexpr void operator-=(E const& e) const;
  template <operand E> constexpr void operator*=(E const& e) const;
  template <operand E> constexpr void operator/=(E const& e) const;
};

// A tensor type stands for scalar, shape and backend at once: roles of memory are keyed by it.
template <class X, class S> using reshaped = tensor<scalar_of<X>, S, backend_of<X>>;
template <class X, std::size_t N> using resized = reshaped<X, with_last<shape_of<X>, N>>;
template <class X>
using kind_of = tensor<scalar_of<X>, shape_of<X>, value_backend<backend_of<X>>>;  // of a view
template <class X> using sample_of = reshaped<X, without_first<shape_of<X>>>;     // without time
template <class X> using view_of = view<scalar_of<X>, shape_of<X>, backend_of<X>>;
template <class X> using const_view_of = view<scalar_of<X> const, shape_of<X>, backend_of<X>>;

/// A view of a tensor or of a view, read only.
///
/// Errors  a tensor with bounded extents that is not sized does not compile:
///         tests/fail/bounded_not_sized.cpp
template <contiguous X>
  requires(not owning<X>)
[[nodiscard]] constexpr auto as_const(X const& x) -> const_view_of<X> {
  return {x.data(), x.actual};
}
template <owning X>
[[nodiscard]] constexpr auto as_const(X const& x TESSERA_LIFETIMEBOUND) -> const_view_of<X> {
  static_assert(complaint::holds<fixed_shape<shape_of<X>>, shape_of<X>>,
                "a tensor with bounded extents needs its actual ones: x.sized(n)");
  return const_view_of<X>{x.data(), {}};
}
template <owning X> auto as_const(X const&&) -> const_view_of<X> = delete;

}  // namespace tessera
